//===- Bands.h - a region of operations, computed band by band -------------===//
// Owns the rewrite behind tile-split-planes: which elements of its operands an operation needs for a part of its result,
// and the region's operations repeated for each band of its outputs. It decides nothing: the region, the dimension of
// each output and the number of bands are the caller's. What it cannot cut it refuses, and leaves the IR as it was.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace trn {

/// A part of a tensor: per dimension where it begins and how many elements it has.
struct Box {
  llvm::SmallVector<int64_t> offsets, sizes;

  static Box all(llvm::ArrayRef<int64_t> shape);
  int64_t end(unsigned dim) const { return offsets[dim] + sizes[dim]; }
  bool covers(llvm::ArrayRef<int64_t> shape) const;
  bool operator==(const Box &other) const { return offsets == other.offsets && sizes == other.sizes; }
  /// Grows to contain `other`.
  void join(const Box &other);
};

/// Whether `op` can be computed for a part of its result at all: structured operations, pads by a constant,
/// concatenations, reshapes and slices.
bool canBeCut(mlir::Operation *op);

/// The dimension of operand `index` of `op` along which lies what dimension `dim` of its result is made of; nothing if the
/// operand is needed whole.
std::optional<int64_t> operandDim(mlir::Operation *op, unsigned index, int64_t dim);

/// The dimension of the result of `op` that dimension `dim` of operand `index` becomes, if it becomes one.
std::optional<int64_t> resultDim(mlir::Operation *op, unsigned index, int64_t dim);

/// Operations of one block that are computed band by band, and per value that leaves them the dimension that is cut.
struct BandedRegion {
  llvm::SetVector<mlir::Operation *> operations; ///< in the order of the block
  llvm::MapVector<mlir::Value, int64_t> outputs;
};

/// Replaces the operations of `region` by those of `bands` bands: each has the rows of its outputs, and of the other
/// values what these need, so that rows at the border of two bands are computed in both. Concatenations put the
/// outputs together.
mlir::LogicalResult computeByBands(const BandedRegion &region, int64_t bands, mlir::IRRewriter &rewriter);

} // namespace trn
