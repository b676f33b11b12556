//===- Recompose.cpp - composites that an exporter spread over nodes ------===//
//
// Owns `onnx-recompose`. Patterns look for the mathematics, not for one exporter's order: products are taken apart
// into a constant and factors before they are compared.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Activation.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "dialects/ONNX/Ops/Reduction.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/Match.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace trn {
#define GEN_PASS_DEF_RECOMPOSEPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

bool near(double value, double expected) {
  return std::fabs(value - expected) <= kConstantTolerance * std::fabs(expected);
}

/// `value` = other + constant, in either order.
Value addedTo(Value value, double constant) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return {};
  if (isConstantNear(add.getB(), constant))
    return add.getA();
  return isConstantNear(add.getA(), constant) ? add.getB() : Value();
}

/// Takes one `x` out of the factors; false when it is not there.
bool takeFactor(SmallVectorImpl<Value> &factors, Value x) {
  auto it = llvm::find(factors, x);
  if (it == factors.end())
    return false;
  factors.erase(it);
  return true;
}

bool isProductOf(Value value, double constant, ArrayRef<Value> factors) {
  Product product = takeProductApart(value);
  if (!near(product.constant, constant) || product.factors.size() != factors.size())
    return false;
  for (Value factor : factors)
    if (!takeFactor(product.factors, factor))
      return false;
  return true;
}

/// `x³`, as a product or a power.
bool isCubeTimes(Value value, double constant, Value x) {
  if (isProductOf(value, constant, {x, x, x}))
    return true;
  Product product = takeProductApart(value);
  if (!near(product.constant, constant))
    return false;
  if (product.factors.size() == 1) {
    auto pow = product.factors[0].getDefiningOp<PowOp>();
    return pow && pow.getA() == x && isConstantNear(pow.getB(), 3);
  }
  // x · (x · x) where the square has other uses.
  if (product.factors.size() != 2 || !takeFactor(product.factors, x))
    return false;
  auto square = product.factors[0].getDefiningOp<MulOp>();
  return square && square.getA() == x && square.getB() == x;
}

/// The argument of tanh in Gelu's approximation: √(2/π) · (x + 0.044715 · x³).
bool isGeluTanhArgument(Value value, Value x) {
  Product product = takeProductApart(value);
  if (!near(product.constant, 0.7978845608) || product.factors.size() != 1) {
    // x · (1 + 0.044715 · x²) in place of the sum.
    if (!near(product.constant, 0.7978845608) || product.factors.size() != 2 || !takeFactor(product.factors, x))
      return false;
    Value square = addedTo(product.factors[0], 1);
    return square && isProductOf(square, 0.044715, {x, x});
  }
  auto add = product.factors[0].getDefiningOp<AddOp>();
  return add && ((add.getA() == x && isCubeTimes(add.getB(), 0.044715, x)) ||
                 (add.getB() == x && isCubeTimes(add.getA(), 0.044715, x)));
}

