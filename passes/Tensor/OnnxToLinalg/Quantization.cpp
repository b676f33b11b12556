//===- Quantization.cpp - quantise and dequantise -------------------------===//
// Scale and zero point are per tensor, per position of one axis, or per block of it. Rounding is to nearest even, and what
// is out of range saturates, as the standard says.
#include "dialects/ONNX/Ops/Quantization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include <cmath>

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

/// A parameter as an operand that broadcasts against `x`: a scalar, or a vector along the axis.
static Value alongAxis(LinalgBuilder &b, Value parameter, Value x, int64_t axis) {
  int64_t rank = shapeOf(x).size();
  ArrayRef<int64_t> own = shapeOf(parameter);
  if (own.empty() || (own.size() == 1 && own[0] == 1))
    return b.reshape(parameter, {});
  SmallVector<int64_t> shape(rank - axis, 1);
  shape[0] = own[0];
  return b.reshape(parameter, shape);
}

/// The data and its parameters (scale, zero point), broadcasting. With blocks the axis becomes two: the blocks, which the
/// parameters have, and what lies in one.
static FailureOr<SmallVector<Value>> operandsOf(Operation *op, LinalgBuilder &b, Value x, ValueRange parameters,
                                                int64_t axis, int64_t block) {
  axis = axisOf(axis, x);
  SmallVector<Value> operands = {x};
  if (block == 0 || shapeOf(parameters[0]).size() < shapeOf(x).size()) {
    for (Value parameter : parameters)
      operands.push_back(alongAxis(b, parameter, x, axis));
    return operands;
  }
  SmallVector<int64_t> shape(shapeOf(x)), blocks(shapeOf(parameters[0]));
  if (shape[axis] != blocks[axis] * block)
    return op->emitOpError("expected blocks that divide axis ") << axis << " of " << shape[axis] << " but got "
                                                                << blocks[axis] << " blocks of " << block;
  shape[axis] = blocks[axis];
  shape.insert(shape.begin() + axis + 1, block);
  blocks.insert(blocks.begin() + axis + 1, 1);
  operands[0] = b.reshape(x, shape);
  for (Value parameter : parameters)
    operands.push_back(b.reshape(parameter, blocks));
  return operands;
}

static FailureOr<Value> lowerDequantize(onnx::DequantizeLinearOp op, LinalgBuilder &b) {
  Value x = op.getX();
  Type from = elementTypeOf(x), element = elementTypeOf(op.getY()), scaleType = elementTypeOf(op.getScale());
  Type f32 = b.getF32Type();
  FailureOr<SmallVector<Value>> inputs = operandsOf(op, b, x, op->getOperands().drop_front(), op.getAxis(), op.getBlockSize());
  if (failed(inputs))
    return failure();
  Value y = b.map(*inputs, shapeOf(inputs->front()), element, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = convertScalar(b, e[0], from, f32);
    if (e.size() > 2)
      value = arith::SubFOp::create(b, value, convertScalar(b, e[2], from, f32));
    value = arith::MulFOp::create(b, value, convertScalar(b, e[1], scaleType, f32));
    return convertScalar(b, value, f32, element);
  });
  return b.reshape(y, shapeOf(op.getY()));
}

static FailureOr<Value> lowerQuantize(onnx::QuantizeLinearOp op, LinalgBuilder &b) {
  Value x = op.getX();
  Type from = elementTypeOf(x), to = elementTypeOf(op.getY()), scaleType = elementTypeOf(op.getScale());
  unsigned width = to.getIntOrFloatBitWidth();
  if (width > 16)
    return op.emitOpError("expected elements of at most 16 bits but got ") << to;
  Type f32 = b.getF32Type();
  bool isInteger = to.isInteger(), saturates = isInteger || op.getSaturate();
  double low = to.isUnsignedInteger() ? 0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, to.isUnsignedInteger() ? width : width - 1) - 1;
  if (auto real = dyn_cast<FloatType>(to)) {
    high = APFloat::getLargest(real.getFloatSemantics()).convertToDouble();
    low = -high;
  }
  FailureOr<SmallVector<Value>> inputs = operandsOf(op, b, x, op->getOperands().drop_front(), op.getAxis(), op.getBlockSize());
  if (failed(inputs))
    return failure();
  Value y = b.map(*inputs, shapeOf(inputs->front()), to, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = arith::DivFOp::create(b, convertScalar(b, e[0], from, f32), convertScalar(b, e[1], scaleType, f32));
    if (isInteger)
      value = math::RoundEvenOp::create(b, value);
    if (e.size() > 2)
      value = arith::AddFOp::create(b, value, convertScalar(b, e[2], to, f32));
    if (saturates) {
      value = arith::MaximumFOp::create(b, value, scalarConstant(b, f32, low));
      value = arith::MinimumFOp::create(b, value, scalarConstant(b, f32, high));
    }
    return convertScalar(b, value, f32, to);
  });
  return b.reshape(y, shapeOf(op.getY()));
}

/// The range of the data, widened to hold 0, over 256 steps; of data that is 0 throughout the step is 1, as in ONNX
/// Runtime, because no other quotient has a meaning.
static LogicalResult lowerDynamicQuantize(onnx::DynamicQuantizeLinearOp op, LinalgBuilder &b,
                                          LoweringTable::Results &results) {
  Value x = op.getX();
  Type f32 = b.getF32Type(), ui8 = elementTypeOf(op.getY());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
  Value max = b.reduce(x, axes, Reduction::Max), min = b.reduce(x, axes, Reduction::Min);
  Value scale = b.map({max, min}, ArrayRef<int64_t>(), f32, [&](Builder1 &b, ValueRange e) -> Value {
    Value zero = scalarConstant(b, f32, 0);
    Value high = arith::MaximumFOp::create(b, e[0], zero), low = arith::MinimumFOp::create(b, e[1], zero);
    Value range = arith::DivFOp::create(b, arith::SubFOp::create(b, high, low), scalarConstant(b, f32, 255));
    Value isFlat = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, range, zero);
    return arith::SelectOp::create(b, isFlat, scalarConstant(b, f32, 1), range);
  });
  auto saturate = [&](Builder1 &b, Value value) -> Value {
    value = arith::MaximumFOp::create(b, value, scalarConstant(b, f32, 0));
    return arith::MinimumFOp::create(b, value, scalarConstant(b, f32, 255));
  };
  Value zeroPoint = b.map({min, scale}, ArrayRef<int64_t>(), f32, [&](Builder1 &b, ValueRange e) -> Value {
    Value low = arith::MinimumFOp::create(b, e[0], scalarConstant(b, f32, 0));
    Value ratio = arith::DivFOp::create(b, arith::NegFOp::create(b, low), e[1]);
    return math::RoundEvenOp::create(b, saturate(b, ratio));
  });
  Value y = b.map({x, scale, zeroPoint}, shapeOf(x), ui8, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = math::RoundEvenOp::create(b, arith::DivFOp::create(b, e[0], e[1]));
    return convertScalar(b, saturate(b, arith::AddFOp::create(b, value, e[2])), f32, ui8);
  });
  results.append({y, scale, b.convert(zeroPoint, ui8)});
  return success();
}

void addQuantizationLowerings(LoweringTable &table) {
  table.add(lowerDequantize);
  table.add(lowerQuantize);
  table.add(lowerDynamicQuantize);
}

} // namespace trn
