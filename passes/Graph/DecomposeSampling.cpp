//===- DecomposeSampling.cpp - samples at computed positions --------------===//
//
// Owns GridSample, RoiAlign, DeformConv, Col2Im and ReverseSequence. Pictures become tables with one row of channels for
// each pixel; a sample is a weighted sum of rows that Gather takes at computed indices.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Signal.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {

struct Sampler : GraphWriter {
  /// Positions and sums of `element` are computed in f32, those of doubles in f64.
  Sampler(OpBuilder &builder, Location location, Type element)
      : GraphWriter(builder, location), number(element.isF64() ? Type(builder.getF64Type()) : Type(builder.getF32Type())) {}

  Type number;

  Value plus(Value x, double y) { return y == 0 ? x : add(x, scalar(y, x)); }
  Value times(Value x, double y) { return y == 1 ? x : mul(x, scalar(y, x)); }
  Value atLeast(Value x, double y) { return op("Max", {x, scalar(y, x)}); }
  Value atMost(Value x, double y) { return op("Min", {x, scalar(y, x)}); }
  Value clamp(Value x, double low, double high) { return atMost(atLeast(x, low), high); }
  Value floor(Value x) { return op("Floor", {x}); }
  Value real(Value x) { return cast(x, number); }
  /// 1 where low <= x <= high, 0 elsewhere.
  Value inside(Value x, double low, double high) {
    Value above = op("GreaterOrEqual", {x, scalar(low, x)}), below = op("LessOrEqual", {x, scalar(high, x)});
    return real(op("And", {above, below}));
  }
  Value range(int64_t size, ArrayRef<int64_t> shape, double scale = 1, double shift = 0) {
    std::vector<char> bytes(size * elementBytes(number));
    for (int64_t i = 0; i < size; ++i)
      writeReal(number, double(i) * scale + shift, bytes.data() + i * elementBytes(number));
    return constant(makeConstant(RankedTensorType::get(shape, number), std::move(bytes)));
  }

  /// [N, C, spatial...] as rows [N * spatial, C].
  Value table(Value x) {
    int64_t rank = typeOf(x).getRank();
    SmallVector<int64_t> order = {0};
    llvm::append_range(order, llvm::seq<int64_t>(2, rank));
    order.push_back(1);
    Value last = transpose(x, order);
    int64_t channels = typeOf(x).getDimSize(1);
    return reshape(real(last), {typeOf(x).getNumElements() / channels, channels});
  }
  /// The rows at positions of any shape, which are floats that are integers.
  Value rows(Value table, Value positions) {
    Value index = cast(positions, b.getIntegerType(32));
    return op("Gather", {table, index}, integer("axis", 0));
  }
  /// Weights of samples, for multiplication with rows.
  Value perRow(Value weights) {
    SmallVector<int64_t> shape(typeOf(weights).getShape());
    shape.push_back(1);
    return reshape(weights, shape);
  }
};

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

