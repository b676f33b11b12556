//===- Resize.cpp - ONNX Resize on static maps ----------------------------===//
// Every dimension is resized by itself: each output position is a weighted sum of a few input positions that are known
// now. Whole upscaling factors become a broadcast (nearest) or one small window of weights per phase (linear, cubic);
// strides become slices; the rest is a gather (nearest) or a product with a constant matrix (linear, cubic). Windows and
// matrices have factors 0, so that with linear and cubic an infinity makes NaN of results beside those that it is part of.
#include "dialects/ONNX/Ops/Movement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include <cmath>

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

namespace {
/// What one output position reads: `weights[i]` of input position `first + i`, which may lie outside of the input.
struct Taps {
  int64_t first;
  SmallVector<double, 4> weights;
};
} // namespace

/// Where output position `i` lies in the input; none for an unknown mode.
static std::optional<double> coordinate(StringRef mode, int64_t i, double scale, int64_t in, int64_t out) {
  // A scale that is the ratio of the sizes is not rounded before it is used: what lies halfway between two elements stays
  // there.
  bool isRatio = scale == double(out) / double(in);
  double length = isRatio ? double(out) : double(in) * scale;
  auto unscaled = [&](double x) { return isRatio ? x * double(in) / double(out) : x / scale; };
  if (mode == "half_pixel")
    return unscaled(i + 0.5) - 0.5;
  if (mode == "pytorch_half_pixel")
    return out > 1 ? unscaled(i + 0.5) - 0.5 : 0;
  if (mode == "half_pixel_symmetric")
    return in / 2.0 * (1 - double(out) / length) + unscaled(i + 0.5) - 0.5;
  if (mode == "align_corners")
    return length == 1 ? 0 : double(i) * double(in - 1) / (length - 1);
  if (mode == "asymmetric")
    return unscaled(i);
  return std::nullopt;
}

/// A scale of dimension `dim`, which is stored as f32, as the ratio of sizes that rounds to it: its own, or that of a
/// dimension whose factor it has (keep_aspect_ratio_policy).
static double exactScale(float stored, int64_t dim, ArrayRef<int64_t> in, ArrayRef<int64_t> out) {
  auto ratio = [&](int64_t i) { return double(out[i]) / double(in[i]); };
  if (float(ratio(dim)) == stored)
    return ratio(dim);
  for (int64_t i = 0; i < int64_t(in.size()); ++i)
    if (float(ratio(i)) == stored)
      return ratio(i);
  return stored;
}

