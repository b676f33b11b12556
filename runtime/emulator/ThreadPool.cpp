//===- ThreadPool.cpp - threads that share one loop ----------------------------===//
//
// Owns the hand-over of a loop to the workers: announced under a mutex, iterations taken by an atomic counter.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/ThreadPool.h"
#include "runtime/emulator/FpControl.h"

namespace trn::rt {

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back([this] { runWorker(); });
}

ThreadPool::~ThreadPool() {
  {
    absl::MutexLock lock(&mutex);
    stopping = true;
    announced.fetch_add(1);
  }
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::work(Loop &loop) {
  ScopedFpControl control(loop.fpControl);
  while (true) {
    uint64_t begin = loop.next.fetch_add(loop.grain);
    if (begin >= loop.count)
      return;
    loop.body(begin, std::min(begin + loop.grain, loop.count));
  }
}

void ThreadPool::runWorker() {
  uint64_t seen = 0;
  // Loops follow each other within microseconds, far less than waking a thread takes.
  constexpr int kSpins = 4000;
  while (true) {
    for (int i = 0; i < kSpins && announced.load(std::memory_order_relaxed) == seen; ++i)
      _mm_pause();
    Loop *loop = nullptr;
    {
      absl::MutexLock lock(&mutex);
      auto ready = [this, &seen]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return stopping || generation != seen; };
      mutex.Await(absl::Condition(&ready));
      if (stopping)
        return;
      seen = generation;
      loop = current;
      if (!loop)
        continue; // Finished before this worker woke up.
      ++joined;
    }
    work(*loop);
    absl::MutexLock lock(&mutex);
    --joined;
  }
}

void ThreadPool::parallelFor(uint64_t count, uint64_t grain, absl::FunctionRef<void(uint64_t, uint64_t)> body) {
  if (workers.empty() || count <= grain) {
    for (uint64_t begin = 0; begin < count; begin += grain)
      body(begin, std::min(begin + grain, count));
    return;
  }
  Loop loop{body, count, grain, _mm_getcsr()};
  {
    absl::MutexLock lock(&mutex);
    current = &loop;
    ++generation;
    announced.store(generation, std::memory_order_relaxed);
  }
  work(loop);
  absl::MutexLock lock(&mutex);
  current = nullptr; // Nobody joins any more; wait for those inside.
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return joined == 0; };
  mutex.Await(absl::Condition(&idle));
}

} // namespace trn::rt
