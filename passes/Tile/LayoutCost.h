//===- LayoutCost.h - what a layout costs, in nanoseconds ------------------===//
// Owns the closed-form costs by which layouts are compared. They rank alternatives; they are not the device's timing
// (runtime/timing is). Every machine constant comes from the target's record (Devices.td).
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "passes/Tile/Layout.h"
#include <optional>

namespace trn {

/// Machine constants that the choice of layouts depends on.
struct LayoutCosts {
  explicit LayoutCosts(const isa::DeviceInfo &device);

  double vectorCycle;          ///< DVE, one element per partition and cycle
  double scalarCycle;          ///< ACT, which drains PSUM
  double tensorCycle;          ///< PE, one moving column per cycle
  double minimumCycles;        ///< shortest issue interval of any compute instruction
  double movingColumns;        ///< fp32 columns of one PSUM bank
  double widePasses;           ///< of an fp32 matmul
  double wideTransposePasses;  ///< of an fp32 transpose
  double copyRate, wideCopyRate; ///< elements that DVE copies in SBUF per cycle, of 16 and of 32 bits
  double dmaEngineRate;        ///< bytes per nanosecond of one DMA engine
  double dmaEngines;
  double hbmRate;              ///< bytes per nanosecond
  double dmaLanesPerEngine;    ///< partitions that one DMA engine serves
  double dmaIssue;             ///< the issuing queue is busy with one transfer
  double dmaFixed;             ///< trigger to completion of a small transfer
  double dmaPacketBytes;       ///< longest run that moves as one packet
  double dmaRunBytes;          ///< what could have moved in the fixed time of a packet

  /// PE passes that a matmul needs for operands of `elementType`.
  double tensorPasses(mlir::Type elementType) const;
  /// Instructions on DVE/ACT over `elements` per partition, `operations` of them.
  double vector(double elements, double operations = 1) const;
  /// Copying `elements` per partition from SBUF to SBUF.
  double copy(double elements, mlir::Type elementType) const;
  /// PE time of `passes` stationary tiles, each with `columns` moving columns.
  double product(double passes, double columns, mlir::Type elementType) const;
  /// Emptying PSUM of `elements` per partition.
  double drain(double elements) const;
  /// A transfer of `bytes` in contiguous runs of `run` bytes, spread over `lanes` partitions.
  double dma(double bytes, double run, double lanes = kPartitions) const;
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
