//===- DecomposeTraining.cpp - losses and optimisers by other operators ---===//
//
// Owns what the two losses and the three optimisers of the standard mean. A class is picked by comparing all classes
// with the target, which engines do at full speed, not by gathering.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Composite.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

struct DecomposeLikelihoodLoss : OpRewritePattern<NegativeLogLikelihoodLossOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NegativeLogLikelihoodLossOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value x = op.getX(), zero = write.scalar(0, x), hit = targetClasses(write, op);
    // The number at the target's class, 0 where the target is ignored.
    auto pick = [&](Value from) { return write.reduce("ReduceSum", write.where(hit, from, zero), {1}, false); };
    Value loss = write.neg(pick(x)), weights;
    if (op.getWeight()) {
      SmallVector<int64_t> perClass(typeOf(x).getRank() - 1, 1);
      perClass[0] = typeOf(op.getWeight()).getNumElements();
      weights = pick(write.reshape(op.getWeight(), perClass));
      loss = write.mul(loss, weights);
    } else if (op.getIgnoreIndex()) {
      weights = pick(write.scalar(1, x));
    }
    b.replaceOp(op, reduced(write, op.getReduction(), loss, weights));
    return success();
  }

  /// True at the class of each target that counts.
  static Value targetClasses(GraphWriter &write, NegativeLogLikelihoodLossOp op) {
    RankedTensorType type = typeOf(op.getX());
    SmallVector<int64_t> perClass(type.getRank() - 1, 1), shape(typeOf(op.getTarget()).getShape());
    int64_t classes = perClass[0] = type.getDimSize(1);
    shape.insert(shape.begin() + 1, 1);
    Value target = write.reshape(op.getTarget(), shape);
    Type element = typeOf(target).getElementType();
    Value hit =
        write.op("Equal", {target, write.integers(llvm::to_vector(llvm::seq<int64_t>(0, classes)), perClass, element)});
    std::optional<int64_t> ignored = op.getIgnoreIndex();
    if (!ignored || *ignored < 0 || *ignored >= classes)
      return hit; // Such a target equals no class.
    Value counts = write.op("Not", {write.op("Equal", {target, write.scalar(double(*ignored), element)})});
    return write.op("And", {hit, counts});
  }

  static Value reduced(GraphWriter &write, StringRef reduction, Value loss, Value weights) {
    if (reduction == "none")
      return loss;
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(loss).getRank()));
    if (reduction == "mean" && !weights)
      return write.reduce("ReduceMean", loss, axes, /*keepDims=*/false);
    Value sum = write.reduce("ReduceSum", loss, axes, /*keepDims=*/false);
    return reduction == "sum" ? sum : write.div(sum, write.reduce("ReduceSum", weights, axes, /*keepDims=*/false));
  }
};

struct DecomposeCrossEntropy : OpRewritePattern<SoftmaxCrossEntropyLossOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxCrossEntropyLossOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value logarithms = write.op("LogSoftmax", {op.getScores()}, write.integer("axis", 1));
    SmallVector<NamedAttribute> attributes = {b.getNamedAttr("reduction", op.getReductionAttr())};
    if (op.getIgnoreIndexAttr())
      attributes.push_back(b.getNamedAttr("ignore_index", op.getIgnoreIndexAttr()));
    SmallVector<Value> operands = {logarithms, op.getLabels()};
    if (op.getWeights())
      operands.push_back(op.getWeights());
    SmallVector<Value> results = {write.op("NegativeLogLikelihoodLoss", operands, attributes)};
    if (op.getLogProb())
      results.push_back(logarithms);
    b.replaceOp(op, results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Optimisers
//===----------------------------------------------------------------------===//

/// One update of one parameter: `state` holds the old states and takes the new ones; the new parameter is returned.
using Update = llvm::function_ref<Value(Value x, Value gradient, MutableArrayRef<Value> state)>;

void updateAll(Operation *op, PatternRewriter &b, int64_t states, Update update) {
  int64_t count = (op->getNumOperands() - 2) / (states + 2);
  SmallVector<Value> results(count * (states + 1));
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> state;
    for (int64_t s = 0; s < states; ++s)
      state.push_back(op->getOperand(2 + (2 + s) * count + i));
    results[i] = update(op->getOperand(2 + i), op->getOperand(2 + count + i), state);
    for (int64_t s = 0; s < states; ++s)
      results[(1 + s) * count + i] = state[s];
  }
  b.replaceOp(op, results);
}

