//===- FoldNormalization.cpp - scales and shifts into weights -------------===//
//
// Owns `onnx-fold-normalization`. All arithmetic on constants is written as onnx operations on them; the next
// `onnx-infer-fold` computes it.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Contraction.h"
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace trn {
#define GEN_PASS_DEF_FOLDNORMALIZATIONPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// True for constants and for the arithmetic on constants that these patterns build.
bool isConstantTree(Value value) {
  if (isConstant(value))
    return true;
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<AddOp, SubOp, MulOp, ReciprocalOp, SqrtOp, NegOp, ReshapeOp, ExpandOp>(op) &&
         llvm::all_of(op->getOperands(), isConstantTree);
}

/// A constant that holds one value per channel (dimension `axis` of a value of `type`), as a vector; else null. A
/// uniform constant is spread over the channels.
Value perChannel(OpBuilder &b, Location loc, Value constant, RankedTensorType type, int64_t axis) {
  if (!isConstant(constant))
    return {};
  RankedTensorType own = typeOf(constant);
  int64_t channels = type.getDimSize(axis), lead = type.getRank() - own.getRank();
  if (lead < 0)
    return {};
  if (own.getNumElements() == 1) {
    Value one = GraphWriter(b, loc).reshape(constant, {1});
    return channels == 1 ? one
                         : build(b, loc, "Expand", {one}, b.getNamedAttr("shape", b.getDenseI64ArrayAttr({channels})));
  }
  for (auto [i, size] : llvm::enumerate(own.getShape()))
    if (size != (int64_t(i) + lead == axis ? channels : 1))
      return {};
  return GraphWriter(b, loc).reshape(constant, {channels});
}

/// The vector along `axis` of a value of rank `rank`.
Value alongChannels(OpBuilder &b, Location loc, Value vector, int64_t rank, int64_t axis) {
  SmallVector<int64_t> shape(rank - axis, 1);
  shape[0] = typeOf(vector).getDimSize(0);
  return GraphWriter(b, loc).reshape(vector, shape);
}

/// BatchNormalization with constant statistics is a scale and a shift for each channel.
struct NormalizationToAffine : OpRewritePattern<BatchNormalizationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormalizationOp op, PatternRewriter &b) const override {
    if (op.getTrainingMode())
      return failure();
    for (Value vector : {op.getScale(), op.getB(), op.getMean(), op.getVar()})
      if (!isConstantTree(vector))
        return failure();
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getX());
    Type element = typeOf(op.getVar()).getElementType();
    if (type.getRank() < 2 || typeOf(op.getScale()).getElementType() != element || type.getElementType() != element)
      return failure();
    auto epsilonType = RankedTensorType::get({1}, element);
    Value epsilon = WeightOp::create(
        b, loc, DenseElementsAttr::get(epsilonType, b.getFloatAttr(element, op.getEpsilon().convertToDouble())));
    Value deviation = build(b, loc, "Sqrt", {build(b, loc, "Add", {op.getVar(), epsilon})});
    Value scale = build(b, loc, "Mul", {op.getScale(), build(b, loc, "Reciprocal", {deviation})});
    Value shift = build(b, loc, "Sub", {op.getB(), build(b, loc, "Mul", {op.getMean(), scale})});
    Value scaled = build(b, loc, "Mul", {op.getX(), alongChannels(b, loc, scale, type.getRank(), 1)});
    b.replaceOp(op, build(b, loc, "Add", {scaled, alongChannels(b, loc, shift, type.getRank(), 1)}));
    return success();
  }
};

/// The operand of a commutative operation that is a constant tree, and the other one.
template <typename OpTy> bool splitConstant(OpTy op, Value &constant, Value &other) {
  bool second = isConstantTree(op.getB());
  constant = second ? op.getB() : op.getA();
  other = second ? op.getA() : op.getB();
  return isReal(op.getC()) && isConstantTree(constant) && !isConstantTree(other) &&
         other.getType() == op.getC().getType();
}

/// `(x + t) · s` = `x · s + t · s`, and chains of scales or of shifts are one.
template <typename OuterTy, typename InnerTy> struct MergeAffine : OpRewritePattern<OuterTy> {
  using OpRewritePattern<OuterTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OuterTy op, PatternRewriter &b) const override {
    Value outer, product, inner, x;
    if (!splitConstant(op, outer, product))
      return failure();
    auto first = product.template getDefiningOp<InnerTy>();
    if (!first || !first->hasOneUse() || !splitConstant(first, inner, x))
      return failure();
    Location loc = op.getLoc();
    // Only constants that both fit one channel pattern: a large one must not be spread further.
    if (typeOf(outer).getNumElements() > 1 && typeOf(inner).getNumElements() > 1 &&
        typeOf(outer).getNumElements() != typeOf(inner).getNumElements())
      return failure();
    StringRef name = std::is_same_v<OuterTy, MulOp> ? "Mul" : "Add";
    Value merged = build(b, loc, name, {inner, outer});
    if constexpr (std::is_same_v<OuterTy, InnerTy>)
      b.replaceOp(op, build(b, loc, name, {x, merged}));
    else
      b.replaceOp(op, build(b, loc, "Add", {build(b, loc, "Mul", {x, outer}), merged}));
    return success();
  }
};

