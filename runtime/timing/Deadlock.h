//===- Deadlock.h - explaining programs that stand still -------------------===//
//
// Owns the text that says why no engine can go on: the cycle of waits, or the count that nobody will ever reach, with
// the ONNX nodes on both sides. The timing simulation and the checker find standstills; both explain them here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/types/span.h"
#include "runtime/timing/Commands.h"

namespace trn::rt {

/// A standstill: `next[p]` is the command at which program p waits (its size when it has ended), `semaphores` the
/// values that were reached.
struct Standstill {
  absl::Span<const uint32_t> next;
  absl::Span<const int64_t> semaphores;
};

struct StandstillReport {
  std::string message;
  std::vector<CommandId> cycle; ///< the waiting commands of the cycle, or the one whose count is out of reach
};

StandstillReport explainStandstill(const Commands &commands, const Standstill &state);

} // namespace trn::rt
