//===- Work.h - the algorithmic work of an executable ------------------------===//
//
// Owns the counting of what a program computes, apart from when: multiply-accumulates, PSUM results, transcendental
// evaluations, other elementwise work, compulsory memory traffic, and the terms of the physical limit that follow from
// them on a device. Knows no timeline.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/executable/Executable.h"
#include <cstdint>
#include <string>

namespace trn::rt {

struct Work {
  uint64_t matmuls = 0;
  uint64_t macs = 0;          ///< of the program's matmuls
  uint64_t weightedMacs = 0;  ///< times the passes of their types: fp32 counts four times
  uint64_t transposeMacs = 0; ///< nc_transpose as the matmul with an identity that it is
  uint64_t peCycles = 0;      ///< intervals of the program's matmuls (no transposes) at full clock
  uint64_t psumElements = 0;  ///< results of matmuls: each accumulation group counts once
  uint64_t transcendentals = 0;
  uint64_t elementwise = 0; ///< elements of other work that does not empty PSUM
  uint64_t modelMacs = 0;   ///< algorithmic: from the build facts, else `macs`
  bool macsFromBuild = false;
  /// Bytes that must cross HBM at least once: of each weight, input and output what the program touches, at most once.
  uint64_t compulsoryBytes = 0;
  uint64_t weightBytes = 0; ///< of the executable

  /// Passes per multiply-accumulate, averaged over the program's matmuls.
  double passes() const { return macs ? static_cast<double>(weightedMacs) / static_cast<double>(macs) : 1; }
};

/// `device` must be that of the executable.
Work countWork(const exe::Executable &exe, const isa::DeviceInfo &device);

/// Seconds that each part of the device needs at least (performance guide §3.1).
struct Limits {
  double pe = 0, hbm = 0, psum = 0, act = 0, dve = 0;
  /// The largest of the terms with `pe` by the program's own tiles and `hbm` by the sustained rate of DMA.
  double practical = 0;
};
Limits limitsOf(const Work &work, const isa::DeviceInfo &device);

} // namespace trn::rt
