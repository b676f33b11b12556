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
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

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
  /// Calls `run(first, size, channel)` for all stretches of elements of the weight that go to one output channel, dimension
  /// 1 of the result.
  template <typename Run> void forEachRun(Run run) const;
};

template <typename Run> void Producer::forEachRun(Run run) const {
  // [blocks, channels of a block, elements]: a convolution's weight has a channel per row, that of a Gemm one per row or
  // column, and that of a transposed convolution [inputs, outputs / group, …].
  ArrayRef<int64_t> shape = weight.type().getShape();
  auto gemm = dyn_cast<GemmOp>(op);
  const bool rowIsChannel = isa<ConvOp>(op) || (gemm && gemm.getTransB());
  const int64_t blocks = rowIsChannel ? 1 : shape[0], inBlock = rowIsChannel ? shape[0] : shape[1];
  const int64_t size = weight.size() / (blocks * inBlock);
  auto transposed = dyn_cast<ConvTransposeOp>(op);
  const int64_t blocksOfGroup = transposed ? shape[0] / transposed.getGroup() : blocks;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t channel = 0; channel < inBlock; ++channel)
      run((block * inBlock + channel) * size, size, block / blocksOfGroup * inBlock + channel);
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

/// Whether a number of T keeps its digits when it becomes `scaled`: it stays normal, or was not before.
template <typename T> bool staysInRange(double number, double scale, double scaled) {
  constexpr double smallest = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
  const double magnitude = std::fabs(scaled);
  return (magnitude <= largest) & ((magnitude >= smallest) | (std::fabs(number) < smallest) | (scale == 0));
}

/// The weight with each channel times its scale, computed in double and rounded once; nothing when an element of it would
/// leave the range of T. Models have millions of elements: this loop is all that compiling does with most of them.
template <typename T> std::optional<std::vector<char>> scaledWeight(const Producer &producer, ArrayRef<double> scales) {
  const Constant &weight = producer.weight;
  std::vector<char> bytes(size_t(weight.size()) * sizeof(T));
  const size_t step = weight.isSplat() ? 0 : sizeof(T);
  bool inRange = true;
  producer.forEachRun([&](int64_t first, int64_t size, int64_t channel) {
    const char *from = weight.bytes().data() + size_t(first) * step;
    char *to = bytes.data() + size_t(first) * sizeof(T);
    const double scale = scales[channel];
    for (int64_t i = 0; i < size; ++i, from += step, to += sizeof(T)) {
      T number;
      std::memcpy(&number, from, sizeof(T));
      const double scaled = double(number) * scale;
      inRange &= staysInRange<T>(number, scale, scaled);
      number = T(scaled);
      std::memcpy(to, &number, sizeof(T));
    }
  });
  return inRange ? std::optional(std::move(bytes)) : std::nullopt;
}

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
    const bool isDouble = element.isF64();
    const double largest = isDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
    if (!llvm::all_of(shifts, [&](double shift) { return std::fabs(shift) <= largest; }))
      return failure();
    std::optional<std::vector<char>> scaled =
        isDouble ? scaledWeight<double>(*producer, scales) : scaledWeight<float>(*producer, scales);
    if (!scaled)
      return failure();
    Location loc = producer->op->getLoc();
    Value weights = WeightOp::create(b, loc, makeConstant(producer->weight.type(), std::move(*scaled)));
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
