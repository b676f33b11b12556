//===- Layout.cpp - where the elements of a logical tensor lie -------------===//
// Implements Layout.h: the divisor rule and physical shapes.
#include "passes/Tile/Layout.h"
#include "dialects/Trn/ISA/Partitions.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {

PartitionSplit splitOverPartitions(int64_t extent) {
  if (extent <= kPartitions)
    return {extent, extent, 1};
  // At least half of the lanes: below that the chunks an exact split adds cost more than one peeled remainder.
  for (int64_t lanes = kPartitions; lanes * 2 >= kPartitions; --lanes)
    if (extent % lanes == 0)
      return {extent, lanes, extent / lanes};
  // As few chunks as possible, about equal: a remainder of few lanes would take instructions for little work.
  int64_t chunks = (extent + kPartitions - 1) / kPartitions;
  return {extent, (extent + chunks - 1) / chunks, chunks};
}

/// Lanes, of `lanes` in a row, that one instruction of an engine can move from lane `from` to lane `to`; 0 if none.
static int64_t lanesOfInstruction(int64_t from, int64_t to, int64_t lanes) {
  for (int64_t count : {lanes, int64_t(64), int64_t(32)}) {
    int64_t step = isa::startPartitionStep(count);
    if (count <= lanes && from % step == 0 && to % step == 0)
      return count;
  }
  return 0;
}

SmallVector<LaneRun> laneRuns(const PartitionSplit &from, int64_t offset, const PartitionSplit &to) {
  SmallVector<LaneRun> runs;
  for (int64_t chunk = 0; chunk < from.chunks; ++chunk)
    for (int64_t lane = 0, end = chunk + 1 == from.chunks ? from.lastLanes() : from.lanes; lane < end;) {
      int64_t position = offset + chunk * from.lanes + lane;
      LaneRun run{chunk, lane, position / to.lanes, position % to.lanes, 0, false};
      int64_t room = std::min(end - lane, to.lanes - run.toLane);
      run.lanes = lanesOfInstruction(run.fromLane, run.toLane, room);
      run.byDma = run.lanes == 0;
      if (run.byDma)
        run.lanes = room;
      runs.push_back(run);
      lane += run.lanes;
    }
  return runs;
}

void Layout::print(llvm::raw_ostream &os) const {
  if (isHbm())
    os << "hbm";
  else if (isOneLane())
    os << "one lane";
  else
    os << "dim " << dim;
}

PartitionSplit partitionSplit(ArrayRef<int64_t> shape, const Layout &layout) {
  assert(layout.isOnChip() && "only tensors on chip have partitions");
  return layout.isOneLane() ? PartitionSplit() : splitOverPartitions(shape[layout.dim]);
}

SmallVector<PhysicalDim> physicalDims(ArrayRef<int64_t> shape, const Layout &layout) {
  using Role = PhysicalDim::Role;
  SmallVector<PhysicalDim> dims;
  if (layout.isOnChip()) {
    PartitionSplit split = partitionSplit(shape, layout);
    dims.push_back({Role::Lane, layout.dim, split.lanes});
    if (split.chunks > 1)
      dims.push_back({Role::Chunk, layout.dim, split.chunks});
  }
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (layout.isHbm() || (extent != 1 && static_cast<int64_t>(dim) != layout.dim))
      dims.push_back({Role::Free, static_cast<int64_t>(dim), extent});
  return dims;
}

SmallVector<int64_t> physicalShape(ArrayRef<int64_t> shape, const Layout &layout) {
  return llvm::map_to_vector(physicalDims(shape, layout), [](const PhysicalDim &dim) { return dim.extent; });
}

int64_t elementsPerLane(ArrayRef<int64_t> shape, const Layout &layout) {
  int64_t elements = 1;
  for (const PhysicalDim &dim : physicalDims(shape, layout))
    if (dim.role != PhysicalDim::Role::Lane)
      elements *= dim.extent;
  return elements;
}

int64_t storedBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

} // namespace trn
