//===- Check.h - the static checker of executables -------------------------===//
//
// Owns the proof that an executable means one thing: no deadlock, no ambiguous count, no race on SBUF, PSUM or HBM,
// no read of bytes that nothing wrote, nothing out of bounds, the right activation table loaded. It judges by the
// guaranteed order (Order.h), so a program passes only if every run that the machine allows gives the same result.
// The compiler's last verification, the loader's `--check` and the fault planter call it. It never executes data.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/check/Order.h"
#include "runtime/check/Shadow.h"
#include <string>
#include <vector>

namespace trn::rt {

enum class FindingKind : uint8_t {
  Deadlock,
  AmbiguousCount,
  BadUpdate,
  SharedRing,
  ReadAfterWrite,  ///< a read that no wait orders behind the write of its data
  WriteAfterRead,  ///< a write that no wait orders behind a read of what it replaces
  WriteAfterWrite, ///< two writes of the same bytes in no order
  UnsetRead,       ///< a read of bytes that nothing has written
  UnsetOutput,     ///< an output that is not written whole
  OutOfBounds,
  ReadOnlyWrite,   ///< a write to an input or a weight
  WrongAccumulate, ///< a matmul adds to PSUM that no matmul wrote
  SelfOverlap,     ///< an instruction writes over what it still reads, other than element by element in place
  WrongTable,      ///< an activation whose table set is not loaded
  WrongStationary, ///< a matmul without a load of its weights after one with others
  IllegalInstruction,
  WrongFlow, ///< a read gets its data from another command than expected
  LeftoverSemaphore,
  OverBarrier, ///< a transfer that may still run when the queues meet at a barrier
  Unsupported,
};
const char *name(FindingKind kind);

/// One finding. `other` is the command at the far side of a conflict, if there is one.
struct Finding {
  FindingKind kind;
  bool isError = true;
  CommandId command = kNoCommand;
  CommandId other = kNoCommand;
  std::string message;
};

using exe::DataFlow;
using exe::FlowEdge;

struct CheckOptions {
  /// Validate every instruction by its record as well (the loader has done so already).
  bool legality = true;
  /// Record `CheckReport::flow`.
  bool recordFlow = false;
  /// Compare with this flow and report every read whose source differs; null: with the executable's own, if it has one.
  const DataFlow *expectedFlow = nullptr;
  /// Operands in SBUF and PSUM name their buffer in AP::buffer, and buffers share no memory whatever their addresses
  /// are: what the program means before allocation.
  bool buffersApart = false;
  /// Stop describing findings after this many; all are counted.
  unsigned maxFindings = 64;
};

struct CheckReport {
  std::vector<Finding> findings;
  uint64_t errors = 0; ///< all of them, also those beyond `maxFindings`
  uint64_t notes = 0;
  uint64_t commands = 0;
  uint64_t accesses = 0; ///< operand accesses that were checked
  DataFlow flow;

  bool ok() const { return errors == 0; }
  /// One line per finding.
  std::string str() const;
};

/// Loops are unrolled: then findings number commands as they are executed (`unroll`), and their texts say where each
/// stands. Where data decides, each command is looked at on some way that reaches it, and with every single decision of
/// that way made otherwise, and device memory is proved to be written before it is read on all ways, those that no one looked at
/// included (Stretches.h). The report is that of the first way with an error, or of the longest.
CheckReport check(const exe::Executable &exe, const CheckOptions &options = {});

} // namespace trn::rt
