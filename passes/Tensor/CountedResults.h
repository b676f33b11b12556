//===- CountedResults.h - tensors of which the run decides how much is valid ===//
// Owns the way of counts from the operations that make them to the function's results, past the operations whose records
// say how they take such tensors. Refuses others with the node that made the count.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Tensor/OnnxToLinalg/LinalgBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace trn {

class CountedResults {
public:
  /// Looks at an operation of the onnx dialect before it is lowered: which of its results are counted because operands
  /// are. Fails with an error when it does not take them.
  mlir::LogicalResult visit(mlir::Operation *op);
  /// Tells the values that `op` was lowered to, and the counts that it made itself.
  void lowered(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<LinalgBuilder::Count> counts);
  /// Appends to the results of `function` the count of each result that has one. `onnx.count` of such a result is the
  /// number of that result, `onnx.count_dim` the dimension that it counts.
  void addResults(mlir::func::FuncOp function);

private:
  struct Counted {
    int64_t dim;
    mlir::Value count;
    mlir::Location maker;
  };
  std::optional<int64_t> dimOfResult(mlir::Operation *op, llvm::StringRef rule, mlir::OpOperand &operand,
                                     const Counted &counted) const;

  llvm::DenseMap<mlir::Value, Counted> known;
  std::optional<Counted> inherited; ///< of the result of the operation that was visited last
};

} // namespace trn