static std::optional<int64_t> nearest(StringRef mode, double x) {
  if (mode == "round_prefer_floor")
    return int64_t(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil")
    return int64_t(std::floor(x + 0.5));
  if (mode == "floor")
    return int64_t(std::floor(x));
  if (mode == "ceil")
    return int64_t(std::ceil(x));
  return std::nullopt;
}

/// The interpolation kernel at distance `x`: a triangle, or Keys' cubic with parameter `a`.
static double kernelAt(bool cubic, double a, double x) {
  x = std::fabs(x);
  if (!cubic)
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The taps of a linear or cubic interpolation at coordinate `x`. With antialias, a kernel of a shrinking resize is
/// stretched by 1 / scale and normalised.
static Taps interpolate(onnx::ResizeOp op, bool cubic, double x, double scale, int64_t in) {
  double a = op.getCubicCoeffA().convertToFloat(), stretch = op.getAntialias() ? std::min(scale, 1.0) : 1.0;
  int64_t base = int64_t(std::floor(x)), reach = cubic ? 2 : 1;
  int64_t begin = int64_t(std::floor(-double(reach) / stretch)) + 1, end = 2 - begin;
  Taps taps{base + begin, {}};
  double sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    double weight = kernelAt(cubic, a, (double(i) - (x - double(base))) * stretch);
    bool outside = base + i < 0 || base + i >= in;
    if (op.getExcludeOutside() && outside)
      weight = 0;
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (op.getExcludeOutside() || op.getAntialias())
    for (double &weight : taps.weights)
      weight /= sum;
  return taps;
}

//===----------------------------------------------------------------------===//
// Nearest
//===----------------------------------------------------------------------===//

/// If position i is `first + i * step`: the step (1 for a single position).
static std::optional<int64_t> stepOf(ArrayRef<int64_t> positions) {
  int64_t step = positions.size() > 1 ? positions[1] - positions[0] : 1;
  for (size_t i = 1; i < positions.size(); ++i)
    if (positions[i] - positions[i - 1] != step)
      return std::nullopt;
  return step > 0 ? std::optional<int64_t>(step) : std::nullopt;
}

static bool isRepetition(ArrayRef<int64_t> positions, int64_t in) {
  int64_t factor = int64_t(positions.size()) / in;
  if (factor * in != int64_t(positions.size()))
    return false;
  for (size_t i = 0; i < positions.size(); ++i)
    if (positions[i] != int64_t(i) / factor)
      return false;
  return true;
}

/// Repeats every element along a dimension.
static Value repeat(LinalgBuilder &b, Value x, int64_t dim, int64_t factor) {
  SmallVector<int64_t> result(shapeOf(x)), positions, shape;
  result[dim] *= factor;
  for (auto [i, size] : llvm::enumerate(shapeOf(x))) {
    positions.push_back(shape.size());
    shape.push_back(size);
    if (int64_t(i) == dim)
      shape.push_back(factor);
  }
  Value repeated =
      b.map(x, b.dims(shape.size(), positions), shape, elementTypeOf(x), [](Builder1 &, ValueRange e) { return e[0]; });
  return b.reshape(repeated, result);
}

/// Reads `positions` along a dimension.
static Value gather(LinalgBuilder &b, Value x, int64_t dim, ArrayRef<int64_t> positions) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape[dim] = positions.size();
  SmallVector<int32_t> narrow(positions.begin(), positions.end());
  Value index = b.weight({int64_t(positions.size())}, narrow);
  Type element = elementTypeOf(x);
  return b.map(index, b.dims(shape.size(), dim), shape, element, [&](Builder1 &b, ValueRange e) -> Value {
    SmallVector<Value> indices;
    for (int64_t i = 0, rank = shape.size(); i < rank; ++i)
      indices.push_back(i == dim ? arith::IndexCastOp::create(b, b.getIndexType(), e[0]).getResult()
                                 : linalg::IndexOp::create(b, i).getResult());
    return tensor::ExtractOp::create(b, x, indices);
  });
}

static Value resizeNearest(LinalgBuilder &b, Value x, int64_t dim, ArrayRef<int64_t> positions) {
  int64_t in = shapeOf(x)[dim], out = positions.size();
  if (isRepetition(positions, in))
    return repeat(b, x, dim, out / in);
  if (std::optional<int64_t> step = stepOf(positions))
    return b.sliceDim(x, dim, positions[0], out, *step);
  return gather(b, x, dim, positions);
}

//===----------------------------------------------------------------------===//
// Linear and cubic
//===----------------------------------------------------------------------===//

/// If a whole factor repeats the same taps, moved by one input position: the taps of one period, padded to one window.
static std::optional<std::pair<int64_t, SmallVector<SmallVector<double>>>> periodOf(ArrayRef<Taps> taps, int64_t in) {
  int64_t factor = int64_t(taps.size()) / in;
  if (factor < 2 || factor * in != int64_t(taps.size()))
    return std::nullopt;
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (int64_t phase = 0; phase < factor; ++phase) {
    first = std::min(first, taps[phase].first);
    last = std::max(last, taps[phase].first + int64_t(taps[phase].weights.size()));
  }
  for (size_t i = factor; i < taps.size(); ++i) {
    const Taps &phase = taps[i % factor];
    if (taps[i].first - int64_t(i) / factor != phase.first || taps[i].weights.size() != phase.weights.size())
      return std::nullopt;
    for (auto [weight, expected] : llvm::zip(taps[i].weights, phase.weights))
      if (std::fabs(weight - expected) > 1e-9 * double(in))
        return std::nullopt;
  }
  SmallVector<SmallVector<double>> window(factor, SmallVector<double>(last - first, 0.0));
  for (int64_t phase = 0; phase < factor; ++phase)
    for (auto [i, weight] : llvm::enumerate(taps[phase].weights))
      window[phase][taps[phase].first - first + i] = weight;
  return std::make_pair(first, window);
}

/// The tensor with its first and last elements along `dim` repeated outwards.
static Value padWithEdges(LinalgBuilder &b, Value x, int64_t dim, int64_t before, int64_t after) {
  int64_t size = shapeOf(x)[dim];
  SmallVector<Value> parts;
  auto edge = [&](int64_t position, int64_t count) {
    SmallVector<int64_t> shape(shapeOf(x));
    shape[dim] = count;
    return b.broadcast(b.sliceDim(x, dim, position, 1), shape);
  };
  if (before > 0)
    parts.push_back(edge(0, before));
  parts.push_back(x);
  if (after > 0)
    parts.push_back(edge(size - 1, after));
  return b.concat(parts, dim);
}

static Value resizeWeighted(LinalgBuilder &b, Value x, int64_t dim, ArrayRef<Taps> taps) {
  int64_t in = shapeOf(x)[dim], out = taps.size(), rank = shapeOf(x).size();
  SmallVector<int64_t> result(shapeOf(x));
  result[dim] = out;
  Type element = elementTypeOf(x);
  if (auto period = periodOf(taps, in)) {
    // out[q, phase] = sum over t of padded[q + t] * window[phase, t]
    auto &[first, window] = *period;
    int64_t factor = window.size(), width = window[0].size();
    Value padded = padWithEdges(b, x, dim, std::max<int64_t>(0, -first), std::max<int64_t>(0, first + width - 1));
    int64_t start = std::max<int64_t>(0, first);
    padded = b.sliceDim(padded, dim, start, shapeOf(padded)[dim] - start);
    SmallVector<float> values;
    for (auto &phase : window)
      values.append(phase.begin(), phase.end());
    Value weights = b.convert(b.weight(RankedTensorType::get({factor, width}, b.getF32Type()), values), element);
    SmallVector<int64_t> shape(shapeOf(x));
    shape.insert(shape.begin() + dim + 1, factor);
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < rank; ++i)
      exprs.push_back(b.getAffineDimExpr(i <= dim ? i : i + 1));
    exprs[dim] = exprs[dim] + b.getAffineDimExpr(rank + 1);
    SmallVector<int64_t> parallel = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
    Value phases = b.contract(padded, AffineMap::get(rank + 2, 0, exprs, b.getContext()), weights,
                              b.dims(rank + 2, {dim + 1, rank + 1}), b.dims(rank + 2, parallel), shape, element);
    return b.reshape(phases, result);
  }
  SmallVector<float> matrix(out * in, 0.0f);
  for (auto [i, tap] : llvm::enumerate(taps))
    for (auto [j, weight] : llvm::enumerate(tap.weights)) {
      int64_t position = std::clamp<int64_t>(tap.first + int64_t(j), 0, in - 1);
      matrix[int64_t(i) * in + position] += float(weight);
    }
  Value weights = b.convert(b.weight(RankedTensorType::get({out, in}, b.getF32Type()), matrix), element);
  SmallVector<int64_t> parallel = llvm::to_vector(llvm::seq<int64_t>(0, rank)), input = parallel;
  input[dim] = rank;
  return b.contract(x, b.dims(rank + 1, input), weights, b.dims(rank + 1, {dim, rank}), b.dims(rank + 1, parallel),
                    result, element);
}

