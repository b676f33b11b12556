//===- LoopProgram.h - structured operations as programs of library_loops --===//
// Owns the translation of a linalg operation (iterators, indexing maps, body) and of plain movement to a call of the
// library kernel `library_loops`. Refuses, with a reason, maps that are not sums of multiples of iterators, bodies with
// operations that have no row among the scalar functions, and calls of too many operands.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace trn {

/// A box of a row-major tensor: where its first element is, and the step along each of its dimensions.
struct LoopRegion {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// The value of `op`, a structured operation on tensors with one result, by a call of `library_loops`; null with `reason`.
mlir::Value callLoops(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op, std::string &reason);

/// A tensor of `type` that holds `source` along the loops `bounds` where `to` says, and otherwise what `start` holds (null:
/// zeros); null with `reason`.
mlir::Value callCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, mlir::Value start,
                     mlir::Value source, llvm::ArrayRef<int64_t> bounds, const LoopRegion &from, const LoopRegion &to,
                     std::string &reason);

/// A tensor of `type` whose elements are all `value`; null with `reason`.
mlir::Value callFill(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, mlir::TypedAttr value,
                     std::string &reason);

} // namespace trn
