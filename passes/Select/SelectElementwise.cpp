//===- SelectElementwise.cpp - instructions for maps -------------------------===//
// Owns the loops and operands of elementwise operations; BodySelector covers their bodies.
#include "passes/Select/BodySelector.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Structured.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SELECTELEMENTWISEPASS
#include "passes/Select/Passes.h.inc"

namespace {
struct SelectElementwisePass : impl::SelectElementwisePassBase<SelectElementwisePass> {
  using Base::Base;

  void runOnOperation() override {
    const isa::DeviceInfo *target = isa::device(device);
    if (!target) {
      getOperation().emitError("unknown device '") << device << "'";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> maps;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (classify(op) == StructuredKind::Map)
        maps.push_back(op);
    });
    for (linalg::LinalgOp op : maps)
      if (succeeded(select(op, target->version)))
        op->erase();
  }

  static LogicalResult select(linalg::LinalgOp op, int coreVersion) {
    auto partition = iteratorOfDim(op, op.getDpsInitOperand(0), 0);
    // Loops in the order in which the result lies in memory.
    SmallVector<unsigned> loops;
    for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
      if (auto iterator = dyn_cast<AffineDimExpr>(expr); iterator && iterator.getPosition() != partition)
        loops.push_back(iterator.getPosition());
    std::string reason;
    FailureOr<Tile> tile = tileOf(op, partition, loops, reason);
    if (failed(tile))
      return op.emitOpError("cannot be computed elementwise: ") << reason;
    mergeLoops(*tile);

    OpBuilder builder(op);
    unrollOuterLoops(builder, op.getLoc(), *tile);
    BodySelector body(builder, op, *tile, coreVersion);
    Operation *yield = op.getBlock()->getTerminator();
    // A result that is written before another is computed must not be what the other reads.
    SmallVector<std::pair<Value, Value>> results;
    for (auto [value, access] :
         llvm::zip_equal(yield->getOperands(), ArrayRef(tile->accesses).take_back(yield->getNumOperands()))) {
      Value dst = createView(builder, op.getLoc(), access, tile->partitions, tile->sizes);
      bool last = results.size() + 1 == yield->getNumOperands();
      Value target = dst;
      if (!last)
        target = createTemporary(builder, op.getLoc(), tile->partitions, tile->sizes, value.getType());
      if (failed(body.computeInto(value, target)))
        return op.emitOpError("cannot be computed elementwise: ") << body.failureReason();
      results.push_back({dst, target});
    }
    for (auto [dst, target] : results)
      if (dst != target)
        Emitter(builder, op.getLoc()).copy(dst, target);
    return success();
  }
};
} // namespace
} // namespace trn