/// Where output position `i` of a cut-out region lies in the input; the region is given as parts of the last position.
static double croppedCoordinate(double start, double end, int64_t i, int64_t in, int64_t out) {
  double last = double(in - 1);
  return out > 1 ? start * last + double(i) * (end - start) * last / double(out - 1) : 0.5 * (start + end) * last;
}

/// The extrapolation value at the positions of a dimension that lie outside of the input.
static Value extrapolate(LinalgBuilder &b, Value x, int64_t dim, ArrayRef<int32_t> inside, double value) {
  if (llvm::all_of(inside, [](int32_t flag) { return flag != 0; }))
    return x;
  int64_t rank = shapeOf(x).size();
  Value flags = b.weight({shapeOf(x)[dim]}, inside);
  return b.map({x, flags}, {b.identity(rank), b.dims(rank, dim)}, shapeOf(x), elementTypeOf(x),
               [&](Builder1 &b, ValueRange e) -> Value {
                 Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, e[1], scalarConstant(b, b.getI32Type(), 0));
                 return arith::SelectOp::create(b, isInside, e[0], scalarConstant(b, e[0].getType(), value));
               });
}

static FailureOr<Value> lowerResize(onnx::ResizeOp op, LinalgBuilder &b) {
  Value x = op.getX();
  ArrayRef<int64_t> shape = shapeOf(x), result = shapeOf(op.getY());
  StringRef mode = op.getMode(), transform = op.getCoordinateTransformationMode();
  bool cubic = mode == "cubic";
  if (mode != "nearest" && mode != "linear" && !cubic)
    return op.emitOpError("expected mode nearest, linear or cubic but got \"") << mode << "\"";
  // Integers between others are computed in f32 and truncated, as ONNX Runtime does.
  if (mode != "nearest" && elementTypeOf(x).isInteger())
    x = b.convert(x, b.getF32Type());
  bool crops = transform == "tf_crop_and_resize";
  std::optional<ArrayRef<float>> roi = op.getRoi();
  int64_t rank = shape.size();
  if (crops && (!roi || int64_t(roi->size()) != 2 * rank))
    return op.emitOpError("expected a constant roi of ") << 2 * rank << " numbers for mode \"tf_crop_and_resize\"";
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t in = shape[dim], out = result[dim];
    double start = crops ? (*roi)[dim] : 0, end = crops ? (*roi)[rank + dim] : 1;
    double scale = op.getScales() ? exactScale((*op.getScales())[dim], dim, shape, result) : double(out) / double(in);
    if (in == out && scale == 1.0 && start == 0 && end == 1)
      continue;
    SmallVector<int64_t> positions;
    SmallVector<Taps> taps;
    SmallVector<int32_t> inside;
    for (int64_t i = 0; i < out; ++i) {
      std::optional<double> at = crops ? croppedCoordinate(start, end, i, in, out) : coordinate(transform, i, scale, in, out);
      inside.push_back(!crops || (at && *at >= 0 && *at <= double(in - 1)));
      if (!at)
        return op.emitOpError("coordinate_transformation_mode \"") << transform << "\" is not supported";
      if (mode != "nearest") {
        taps.push_back(interpolate(op, cubic, *at, scale, in));
        continue;
      }
      std::optional<int64_t> position = nearest(op.getNearestMode(), *at);
      if (!position)
        return op.emitOpError("nearest_mode \"") << op.getNearestMode() << "\" is not supported";
      positions.push_back(std::clamp<int64_t>(*position, 0, in - 1));
    }
    x = mode == "nearest" ? resizeNearest(b, x, dim, positions) : resizeWeighted(b, x, dim, taps);
    x = extrapolate(b, x, dim, inside, op.getExtrapolationValue().convertToFloat());
  }
  return b.convert(x, elementTypeOf(op.getX()));
}

void addResizeLowerings(LoweringTable &table) { table.add(lowerResize); }

} // namespace trn
