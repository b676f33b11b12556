//===- FoldNormalization.cpp - normalisations into weights ----------------===//
//
// Owns `onnx-fold-normalization`: what a convolution or Gemm takes in of the nodes behind it. A BatchNormalization leaves
// open in which order its constants meet, so that it goes into weights and bias, computed in double and rounded once.
// The order of other nodes is what their author wrote: (x + a) + b rounds twice on purpose where it rounds to whole
// numbers, and (x + a) · s keeps the digits of a difference that x · s + a · s loses.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Contraction.h"
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Elementwise.h"
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
#define GEN_PASS_DEF_FOLDNORMALIZATIONPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// A convolution or Gemm with constant weights (and constant bias) that has one use.
struct Producer {
  Operation *op;
  Constant weight;
  std::optional<Constant> bias; ///< one for each channel, or one for all

  int64_t channels() const { return typeOf(op->getResult(0)).getDimSize(1); }
  /// The output channel, dimension 1 of the result, of an element of the weight.
  int64_t channelOf(int64_t element) const;
};

int64_t Producer::channelOf(int64_t element) const {
  ArrayRef<int64_t> shape = weight.type().getShape();
  if (isa<ConvOp>(op))
    return element / (weight.size() / shape[0]);
  if (auto gemm = dyn_cast<GemmOp>(op))
    return gemm.getTransB() ? element / shape[1] : element % shape[1];
  // [inputs, outputs / group, …]
  int64_t row = weight.size() / shape[0], group = element / row / (shape[0] / cast<ConvTransposeOp>(op).getGroup());
  return group * shape[1] + element % row / (row / shape[1]);
}

/// A constant that holds one number for each channel of a result of `type` (or one for all) under numpy's broadcasting.
bool isByChannel(const Constant &constant, RankedTensorType type) {
  if (constant.size() == 1)
    return constant.type().getRank() <= type.getRank();
  int64_t lead = type.getRank() - constant.type().getRank();
  if (lead < 0)
    return false;
  for (auto [i, size] : llvm::enumerate(constant.type().getShape()))
    if (size != (int64_t(i) + lead == 1 ? type.getDimSize(1) : 1))
      return false;
  return true;
}

std::optional<Producer> producerOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || !isa<ConvOp, ConvTransposeOp, GemmOp>(op))
    return std::nullopt;
  std::optional<Constant> weight = Constant::get(op->getOperand(1));
  if (!weight || weight->size() == 0)
    return std::nullopt;
  Producer producer{op, *weight, std::nullopt};
  if (auto gemm = dyn_cast<GemmOp>(op); gemm && gemm.getBeta().convertToFloat() != 1.0f)
    return std::nullopt;
  if (op->getNumOperands() == 2)
    return producer;
  producer.bias = Constant::get(op->getOperand(2));
  // The bias of a convolution is a vector, and that of a Gemm broadcasts.
  if (!producer.bias || (isa<GemmOp>(op) && !isByChannel(*producer.bias, typeOf(value))))
    return std::nullopt;
  return producer;
}

/// Replaces `op` by the producer with another weight and bias.
void replaceByProducer(PatternRewriter &b, Operation *op, const Producer &producer, Value weight, Value bias) {
  Operation *clone = b.clone(*producer.op);
  clone->setOperands({clone->getOperand(0), weight, bias});
  b.replaceOp(op, clone->getResult(0));
}

/// The normal numbers of a type.
struct Range {
  explicit Range(FloatType type)
      : smallest(llvm::APFloat::getSmallestNormalized(type.getFloatSemantics()).convertToDouble()),
        largest(llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble()) {}
  double smallest, largest;
};

/// A constant of `count` numbers that are computed in double and rounded once.
template <typename Function> Value computed(OpBuilder &b, Location loc, RankedTensorType type, Function number) {
  size_t width = elementBytes(type.getElementType());
  std::vector<char> bytes(size_t(type.getNumElements()) * width);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    writeReal(type.getElementType(), number(i), bytes.data() + size_t(i) * width);
  return WeightOp::create(b, loc, makeConstant(type, std::move(bytes)));
}

/// BatchNormalization behind a convolution or Gemm is part of its weight and bias. Not where an element of the weight
/// would leave the range of its type, nor in a type of less than 32 bits, where what the product leaves is rounded before
/// it is normalised.
struct FoldBatchNormalization : OpRewritePattern<BatchNormalizationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormalizationOp op, PatternRewriter &b) const override {
    RankedTensorType type = typeOf(op.getX());
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (op.getTrainingMode() || op->getNumResults() != 1 || !element || element.getWidth() < 32)
      return failure();
    std::optional<Producer> producer = producerOf(op.getX());
    std::optional<Constant> gamma = Constant::get(op.getScale()), beta = Constant::get(op.getB());
    std::optional<Constant> mean = Constant::get(op.getMean()), variance = Constant::get(op.getVar());
    if (!producer || !gamma || !beta || !mean || !variance)
      return failure();
    SmallVector<double> scales, shifts;
    double epsilon = op.getEpsilon().convertToFloat();
    for (int64_t channel = 0; channel < producer->channels(); ++channel) {
      double scale = gamma->real(channel) / std::sqrt(variance->real(channel) + epsilon);
      double bias = producer->bias ? producer->bias->real(producer->bias->size() == 1 ? 0 : channel) : 0;
      scales.push_back(scale);
      shifts.push_back((bias - mean->real(channel)) * scale + beta->real(channel));
    }
    Range range(element);
    const Constant &weight = producer->weight;
    auto scaled = [&](int64_t i) { return weight.real(i) * scales[producer->channelOf(i)]; };
    auto keepsRange = [&](int64_t i) {
      double own = std::fabs(weight.real(i)), merged = std::fabs(scaled(i));
      bool isZero = own == 0 || scales[producer->channelOf(i)] == 0;
      return merged <= range.largest && (merged >= range.smallest || isZero || own < range.smallest);
    };
    if (!llvm::all_of(llvm::seq<int64_t>(0, weight.size()), keepsRange) ||
        !llvm::all_of(shifts, [&](double shift) { return std::fabs(shift) <= range.largest; }))
      return failure();
    Location loc = producer->op->getLoc();
    Value weights = computed(b, loc, weight.type(), scaled);
    auto vector = RankedTensorType::get({producer->channels()}, element);
    Value bias = computed(b, loc, vector, [&](int64_t i) { return shifts[i]; });
    replaceByProducer(b, op, *producer, weights, bias);
    return success();
  }
};

/// A shift by channel behind a convolution or Gemm without a bias is its bias: the same sum.
struct FoldShift : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &b) const override {
    for (auto [x, shift] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      RankedTensorType type = typeOf(x);
      std::optional<Producer> producer = producerOf(x);
      std::optional<Constant> constant = Constant::get(shift);
      if (!producer || producer->bias || !constant || !isReal(x) || type != op.getC().getType() ||
          !isByChannel(*constant, type))
        continue;
      auto vector = RankedTensorType::get({producer->channels()}, type.getElementType());
      Value bias = computed(b, op.getLoc(), vector, [&](int64_t i) { return constant->real(constant->size() == 1 ? 0 : i); });
      replaceByProducer(b, op, *producer, producer->op->getOperand(1), bias);
      return success();
    }
    return failure();
  }
};

struct FoldNormalizationPass : trn::impl::FoldNormalizationPassBase<FoldNormalizationPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBatchNormalization, FoldShift>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
