//===- LayoutCost.h - what a layout costs, in nanoseconds ------------------===//
// Owns the closed-form costs by which layouts are compared. They rank alternatives; they are not the device's timing
// (runtime/timing is). Each formula states its source in the design's device notes.
#pragma once
#include "passes/Tile/Layout.h"
#include <optional>

namespace trn {

/// Machine constants that the choice of layouts depends on.
struct LayoutCosts {
  double vectorCycle = 1.0 / 0.96;    ///< DVE, one element per partition and cycle
  double scalarCycle = 1.0 / 1.4;     ///< ACT, which drains PSUM
  double tensorCycle = 1.0 / 2.8;     ///< PE, one moving column per cycle
  double minimumCycles = 64;          ///< shortest issue interval of any compute instruction
  double movingColumns = 512;         ///< fp32 columns of one PSUM bank
  double dmaBytesPerNanosecond = 272; ///< sustained, 16 engines
  double dmaFixed = 2000;             ///< first byte to completion of a small transfer
  double dmaRunBytes = 512;           ///< contiguous bytes below which a descriptor costs as much as this many
  double sbufBytes = 180224;          ///< usable bytes of one SBUF partition

  /// PE passes that a matmul needs for operands of `elementType`.
  double tensorPasses(mlir::Type elementType) const;
  /// Instructions on DVE/ACT over `elements` per partition, `operations` of them.
  double vector(double elements, double operations = 1) const;
  /// A contraction of `passes` stationary tiles, each with `columns` moving columns, draining `drained` elements per
  /// partition.
  double contraction(double passes, double columns, double drained, mlir::Type elementType) const;
  /// A transfer of `bytes` in contiguous runs of `run` bytes.
  double dma(double bytes, double run) const;
  /// Moves a tensor of `shape` between two layouts in one step: through the PE from partition to partition, by DMA to
  /// or from HBM.
  double move(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, const Layout &from, const Layout &to) const;
  /// The layout to pass through on the way between two, if that is possible only so or cheaper than one step: a DMA
  /// that would pick single elements goes to the outermost dimension instead, and PE does the rest.
  std::optional<Layout> waypoint(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, const Layout &from,
                                 const Layout &to) const;
  /// The cost of moving on the cheapest way.
  double convert(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, const Layout &from, const Layout &to) const;
};

} // namespace trn
