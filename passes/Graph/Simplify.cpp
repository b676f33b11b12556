//===- Simplify.cpp - operations that do nothing, and cheaper equals ------===//
//
// Owns `onnx-simplify`.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace trn {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// Operators whose first operand is their result when the types agree and nothing is computed.
template <typename OpTy> struct RemoveNoEffect : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumOperands() != 1 ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return failure();
    if (!hasNoEffect(op))
      return failure();
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
  static bool hasNoEffect(OpTy op) {
    if constexpr (std::is_same_v<OpTy, TransposeOp>)
      return llvm::is_sorted(*op.getPerm());
    if constexpr (std::is_same_v<OpTy, SliceOp>)
      return llvm::all_of(*op.getSteps(), [](int64_t step) { return step == 1; });
    if constexpr (std::is_same_v<OpTy, PadOp>)
      return llvm::all_of(*op.getPads(), [](int64_t pad) { return pad == 0; });
    // Equal types say it all: a cast, reshape, expand, tile, one-operand concat, or an identity.
    return true;
  }
};

/// A Reshape sees through the operations before it that keep the order of elements.
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Operation *inner = op.getX().getDefiningOp();
    if (!inner || !isReshape(inner))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(inner->getOperand(0)); });
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> perm;
    ArrayRef<int64_t> outerPerm = *op.getPerm(), innerPerm = *inner.getPerm();
    for (int64_t axis : outerPerm)
      perm.push_back(innerPerm[axis]);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(inner.getX());
      op.setPerm(perm);
    });
    return success();
  }
};

/// A transpose that only moves dimensions of size 1 keeps the order of elements.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
    ArrayRef<int64_t> perm = *op.getPerm();
    SmallVector<int64_t> large;
    for (int64_t axis : perm)
      if (shape[axis] != 1)
        large.push_back(axis);
    if (!llvm::is_sorted(large))
      return failure();
    rewriter.replaceOp(op, GraphWriter(rewriter, op.getLoc()).reshape(op.getX(), typeOf(op.getY()).getShape()));
    return success();
  }
};

/// Whether division by each element of a constant is the same as multiplication by its inverse: powers of two whose
/// inverse is normal, and what has no digits.
static bool hasExactInverse(Value value) {
  std::optional<Constant> constant = Constant::get(value);
  if (!constant)
    return false;
  const llvm::fltSemantics &semantics = cast<FloatType>(constant->elementType()).getFloatSemantics();
  double smallest = llvm::APFloat::getSmallestNormalized(semantics).convertToDouble();
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  for (int64_t i = 0, count = constant->isSplat() ? 1 : constant->size(); i < count; ++i) {
    double x = std::fabs(constant->real(i)), inverse = 1 / x;
    if (x == 0 || !std::isfinite(x))
      continue;
    int exponent = 0;
    if (std::frexp(x, &exponent) != 0.5 || inverse < smallest || inverse > largest)
      return false;
  }
  return true;
}

/// Division by a constant is multiplication by its inverse where the type has that inverse exactly.
struct DivToMul : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    if (!isReal(op.getB()) || isConstant(op.getA()) || !hasExactInverse(op.getB()))
      return failure();
    Value inverse = build(rewriter, op.getLoc(), "Reciprocal", {op.getB()});
    rewriter.replaceOp(op, build(rewriter, op.getLoc(), "Mul", {op.getA(), inverse}));
    return success();
  }
};

/// Small constant powers are products or inverses. Not 0.5: a root differs from it at -0 and -inf. Not a cube of less than
/// 32 bits, whose square would be rounded, too.
struct SimplifyPow : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    std::optional<double> exponent = uniformConstant(op.getB());
    Value x = op.getA();
    if (!exponent || !isReal(x) || x.getType() != op.getC().getType())
      return failure();
    Location loc = op.getLoc();
    if (*exponent == 1)
      return rewriter.replaceOp(op, x), success();
    if (*exponent == -1)
      return rewriter.replaceOp(op, build(rewriter, loc, "Reciprocal", {x})), success();
    bool isNarrow = typeOf(x).getElementTypeBitWidth() < 32;
    if (*exponent != 2 && (*exponent != 3 || isNarrow))
      return failure();
    Value square = build(rewriter, loc, "Mul", {x, x});
    rewriter.replaceOp(op, *exponent == 2 ? square : build(rewriter, loc, "Mul", {square, x}));
    return success();
  }
};

/// Multiplying by 1 leaves a value of the result's type alone. (Adding 0 does not: -0.0 + 0.0 is 0.0.)
struct RemoveUnit : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [unit, other] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())})
      if (uniformConstant(unit) == 1.0 && other.getType() == op.getC().getType())
        return rewriter.replaceOp(op, other), success();
    return failure();
  }
};

struct SimplifyPass : trn::impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RemoveNoEffect<IdentityOp>, RemoveNoEffect<CastOp>, RemoveNoEffect<ReshapeOp>,
                 RemoveNoEffect<SqueezeOp>, RemoveNoEffect<UnsqueezeOp>, RemoveNoEffect<FlattenOp>,
                 RemoveNoEffect<TransposeOp>, RemoveNoEffect<SliceOp>, RemoveNoEffect<PadOp>, RemoveNoEffect<ExpandOp>,
                 RemoveNoEffect<TileOp>, RemoveNoEffect<ConcatOp>, MergeReshapes, MergeTransposes, TransposeToReshape,
                 DivToMul, SimplifyPow, RemoveUnit>(&getContext());
    GreedyRewriteConfig config;
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
