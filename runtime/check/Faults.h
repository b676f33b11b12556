//===- Faults.h - planting faults to measure the checker -------------------===//
//
// Owns the question "would the checker notice?". It takes a correct executable, breaks it in one place at a time (drops
// a wait, moves a buffer onto a live one, removes a load), runs the checker and sorts the outcomes. A fault that goes
// unnoticed must be shown to be harmless by a proof that does not share the checker's memory model: every pair of
// conflicting accesses, found by comparing all commands with all, is still ordered, and every read still has the same
// sources. What is neither noticed nor harmless is a hole in the checker.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "runtime/check/Check.h"
#include <string>
#include <vector>

namespace trn::rt {

enum class FaultKind : uint8_t { DropWait, MoveBuffer, RemoveLoad };
constexpr unsigned kFaultKinds = 3;
const char *name(FaultKind kind);

/// One way to break a program.
struct Fault {
  FaultKind kind;
  CommandId command = kNoCommand; ///< DropWait, RemoveLoad; MoveBuffer: the first writer of the buffer
  std::vector<Access> accesses;   ///< MoveBuffer: the operands that name the buffer
  int64_t move = 0;               ///< MoveBuffer: bytes added to their addresses
  std::string description;
};

struct FaultCounts {
  unsigned planted = 0;
  unsigned caught = 0;       ///< the plain check reports an error
  unsigned caughtByFlow = 0; ///< only the comparison with the expected data flow does
  unsigned harmless = 0;     ///< proved: the program still means the same
  unsigned missed = 0;
};

/// What became of one planted fault.
enum class Outcome : uint8_t { Caught, CaughtByFlow, Harmless, Missed };
const char *name(Outcome outcome);

struct PlantedFault {
  FaultKind kind;
  Outcome outcome;
  std::string description;
  std::string finding; ///< the checker's first error, which names what is wrong; empty when there is none
};

struct FaultReport {
  FaultCounts counts[kFaultKinds];
  std::vector<PlantedFault> faults; ///< in the order in which they were planted

  void add(PlantedFault fault);
  FaultCounts total() const;
  std::string str() const;
};

struct FaultOptions {
  /// Plant every n-th fault of each kind.
  unsigned every = 1;
};

/// All faults of `exe`, which must pass the check.
std::vector<Fault> enumerateFaults(const exe::Executable &exe);

/// A copy of `exe` with one fault.
exe::Executable plant(const exe::Executable &exe, const Fault &fault);

/// Plants all faults one by one. An `exe` that cannot be unrolled or does not pass the check is an error: of its faults
/// nothing is known.
absl::StatusOr<FaultReport> plantFaults(const exe::Executable &exe, const FaultOptions &options = {});

/// The proof by all pairs: is every pair of accesses that share bytes, one of them a write, ordered in every run?
/// Quadratic; for tests and the planter.
bool allConflictsOrdered(const exe::Executable &exe);

} // namespace trn::rt
