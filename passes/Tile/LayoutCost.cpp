//===- LayoutCost.cpp - what a layout costs, in nanoseconds ----------------===//
// Implements LayoutCost.h.
#include "passes/Tile/LayoutCost.h"
#include "dialects/Trn/TrnDialect.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace trn {

double LayoutCosts::tensorPasses(Type elementType) const {
  // fp32 takes four passes through the array, every narrower type one (device notes, section 11.2).
  return elementType.isF32() ? 4 : 1;
}

double LayoutCosts::vector(double elements, double operations) const {
  return operations * std::max(minimumCycles, elements) * vectorCycle;
}

double LayoutCosts::contraction(double passes, double columns, double drained, Type elementType) const {
  double full = std::floor(columns / movingColumns), rest = columns - full * movingColumns;
  double cycles = full * movingColumns + (rest > 0 ? std::max(minimumCycles, rest) : 0);
  return passes * cycles * tensorPasses(elementType) * tensorCycle + std::max(minimumCycles, drained) * scalarCycle;
}

double LayoutCosts::dma(double bytes, double run) const {
  return dmaFixed + bytes * std::max(1.0, dmaRunBytes / std::max(run, 1.0)) / dmaBytesPerNanosecond;
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
  if (from.isHbm() || to.isHbm())
    return dma(elements * storedBytes(elementType),
               contiguousElements(shape, from.isHbm() ? to : from) * storedBytes(elementType));
  if (from.isOneLane() || to.isOneLane() || !passesThroughPE(elementType))
    return std::numeric_limits<double>::infinity();
  PartitionSplit source = partitionSplit(shape, from), target = partitionSplit(shape, to);
  double blocks = elements / (static_cast<double>(source.extent) * target.extent) * source.chunks * target.chunks;
  return contraction(blocks, source.lanes, blocks * source.lanes, elementType);
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
