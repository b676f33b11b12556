//===- NormalizeStructure.cpp - few forms for the choice of layouts --------===//
// Owns tile-normalize-structure. Refuses nothing: what it does not know it leaves for the planner to report.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Structure.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_NORMALIZESTRUCTUREPASS
#include "passes/Tile/LayoutPasses.h.inc"

/// Named operations become generics; a copy is its source.
static void generalize(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) { named.push_back(op); });
  for (linalg::LinalgOp op : named) {
    if (llvm::isa<linalg::GenericOp, linalg::FillOp>(op) || op->getNumResults() != 1 ||
        isConstantTensor(op->getResult(0)))
      continue;
    rewriter.setInsertionPoint(op);
    if (auto copy = dyn_cast<linalg::CopyOp>(*op)) {
      if (copy.getInputs()[0].getType() == copy.getResult(0).getType())
        rewriter.replaceOp(copy, copy.getInputs()[0]);
      continue;
    }
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// The permutation that a generic applies to its only operand, if that is all it does: result dimension i is operand
/// dimension permutation[i].
static std::optional<SmallVector<int64_t>> transposition(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op->getNumResults() != 1 || op.getNumLoops() != op.getNumParallelLoops() ||
      op.getBlock()->getTerminator()->getOperand(0) != op.getBlock()->getArgument(0))
    return std::nullopt;
  AffineMap from = op.getIndexingMapsArray()[0], to = op.getIndexingMapsArray()[1];
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  SmallVector<int64_t> permutation;
  for (AffineExpr expr : to.getResults())
    permutation.push_back(llvm::find(from.getResults(), expr) - from.getResults().begin());
  return permutation;
}

/// Readers of a transposed tensor read the tensor.
static void composeTransposes(func::FuncOp function, IRRewriter &rewriter) {
  function.walk([&](linalg::GenericOp reader) {
    for (OpOperand *operand : reader.getDpsInputOperands()) {
      for (;;) {
        auto writer = operand->get().getDefiningOp<linalg::GenericOp>();
        std::optional<SmallVector<int64_t>> permutation =
            writer ? transposition(writer) : std::optional<SmallVector<int64_t>>();
        if (!permutation)
          break;
        SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
        AffineMap &map = maps[operand->getOperandNumber()];
        SmallVector<AffineExpr> results(map.getNumResults());
        for (auto [to, from] : llvm::enumerate(*permutation))
          results[from] = map.getResult(to);
        map = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
        operand->set(writer.getDpsInputs()[0]);
        reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      }
    }
  });
  SmallVector<linalg::GenericOp> generics;
  function.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp op : llvm::reverse(generics))
    if (op->use_empty() && transposition(op))
      rewriter.eraseOp(op);
}

/// The neutral element of the combination by which `op` accumulates: 0 for sums, 1 for products, the least or greatest
/// value for maxima and minima. Null if the body does anything else.
static TypedAttr neutralElement(linalg::GenericOp op, Operation *&combiner) {
  Value out = op.getBlock()->getArguments().back();
  combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !llvm::is_contained(combiner->getOperands(), out) ||
      !out.hasOneUse())
    return nullptr;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  return neutral ? *neutral : nullptr;
}

/// Sums into a tensor become sums into zeros and an addition of the tensor.
static void separateInits(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::GenericOp> reductions;
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() > 0 && op->getNumResults() == 1 && !splatOf(op.getDpsInits()[0]))
      reductions.push_back(op);
  });
  for (linalg::GenericOp op : reductions) {
    Operation *combiner;
    TypedAttr neutral = neutralElement(op, combiner);
    if (!neutral)
      continue;
    Location loc = op.getLoc();
    Value init = op.getDpsInits()[0];
    auto type = cast<RankedTensorType>(init.getType());
    rewriter.setInsertionPoint(op);
    Value zero = arith::ConstantOp::create(rewriter, loc, neutral);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    Value filled = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    rewriter.setInsertionPointAfter(op);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    Operation *combinerOp = combiner;
    auto sum = linalg::GenericOp::create(rewriter, loc, TypeRange(type), ValueRange{op->getResult(0), init},
                                         ValueRange(empty), SmallVector<AffineMap>(3, identity), parallel,
                                         [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
                                           Operation *copy = nested.clone(*combinerOp);
                                           copy->setOperands(arguments.take_front(2));
                                           linalg::YieldOp::create(nested, nestedLoc, copy->getResult(0));
                                         });
    op->getResult(0).replaceAllUsesExcept(sum->getResult(0), sum);
    op.getDpsInitsMutable()[0].set(filled);
  }
}

namespace {
struct NormalizeStructurePass : public impl::NormalizeStructurePassBase<NormalizeStructurePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    generalize(getOperation(), rewriter);
    composeTransposes(getOperation(), rewriter);
    separateInits(getOperation(), rewriter);
  }
};
} // namespace

} // namespace trn
