//===- Normalization.cpp - normalisations and the softmax family ----------===//
// Statistics are reductions, the rest is one map that fuses. Statistics of 16-bit floats are computed in f32.
// Per-channel parameters of batch normalisation combine into one scale and one shift, which fold when they are
// constant.
#include "dialects/ONNX/Ops/Normalization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

static Value add(Builder1 &b, Value x, Value y) { return arith::AddFOp::create(b, x, y); }
static Value sub(Builder1 &b, Value x, Value y) { return arith::SubFOp::create(b, x, y); }
static Value mul(Builder1 &b, Value x, Value y) { return arith::MulFOp::create(b, x, y); }
static Value div(Builder1 &b, Value x, Value y) { return arith::DivFOp::create(b, x, y); }
static Value number(Builder1 &b, Value like, double value) { return scalarConstant(b, like.getType(), value); }

/// The shape with these dimensions 1.
static SmallVector<int64_t> unitAt(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> result(shape);
  for (int64_t axis : axes)
    result[axis] = 1;
  return result;
}

/// Mean along axes, kept as unit dimensions.
static Value mean(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes, ScalarBody body) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return b.reshape(b.meanOf(b.reduce(x, axes, Reduction::Sum, body), count, elementTypeOf(x)), unitAt(shapeOf(x), axes));
}
static Value itself(Builder1 &, ValueRange e) { return e[0]; }
static Value squared(Builder1 &b, ValueRange e) { return mul(b, e[0], e[0]); }

static Value subtract(LinalgBuilder &b, Value x, Value y) {
  return b.map({x, y}, shapeOf(x), elementTypeOf(x), [](Builder1 &b, ValueRange e) { return sub(b, e[0], e[1]); });
}
/// 1 / sqrt(variance + epsilon)
static Value inverseDeviation(LinalgBuilder &b, Value variance, double epsilon) {
  return b.mapLike(variance, [&](Builder1 &b, ValueRange e) -> Value {
    return math::RsqrtOp::create(b, add(b, e[0], number(b, e[0], epsilon)));
  });
}
/// x * factor [* scale] [+ bias], with broadcasting.
static Value scaleAndShift(LinalgBuilder &b, Value x, Value factor, Value scale, Value bias) {
  SmallVector<Value> inputs = {x, factor};
  if (scale)
    inputs.push_back(scale);
  if (bias)
    inputs.push_back(bias);
  return b.map(inputs, shapeOf(x), elementTypeOf(x), [&](Builder1 &b, ValueRange e) {
    Value value = mul(b, e[0], e[1]);
    if (scale)
      value = mul(b, value, e[2]);
    return bias ? add(b, value, e.back()) : value;
  });
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

static LogicalResult lowerBatchNormalization(onnx::BatchNormalizationOp op, LinalgBuilder &b,
                                             LoweringTable::Results &results) {
  if (op.getTrainingMode())
    return op.emitOpError("expected inference but got training mode, which onnx-decompose writes out");
  Value x = op.getX();
  Type element = elementTypeOf(x), wide = b.wideType(element);
  int64_t channels = shapeOf(op.getScale())[0];
  double epsilon = op.getEpsilon().convertToFloat();
  Value scale = b.convert(op.getScale(), wide), variance = b.convert(op.getVar(), wide);
  Value average = b.convert(op.getMean(), wide), bias = b.convert(op.getB(), wide);
  Value factor = b.map({scale, variance}, {channels}, wide, [&](Builder1 &b, ValueRange e) -> Value {
    return div(b, e[0], math::SqrtOp::create(b, add(b, e[1], number(b, e[1], epsilon))));
  });
  Value shift = b.map({bias, average, factor}, {channels}, wide,
                      [](Builder1 &b, ValueRange e) { return sub(b, e[0], mul(b, e[1], e[2])); });
  SmallVector<int64_t> perChannel(std::max<int64_t>(shapeOf(x).size() - 1, 1), 1);
  perChannel[0] = channels;
  Value y = scaleAndShift(b, b.convert(x, wide), b.reshape(factor, perChannel), nullptr, b.reshape(shift, perChannel));
  results.push_back(b.convert(y, element));
  return success();
}

/// (x - mean) * inverse deviation over `axes`; the two statistics too, with unit dimensions.
struct Normalized {
  Value centered, mean, factor;
};
static Normalized normalize(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes, double epsilon) {
  Value average = mean(b, x, axes, itself);
  Value centered = subtract(b, x, average);
  return {centered, average, inverseDeviation(b, mean(b, centered, axes, squared), epsilon)};
}

static LogicalResult lowerLayerNormalization(onnx::LayerNormalizationOp op, LinalgBuilder &b,
                                             LoweringTable::Results &results) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axisOf(op.getAxis(), x), int64_t(shapeOf(x).size())));
  Normalized normalized = normalize(b, x, axes, op.getEpsilon().convertToFloat());
  Value scale = b.convert(op.getScale(), wide), bias = op.getB() ? b.convert(op.getB(), wide) : Value();
  Value y = scaleAndShift(b, normalized.centered, normalized.factor, scale, bias);
  results.push_back(b.convert(y, element));
  if (op.getMean())
    results.push_back(b.convert(normalized.mean, elementTypeOf(op.getMean())));
  if (op.getInvStdDev())
    results.push_back(b.convert(normalized.factor, elementTypeOf(op.getInvStdDev())));
  return success();
}

