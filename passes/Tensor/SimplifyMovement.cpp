//===- SimplifyMovement.cpp - fewer reshapes, transposes, slices ----------===//
// Owns the choice of which reshapes move; the rewrites are upstream's. A reshape that only adds dimensions of extent 1
// moves behind the map that reads it, until it meets its opposite or an operation that needs it. Transposes stay where
// they are unless they cancel: the layout reads them through indexing maps.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Tensor/Passes.h"

namespace trn {
#define GEN_PASS_DEF_SIMPLIFYMOVEMENTPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

/// True if every group of dimensions has at most one that is not 1, so that nothing but unit dimensions appear.
static bool addsUnitDimsOnly(tensor::ExpandShapeOp op) {
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    unsigned real = 0;
    for (int64_t dim : group)
      real += op.getResultType().getDimSize(dim) != 1;
    if (real > 1)
      return false;
  }
  return true;
}

static bool isMap(Operation *op) {
  auto structured = dyn_cast<linalg::GenericOp>(op);
  return structured && structured.getNumParallelLoops() == structured.getNumLoops();
}

namespace {
class SimplifyMovement : public impl::SimplifyMovementPassBase<SimplifyMovement> {
  void runOnOperation() override {
    auto moves = [](OpOperand *operand) {
      auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
      return expand && expand->hasOneUse() && addsUnitDimsOnly(expand) && isMap(operand->getOwner());
    };
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, moves);
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      if (llvm::isa<tensor::TensorDialect>(op.getDialect()) ||
          op.getStringRef() == linalg::TransposeOp::getOperationName())
        op.getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace trn
