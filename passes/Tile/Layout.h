//===- Layout.h - where the elements of a logical tensor lie ---------------===//
// Owns the vocabulary of layouts: which logical dimension is on the partitions, how its extent is split into chunks of
// lanes, and the physical shape that follows. It knows shapes only, no operations. It refuses nothing: whether a
// layout suits an operation is decided by LayoutCandidates, which one is taken by LayoutPlan.
//
// Two forms exist. `Hbm`: the logical tensor in row-major order in device memory, so that every reshape is a view.
// `OnChip`: partition first, `[lanes, chunk?, other dimensions in logical order]`; dimensions of extent 1 have no
// physical dimension. Logical index d of the partition dimension lies in chunk d / lanes, lane d % lanes.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace llvm {
class raw_ostream;
}

namespace trn {

/// Partitions of SBUF and PSUM, on every device of the family (Devices.td: `partitions`).
inline constexpr int64_t kPartitions = 128;

/// How the extent of a dimension is spread over partitions.
struct PartitionSplit {
  int64_t extent = 1;
  int64_t lanes = 1;
  int64_t chunks = 1;

  /// Lanes in use in the last chunk.
  int64_t lastLanes() const { return extent - (chunks - 1) * lanes; }
  bool isRagged() const { return lastLanes() != lanes; }
  bool operator==(const PartitionSplit &other) const {
    return extent == other.extent && lanes == other.lanes && chunks == other.chunks;
  }
};

/// Splits `extent` over the partitions: exactly when some divisor of at least half the partitions exists, else into the
/// fewest chunks, of which the last has fewer lanes.
PartitionSplit splitOverPartitions(int64_t extent);

/// The layout of one logical tensor.
struct Layout {
  enum class Form : uint8_t { Hbm, OnChip };
  static constexpr int64_t kOneLane = -1;

  Form form = Form::Hbm;
  /// OnChip: the logical dimension on the partitions, or `kOneLane` when the whole tensor lies in one lane.
  int64_t dim = kOneLane;

  static Layout hbm() { return {}; }
  static Layout onChip(int64_t dim) { return {Form::OnChip, dim}; }
  /// On chip with `dim` on the partitions, or in one lane when that dimension has one element.
  static Layout onChip(llvm::ArrayRef<int64_t> shape, int64_t dim) {
    return onChip(dim == kOneLane || shape[dim] == 1 ? kOneLane : dim);
  }
  bool isHbm() const { return form == Form::Hbm; }
  bool isOnChip() const { return form == Form::OnChip; }
  bool isOneLane() const { return isOnChip() && dim == kOneLane; }
  bool operator==(const Layout &other) const { return form == other.form && (isHbm() || dim == other.dim); }
  bool operator!=(const Layout &other) const { return !(*this == other); }
  void print(llvm::raw_ostream &os) const;
};

/// One physical dimension of a laid-out tensor.
struct PhysicalDim {
  enum class Role : uint8_t { Lane, Chunk, Free };
  Role role;
  /// The logical dimension it belongs to; `Layout::kOneLane` for the lane of a one-lane tensor.
  int64_t logical;
  int64_t extent;
};

/// The physical dimensions of a tensor of logical `shape` in `layout`. In HBM: the logical ones, all `Free`.
llvm::SmallVector<PhysicalDim> physicalDims(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// The extents of `physicalDims`.
llvm::SmallVector<int64_t> physicalShape(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// Elements that one partition holds.
int64_t elementsPerLane(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// Bytes of one element in memory (i1 takes a byte).
int64_t storedBytes(mlir::Type elementType);

/// The logical dimension on partitions split by `layout`; one lane for a one-lane layout.
PartitionSplit partitionSplit(llvm::ArrayRef<int64_t> shape, const Layout &layout);

/// Adjacent lanes of one chunk of a piece and where they lie in the whole.
struct LaneRun {
  int64_t fromChunk, fromLane, toChunk, toLane, lanes;
  /// Whether only DMA can move them: an engine's operands begin at few partitions.
  bool byDma;
};

/// How a piece split like `from` lies in a whole split like `to`, at position `offset` of its partition dimension.
llvm::SmallVector<LaneRun> laneRuns(const PartitionSplit &from, int64_t offset, const PartitionSplit &to);

} // namespace trn
