//===- Functional.h - running an executable's numbers ----------------------------===//
//
// Owns functional execution: every instruction once, in an order that the queues and semaphores allow, no matter how
// long it would take on the device (that is runtime/timing). A plan decodes an executable once and can run it many
// times with different buffers. Whatever legal order is taken, an executable without races gives the same result; the
// order taken here is deterministic. Refuses to check for races: that is runtime/check.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/emulator/Core.h"
#include "runtime/executable/Executable.h"
#include <atomic>
#include <memory>
#include <vector>

namespace trn::rt {

/// Limits of one run. The defaults suit a program that is trusted to end.
struct RunLimits {
  /// Instructions after which the run fails; a loop that never ends must not hang the host.
  uint64_t instructions = uint64_t(1) << 40;
  absl::Duration timeout = absl::InfiniteDuration();
  /// Set by another thread to stop the run with a Cancelled status.
  const std::atomic<bool> *cancel = nullptr;
};

struct RunStatistics {
  uint64_t instructions = 0;
  /// Instructions executed per queue, by isa::Engine.
  uint64_t perEngine[isa::kNumEngines] = {};
  /// Matrix multiplications, and the joined runs in which they were executed.
  uint64_t matmuls = 0, matmulRuns = 0;
  /// What the `register_load`s of each queue found, by isa::Engine and in their order, up to kMostFound of each.
  std::vector<int32_t> found[isa::kNumEngines];
  static constexpr size_t kMostFound = size_t(1) << 20;
};

class FunctionalPlan {
public:
  /// Decodes and checks every instruction. `executable` must outlive the plan. Errors name the ONNX node.
  static absl::StatusOr<std::unique_ptr<FunctionalPlan>> create(const exe::Executable &executable,
                                                                const CoreOptions &options);
  ~FunctionalPlan();

  /// Executes the program: memories are poisoned, semaphores and registers zero. `buffers` has one entry per buffer of
  /// the executable, in its order; those of weights may be left empty, then the executable's own weights are used.
  /// Not reentrant; one plan per core.
  absl::StatusOr<RunStatistics> run(absl::Span<const HbmBuffer> buffers, const RunLimits &limits = RunLimits());

  Core &core();

private:
  struct State;
  explicit FunctionalPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

struct RunOptions {
  CoreOptions core;
  RunLimits limits;
};

/// Plans and runs once.
absl::StatusOr<RunStatistics> runFunctional(const exe::Executable &executable, absl::Span<const HbmBuffer> buffers,
                                            const RunOptions &options);

} // namespace trn::rt
