//===- LayoutCost.cpp - what a layout costs, in nanoseconds ----------------===//
// Implements LayoutCost.h.
#include "passes/Tile/LayoutCost.h"
#include "dialects/Trn/TrnDialect.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace trn {

LayoutCosts::LayoutCosts(const isa::DeviceInfo &device) {
  auto cycle = [](int64_t hertz) { return 1e9 / static_cast<double>(hertz); };
  vectorCycle = cycle(device.dveHz);
  scalarCycle = cycle(device.actHz);
  tensorCycle = cycle(device.peHz);
  minimumCycles = device.minInterval;
  movingColumns = std::min(device.matmulMovingMax, device.psumBankBytes / 4);
  widePasses = 4; // ISA26 nc_matmul: fp32 takes four times as long, on every device
  wideTransposePasses = device.fp32TransposePasses;
  copyRate = device.dvePerformanceModes ? 4 : 1; // A3: 16-bit elements with unit stride
  wideCopyRate = device.dvePerformanceModes ? device.dveFp32CopyRate : 1;
  dmaEngineRate = device.dmaSustainedBytesPerUs / 1e3;
  dmaEngines = device.dmaEngines;
  hbmRate = device.hbmBytesPerUs / 1e3;
  dmaLanesPerEngine = device.dmaPartitionsPerEngine;
  dmaIssue = device.dmaIssueNs;
  dmaFixed = device.dmaIssueNs + device.dmaStartNs + device.dmaCompletionNs;
  dmaPacketBytes = device.dmaPacketBytes;
  dmaRunBytes = device.dmaPacketStartPs / 1e3 * dmaEngineRate;
}

double LayoutCosts::tensorPasses(Type elementType) const { return elementType.isF32() ? widePasses : 1; }

double LayoutCosts::vector(double elements, double operations) const {
  return operations * std::max(minimumCycles, elements) * vectorCycle;
}

double LayoutCosts::copy(double elements, Type elementType) const {
  double rate = storedBytes(elementType) == 2 ? copyRate : elementType.isF32() ? wideCopyRate : 1;
  return std::max(minimumCycles, elements / rate) * vectorCycle;
}

/// Cycles of `columns` moving columns, in instructions of at most one PSUM bank.
static double columnCycles(const LayoutCosts &costs, double columns) {
  double full = std::floor(columns / costs.movingColumns), rest = columns - full * costs.movingColumns;
  return full * costs.movingColumns + (rest > 0 ? std::max(costs.minimumCycles, rest) : 0);
}

double LayoutCosts::product(double passes, double columns, Type elementType) const {
  return passes * columnCycles(*this, columns) * tensorPasses(elementType) * tensorCycle;
}

double LayoutCosts::drain(double elements) const { return std::max(minimumCycles, elements) * scalarCycle; }

double LayoutCosts::dma(double bytes, double run, double lanes) const {
  double engines = std::min(dmaEngines, std::ceil(std::max(1.0, lanes) / dmaLanesPerEngine));
  double packet = std::min(std::max(run, 1.0), dmaPacketBytes);
  return dmaFixed + bytes * std::max(1 / hbmRate, (1 + dmaRunBytes / packet) / (engines * dmaEngineRate));
}

/// Contiguous elements when `layout` is read or written from row-major HBM: the dimensions behind the partition's.
static double contiguousElements(ArrayRef<int64_t> shape, const Layout &layout) {
  double run = 1;
  for (int64_t dim = shape.size() - 1; dim > layout.dim; --dim)
    run *= shape[dim];
  return run;
}

/// Whether PE can transpose elements of the type.
static bool passesThroughPE(Type elementType) {
  std::optional<isa::DType> dtype = ir::dtypeOf(elementType);
  return dtype && llvm::all_of(isa::info(isa::NcTranspose::kOpcode).operands, [&](const isa::OperandInfo &operand) {
           return operand.dtypes & isa::maskOf(*dtype);
         });
}

double LayoutCosts::move(ArrayRef<int64_t> shape, Type elementType, const Layout &from, const Layout &to) const {
  if (from == to)
    return 0;
  double elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  if (from.isHbm() || to.isHbm()) {
    const Layout &onChip = from.isHbm() ? to : from;
    double lanes = onChip.isOnChip() ? partitionSplit(shape, onChip).lanes : kPartitions;
    return dma(elements * storedBytes(elementType), contiguousElements(shape, onChip) * storedBytes(elementType), lanes);
  }
  if (from.isOneLane() || to.isOneLane() || !passesThroughPE(elementType))
    return std::numeric_limits<double>::infinity();
  PartitionSplit source = partitionSplit(shape, from), target = partitionSplit(shape, to);
  double blocks = elements / (static_cast<double>(source.extent) * target.extent) * source.chunks * target.chunks;
  return product(blocks, source.lanes, elementType) * (elementType.isF32() ? wideTransposePasses / widePasses : 1) +
         drain(blocks * source.lanes);
}

std::optional<Layout> LayoutCosts::waypoint(ArrayRef<int64_t> shape, Type elementType, const Layout &from,
                                            const Layout &to) const {
  if (from == to)
    return std::nullopt;
  double best = move(shape, elementType, from, to);
  std::optional<Layout> waypoint;
  auto consider = [&](const Layout &layout) {
    if (layout == from || layout == to)
      return;
    double cost = move(shape, elementType, from, layout) + move(shape, elementType, layout, to);
    if (cost < best) {
      best = cost;
      waypoint = layout;
    }
  };
  if (from.isOnChip() && to.isOnChip())
    consider(Layout::hbm());
  else
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] > 1)
        consider(Layout::onChip(dim));
  return waypoint;
}

double LayoutCosts::convert(ArrayRef<int64_t> shape, Type elementType, const Layout &from, const Layout &to) const {
  if (std::optional<Layout> middle = waypoint(shape, elementType, from, to))
    return move(shape, elementType, from, *middle) + move(shape, elementType, *middle, to);
  return move(shape, elementType, from, to);
}

} // namespace trn