/// Products of a value with a function of itself: Gelu, Swish, HardSwish, Mish. The root is a Mul, or a Div by a
/// constant.
template <typename OpTy> struct RecomposeActivation : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    if (!isReal(op.getC()))
      return failure();
    Product product = takeProductApart(op.getC());
    if (product.factors.size() != 2)
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      Value x = product.factors[i], gate = product.factors[1 - i];
      if (x.getType() != op.getC().getType() || !gate.hasOneUse())
        continue;
      if (Value composite = match(b, op.getLoc(), product.constant, x, gate)) {
        b.replaceOp(op, composite);
        return success();
      }
    }
    return failure();
  }

  static Value match(PatternRewriter &b, Location loc, double constant, Value x, Value gate) {
    if (near(constant, 0.5)) {
      Value inner = addedTo(gate, 1);
      if (auto erf = inner ? inner.getDefiningOp<ErfOp>() : ErfOp(); erf && isProductOf(erf.getX(), M_SQRT1_2, {x}))
        return build(b, loc, "Gelu", {x});
      if (auto tanh = inner ? inner.getDefiningOp<TanhOp>() : TanhOp(); tanh && isGeluTanhArgument(tanh.getX(), x))
        return build(b, loc, "Gelu", {x}, b.getNamedAttr("approximate", b.getStringAttr("tanh")));
    }
    if (near(constant, 1.0)) {
      if (auto sigmoid = gate.getDefiningOp<SigmoidOp>(); sigmoid && sigmoid.getX() == x)
        return build(b, loc, "Swish", {x});
      if (auto hard = gate.getDefiningOp<HardSigmoidOp>(); hard && hard.getX() == x &&
                                                           near(hard.getAlpha().convertToFloat(), 1.0 / 6) &&
                                                           near(hard.getBeta().convertToFloat(), 0.5))
        return build(b, loc, "HardSwish", {x});
      if (auto tanh = gate.getDefiningOp<TanhOp>())
        if (auto plus = tanh.getX().getDefiningOp<SoftplusOp>(); plus && plus.getX() == x)
          return build(b, loc, "Mish", {x});
    }
    if (near(constant, 1.0 / 6))
      if (auto clip = gate.getDefiningOp<ClipOp>(); clip && isClip(clip, 0, 6) && addedTo(clip.getX(), 3) == x)
        return build(b, loc, "HardSwish", {x});
    return {};
  }

  static bool isClip(ClipOp clip, double low, double high) {
    auto is = [](std::optional<TypedAttr> bound, double value) {
      auto real = bound ? dyn_cast<FloatAttr>(*bound) : FloatAttr();
      return real && real.getValueAsDouble() == value;
    };
    return !clip.getMinOperand() && !clip.getMaxOperand() && is(clip.getMin(), low) && is(clip.getMax(), high);
  }
};

/// The first of the trailing axes that a kept reduction covers, or -1.
template <typename ReduceTy> int64_t trailingAxis(ReduceTy reduce) {
  if (!reduce || !reduce.getKeepdims() || !reduce.getAxes() || reduce.getAxes()->empty())
    return -1;
  int64_t rank = typeOf(reduce.getX()).getRank(), first = reduce.getAxes()->front();
  return int64_t(reduce.getAxes()->size()) == rank - first ? first : -1;
}

/// `x - mean(x)`: gives x and the axis.
Value centered(Value value, int64_t &axis) {
  auto sub = value.getDefiningOp<SubOp>();
  auto mean = sub ? sub.getB().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  axis = trailingAxis(mean);
  return axis >= 0 && mean.getX() == sub.getA() ? sub.getA() : Value();
}

/// The operand of a square root; null when it is none. The power 0.5 differs from one at -0 and -inf alone, which a sum
/// with a variance is not.
Value underRoot(Value value) {
  if (auto root = value.getDefiningOp<SqrtOp>())
    return root.getX();
  auto power = value.getDefiningOp<PowOp>();
  return power && uniformConstant(power.getB()) == 0.5 ? power.getA() : Value();
}

/// `√(mean((x - mean(x))²) + ε)`.
bool isDeviationOf(Value value, Value x, int64_t axis, double &epsilon) {
  Value root = underRoot(value);
  auto add = root ? root.getDefiningOp<AddOp>() : AddOp();
  if (!add)
    return false;
  bool second = uniformConstant(add.getB()).has_value();
  std::optional<double> constant = uniformConstant(second ? add.getB() : add.getA());
  auto variance = (second ? add.getA() : add.getB()).getDefiningOp<ReduceMeanOp>();
  if (!constant || trailingAxis(variance) != axis)
    return false;
  epsilon = *constant;
  Value square = variance.getX(), base;
  if (auto mul = square.getDefiningOp<MulOp>(); mul && mul.getA() == mul.getB())
    base = mul.getA();
  else if (auto pow = square.getDefiningOp<PowOp>(); pow && isConstantNear(pow.getB(), 2))
    base = pow.getA();
  int64_t own = -1;
  return base && centered(base, own) == x && own == axis;
}

struct LayerNormalizationBuilder {
  static Value create(PatternRewriter &b, Location loc, Value x, int64_t axis, double epsilon) {
    RankedTensorType type = typeOf(x);
    auto vector = RankedTensorType::get(type.getShape().drop_front(axis), type.getElementType());
    Value one = WeightOp::create(b, loc, DenseElementsAttr::get(vector, b.getFloatAttr(type.getElementType(), 1.0)));
    return build(b, loc, "LayerNormalization", {x, one},
                 {b.getNamedAttr("axis", b.getI64IntegerAttr(axis)),
                  b.getNamedAttr("epsilon", b.getF32FloatAttr(float(epsilon)))});
  }
};

