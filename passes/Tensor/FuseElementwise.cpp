//===- FuseElementwise.cpp - fuse maps into maps --------------------------===//
// Owns the choice of what is fused; the fusion itself is upstream's.
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Tensor/Passes.h"

namespace trn {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

/// True if every element of the result is computed from elements of the inputs alone. What adds to its destination is
/// none, though it may have nothing to add up: fused, it would keep a result of its own.
static bool isMap(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumParallelLoops() == structured.getNumLoops() &&
         llvm::none_of(structured.getDpsInitsMutable(),
                       [&](OpOperand &init) { return structured.payloadUsesValueFromOperand(&init); });
}

/// True if computing the body again costs less than reading a tensor.
static bool isCheap(linalg::LinalgOp op, unsigned maxOps) {
  unsigned count = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (llvm::isa<math::MathDialect, ir::TrnDialect>(inner.getDialect()) || inner.getNumRegions() > 0)
      return false;
    count += inner.getNumOperands() > 0; // Constants are free.
  }
  return count <= maxOps;
}

/// How many inputs have as many elements as the result; the others are broadcast, and small.
static unsigned countFullInputs(linalg::LinalgOp op) {
  int64_t elements = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  return llvm::count_if(op.getDpsInputs(), [&](Value input) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return type && type.getNumElements() >= elements;
  });
}

/// True if computing a map once per user beats keeping its result.
static bool isWorthRepeating(linalg::LinalgOp op, unsigned maxOps) {
  return isCheap(op, maxOps) && countFullInputs(op) <= 1 && llvm::all_of(op->getUsers(), isMap);
}

/// True if the body of both maps together stays small enough. Each fusion copies the whole body, so that a chain of
/// thousands of operations would cost its square; what is not fused here still becomes one group.
static bool staysSmall(linalg::LinalgOp producer, linalg::LinalgOp consumer, unsigned maxOps) {
  return producer.getBlock()->getOperations().size() + consumer.getBlock()->getOperations().size() <= maxOps &&
         producer.getNumDpsInputs() + consumer.getNumDpsInputs() <= maxOps;
}

/// Writes uniform unsigned weights into the body of a map, as signless constants: upstream's pattern would make
/// unsigned ones, which arith does not have.
static void inlineUnsignedScalars(linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    DenseElementsAttr elements;
    if (!matchPattern(operand->get(), m_Constant(&elements)) || !elements.isSplat() ||
        !elements.getElementType().isUnsignedInteger())
      continue;
    OpBuilder inside = OpBuilder::atBlockBegin(op.getBody()), before(op);
    APInt value = elements.getSplatValue<APInt>();
    Value constant = arith::ConstantOp::create(inside, op.getLoc(),
                                               IntegerAttr::get(inside.getIntegerType(value.getBitWidth()), value));
    BlockArgument element = op.getMatchingBlockArgument(operand);
    element.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(inside, op.getLoc(), element.getType(), constant).getResult(0));
    // Only its shape is left of the input.
    operand->set(
        tensor::EmptyOp::create(before, op.getLoc(), elements.getType().getShape(), elements.getElementType()));
  }
}

namespace {
class FuseElementwise : public impl::FuseElementwisePassBase<FuseElementwise> {
  using FuseElementwisePassBase::FuseElementwisePassBase;

  void runOnOperation() override {
    auto fuses = [this](OpOperand *fused) {
      Operation *producer = fused->get().getDefiningOp(), *consumer = fused->getOwner();
      if (!producer || !isMap(producer) || !isMap(consumer))
        return false;
      auto map = cast<linalg::LinalgOp>(producer);
      return producer->getNumResults() == 1 && staysSmall(map, cast<linalg::LinalgOp>(consumer), maxBodyOps) &&
             (producer->hasOneUse() || isWorthRepeating(map, maxCheapOps));
    };
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, fuses);
    // Maps alone: upstream's patterns would also write a uniform weight into the body of a contraction, which would
    // then be none any more.
    SmallVector<Operation *> maps;
    getOperation().walk([&](Operation *op) {
      if (isMap(op))
        maps.push_back(op);
    });
    for (Operation *op : maps)
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        inlineUnsignedScalars(generic);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(maps, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
} // namespace trn
