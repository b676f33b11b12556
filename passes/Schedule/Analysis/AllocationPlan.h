//===- AllocationPlan.h - where each buffer lies --------------------------===//
//
// Owns the choice of addresses for on-chip buffers whose lifetimes are intervals of modelled time: SBUF byte ranges
// (the same in every partition) and PSUM banks. It refuses to change lifetimes; a set that does not fit is reported.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/SchedulePlan.h"

namespace trn {

/// A buffer's life: [begin, end) in modelled time.
struct Interval {
  uint64_t bytes = 0;
  Ticks begin = 0, end = 0;
};

struct Placement {
  std::vector<uint64_t> addresses;
  uint64_t peak = 0;
  /// Intervals that found no place under the capacity.
  std::vector<uint32_t> failed;
  /// The order of placement that won, for the plan's text.
  const char *strategy = "";
};

/// Places byte ranges: best fit, the largest first; other orders, then repairs, when that exceeds the capacity. Very many
/// ranges are placed in the order of time first, which is cheaper.
Placement placeRanges(llvm::ArrayRef<Interval> intervals, uint64_t capacity, uint64_t alignment);
/// Places runs of banks in the order of time, each on the banks released longest ago. Addresses are bank numbers and
/// `Interval::bytes` counts banks.
Placement placeBanks(llvm::ArrayRef<Interval> intervals, unsigned banks);

struct AllocationPlan {
  /// By buffer of the flat program; bytes inside a partition. HBM buffers stay at 0.
  std::vector<uint64_t> addresses;
  std::vector<Interval> lives;
  uint64_t sbufPeak = 0;
  unsigned sbufBuffers = 0, psumBuffers = 0;
  std::vector<uint32_t> failed;
  const char *strategy = "";

  bool ok() const { return failed.empty(); }
  void print(llvm::raw_ostream &os) const;
};

/// `scheduled`: engine, issue and completion of each instruction of `program`.
AllocationPlan computeAllocation(const FlatProgram &program, llvm::ArrayRef<ScheduledInstruction> scheduled,
                                 const Resources &resources);

} // namespace trn
