//===- DecomposeRandom.cpp - random numbers as constants ------------------===//
//
// Owns the random operators and Dropout in training. What a node draws follows from its seed and the place of each number
// alone (Philox 4x32, a generator that counts), so it is known while compiling: uniform and normal numbers become
// constants, and what depends on data besides compares with them on the device.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Composite.h"
#include "dialects/ONNX/Ops/Normalization.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/bit.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
std::array<uint32_t, 4> philox(uint64_t counter, uint64_t seed) {
  std::array<uint32_t, 4> x = {uint32_t(counter), uint32_t(counter >> 32), 0, 0};
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * x[0], b = uint64_t(0xCD9E8D57) * x[2];
    x = {uint32_t(b >> 32) ^ x[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ x[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return x;
}

/// In [0, 1), in steps that fp32 has.
double uniform(uint32_t bits) { return double(bits >> 8) * 0x1p-24; }

/// Draws from the seed of one node.
struct Drawer : GraphWriter {
  Drawer(OpBuilder &b, Location loc, uint64_t seed) : GraphWriter(b, loc), seed(seed) {}

  /// A constant of `shape`, each element from four random words of its own.
  Value draw(ArrayRef<int64_t> shape, Type element, llvm::function_ref<double(ArrayRef<uint32_t>)> number) {
    auto type = RankedTensorType::get(shape, element);
    unsigned width = elementBytes(element);
    std::vector<char> bytes(type.getNumElements() * width);
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      writeReal(element, number(philox(uint64_t(i), seed)), bytes.data() + i * width);
    return constant(makeConstant(type, std::move(bytes), "random"));
  }
  Value uniforms(ArrayRef<int64_t> shape) {
    return draw(shape, b.getF32Type(), [](ArrayRef<uint32_t> words) { return uniform(words[0]); });
  }

  uint64_t seed;
};

uint64_t seedOf(std::optional<APFloat> seed) { return seed ? llvm::bit_cast<uint32_t>(seed->convertToFloat()) : 0; }

template <typename OpTy> struct DecomposeUniform : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
    RankedTensorType type = typeOf(op.getY());
    Drawer write(b, op.getLoc(), seedOf(op.getSeed()));
    b.replaceOp(op, write.draw(type.getShape(), type.getElementType(), [&](ArrayRef<uint32_t> words) {
      return low + (high - low) * uniform(words[0]);
    }));
    return success();
  }
};

/// Box and Muller's transform.
template <typename OpTy> struct DecomposeNormal : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    double mean = op.getMean().convertToDouble(), scale = op.getScale().convertToDouble();
    RankedTensorType type = typeOf(op.getY());
    Drawer write(b, op.getLoc(), seedOf(op.getSeed()));
    b.replaceOp(op, write.draw(type.getShape(), type.getElementType(), [&](ArrayRef<uint32_t> words) {
      double radius = std::sqrt(-2 * std::log((words[0] + 0.5) * 0x1p-32));
      return mean + scale * radius * std::cos(2 * M_PI * (words[1] * 0x1p-32));
    }));
    return success();
  }
};

struct DecomposeBernoulli : OpRewritePattern<BernoulliOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BernoulliOp op, PatternRewriter &b) const override {
    Drawer write(b, op.getLoc(), seedOf(op.getSeed()));
    Value below = write.op("Less", {write.uniforms(typeOf(op.getX()).getShape()), write.cast(op.getX(), b.getF32Type())});
    b.replaceOp(op, write.cast(below, typeOf(op.getY()).getElementType()));
    return success();
  }
};

/// The class whose logarithmic probability plus a number of Gumbel's distribution is largest.
struct DecomposeMultinomial : OpRewritePattern<MultinomialOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MultinomialOp op, PatternRewriter &b) const override {
    Drawer write(b, op.getLoc(), seedOf(op.getSeed()));
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
    Value noise = write.draw({x[0], int64_t(op.getSampleSize()), x[1]}, b.getF32Type(), [](ArrayRef<uint32_t> words) {
      return -std::log(-std::log((words[0] + 0.5) * 0x1p-32));
    });
    Value scores = write.add(write.cast(write.reshape(op.getX(), {x[0], 1, x[1]}), b.getF32Type()), noise);
    Value best = write.op("ArgMax", {scores}, {write.integer("axis", 2), write.flag("keepdims", false)});
    b.replaceOp(op, write.cast(best, typeOf(op.getY()).getElementType()));
    return success();
  }
};

/// In training each element is kept with the probability 1 - ratio, and divided by it.
struct DecomposeTrainingDropout : OpRewritePattern<DropoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DropoutOp op, PatternRewriter &b) const override {
    constexpr int64_t kMost = int64_t(1) << 28; // as for the operators that say how many numbers they draw
    if (!op.getTrainingMode().value_or(false) || (op.getRatio() && op.getRatio()->isZero()) ||
        typeOf(op.getX()).getNumElements() > kMost)
      return b.notifyMatchFailure(op, "drops nothing, or draws too much");
    Drawer write(b, op.getLoc(), uint64_t(op.getSeed().value_or(0)));
    Type f32 = b.getF32Type();
    Value ratio = op.getRatioOperand() ? write.reshape(write.cast(op.getRatioOperand(), f32), {})
                                       : write.scalar(op.getRatio() ? op.getRatio()->convertToFloat() : 0.5, f32);
    Value keep = write.op("GreaterOrEqual", {write.uniforms(typeOf(op.getX()).getShape()), ratio});
    Value share = write.cast(write.sub(write.scalar(1, f32), ratio), typeOf(op.getX()).getElementType());
    SmallVector<Value> results = {write.where(keep, write.div(op.getX(), share), write.scalar(0, op.getX()))};
    if (op.getMask())
      results.push_back(keep);
    b.replaceOp(op, results);
    return success();
  }
};
} // namespace

void trn::populateRandomPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeUniform<RandomUniformOp>, DecomposeUniform<RandomUniformLikeOp>, DecomposeNormal<RandomNormalOp>,
               DecomposeNormal<RandomNormalLikeOp>, DecomposeBernoulli, DecomposeMultinomial, DecomposeTrainingDropout>(
      patterns.getContext());
}
