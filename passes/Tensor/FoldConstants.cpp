//===- FoldConstants.cpp - compute what depends on weights only -----------===//
// Owns the choice of what is computed now; the values are the reference evaluator's.
#include "compiler/Reference/Evaluator.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace trn {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

/// What the layout does to a weight while its bytes are written.
static bool isLazyOnWeights(Operation *op) {
  return llvm::isa<linalg::TransposeOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

/// Takes fields out of integers. All fields of a large weight take more memory than it: packed weights stay packed.
static bool takesFields(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && llvm::any_of(*structured.getBlock(), [](Operation &inner) {
           return llvm::isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(inner) &&
                  !inner.getResult(0).getType().isInteger(1);
         });
}

namespace {
class FoldConstants : public impl::FoldConstantsPassBase<FoldConstants> {
  using FoldConstantsPassBase::FoldConstantsPassBase;

  void runOnOperation() override {
    known.clear();
    SmallVector<Operation *> folded;
    for (Operation &op : getOperation().getBody().front().without_terminator())
      if (evaluate(&op))
        folded.push_back(&op);
    DenseSet<Operation *> gone(folded.begin(), folded.end());
    for (Operation *op : folded)
      materialize(op, gone);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (op.use_empty() && (gone.contains(&op) || llvm::isa<onnx::WeightOp>(op)))
        op.erase();
  }

  /// Computes an operation whose operands are known; false if it is not to be computed.
  bool evaluate(Operation *op) {
    if (op->getNumResults() != 1 || !llvm::isa<RankedTensorType>(op->getResult(0).getType()))
      return false;
    if (auto weight = dyn_cast<onnx::WeightOp>(op)) {
      remember(op, Tensor::view(weight.getValue()));
      return false; // Known, but it stays.
    }
    if (llvm::isa<tensor::EmptyOp>(op)) {
      remember(op, evaluateOp(op, {}));
      return false;
    }
    if (!llvm::isa<linalg::LinalgOp>(op) && !llvm::isa<tensor::TensorDialect>(op->getDialect()))
      return false;
    SmallVector<Tensor> operands;
    int64_t largest = 0;
    bool onlySplats = true;
    for (Value operand : op->getOperands()) {
      if (!llvm::isa<ShapedType>(operand.getType()))
        continue;
      auto value = known.find(operand);
      if (value == known.end())
        return false;
      operands.push_back(value->second);
      if (value->second.isSplat())
        continue;
      onlySplats = false;
      largest = std::max(largest, value->second.elements());
    }
    int64_t elements = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
    // A fill, a reshape and a map of splats take no memory, whatever their size.
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isUniform = structured && onlySplats && !structured.hasIndexSemantics() &&
                     structured.getNumParallelLoops() == structured.getNumLoops();
    bool isFree = isUniform || reshapedWeight(op);
    if (!isFree && elements > maxElements && (isLazyOnWeights(op) || elements > largest))
      return false;
    if (elements > maxElements / 16 && takesFields(op)) // pieces of a packed weight are smaller than it
      return false;
    FailureOr<SmallVector<Tensor>> results = evaluateOp(op, operands);
    if (failed(results))
      return false;
    known[op->getResult(0)] = results->front();
    // Fills are constants already, and what destinations are made of: they stay.
    return !llvm::isa<linalg::FillOp>(op);
  }

  /// The weight that an operation only reshapes, through any number of reshapes; null if it does more.
  static onnx::WeightOp reshapedWeight(Operation *op) {
    while (llvm::isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return dyn_cast_if_present<onnx::WeightOp>(op);
  }

  void remember(Operation *op, FailureOr<Tensor> value) {
    if (succeeded(value))
      known[op->getResult(0)] = *value;
  }
  void remember(Operation *op, FailureOr<SmallVector<Tensor>> values) {
    if (succeeded(values))
      known[op->getResult(0)] = values->front();
  }

  /// Replaces a computed operation by a weight where something reads it that was not computed itself.
  void materialize(Operation *op, const DenseSet<Operation *> &gone) {
    Value result = op->getResult(0);
    if (llvm::all_of(result.getUsers(), [&](Operation *user) { return gone.contains(user); }))
      return;
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(result.getType());
    ElementsAttr value;
    if (onnx::WeightOp weight = reshapedWeight(op))
      value = reshapeConstant(weight.getValue(), type.getShape());
    else
      value = constantOf(type, known[result]);
    result.replaceAllUsesWith(onnx::WeightOp::create(builder, op->getLoc(), value));
  }

  DenseMap<Value, Tensor> known;
};
} // namespace
} // namespace trn