/// Where the output channels are: in the result, and in the weight.
struct Channels {
  Operation *op = nullptr;
  unsigned bias = 2;
  int64_t resultAxis = 1;
  SmallVector<int64_t> weightShape; ///< a channel vector under this shape multiplies the weight
};

/// A convolution or Gemm with constant weights and bias whose only use is `value`'s.
std::optional<Channels> channelsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || !isa<ConvOp, ConvTransposeOp, GemmOp>(op))
    return std::nullopt;
  if (!isConstantTree(op->getOperand(1)) || (op->getNumOperands() > 2 && !isConstantTree(op->getOperand(2))))
    return std::nullopt;
  Channels channels;
  channels.op = op;
  int64_t rank = typeOf(op->getOperand(1)).getRank(), count = typeOf(value).getDimSize(1);
  channels.weightShape.assign(rank, 1);
  if (isa<ConvOp>(op)) {
    channels.weightShape[0] = count;
  } else if (auto transposed = dyn_cast<ConvTransposeOp>(op)) {
    // The weight is [inputs, outputs / group, …]: with groups a vector does not fit one shape.
    if (transposed.getGroup() != 1)
      return std::nullopt;
    channels.weightShape[1] = count;
  } else {
    auto gemm = cast<GemmOp>(op);
    if (gemm.getBeta().convertToFloat() != 1.0f)
      return std::nullopt;
    channels.weightShape[gemm.getTransB() ? 0 : 1] = count;
  }
  return channels;
}

/// A bias operand as a vector over the channels, null when it is something else (a Gemm's matrix).
Value biasVector(OpBuilder &b, Channels &channels, RankedTensorType type) {
  Value bias = channels.op->getOperand(2);
  if (typeOf(bias).getRank() == 1 && typeOf(bias).getDimSize(0) == type.getDimSize(1))
    return bias;
  return perChannel(b, channels.op->getLoc(), bias, type, channels.resultAxis);
}

/// The constant (or tree of constants in channel layout) as a vector; null when it is neither.
Value vectorOf(OpBuilder &b, Location loc, Value constant, RankedTensorType type) {
  if (isConstant(constant))
    return perChannel(b, loc, constant, type, 1);
  RankedTensorType own = typeOf(constant);
  int64_t channels = type.getDimSize(1), lead = type.getRank() - own.getRank();
  for (auto [i, size] : llvm::enumerate(own.getShape()))
    if (size != (int64_t(i) + lead == 1 ? channels : 1))
      return {};
  return own.getNumElements() == channels ? GraphWriter(b, loc).reshape(constant, {channels}) : Value();
}

/// A scale or shift by channel behind a convolution.
struct Behind {
  Channels channels;
  Value vector; ///< of the scale or shift
  Value bias;   ///< of the convolution, null when it has none
};

/// Takes `op`, a product or sum with a constant by channel, apart; none when it is something else.
template <typename OpTy> std::optional<Behind> matchBehind(OpTy op, PatternRewriter &b) {
  Value constant, x;
  if (!splitConstant(op, constant, x))
    return std::nullopt;
  std::optional<Channels> channels = channelsOf(x);
  if (!channels)
    return std::nullopt;
  RankedTensorType type = typeOf(x);
  Value vector = vectorOf(b, op.getLoc(), constant, type);
  bool hasBias = channels->op->getNumOperands() > 2;
  Value bias = hasBias ? biasVector(b, *channels, type) : Value();
  if (!vector || (hasBias && !bias))
    return std::nullopt;
  return Behind{*channels, vector, bias};
}

/// Replaces `op` by the convolution with other operands.
void replaceByClone(PatternRewriter &b, Operation *op, Operation *convolution, ValueRange operands) {
  Operation *clone = b.clone(*convolution);
  clone->setOperands(operands);
  b.replaceOp(op, clone->getResult(0));
}

/// A scale by channel behind a convolution goes into its weight and bias.
struct FoldScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &b) const override {
    std::optional<Behind> scale = matchBehind(op, b);
    if (!scale)
      return failure();
    Operation *convolution = scale->channels.op;
    Location loc = convolution->getLoc();
    b.setInsertionPoint(op);
    Value factors = GraphWriter(b, loc).reshape(scale->vector, scale->channels.weightShape);
    SmallVector<Value> operands = {convolution->getOperand(0),
                                   build(b, loc, "Mul", {convolution->getOperand(1), factors})};
    if (scale->bias)
      operands.push_back(build(b, loc, "Mul", {scale->bias, scale->vector}));
    replaceByClone(b, op, convolution, operands);
    return success();
  }
};

/// A shift by channel behind a convolution is its bias.
struct FoldShift : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &b) const override {
    std::optional<Behind> shift = matchBehind(op, b);
    if (!shift)
      return failure();
    Operation *convolution = shift->channels.op;
    b.setInsertionPoint(op);
    Value bias = shift->bias ? build(b, op.getLoc(), "Add", {shift->bias, shift->vector}) : shift->vector;
    replaceByClone(b, op, convolution, {convolution->getOperand(0), convolution->getOperand(1), bias});
    return success();
  }
};

struct FoldNormalizationPass : trn::impl::FoldNormalizationPassBase<FoldNormalizationPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NormalizationToAffine, MergeAffine<MulOp, MulOp>, MergeAffine<AddOp, AddOp>, MergeAffine<MulOp, AddOp>,
                 FoldScale, FoldShift>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
