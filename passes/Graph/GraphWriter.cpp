//===- GraphWriter.cpp - onnx operations written at one place -------------===//
#include "passes/Graph/GraphWriter.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Build.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn;

Value GraphWriter::op(StringRef name, ArrayRef<Value> operands, ArrayRef<NamedAttribute> attributes) {
  return onnx::build(b, loc, name, operands, attributes);
}

Value GraphWriter::product(const Factor &x, const Factor &y) {
  Value integers = op("MatMulInteger", {x.data, y.data, x.zeroPoint, y.zeroPoint});
  // fp16 has neither the sums of large integers nor the products of small scales.
  Type f32 = b.getF32Type();
  return cast(mul(cast(integers, f32), mul(cast(x.scale, f32), cast(y.scale, f32))), typeOf(x.scale).getElementType());
}

GraphWriter::Factor GraphWriter::quantized(Value x) {
  Operation *all = onnx::buildOperation(b, loc, "DynamicQuantizeLinear", {x}, {}, 3);
  return {all->getResult(0), all->getResult(1), all->getResult(2)};
}

Value GraphWriter::cast(Value x, Type element) {
  if (typeOf(x).getElementType() == element)
    return x;
  return op("Cast", {x}, b.getNamedAttr("to", TypeAttr::get(element)));
}

Value GraphWriter::reshape(Value x, ArrayRef<int64_t> shape) {
  if (typeOf(x).getShape() == shape)
    return x;
  SmallVector<NamedAttribute, 2> attributes{ints("shape", shape)};
  if (llvm::is_contained(shape, 0)) // a size, not the operand's
    attributes.push_back(flag("allowzero", true));
  return op("Reshape", {x}, attributes);
}

Value GraphWriter::transpose(Value x, ArrayRef<int64_t> perm) { return op("Transpose", {x}, ints("perm", perm)); }

Value GraphWriter::expand(Value x, ArrayRef<int64_t> shape) {
  return typeOf(x).getShape() == shape ? x : op("Expand", {x}, ints("shape", shape));
}

Value GraphWriter::concat(ArrayRef<Value> values, int64_t axis) {
  return values.size() == 1 ? values.front() : op("Concat", values, integer("axis", axis));
}

Value GraphWriter::slice(Value x, int64_t axis, int64_t start, int64_t end) {
  if (start == 0 && end == typeOf(x).getDimSize(axis))
    return x;
  return op("Slice", {x}, {ints("starts", {start}), ints("ends", {end}), ints("axes", {axis})});
}

Value GraphWriter::reduce(StringRef name, Value x, ArrayRef<int64_t> axes, bool keepDims) {
  return op(name, {x}, {ints("axes", axes), flag("keepdims", keepDims)});
}

Value GraphWriter::splitHeads(Value x, int64_t heads) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  if (shape.size() == 4)
    return x;
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Value GraphWriter::extend(Value x, int64_t axis, int64_t length, double fill) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[axis] = length - shape[axis];
  return shape[axis] <= 0 ? x : concat({x, expand(scalar(fill, x), shape)}, axis);
}

Value GraphWriter::joinHeads(Value x) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  return reshape(transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

Value GraphWriter::positions(int64_t count, ArrayRef<int64_t> shape, Type element) {
  return integers(llvm::to_vector(llvm::seq<int64_t>(0, count)), shape, element);
}

Value GraphWriter::scalar(double value, Value like) { return scalar(value, typeOf(like).getElementType()); }

Value GraphWriter::scalar(double value, Type element) {
  Attribute number = isa<FloatType>(element)
                         ? Attribute(b.getFloatAttr(element, value))
                         : Attribute(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), int64_t(value),
                                                                     /*isSigned=*/true, /*implicitTrunc=*/true)));
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>(number)));
}

Value GraphWriter::constant(ElementsAttr value) { return onnx::WeightOp::create(b, loc, value); }

Value GraphWriter::integers(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, Type element) {
  return constant(makeIntegers(RankedTensorType::get(shape, element), values));
}

NamedAttribute GraphWriter::ints(StringRef name, ArrayRef<int64_t> values) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
}
NamedAttribute GraphWriter::integer(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}
NamedAttribute GraphWriter::flag(StringRef name, bool value) { return b.getNamedAttr(name, b.getBoolAttr(value)); }
NamedAttribute GraphWriter::text(StringRef name, StringRef value) {
  return b.getNamedAttr(name, b.getStringAttr(value));
}
