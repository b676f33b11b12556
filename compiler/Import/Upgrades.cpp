//===- Upgrades.cpp - older meanings in terms of today's ------------------===//
//
// Owns the steps that records name in `upgrades`: nodes of versions whose meaning differs from the canonical form.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// Before version 13, Softmax, LogSoftmax and Hardmax see a matrix: the dimensions before `axis` (1 by default) are its
/// rows, the others its columns, and a row adds up to one.
LogicalResult upgrade::softmaxFlattens(NodeImporter &node) {
  OpBuilder &b = node.builder;
  Value x = node.operands[0][0];
  auto given = dyn_cast_or_null<IntegerAttr>(node.attributes.get("axis"));
  int64_t axis = given ? given.getInt() : 1;
  auto type = dyn_cast<RankedTensorType>(x.getType());
  int64_t rank = type ? type.getRank() : -1;
  if (rank >= 1 && (axis == rank - 1 || axis == -1)) {
    node.attributes.set("axis", b.getI64IntegerAttr(rank - 1));
    return node.buildDefault();
  }
  NamedAttribute flattenAxis(b.getStringAttr("axis"), b.getI64IntegerAttr(axis));
  NamedAttribute rows(b.getStringAttr("axis"), b.getI64IntegerAttr(1));
  Value shape = node.createSimple("Shape", {x}, {});
  Value matrix = shape ? node.createSimple("Flatten", {x}, {flattenAxis}) : Value();
  Value result = matrix ? node.createSimple(node.record().name, {matrix}, {rows}) : Value();
  return result ? node.define(node.createSimple("Reshape", {result, shape}, {})) : failure();
}

/// `spatial = 0` (before version 9) has statistics for each position, not for each channel.
LogicalResult upgrade::batchNormalizationSpatial(NodeImporter &node) {
  auto spatial = node.legacy.find("spatial");
  if (spatial != node.legacy.end() && cast<IntegerAttr>(spatial->second).getInt() == 0)
    return node.problem(Kind::Unsupported, "'spatial' = 0 is not supported", "convert the model to opset 9 or newer");
  return node.buildDefault();
}

static void setOldCoordinates(NodeImporter &node) {
  OpBuilder &b = node.builder;
  node.attributes.set("coordinate_transformation_mode", b.getStringAttr("asymmetric"));
  node.attributes.set("nearest_mode", b.getStringAttr("floor"));
}

/// Version 10 of Resize samples at `x / scale`, rounded down.
LogicalResult upgrade::resizeAsymmetric(NodeImporter &node) {
  setOldCoordinates(node);
  return node.buildDefault();
}

/// Upsample is Resize of version 10 with other limits.
LogicalResult upgrade::upsampleToResize(NodeImporter &node) {
  OpBuilder &b = node.builder;
  setOldCoordinates(node);
  if (auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode")); mode && mode.getValue() == "bilinear")
    node.attributes.set("mode", b.getStringAttr("linear"));
  Value scales = node.operands[1].empty() ? Value() : node.operands[1][0];
  return node.define(node.createSimple("Resize", {node.operands[0][0], Value(), scales}, node.attributes));
}
