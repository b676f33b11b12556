//===- IntegerRanges.h - what the integers of a model can be --------------===//
// Owns the analysis of stage `tensor` that bounds the integers of a function: of each scalar, and of the elements of each
// tensor, by interval arithmetic. Scalars are MLIR's (InferIntRangeInterface); this adds tensors, structured operations
// with their reductions, movement and library kernels. It starts from constants, element types, positions of iterators and
// what an argument's `onnx.range` says. Never changes the function.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace trn {

class IntegerRanges {
public:
  explicit IntegerRanges(mlir::func::FuncOp function);

  /// The range of an integer scalar or of the elements of a tensor of integers; that of the type when nothing is known.
  mlir::ConstantIntRanges of(mlir::Value value) const;
  /// Makes `range` what is known of a value that was made after the analysis.
  void set(mlir::Value value, mlir::ConstantIntRanges range) { ranges.insert_or_assign(value, std::move(range)); }
  /// The range of what a reduction has accumulated once it has taken an element in: what it starts with is gone.
  mlir::ConstantIntRanges accumulated(mlir::BlockArgument accumulator) const;

  /// Computes the ranges in the body of a structured operation, and of its results.
  void infer(mlir::linalg::LinalgOp op);

private:
  void infer(mlir::Operation *op);
  void inferScalar(mlir::Operation *op);
  void inferJoin(mlir::Operation *op, mlir::ValueRange parts);
  void inferBody(mlir::linalg::LinalgOp op);

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> steady; ///< of accumulators
};

/// Whether 32 bits have all numbers of a range, as signed or as unsigned ones.
bool fitsSigned32(const mlir::ConstantIntRanges &range);
bool fitsUnsigned32(const mlir::ConstantIntRanges &range);

/// "-5 to 17": the signed bounds, or the unsigned ones of an unsigned type.
std::string rangeText(const mlir::ConstantIntRanges &range, bool isUnsigned);

} // namespace trn