static FailureOr<Value> lowerRMSNormalization(onnx::RMSNormalizationOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axisOf(op.getAxis(), x), int64_t(shapeOf(x).size())));
  Value factor = inverseDeviation(b, mean(b, x, axes, squared), op.getEpsilon().convertToFloat());
  return b.convert(scaleAndShift(b, x, factor, b.convert(op.getScale(), wide), nullptr), element);
}

/// Instance (one channel) and group normalisation, with `x` viewed as [batch, groups, rest].
static Value normalizeGroups(LinalgBuilder &b, Value x, int64_t groups, Value scale, Value bias, double epsilon) {
  Type element = elementTypeOf(x), wide = b.wideType(element);
  SmallVector<int64_t> shape(shapeOf(x)), grouped = {shape[0], groups, shape[1] / groups};
  int64_t rest = 1;
  for (int64_t size : ArrayRef(shape).drop_front(2))
    rest *= size;
  grouped.push_back(rest);
  Normalized normalized = normalize(b, b.reshape(b.convert(x, wide), grouped), {2, 3}, epsilon);
  SmallVector<int64_t> perChannel = {groups, shape[1] / groups, 1};
  Value y = scaleAndShift(b, normalized.centered, normalized.factor, b.reshape(b.convert(scale, wide), perChannel),
                          b.reshape(b.convert(bias, wide), perChannel));
  return b.convert(b.reshape(y, shape), element);
}
static FailureOr<Value> lowerInstanceNormalization(onnx::InstanceNormalizationOp op, LinalgBuilder &b) {
  return normalizeGroups(b, op.getX(), shapeOf(op.getX())[1], op.getScale(), op.getB(),
                         op.getEpsilon().convertToFloat());
}
static FailureOr<Value> lowerGroupNormalization(onnx::GroupNormalizationOp op, LinalgBuilder &b) {
  return normalizeGroups(b, op.getX(), op.getNumGroups(), op.getScale(), op.getB(), op.getEpsilon().convertToFloat());
}

static FailureOr<Value> lowerMeanVariance(onnx::MeanVarianceNormalizationOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  SmallVector<int64_t> axes(op.getAxes().value_or(ArrayRef<int64_t>({0, 2, 3})));
  for (int64_t &axis : axes)
    axis = axisOf(axis, x);
  // The standard adds its epsilon to the deviation.
  Value centered = subtract(b, x, mean(b, x, axes, itself));
  Value variance = mean(b, centered, axes, squared);
  Value y = b.map({centered, variance}, shapeOf(x), wide, [](Builder1 &b, ValueRange e) {
    return div(b, e[0], add(b, math::SqrtOp::create(b, e[1]), number(b, e[1], 1e-9)));
  });
  return b.convert(y, element);
}

/// x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta
static FailureOr<Value> lowerLRN(onnx::LRNOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  int64_t rank = shapeOf(x).size(), size = op.getSize();
  double alpha = op.getAlpha().convertToFloat() / double(size), beta = op.getBeta().convertToFloat();
  double bias = op.getBias().convertToFloat();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  // Neighbours beyond the first and the last channel are zero: a window never needs to reach further.
  const int64_t farthest = shapeOf(x)[1] - 1;
  low[1] = std::min((size - 1) / 2, farthest);
  high[1] = std::min(size - 1 - (size - 1) / 2, farthest);
  // Squared once, not once per neighbour.
  Value squares = b.mapLike(x, squared);
  Value padded = b.pad(squares, low, high, scalarConstant(b, wide, 0));
  // Iterators: the result's, then the neighbour.
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < rank; ++dim)
    exprs.push_back(b.getAffineDimExpr(dim));
  exprs[1] = exprs[1] + b.getAffineDimExpr(rank);
  SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Value sum = b.reduce(padded, {AffineMap::get(rank + 1, 0, exprs, b.getContext()), b.dims(rank + 1, result)},
                       iterators, shapeOf(x), wide, Reduction::Sum, itself, low[1] + 1 + high[1]);
  Value y = b.map({x, sum}, shapeOf(x), wide, [&](Builder1 &b, ValueRange e) {
    Value base = add(b, mul(b, e[1], number(b, e[1], alpha)), number(b, e[1], bias));
    return mul(b, e[0], math::PowFOp::create(b, base, number(b, base, -beta)));
  });
  return b.convert(y, element);
}

