//===- RunWatch.h - what ends a run before its program does -----------------------===//
//
// Owns the deadline and the cancel flag of a run, and looking at them within an instruction that may take long: a
// library kernel works on whole tensors, and on some in more than linear time.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <algorithm>
#include <atomic>
#include <vector>

namespace trn::rt {

struct RunWatch {
  const std::atomic<bool> *cancel = nullptr;
  absl::Duration timeout = absl::InfiniteDuration();
  absl::Time deadline = absl::InfiniteFuture();

  /// Cancelled or DeadlineExceeded when the run must end.
  absl::Status status() const {
    if (cancel && cancel->load(std::memory_order_relaxed))
      return absl::CancelledError("the execution was cancelled");
    if (deadline != absl::InfiniteFuture() && absl::Now() > deadline)
      return absl::DeadlineExceededError(absl::StrCat("stopped after ", absl::FormatDuration(timeout)));
    return absl::OkStatus();
  }
};

/// The work of one instruction, in units of a few nanoseconds: looks at the watch about once per millisecond.
class WatchedWork {
public:
  explicit WatchedWork(const RunWatch &watch) : watch(watch) {}

  absl::Status add(uint64_t work) {
    done += work;
    if (done < kUnitsBetweenLooks)
      return absl::OkStatus();
    done = 0;
    return watch.status();
  }

private:
  static constexpr uint64_t kUnitsBetweenLooks = 1 << 18;
  const RunWatch &watch;
  uint64_t done = 0;
};

/// Sorts `items` by `less`, a strict weak order of which one comparison is `cost` units of work. Stops with the status
/// of the watch; then `items` are in no order.
template <typename T, typename Less>
absl::Status sortWatched(std::vector<T> &items, WatchedWork &work, uint64_t cost, Less less) {
  constexpr size_t kRun = 1024, kLogRun = 10;
  const size_t size = items.size();
  for (size_t begin = 0; begin < size; begin += kRun) {
    std::sort(items.begin() + begin, items.begin() + std::min(begin + kRun, size), less);
    if (absl::Status status = work.add(kRun * kLogRun * cost); !status.ok())
      return status;
  }
  std::vector<T> merged(size > kRun ? size : 0);
  for (size_t run = kRun; run < size; run *= 2) {
    for (size_t begin = 0, to = 0; begin < size; begin += 2 * run) {
      size_t left = begin, middle = std::min(begin + run, size), right = middle, end = std::min(begin + 2 * run, size);
      for (; to < end; ++to) {
        bool takesRight = left == middle || (right < end && less(items[right], items[left]));
        merged[to] = items[takesRight ? right++ : left++];
        if (absl::Status status = work.add(cost); !status.ok())
          return status;
      }
    }
    items.swap(merged);
  }
  return absl::OkStatus();
}

} // namespace trn::rt