/// `(x - mean) / deviation`.
struct RecomposeLayerNormalization : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &b) const override {
    int64_t axis = -1;
    double epsilon = 0;
    Value x = centered(op.getA(), axis);
    if (!x || !isDeviationOf(op.getB(), x, axis, epsilon))
      return failure();
    b.replaceOp(op, LayerNormalizationBuilder::create(b, op.getLoc(), x, axis, epsilon));
    return success();
  }
};

/// `(x - mean) · (1 / deviation)`.
struct RecomposeLayerNormalizationProduct : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &b) const override {
    for (auto [left, right] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      int64_t axis = -1;
      double epsilon = 0;
      Value x = centered(left, axis);
      auto inverse = right.getDefiningOp<ReciprocalOp>();
      if (!x || !inverse || !isDeviationOf(inverse.getX(), x, axis, epsilon))
        continue;
      b.replaceOp(op, LayerNormalizationBuilder::create(b, op.getLoc(), x, axis, epsilon));
      return success();
    }
    return failure();
  }
};

/// The LayerNormalization before a scale or shift, and the constant under the shape that it normalises.
std::pair<LayerNormalizationOp, Value> normalizationAndConstant(Value a, Value b) {
  for (auto [value, constant] : {std::pair(a, b), std::pair(b, a)}) {
    auto norm = value.getDefiningOp<LayerNormalizationOp>();
    if (!norm || !isConstant(constant) || !norm->hasOneUse() || norm->getNumResults() != 1)
      continue;
    if (typeOf(constant).getShape() == typeOf(norm.getX()).getShape().drop_front(norm.getAxis()))
      return {norm, constant};
  }
  return {};
}

/// A scale behind a normalisation without one.
struct AbsorbScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &b) const override {
    auto [norm, scale] = normalizationAndConstant(op.getA(), op.getB());
    if (!norm || norm.getB() || uniformConstant(norm.getScale()) != 1.0)
      return failure();
    b.setInsertionPoint(op);
    Operation *clone = b.clone(*norm);
    cast<LayerNormalizationOp>(clone).getScaleMutable().assign(scale);
    clone->setLoc(op.getLoc());
    b.replaceOp(op, clone->getResult(0));
    return success();
  }
};

/// A shift behind a normalisation without a bias.
struct AbsorbShift : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &b) const override {
    auto [norm, shift] = normalizationAndConstant(op.getA(), op.getB());
    if (!norm || norm.getB())
      return failure();
    b.setInsertionPoint(op);
    Operation *clone = b.clone(*norm);
    cast<LayerNormalizationOp>(clone).getBMutable().assign(shift);
    clone->setLoc(op.getLoc());
    b.replaceOp(op, clone->getResult(0));
    return success();
  }
};

/// `exp(x - max(x)) / Σ exp(x - max(x))` along one axis.
struct RecomposeSoftmax : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &b) const override {
    auto exp = op.getA().getDefiningOp<ExpOp>();
    auto sum = op.getB().getDefiningOp<ReduceSumOp>();
    auto sub = exp ? exp.getX().getDefiningOp<SubOp>() : SubOp();
    auto max = sub ? sub.getB().getDefiningOp<ReduceMaxOp>() : ReduceMaxOp();
    if (!sum || !max || sum.getX() != exp.getY() || max.getX() != sub.getA() || !sum.getKeepdims() ||
        !max.getKeepdims() || !sum.getAxes() || sum.getAxes()->size() != 1 || sum.getAxes() != max.getAxes())
      return failure();
    b.replaceOp(op, build(b, op.getLoc(), "Softmax", {sub.getA()},
                          b.getNamedAttr("axis", b.getI64IntegerAttr(sum.getAxes()->front()))));
    return success();
  }
};

struct RecomposePass : trn::impl::RecomposePassBase<RecomposePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RecomposeActivation<MulOp>, RecomposeActivation<DivOp>, RecomposeLayerNormalization,
                 RecomposeLayerNormalizationProduct, AbsorbScale, AbsorbShift, RecomposeSoftmax>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
