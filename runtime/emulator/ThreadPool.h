//===- ThreadPool.h - threads that share one loop ------------------------------===//
//
// Owns worker threads that split the iterations of one loop with the caller. The emulator uses them inside large
// instructions only, where the parts write disjoint memory, so results cannot depend on the number of threads.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace trn::rt {

class ThreadPool {
public:
  /// `threads` counts the caller: 1 makes no thread at all.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers.size()) + 1; }

  /// Calls body(begin, end) for disjoint ranges that cover [0, count), each at most `grain` long; returns when all are
  /// done. One loop at a time: only one thread may call it. The calling thread's floating-point control register is
  /// used by all.
  void parallelFor(uint64_t count, uint64_t grain, absl::FunctionRef<void(uint64_t, uint64_t)> body);

private:
  struct Loop {
    absl::FunctionRef<void(uint64_t, uint64_t)> body;
    uint64_t count, grain;
    unsigned fpControl;
    std::atomic<uint64_t> next{0};
  };
  static void work(Loop &loop);
  void runWorker();

  absl::Mutex mutex;
  Loop *current = nullptr;    ///< guarded by mutex
  uint64_t generation = 0;    ///< guarded by mutex
  unsigned joined = 0;        ///< workers inside `current`; guarded by mutex
  bool stopping = false;      ///< guarded by mutex
  std::atomic<uint64_t> announced{0}; ///< copy of generation that idle workers watch for a moment before they sleep
  std::vector<std::thread> workers;
};

} // namespace trn::rt
