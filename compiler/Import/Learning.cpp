//===- Learning.cpp - ai.onnx.ml in terms of the standard -----------------===//
//
// Owns the import steps of Ops/Learning.td. Numbers that are no floats are computed as fp32, as the operators' results
// say.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// One-dimensional constants, or one number.
static Value constantOf(NodeImporter &node, ArrayRef<float> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), node.builder.getF32Type());
  return node.constant(DenseElementsAttr::get(type, values));
}
static Value integersOf(NodeImporter &node, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), node.builder.getI64Type());
  return node.constant(DenseElementsAttr::get(type, values));
}

static Value toFloat(NodeImporter &node, Value x) {
  return node.createSimple("Cast", {x}, node.named("to", TypeAttr::get(node.builder.getF32Type())));
}

/// A string attribute, or its default.
static StringRef textOf(NodeImporter &node, StringRef name, StringRef byDefault) {
  auto given = dyn_cast_or_null<StringAttr>(node.attributes.get(name));
  return given ? given.getValue() : byDefault;
}

static ArrayRef<float> floatsOf(NodeImporter &node, StringRef name) {
  auto given = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.get(name));
  return given ? given.asArrayRef() : ArrayRef<float>();
}

/// Elements of the last dimension; a vector is a row.
LogicalResult upgrade::arrayFeatureExtractor(NodeImporter &node) {
  auto type = dyn_cast<RankedTensorType>(node.operand(0).getType());
  if (!type)
    return node.problem(Kind::Unsupported, "expected an input whose rank is known");
  Value x = node.operand(0);
  if (type.getRank() < 2)
    x = node.createSimple("Reshape", {x, integersOf(node, {1, -1})}, {});
  Value indices = node.createSimple("Reshape", {node.operand(1), integersOf(node, {-1})}, {});
  return node.define(node.createSimple("Gather", {x, indices}, node.named("axis", node.builder.getI64IntegerAttr(-1))));
}

LogicalResult upgrade::scaler(NodeImporter &node) {
  Value y = toFloat(node, node.operand(0));
  if (ArrayRef<float> offset = floatsOf(node, "offset"); !offset.empty())
    y = node.createSimple("Sub", {y, constantOf(node, offset)}, {});
  if (ArrayRef<float> scale = floatsOf(node, "scale"); !scale.empty())
    y = node.createSimple("Mul", {y, constantOf(node, scale)}, {});
  return node.define(y);
}

/// A row without any number but 0 stays as it is.
LogicalResult upgrade::normalizer(NodeImporter &node) {
  StringRef norm = textOf(node, "norm", "MAX");
  StringRef reduction = norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : norm == "L2" ? "ReduceL2" : "";
  if (reduction.empty())
    return node.problem(Kind::Broken, "expected 'norm' to be 'MAX', 'L1' or 'L2' but got '" + norm.str() + "'");
  Value x = toFloat(node, node.operand(0));
  Value measured = norm == "MAX" ? node.createSimple("Abs", {x}, {}) : x;
  Value size = node.createSimple(reduction, {measured, integersOf(node, {-1})}, {});
  Value isZero = node.createSimple("Equal", {size, constantOf(node, 0.0f)}, {});
  Value divisor = node.createSimple("Where", {isZero, constantOf(node, 1.0f), size}, {});
  return node.define(node.createSimple("Div", {x, divisor}, {}));
}
