//===- DecomposeSignal.cpp - Fourier transforms ---------------------------===//
//
// Owns DFT and STFT as products with matrices of cosines and sines, which is how the PE does them. The matrices are
// computed in double precision.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Signal.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

constexpr double kTurn = 2 * 3.14159265358979323846;

/// A constant of `shape` whose element at each position `value` gives.
Value tabulate(GraphWriter &write, ArrayRef<int64_t> shape, Type element, llvm::function_ref<double(int64_t)> value) {
  auto type = RankedTensorType::get(shape, element);
  unsigned width = elementBytes(element);
  std::vector<char> bytes(size_t(type.getNumElements()) * width);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    writeReal(element, value(i), bytes.data() + i * width);
  return write.constant(makeConstant(type, std::move(bytes)));
}

/// cos or sin of 2 pi i k / length, the product taken modulo the length, where it is exact.
double wave(bool isCosine, int64_t i, int64_t k, int64_t length) {
  double angle = kTurn * double(i * k % length) / double(length);
  return isCosine ? std::cos(angle) : std::sin(angle);
}

struct DecomposeDFT : OpRewritePattern<DFTOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DFTOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    RankedTensorType type = typeOf(op.getX()), result = typeOf(op.getY());
    int64_t rank = type.getRank(), axis = *op.getAxis(), inputs = type.getDimSize(axis);
    bool inverse = op.getInverse(), isReal = inverse && op.getOnesided();
    int64_t bins = result.getDimSize(axis), length = op.getDftLength().value_or(isReal ? bins : inputs);
    int64_t used = std::min(inputs, isReal ? length / 2 + 1 : length);
    Type element = type.getElementType();

    // The axis last, where it is multiplied.
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    std::swap(order[axis], order[rank - 2]);
    auto part = [&](int64_t which) {
      Value x = write.slice(write.slice(op.getX(), axis, 0, used), rank - 1, which, which + 1);
      SmallVector<int64_t> shape(typeOf(x).getShape().drop_back());
      return write.transpose(write.reshape(x, shape), order);
    };
    // An inverse of half a spectrum counts what stands for two bins twice.
    auto weight = [&](int64_t bin) {
      double both = isReal && bin != 0 && 2 * bin != length ? 2 : 1;
      return inverse ? both / double(length) : 1.0;
    };
    auto matrix = [&](bool isCosine, double sign) {
      return tabulate(write, {used, bins}, element, [&](int64_t at) {
        return sign * weight(at / bins) * wave(isCosine, at / bins, at % bins, length);
      });
    };
    auto restore = [&](Value x) {
      SmallVector<int64_t> shape(result.getShape());
      shape.back() = 1;
      return write.reshape(write.transpose(x, order), shape);
    };
    double direction = inverse ? 1 : -1;
    bool isComplex = type.getDimSize(rank - 1) == 2;
    Value re = part(0), outRe = write.matMul(re, matrix(true, 1)), outIm;
    if (!isReal)
      outIm = write.matMul(re, matrix(false, direction));
    if (isComplex) {
      Value im = part(1);
      outRe = write.add(outRe, write.matMul(im, matrix(false, -direction)));
      if (!isReal)
        outIm = write.add(outIm, write.matMul(im, matrix(true, 1)));
    }
    b.replaceOp(op, isReal ? restore(outRe) : write.concat({restore(outRe), restore(outIm)}, rank - 1));
    return success();
  }
};

/// Frames are the windows of a convolution whose kernels are the waves.
struct DecomposeSTFT : OpRewritePattern<STFTOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(STFTOp op, PatternRewriter &b) const override {
    GraphWriter write(b, op.getLoc());
    RankedTensorType type = typeOf(op.getSignal()), result = typeOf(op.getY());
    Type element = type.getElementType();
    int64_t batch = type.getDimSize(0), size = type.getDimSize(1), parts = type.getRank() == 3 ? type.getDimSize(2) : 1;
    int64_t frames = result.getDimSize(1), bins = result.getDimSize(2), step = *op.getFrameStep();
    int64_t length = op.getFrameLength() ? int64_t(*op.getFrameLength()) : typeOf(op.getWindow()).getDimSize(0);
    // [real bins, imaginary bins][parts][length]
    Value kernel = tabulate(write, {2 * bins, parts, length}, element, [&](int64_t at) {
      int64_t i = at % length, part = at / length % parts, out = at / length / parts, bin = out % bins;
      bool isImaginary = out >= bins;
      // (re + i im) (cos - i sin)
      if (part == 0)
        return isImaginary ? -wave(false, i, bin, length) : wave(true, i, bin, length);
      return isImaginary ? wave(true, i, bin, length) : wave(false, i, bin, length);
    });
    if (Value window = op.getWindow())
      kernel = write.mul(kernel, write.cast(window, element));
    Value signal = write.reshape(op.getSignal(), {batch, size, parts});
    Value spectrum = write.op("Conv", {write.transpose(signal, {0, 2, 1}), kernel}, {write.ints("strides", {step})});
    Value split = write.reshape(write.slice(spectrum, 2, 0, frames), {batch, 2, bins, frames});
    b.replaceOp(op, write.transpose(split, {0, 3, 2, 1}));
    return success();
  }
};
} // namespace

void trn::populateSignalPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeDFT, DecomposeSTFT>(patterns.getContext());
}
