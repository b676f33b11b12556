//===- Unroll.h - the commands that queues execute, one after the other ---===//
//
// Owns the unrolling of loops and branches. No data decides them (runtime/executable/Registers.h), so a program with
// control flow means a longer one without; timing, the checker and reports work on that one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "runtime/executable/Executable.h"

namespace trn::rt {

/// Whether some queue branches.
bool hasControlFlow(const exe::Executable &exe);

/// Commands that all queues together may execute: beyond it a program is refused, because it may never end.
constexpr uint64_t kMaxExecutedCommands = uint64_t(1) << 20;

/// `exe` with each program replaced by the commands that its queue executes, in their order; branches and loops stay
/// where they are executed, as instructions that only take time. Programs without control flow stay as they are. The
/// recorded data flow numbers the commands of `exe`: with loops it is dropped.
absl::StatusOr<exe::Executable> unroll(const exe::Executable &exe, uint64_t maxCommands = kMaxExecutedCommands);

} // namespace trn::rt
