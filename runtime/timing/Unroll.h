//===- Unroll.h - the commands that queues execute, one after the other ---===//
//
// Owns the unrolling of loops and branches: timing, the checker and reports work on programs without. What no data
// decides is known; what a `register_load` decides is assumed, alike for all queues, or what a run has found.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "runtime/executable/Executable.h"

namespace trn::rt {

/// Whether some queue branches; not so in an unrolled program.
bool hasControlFlow(const exe::Executable &exe);

/// The most `register_load`s of a queue: each decides for itself.
unsigned countLoads(const exe::Executable &exe);

/// Commands that all queues together may execute for timing and checks: beyond it a program is refused by them, because it
/// may never end.
constexpr uint64_t kMaxExecutedCommands = uint64_t(1) << 20;

/// What data decides of the way: the rounds of loops, or which body of a branch is executed. Of an unrolled program, of
/// the loops and branches that are on its way; then its timeline is that of an assumed one, or of a run.
struct DecidedByData {
  bool loops = false, branches = false;
};
DecidedByData decidedByData(const exe::Executable &exe);

/// One way through a program.
struct Path {
  /// What the k-th `register_load` in the text of each program finds: the largest integer, or 0. Behind the end: `others`.
  std::vector<bool> loads;
  bool others = true;
  /// Rounds of loops that data decides: one without a way back, several with it.
  uint32_t dataRounds = 1;
  /// Rounds of loops that meet at a barrier in each round. Such a round knows nothing of those before it but device
  /// memory, so that whoever proves something has seen all of them after two.
  uint32_t barrierRounds = UINT32_MAX;
  uint64_t maxCommands = kMaxExecutedCommands;
  /// What the `register_load`s of each program found in a run, in the order of their execution: the path is the run's, and
  /// nothing above but `maxCommands` counts. Empty: no run.
  std::vector<std::vector<int32_t>> found;
};

/// `exe` with each program replaced by the commands that its queue executes on `path`, in their order; branches and loops
/// stay where they are executed, as instructions that only take time. Programs without control flow stay as they are. The
/// recorded data flow numbers the commands of `exe`: with loops it is dropped.
absl::StatusOr<exe::Executable> unroll(const exe::Executable &exe, const Path &path = {});

} // namespace trn::rt