/// Scalars of optimisers come as rank 0 or as one element.
Value asScalar(GraphWriter &write, Value x) { return write.reshape(x, {}); }

/// `a · x + b · y` for constants.
Value blend(GraphWriter &write, double a, Value x, double b, Value y) {
  return write.add(write.mul(x, write.scalar(a, x)), write.mul(y, write.scalar(b, y)));
}
Value regularized(GraphWriter &write, double coefficient, Value x, Value gradient) {
  return coefficient == 0 ? gradient : blend(write, coefficient, x, 1, gradient);
}

struct DecomposeAdagrad : OpRewritePattern<AdagradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AdagradOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value rate = asScalar(write, op.getRate()),
          count = write.cast(asScalar(write, op.getCount()), typeOf(rate).getElementType());
    Value decay = write.mul(count, write.scalar(op.getDecayFactor().convertToDouble(), count));
    rate = write.div(rate, write.add(decay, write.scalar(1, decay)));
    updateAll(op, b, 1, [&](Value x, Value gradient, MutableArrayRef<Value> state) {
      Value g = regularized(write, op.getNormCoefficient().convertToDouble(), x, gradient);
      state[0] = write.add(state[0], write.mul(g, g));
      Value root = write.op("Sqrt", {state[0]});
      root = write.add(root, write.scalar(op.getEpsilon().convertToDouble(), root));
      return write.sub(x, write.div(write.mul(write.cast(rate, typeOf(x).getElementType()), g), root));
    });
    return success();
  }
};

struct DecomposeAdam : OpRewritePattern<AdamOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AdamOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
    Value rate = correctedRate(write, op, alpha, beta);
    updateAll(op, b, 2, [&](Value x, Value gradient, MutableArrayRef<Value> state) {
      Value g = regularized(write, op.getNormCoefficient().convertToDouble(), x, gradient);
      state[0] = blend(write, alpha, state[0], 1 - alpha, g);
      state[1] = blend(write, beta, state[1], 1 - beta, write.mul(g, g));
      Value root = write.op("Sqrt", {state[1]});
      root = write.add(root, write.scalar(op.getEpsilon().convertToDouble(), root));
      Value step = write.mul(write.cast(rate, typeOf(x).getElementType()), write.div(state[0], root));
      Value updated = write.sub(x, step);
      double post = op.getNormCoefficientPost().convertToDouble();
      return post == 0 ? updated : write.mul(updated, write.scalar(1 - post, updated));
    });
    return success();
  }

  /// The rate, corrected after the first update for states that start at zero.
  static Value correctedRate(GraphWriter &write, AdamOp op, double alpha, double beta) {
    Value rate = asScalar(write, op.getRate());
    Type element = typeOf(rate).getElementType();
    Value count = write.cast(asScalar(write, op.getCount()), element);
    auto missing = [&](double base) {
      return write.sub(write.scalar(1, element), write.op("Pow", {write.scalar(base, element), count}));
    };
    Value corrected = write.div(write.mul(rate, write.op("Sqrt", {missing(beta)})), missing(alpha));
    return write.where(write.op("Greater", {count, write.scalar(0, element)}), corrected, rate);
  }
};

struct DecomposeMomentum : OpRewritePattern<MomentumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MomentumOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    Value rate = asScalar(write, op.getRate());
    Type element = typeOf(rate).getElementType();
    double alpha = op.getAlpha().convertToDouble();
    // The first gradient counts whole.
    Value later = write.op("Greater", {write.cast(asScalar(write, op.getCount()), element), write.scalar(0, element)});
    Value beta = write.where(later, write.scalar(op.getBeta().convertToDouble(), element), write.scalar(1, element));
    updateAll(op, b, 1, [&](Value x, Value gradient, MutableArrayRef<Value> state) {
      Type own = typeOf(x).getElementType();
      Value g = regularized(write, op.getNormCoefficient().convertToDouble(), x, gradient);
      state[0] = write.add(write.mul(state[0], write.scalar(alpha, state[0])), write.mul(write.cast(beta, own), g));
      Value direction = op.getMode() == "nesterov" ? blend(write, 1, g, alpha, state[0]) : state[0];
      return write.sub(x, write.mul(write.cast(rate, own), direction));
    });
    return success();
  }
};

} // namespace

void trn::populateTrainingPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeLikelihoodLoss, DecomposeCrossEntropy, DecomposeAdagrad, DecomposeAdam, DecomposeMomentum>(
      patterns.getContext());
}
