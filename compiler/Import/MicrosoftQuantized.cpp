//===- MicrosoftQuantized.cpp - com.microsoft on quantised data -----------===//
//
// Owns the import steps of the QLinear operators of Ops/Microsoft.td: the operands are dequantised, the standard's
// operator computes in fp32, and its result is quantised.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// The numbers that operand `first` stands for; its scale and zero point follow it. Null after a problem.
static Value dequantized(NodeImporter &node, unsigned first) {
  return node.createSimple("DequantizeLinear", {node.operand(first), node.operand(first + 1), node.operand(first + 2)},
                           {});
}

/// Defines the output as `value` in steps of operand `scale`, whose zero point follows it, in the type of operand
/// `like`.
static LogicalResult defineQuantized(NodeImporter &node, Value value, unsigned scale, Value like) {
  if (!value)
    return failure();
  Type element = getElementTypeOrSelf(like.getType());
  return node.define(node.createSimple("QuantizeLinear", {value, node.operand(scale), node.operand(scale + 1)},
                                       node.named("output_dtype", TypeAttr::get(element))));
}

static LogicalResult binary(NodeImporter &node, StringRef op) {
  Value a = dequantized(node, 0), b = a ? dequantized(node, 3) : Value();
  return defineQuantized(node, b ? node.createSimple(op, {a, b}, {}) : b, 6, node.operand(0));
}

LogicalResult upgrade::microsoftQuantizedAdd(NodeImporter &node) { return binary(node, "Add"); }
LogicalResult upgrade::microsoftQuantizedMul(NodeImporter &node) { return binary(node, "Mul"); }

LogicalResult upgrade::microsoftQuantizedSigmoid(NodeImporter &node) {
  Value x = dequantized(node, 0);
  return defineQuantized(node, x ? node.createSimple("Sigmoid", {x}, {}) : x, 3, node.operand(0));
}

LogicalResult upgrade::microsoftQuantizedLeakyRelu(NodeImporter &node) {
  Value x = dequantized(node, 0);
  return defineQuantized(node, x ? node.createSimple("LeakyRelu", {x}, node.attributes) : x, 3, node.operand(0));
}

/// Before version 13 of Softmax the dimensions from `axis` on are one.
LogicalResult upgrade::microsoftQuantizedSoftmax(NodeImporter &node) {
  int64_t opset = cast<IntegerAttr>(node.attributes.get("opset")).getInt();
  auto given = dyn_cast_or_null<IntegerAttr>(node.attributes.get("axis"));
  int64_t axis = given ? given.getInt() : opset < 13 ? 1 : -1;
  auto axisIs = [&](int64_t value) { return node.named("axis", node.builder.getI64IntegerAttr(value)); };
  Value x = dequantized(node, 0);
  if (!x)
    return failure();
  if (opset >= 13)
    return defineQuantized(node, node.createSimple("Softmax", {x}, axisIs(axis)), 3, node.operand(0));
  Value flat = node.createSimple("Flatten", {x}, axisIs(axis));
  Value y = flat ? node.createSimple("Softmax", {flat}, axisIs(-1)) : flat;
  Value shape = y ? node.createSimple("Shape", {x}, {}) : y;
  return defineQuantized(node, shape ? node.createSimple("Reshape", {y, shape}, {}) : shape, 3, node.operand(0));
}

LogicalResult upgrade::microsoftQuantizedConcat(NodeImporter &node) {
  ArrayRef<Value> triples = node.operands[2];
  if (triples.empty() || triples.size() % 3 != 0)
    return node.problem(Kind::Broken, "expected a tensor, a scale and a zero point for each input but got " +
                                          std::to_string(triples.size()) + " operands");
  NodeImporter::Groups parts(1);
  for (size_t i = 0; i < triples.size(); i += 3) {
    Value part = node.createSimple("DequantizeLinear", triples.slice(i, 3), {});
    if (!part)
      return failure();
    parts[0].push_back(part);
  }
  Operation *all = node.create(*trn::onnx::findRecord("", "Concat"), parts, node.attributes, {true});
  return defineQuantized(node, all ? all->getResult(0) : Value(), 0, triples[0]);
}

/// `pool` of the channels as dimension 1, with the given attributes but `channels_last`.
static LogicalResult pooled(NodeImporter &node, StringRef pool) {
  NamedAttrList attributes = node.attributes;
  auto flag = dyn_cast_or_null<BoolAttr>(attributes.erase("channels_last"));
  Value x = dequantized(node, 0);
  if (!x)
    return failure();
  if (!flag || !flag.getValue())
    return defineQuantized(node, node.createSimple(pool, {x}, attributes), 3, node.operand(0));
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type || type.getRank() < 3)
    return node.problem(Kind::Unsupported, "'channels_last' needs an operand whose rank is known, of at least 3",
                        "export the model with channels first");
  SmallVector<int64_t> first = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), last = first;
  std::rotate(first.begin() + 1, first.end() - 1, first.end());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  auto ordered = [&](Value value, ArrayRef<int64_t> perm) {
    return value ? node.createSimple("Transpose", {value}, node.named("perm", node.builder.getDenseI64ArrayAttr(perm)))
                 : value;
  };
  x = ordered(x, first);
  return defineQuantized(node, ordered(x ? node.createSimple(pool, {x}, attributes) : x, last), 3, node.operand(0));
}

LogicalResult upgrade::microsoftQuantizedPool(NodeImporter &node) { return pooled(node, "AveragePool"); }
LogicalResult upgrade::microsoftQuantizedGlobalPool(NodeImporter &node) { return pooled(node, "GlobalAveragePool"); }
