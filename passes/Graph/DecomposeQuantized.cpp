//===- DecomposeQuantized.cpp - operators on quantised data ---------------===//
//
// Owns MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv: differences from the zero points, which fp32 holds
// exactly, are multiplied in fp32 in pieces whose sums stay below 2^24, and the pieces are added as integers.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Quantization.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

/// Products of two differences of bytes that a sum may have and stay exact in fp32.
constexpr int64_t kExactProducts = (int64_t(1) << 24) / (255 * 255);

struct Quantized : GraphWriter {
  using GraphWriter::GraphWriter;

  Value real(Value x) { return cast(x, b.getF32Type()); }

  /// `x` without its zero point, which has one entry or one for each position of the dimension `axis`.
  Value difference(Value x, Value zeroPoint, int64_t axis) {
    return zeroPoint ? sub(real(x), along(real(zeroPoint), x, axis)) : real(x);
  }
  /// A parameter that broadcasts against `x`.
  Value along(Value parameter, Value x, int64_t axis) {
    RankedTensorType type = typeOf(parameter);
    if (type.getNumElements() == 1)
      return reshape(parameter, {});
    if (type.getRank() > 1)
      return parameter; // has the dimensions of x already
    SmallVector<int64_t> shape(typeOf(x).getRank() - axis, 1);
    shape[0] = type.getDimSize(0);
    return reshape(parameter, shape);
  }

  /// The 32-bit integers of a product of two differences.
  Value product(Value lhs, Value rhs) {
    int64_t lhsRank = typeOf(lhs).getRank(), rhsRank = typeOf(rhs).getRank();
    int64_t row = lhsRank - 1, column = std::max<int64_t>(rhsRank - 2, 0), depth = typeOf(lhs).getDimSize(row);
    Value sum;
    for (int64_t start = 0; start < depth; start += kExactProducts) {
      int64_t end = std::min(depth, start + kExactProducts);
      addTo(sum, matMul(slice(lhs, row, start, end), slice(rhs, column, start, end)));
    }
    return sum;
  }

  /// The 32-bit integers of a convolution of two differences.
  Value convolution(Value x, Value w, ArrayRef<NamedAttribute> attributes, int64_t group) {
    int64_t channels = typeOf(w).getDimSize(1), taps = typeOf(w).getNumElements() / typeOf(w).getDimSize(0) / channels;
    int64_t piece = group == 1 ? std::max<int64_t>(1, kExactProducts / taps) : channels;
    Value sum;
    for (int64_t start = 0; start < channels; start += piece) {
      int64_t end = std::min(channels, start + piece);
      addTo(sum, op("Conv", {group == 1 ? slice(x, 1, start, end) : x, slice(w, 1, start, end)}, attributes));
    }
    return sum;
  }

  /// Scales the integers and rounds them to the result's type.
  Value requantize(Value sum, Value scale, Value yScale, Value yZeroPoint) {
    return op("QuantizeLinear", {mul(real(sum), scale), real(yScale), yZeroPoint});
  }

private:
  void addTo(Value &sum, Value piece) {
    Value integers = cast(piece, b.getIntegerType(32));
    sum = sum ? add(sum, integers) : integers;
  }
};

SmallVector<NamedAttribute> windowOf(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {"kernel_shape", "strides", "pads", "dilations", "group"})
    if (Attribute value = op->getAttr(name))
      attributes.emplace_back(StringAttr::get(op->getContext(), name), value);
  return attributes;
}

struct DecomposeMatMulInteger : OpRewritePattern<MatMulIntegerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulIntegerOp op, PatternRewriter &b) const override {
    Quantized write(b, op.getLoc());
    Value lhs = write.difference(op.getA(), op.getAZeroPoint(), typeOf(op.getA()).getRank() - 2);
    Value rhs = write.difference(op.getB(), op.getBZeroPoint(), typeOf(op.getB()).getRank() - 1);
    b.replaceOp(op, write.product(lhs, rhs));
    return success();
  }
};

struct DecomposeQLinearMatMul : OpRewritePattern<QLinearMatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QLinearMatMulOp op, PatternRewriter &b) const override {
    Quantized write(b, op.getLoc());
    int64_t row = typeOf(op.getA()).getRank() - 2, column = typeOf(op.getB()).getRank() - 1;
    Value sum = write.product(write.difference(op.getA(), op.getAZeroPoint(), row),
                              write.difference(op.getB(), op.getBZeroPoint(), column));
    Value scale = write.mul(write.along(write.real(op.getAScale()), op.getA(), row),
                            write.along(write.real(op.getBScale()), op.getB(), column));
    b.replaceOp(op, write.requantize(sum, scale, op.getYScale(), op.getYZeroPoint()));
    return success();
  }
};

struct DecomposeConvInteger : OpRewritePattern<ConvIntegerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvIntegerOp op, PatternRewriter &b) const override {
    Quantized write(b, op.getLoc());
    b.replaceOp(op, write.convolution(write.difference(op.getX(), op.getXZeroPoint(), 0),
                                      write.difference(op.getW(), op.getWZeroPoint(), 0), windowOf(op), op.getGroup()));
    return success();
  }
};

struct DecomposeQLinearConv : OpRewritePattern<QLinearConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QLinearConvOp op, PatternRewriter &b) const override {
    Quantized write(b, op.getLoc());
    Value sum = write.convolution(write.difference(op.getX(), op.getXZeroPoint(), 0),
                                  write.difference(op.getW(), op.getWZeroPoint(), 0), windowOf(op), op.getGroup());
    if (op.getB())
      sum = write.add(sum, write.along(op.getB(), sum, 1));
    Value scale = write.mul(write.along(write.real(op.getXScale()), sum, 1), write.along(write.real(op.getWScale()), sum, 1));
    b.replaceOp(op, write.requantize(sum, scale, op.getYScale(), op.getYZeroPoint()));
    return success();
  }
};
} // namespace

void trn::populateQuantizedPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMatMulInteger, DecomposeQLinearMatMul, DecomposeConvInteger, DecomposeQLinearConv>(
      patterns.getContext());
}
