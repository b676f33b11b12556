//===- SplitDestinations.cpp - a destination of its own for every use ------===//
// Owns the rule "every destination is used once": equal empties and fills that CSE merged are cloned per use, beside the
// use; allocations, which CSE could not merge, become empties. Refuses to touch arguments.
#include "passes/Tile/SchedulePasses.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SPLITDESTINATIONSPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {

/// True for a fill of a fresh tensor: its value may be recomputed anywhere.
bool isFreshFill(linalg::FillOp fill) {
  return fill.hasPureTensorSemantics() && fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
}

/// Clones `op` before every user; then `op` is dead.
void cloneToUsers(RewriterBase &rewriter, Operation *op) {
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    rewriter.setInsertionPoint(use.getOwner());
    Operation *clone = rewriter.clone(*op);
    rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(clone->getResult(0)); });
  }
  rewriter.eraseOp(op);
}

struct SplitDestinationsPass : impl::SplitDestinationsPassBase<SplitDestinationsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> fills, empties;
    getOperation().walk([&](bufferization::AllocTensorOp fresh) {
      rewriter.setInsertionPoint(fresh);
      RankedTensorType type = fresh.getType();
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(fresh, type.getShape(), type.getElementType(), type.getEncoding());
    });
    getOperation().walk([&](linalg::FillOp fill) {
      if (isFreshFill(fill))
        fills.push_back(fill);
    });
    for (Operation *fill : fills)
      cloneToUsers(rewriter, fill);
    getOperation().walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
    for (Operation *empty : empties)
      cloneToUsers(rewriter, empty);
  }
};
} // namespace
} // namespace trn