struct DecomposeGridSample : OpRewritePattern<GridSampleOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Mirrors positions at `low` and `high` until they lie between.
  static Value reflect(Sampler &write, Value x, double low, double high) {
    double span = high - low;
    if (span <= 0)
      return write.plus(write.times(x, 0), low);
    // The distance from `low` in a walk of period 2 span, then down again behind span.
    Value distance = write.op("Abs", {write.plus(x, -low)});
    Value turns = write.floor(write.times(distance, 1 / (2 * span)));
    Value rest = write.sub(distance, write.times(turns, 2 * span));
    return write.plus(write.op("Min", {rest, write.plus(write.neg(rest), 2 * span)}), low);
  }

  /// One dimension of the samples: per tap the index and the weight.
  struct Taps {
    SmallVector<Value> indices, weights;
  };

  static Taps tapsOf(Sampler &write, Value grid, int64_t size, bool align, StringRef mode, StringRef padding) {
    double low = align ? 0 : -0.5, high = align ? double(size) - 1 : double(size) - 0.5;
    Value x = align ? write.times(write.plus(grid, 1), (double(size) - 1) / 2)
                    : write.plus(write.times(write.plus(grid, 1), double(size) / 2), -0.5);
    if (mode == "nearest")
      x = write.op("Round", {x});
    // What lies outside is brought to the border first; taps beyond it are treated one by one.
    if (padding == "border")
      x = write.clamp(x, 0, double(size) - 1);
    else if (padding == "reflection")
      x = reflect(write, x, low, high);
    Taps taps;
    Value base = mode == "nearest" ? x : write.floor(x), fraction = write.sub(x, base);
    auto add = [&](double offset, Value weight) {
      Value index = write.plus(base, offset);
      if (padding == "zeros") {
        Value valid = write.inside(index, 0, double(size) - 1);
        weight = weight ? write.mul(weight, valid) : valid;
      } else if (padding == "reflection") {
        index = write.op("Round", {reflect(write, index, low, high)});
      }
      taps.indices.push_back(write.clamp(index, 0, double(size) - 1));
      taps.weights.push_back(weight);
    };
    if (mode == "nearest") {
      add(0, Value());
    } else if (mode == "linear") {
      add(0, write.plus(write.neg(fraction), 1));
      add(1, fraction);
    } else {
      // Keys' kernel with a = -0.75: near taps ((a + 2) t - (a + 3)) t^2 + 1, far ones a (((t - 5) t + 8) t - 4).
      constexpr double a = -0.75;
      auto near = [&](Value t) {
        Value inner = write.plus(write.times(t, a + 2), -(a + 3));
        return write.plus(write.mul(write.mul(inner, t), t), 1);
      };
      auto far = [&](Value t) {
        Value inner = write.plus(write.mul(write.plus(t, -5), t), 8);
        return write.times(write.plus(write.mul(inner, t), -4), a);
      };
      Value other = write.plus(write.neg(fraction), 1);
      add(-1, far(write.plus(fraction, 1)));
      add(0, near(fraction));
      add(1, near(other));
      add(2, far(write.plus(other, 1)));
    }
    return taps;
  }

  LogicalResult matchAndRewrite(GridSampleOp op, PatternRewriter &b) const override {
    RankedTensorType type = typeOf(op.getX()), gridType = typeOf(op.getGrid());
    Sampler write(b, op.getLoc(), type.getElementType());
    int64_t spatial = type.getRank() - 2, rank = gridType.getRank();
    StringRef mode = op.getMode(), padding = op.getPaddingMode();
    if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode) ||
        !llvm::is_contained({"zeros", "border", "reflection"}, padding) || (mode == "cubic" && spatial != 2))
      return failure();
    ArrayRef<int64_t> points = gridType.getShape().drop_back();
    SmallVector<Taps> dims;
    for (int64_t dim = 0; dim < spatial; ++dim) {
      // The first coordinate belongs to the last dimension.
      Value coordinate = write.slice(write.real(op.getGrid()), rank - 1, spatial - 1 - dim, spatial - dim);
      dims.push_back(tapsOf(write, write.reshape(coordinate, points), type.getDimSize(2 + dim), op.getAlignCorners(), mode,
                            padding));
    }
    Value table = write.table(op.getX()), sum;
    int64_t picture = type.getNumElements() / type.getDimSize(0) / type.getDimSize(1);
    SmallVector<int64_t> perPicture(points.size(), 1);
    perPicture[0] = points[0];
    Value first = write.range(points[0], perPicture, double(picture));
    int64_t taps = dims.front().indices.size(), count = 1;
    for (int64_t dim = 0; dim < spatial; ++dim)
      count *= taps;
    for (int64_t which = 0; which < count; ++which) {
      Value position, weight;
      for (int64_t dim = 0, rest = which; dim < spatial; ++dim, rest /= taps) {
        Value index = dims[dim].indices[rest % taps], factor = dims[dim].weights[rest % taps];
        position = position ? write.add(write.times(position, double(type.getDimSize(2 + dim))), index) : index;
        if (factor)
          weight = weight ? write.mul(weight, factor) : factor;
      }
      Value samples = write.rows(table, write.add(position, first));
      if (weight)
        samples = write.mul(samples, write.perRow(weight));
      sum = sum ? write.add(sum, samples) : samples;
    }
    SmallVector<int64_t> order = {0, rank - 1};
    llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
    b.replaceOp(op, write.cast(write.transpose(sum, order), type.getElementType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

struct DecomposeRoiAlign : OpRewritePattern<RoiAlignOp> {
  using OpRewritePattern::OpRewritePattern;

  /// One dimension: [regions, output, samples] of the lower and upper index and their weights, 0 outside the picture.
  struct Line {
    Value low, high, lowWeight, highWeight;
  };

  static Line lineOf(Sampler &write, RoiAlignOp op, int64_t startColumn, int64_t outputs, int64_t size) {
    bool half = op.getCoordinateTransformationMode().value_or("half_pixel") == "half_pixel";
    double scale = op.getSpatialScale().convertToFloat();
    int64_t samples = op.getSamplingRatio(), regions = typeOf(op.getRois()).getDimSize(0);
    auto column = [&](int64_t which) {
      Value value = write.slice(write.real(op.getRois()), 1, which, which + 1);
      return write.plus(write.times(write.reshape(value, {regions, 1, 1}), scale), half ? -0.5 : 0);
    };
    Value start = column(startColumn), extent = write.sub(column(startColumn + 2), start);
    if (!half) // malformed regions are one pixel
      extent = write.atLeast(extent, 1);
    Value bin = write.times(extent, 1 / double(outputs));
    Value offsets = write.add(write.range(outputs, {1, outputs, 1}),
                              write.range(samples, {1, 1, samples}, 1 / double(samples), 0.5 / double(samples)));
    Value x = write.add(start, write.mul(bin, offsets));
    Value valid = write.inside(x, -1, double(size));
    x = write.clamp(x, 0, double(size) - 1);
    Value low = write.floor(x), fraction = write.sub(x, low);
    return {low, write.atMost(write.plus(low, 1), double(size) - 1), write.mul(write.plus(write.neg(fraction), 1), valid),
            write.mul(fraction, valid)};
  }

  LogicalResult matchAndRewrite(RoiAlignOp op, PatternRewriter &b) const override {
    int64_t samples = op.getSamplingRatio();
    if (samples < 1 || (op.getMode() != "avg" && op.getMode() != "max"))
      return failure();
    Sampler write(b, op.getLoc(), typeOf(op.getX()).getElementType());
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape(), y = typeOf(op.getY()).getShape();
    int64_t regions = y[0], height = x[2], width = x[3];
    Line rows = lineOf(write, op, 1, y[2], height), columns = lineOf(write, op, 0, y[3], width);
    Value table = write.table(op.getX());
    Value picture = write.reshape(write.times(write.real(op.getBatchIndices()), double(height * width)), {regions, 1, 1, 1, 1});
    auto down = [&](Value v) { return write.reshape(v, {regions, y[2], samples, 1, 1}); };
    auto across = [&](Value v) { return write.reshape(v, {regions, 1, 1, y[3], samples}); };
    SmallVector<Value> corners;
    for (bool isLower : {false, true})
      for (bool isRight : {false, true}) {
        Value row = write.add(write.times(down(isLower ? rows.high : rows.low), double(width)), picture);
        Value position = write.add(row, across(isRight ? columns.high : columns.low));
        Value weight = write.mul(down(isLower ? rows.highWeight : rows.lowWeight),
                                 across(isRight ? columns.highWeight : columns.lowWeight));
        corners.push_back(write.mul(write.rows(table, position), write.perRow(weight)));
      }
    // The standard's maximum is over the weighted corners, not over the samples.
    bool isMax = op.getMode() == "max";
    Value all = corners[0];
    for (Value corner : ArrayRef(corners).drop_front())
      all = isMax ? write.op("Max", {all, corner}) : write.add(all, corner);
    Value pooled = write.reduce(isMax ? "ReduceMax" : "ReduceMean", all, {2, 4}, /*keepDims=*/false);
    b.replaceOp(op, write.cast(write.transpose(pooled, {0, 3, 1, 2}), typeOf(op.getY()).getElementType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// The taps of all positions, sampled where their offsets say, as a picture whose columns are positions and whose rows are
/// taps; a convolution over these is the sum over taps and channels.
struct DecomposeDeformConv : OpRewritePattern<DeformConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DeformConvOp op, PatternRewriter &b) const override {
    Sampler write(b, op.getLoc(), typeOf(op.getX()).getElementType());
    ArrayRef<int64_t> x = typeOf(op.getX()).getShape(), w = typeOf(op.getW()).getShape(), y = typeOf(op.getY()).getShape();
    if (x.size() != 4 || !op.getStrides() || !op.getPads() || !op.getDilations())
      return b.notifyMatchFailure(op, "is not of pictures of two dimensions");
    int64_t batch = x[0], channels = x[1], groups = op.getOffsetGroup(), taps = w[2] * w[3];
    SmallVector<int64_t> all = {batch, groups, taps, y[2], y[3]};
    // Both coordinates: the offset, the tap's place in the kernel, the position's place in the picture.
    Value offsets = write.reshape(write.real(op.getOffset()), {batch, groups, taps, 2, y[2], y[3]});
    Value lower[2], fraction[2];
    for (int64_t dim : {0, 1}) {
      std::vector<float> starts;
      for (int64_t tap = 0; tap < taps; ++tap)
        starts.push_back(float((dim == 0 ? tap / w[3] : tap % w[3]) * (*op.getDilations())[dim] - (*op.getPads())[dim]));
      auto type = RankedTensorType::get({1, 1, taps, 1, 1}, b.getF32Type());
      Value start = write.real(write.constant(DenseElementsAttr::get(type, ArrayRef<float>(starts))));
      SmallVector<int64_t> along = {1, 1, 1, 1, 1};
      along[3 + dim] = y[2 + dim];
      Value places = write.range(y[2 + dim], along, double((*op.getStrides())[dim]));
      Value offset = write.reshape(write.slice(offsets, 3, dim, dim + 1), all);
      // What is a pixel or more outside gives zero, however far; bounds keep the indices small.
      Value at = write.clamp(write.add(offset, write.add(start, places)), -2, double(x[2 + dim]) + 1);
      lower[dim] = write.floor(at), fraction[dim] = write.sub(at, lower[dim]);
    }
    Value table = write.table(write.reshape(op.getX(), {batch * groups, channels / groups, x[2], x[3]}));
    Value picture = write.range(batch * groups, {batch, groups, 1, 1, 1}, double(x[2] * x[3])), sum;
    for (int64_t corner = 0; corner < 4; ++corner) {
      Value position, weight;
      for (int64_t dim : {0, 1}) {
        bool upper = (corner >> dim) & 1;
        double last = double(x[2 + dim]) - 1;
        Value index = upper ? write.plus(lower[dim], 1) : lower[dim];
        Value share = upper ? fraction[dim] : write.plus(write.neg(fraction[dim]), 1);
        share = write.mul(share, write.inside(index, 0, last));
        index = write.clamp(index, 0, last);
        position = position ? write.add(write.times(position, double(x[3])), index) : index;
        weight = weight ? write.mul(weight, share) : share;
      }
      Value samples = write.mul(write.rows(table, write.add(position, picture)), write.perRow(weight));
      sum = sum ? write.add(sum, samples) : samples;
    }
    if (op.getMask())
      sum = write.mul(sum, write.perRow(write.reshape(write.real(op.getMask()), all)));
    // [batch, groups, taps, rows, columns, channels of a group] to [batch, channels, taps, positions].
    Value columns = write.reshape(write.transpose(sum, {0, 1, 5, 2, 3, 4}), {batch, channels, taps, y[2] * y[3]});
    Value kernel = write.reshape(op.getW(), {w[0], w[1], taps, 1});
    Value product = write.op("Conv", {write.cast(columns, typeOf(op.getX()).getElementType()), kernel, op.getB()},
                             write.integer("group", op.getGroup()));
    b.replaceOp(op, write.reshape(product, y));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// Adding blocks into an image is a transposed convolution with one kernel per place in the block.
struct DecomposeCol2Im : OpRewritePattern<Col2ImOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Col2ImOp op, PatternRewriter &b) const override {
    if (!op.getImageShape() || !op.getBlockShape())
      return failure();
    Sampler write(b, op.getLoc(), b.getF32Type());
    RankedTensorType type = typeOf(op.getX());
    ArrayRef<int64_t> image = *op.getImageShape(), block = *op.getBlockShape();
    int64_t dims = image.size(), places = 1;
    auto entry = [](std::optional<ArrayRef<int64_t>> list, int64_t i, int64_t missing) {
      return list && i < int64_t(list->size()) ? (*list)[i] : missing;
    };
    SmallVector<int64_t> shape = {type.getDimSize(0), type.getDimSize(1)}, kernel, strides, dilations, pads(2 * dims), extra;
    for (int64_t i = 0; i < dims; ++i) {
      places *= block[i];
      strides.push_back(entry(op.getStrides(), i, 1));
      dilations.push_back(entry(op.getDilations(), i, 1));
      pads[i] = entry(op.getPads(), i, 0);
      pads[dims + i] = entry(op.getPads(), dims + i, 0);
      int64_t free = image[i] + pads[i] + pads[dims + i] - dilations[i] * (block[i] - 1) - 1;
      shape.push_back(free / strides[i] + 1);
      extra.push_back(free % strides[i]);
    }
    int64_t channels = type.getDimSize(1) / places;
    kernel = {type.getDimSize(1), 1};
    llvm::append_range(kernel, block);
    Type element = type.getElementType();
    auto kernelType = RankedTensorType::get(kernel, element);
    std::vector<char> bytes(kernelType.getNumElements() * elementBytes(element));
    for (int64_t at = 0; at < kernelType.getNumElements(); ++at)
      writeReal(element, at / places % places == at % places ? 1 : 0, bytes.data() + at * elementBytes(element));
    Value ones = write.constant(makeConstant(kernelType, std::move(bytes)));
    b.replaceOp(op, write.op("ConvTranspose", {write.reshape(op.getX(), shape), ones},
                             {write.ints("strides", strides), write.ints("dilations", dilations), write.ints("pads", pads),
                              write.ints("output_padding", extra), write.integer("group", channels)}));
    return success();
  }
};

/// Time steps below each sequence's length are taken in reverse.
struct DecomposeReverseSequence : OpRewritePattern<ReverseSequenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseSequenceOp op, PatternRewriter &b) const override {
    Sampler write(b, op.getLoc(), b.getF32Type());
    RankedTensorType type = typeOf(op.getX());
    int64_t rank = type.getRank(), batchAxis = op.getBatchAxis(), timeAxis = op.getTimeAxis();
    if (batchAxis < 0 || timeAxis < 0 || batchAxis > 1 || timeAxis > 1 || batchAxis == timeAxis)
      return failure();
    int64_t batch = type.getDimSize(batchAxis), time = type.getDimSize(timeAxis);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (batchAxis == 1)
      std::swap(order[0], order[1]);
    Value sequences = write.transpose(op.getX(), order);
    Value table = write.reshape(sequences, {batch * time, type.getNumElements() / batch / time});
    Value length = write.reshape(write.real(op.getSequenceLens()), {batch, 1}), step = write.range(time, {1, time});
    Value reversed = write.sub(write.plus(length, -1), step);
    Value from = write.where(write.op("Less", {step, length}), reversed, step);
    Value rows = write.rows(table, write.add(from, write.range(batch, {batch, 1}, double(time))));
    b.replaceOp(op, write.transpose(write.reshape(rows, typeOf(sequences).getShape()), order));
    return success();
  }
};
} // namespace

void trn::populateSamplingPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeGridSample, DecomposeRoiAlign, DecomposeDeformConv, DecomposeCol2Im, DecomposeReverseSequence>(
      patterns.getContext());
}