static FailureOr<Value> lowerLpNormalization(onnx::LpNormalizationOp op, LinalgBuilder &b) {
  Value x = op.getX();
  int64_t axis = axisOf(op.getAxis(), x);
  bool isL1 = op.getP() == 1;
  if (!isL1 && op.getP() != 2)
    return op.emitOpError("expected p 1 or 2 but got ") << op.getP();
  Value norm = b.sum(x, axis, [&](Builder1 &b, ValueRange e) -> Value {
    return isL1 ? math::AbsFOp::create(b, e[0]).getResult() : mul(b, e[0], e[0]);
  });
  if (!isL1)
    norm = b.mapLike(norm, [](Builder1 &b, ValueRange e) -> Value { return math::SqrtOp::create(b, e[0]); });
  Type element = elementTypeOf(x), wide = elementTypeOf(norm);
  // A zero norm gives zeros, as the reference implementation does.
  return b.map({x, b.reshape(norm, unitAt(shapeOf(x), axis))}, shapeOf(x), element, [&](Builder1 &b, ValueRange e) -> Value {
    Value zero = number(b, e[1], 0);
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, e[1], zero);
    Value part = arith::SelectOp::create(b, isZero, zero, div(b, convertScalar(b, e[0], element, wide), e[1]));
    return convertScalar(b, part, wide, element);
  });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value maximumAlong(LinalgBuilder &b, Value x, int64_t axis) {
  return b.reshape(b.reduce(x, axis, Reduction::Max), unitAt(shapeOf(x), axis));
}

static FailureOr<Value> lowerSoftmax(onnx::SoftmaxOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  int64_t axis = axisOf(op.getAxis(), x);
  Value powers = b.map({x, maximumAlong(b, x, axis)}, shapeOf(x), wide,
                       [](Builder1 &b, ValueRange e) -> Value { return math::ExpOp::create(b, sub(b, e[0], e[1])); });
  Value sum = b.reshape(b.reduce(powers, axis, Reduction::Sum), unitAt(shapeOf(x), axis));
  Value y = b.map({powers, sum}, shapeOf(x), wide, [](Builder1 &b, ValueRange e) { return div(b, e[0], e[1]); });
  return b.convert(y, element);
}

static FailureOr<Value> lowerLogSoftmax(onnx::LogSoftmaxOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX()), wide = b.wideType(element);
  Value x = b.convert(op.getX(), wide);
  int64_t axis = axisOf(op.getAxis(), x);
  Value shifted = subtract(b, x, maximumAlong(b, x, axis));
  Value sum = b.reduce(shifted, axis, Reduction::Sum,
                       [](Builder1 &b, ValueRange e) -> Value { return math::ExpOp::create(b, e[0]); });
  Value y = b.map({shifted, b.reshape(sum, unitAt(shapeOf(x), axis))}, shapeOf(x), wide,
                  [](Builder1 &b, ValueRange e) { return sub(b, e[0], math::LogOp::create(b, e[1])); });
  return b.convert(y, element);
}

/// 1 at the first maximum along the axis, 0 elsewhere.
static FailureOr<Value> lowerHardmax(onnx::HardmaxOp op, LinalgBuilder &b) {
  Value x = op.getX();
  int64_t axis = axisOf(op.getAxis(), x);
  ArrayRef<int64_t> shape = shapeOf(x);
  Type i32 = b.getI32Type(), element = elementTypeOf(x);
  Value none = scalarConstant(b, i32, double(shape[axis]));
  Value extreme = maximumAlong(b, x, axis), position = b.positions(shape[axis]);
  AffineMap along = b.dims(shape.size(), axis), own = b.identity(shape.size()), row = b.broadcastMap(extreme, shape);
  Value positions = b.map({x, extreme, position}, {own, row, along}, shape, i32, [&](Builder1 &b, ValueRange e) -> Value {
    return arith::SelectOp::create(b, isExtreme(b, e[0], e[1]), e[2], none);
  });
  Value first = b.reshape(b.reduce(positions, axis, Reduction::Min), unitAt(shape, axis));
  row = b.broadcastMap(first, shape);
  return b.map({first, position}, {row, along}, shape, element, [&](Builder1 &b, ValueRange e) -> Value {
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, e[0], e[1]);
    return arith::SelectOp::create(b, same, scalarConstant(b, element, 1), scalarConstant(b, element, 0));
  });
}

void addNormalizationLowerings(LoweringTable &table) {
  table.add(lowerBatchNormalization);
  table.add(lowerLayerNormalization);
  table.add(lowerRMSNormalization);
  table.add(lowerInstanceNormalization);
  table.add(lowerGroupNormalization);
  table.add(lowerMeanVariance);
  table.add(lowerLRN);
  table.add(lowerLpNormalization);
  table.add(lowerSoftmax);
  table.add(lowerLogSoftmax);
  table.add(lowerHardmax);
}

} // namespace trn
