//===- MicrosoftQuantized.cpp - com.microsoft on quantised data -----------===//
//
// Owns the import steps of the operators on quantised data of Ops/Microsoft.td. QLinear operators dequantise their
// operands, compute the standard's operator in fp32, and quantise its result, but for QLinearAdd and QLinearMul, whose
// arithmetic is ONNX Runtime's: results that lie between two steps round as there. Products are sums of integers.
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

/// Arithmetic on real tensors, built in the order of calls. A problem leaves a null value, which stays null.
namespace {
class Arithmetic {
public:
  explicit Arithmetic(NodeImporter &node) : node(node) {}

  Value op(StringRef name, ArrayRef<Value> values, ArrayRef<NamedAttribute> attributes = {}) {
    return llvm::is_contained(values, Value()) ? Value() : node.createSimple(name, values, attributes);
  }
  Value add(Value x, Value y) { return op("Add", {x, y}); }
  Value sub(Value x, Value y) { return op("Sub", {x, y}); }
  Value mul(Value x, Value y) { return op("Mul", {x, y}); }
  Value div(Value x, Value y) { return op("Div", {x, y}); }
  Value cast(Value x, Type element) {
    return x && getElementTypeOrSelf(x.getType()) == element ? x : op("Cast", {x}, node.named("to", TypeAttr::get(element)));
  }
  /// An operand as fp32, zero when the node does not give it.
  Value real(Value x) {
    Type f32 = node.builder.getF32Type();
    return x ? cast(x, f32) : node.constant(DenseElementsAttr::get(RankedTensorType::get({}, f32), 0.0f));
  }
  /// The nearest integers, ties to even, that the type has.
  Value rounded(Value x, IntegerType type) {
    bool isUnsigned = type.isUnsigned();
    unsigned width = type.getWidth();
    auto bound = [&](StringRef name, const APInt &value) {
      float number = isUnsigned ? float(value.getZExtValue()) : float(value.getSExtValue());
      return node.named(name, node.builder.getF32FloatAttr(number));
    };
    NamedAttribute bounds[] = {bound("min", isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width)),
                               bound("max", isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width))};
    return cast(op("Clip", {op("Round", {x})}, bounds), type);
  }

private:
  NodeImporter &node;
};
} // namespace

/// The type of quantised elements; null, after a problem, for another one.
static IntegerType quantizedType(NodeImporter &node, Value x) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(x.getType()));
  if (!type || type.getWidth() > 16)
    (void)node.problem(Kind::Broken, "expected elements of 8 or 16 bits");
  return type && type.getWidth() <= 16 ? type : IntegerType();
}

/// a · (a_scale / y_scale) + (b · (b_scale / y_scale) + fixed), where all that is constant is in `fixed`.
LogicalResult upgrade::microsoftQuantizedAdd(NodeImporter &node) {
  IntegerType type = quantizedType(node, node.operand(0));
  if (!type)
    return failure();
  Arithmetic write(node);
  Value ratioA = write.div(node.operand(1), node.operand(6)), ratioB = write.div(node.operand(4), node.operand(6));
  Value offset = write.add(write.mul(ratioA, write.real(node.operand(2))), write.mul(ratioB, write.real(node.operand(5))));
  Value fixed = write.sub(write.real(node.operand(7)), offset);
  Value inner = write.add(write.mul(write.real(node.operand(3)), ratioB), fixed);
  Value y = write.rounded(write.add(write.mul(write.real(node.operand(0)), ratioA), inner), type);
  return y ? node.define(y) : failure();
}

/// The product of both differences, an exact integer, · (a_scale · b_scale / y_scale) + y_zero_point.
LogicalResult upgrade::microsoftQuantizedMul(NodeImporter &node) {
  IntegerType type = quantizedType(node, node.operand(0));
  if (!type)
    return failure();
  Arithmetic write(node);
  auto difference = [&](unsigned operand) {
    Value x = write.real(node.operand(operand));
    return node.operand(operand + 2) ? write.sub(x, write.real(node.operand(operand + 2))) : x;
  };
  Value ratio = write.div(write.mul(node.operand(1), node.operand(4)), node.operand(6));
  Value product = write.mul(write.mul(difference(0), difference(3)), ratio);
  Value y = write.rounded(write.add(product, write.real(node.operand(7))), type);
  return y ? node.define(y) : failure();
}

LogicalResult upgrade::microsoftQuantizedMean(NodeImporter &node) {
  Value x = dequantized(node, 0);
  return defineQuantized(node, x ? node.createSimple("ReduceMean", {x}, node.attributes) : x, 3, node.operand(0));
}

LogicalResult upgrade::microsoftQuantizedWhere(NodeImporter &node) {
  Value x = dequantized(node, 1), y = x ? dequantized(node, 4) : x;
  return defineQuantized(node, y ? node.createSimple("Where", {node.operand(0), x, y}, {}) : y, 7, node.operand(1));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The 32-bit integers of a product, as multiples of both scales; `bias` may be absent. Computed in fp32, for fp16 does not
/// have such integers, and rounded to `element`.
static LogicalResult defineScaled(NodeImporter &node, Value integers, Value scale, Value bias, Type element) {
  Arithmetic write(node);
  Value y = integers && scale ? write.mul(write.real(integers), write.real(scale)) : Value();
  y = write.cast(bias ? write.add(y, write.real(bias)) : y, element);
  return y ? node.define(y) : failure();
}

LogicalResult upgrade::microsoftIntegerToFloat(NodeImporter &node) {
  Value sum = node.createSimple("MatMulInteger", {node.operand(0), node.operand(1), node.operand(4), node.operand(5)}, {});
  Arithmetic write(node);
  Value scale = sum ? write.mul(write.real(node.operand(2)), write.real(node.operand(3))) : sum;
  return defineScaled(node, sum, scale, node.operand(6), getElementTypeOrSelf(node.operand(2).getType()));
}

LogicalResult upgrade::microsoftDynamicMatMul(NodeImporter &node) {
  Operation *a = node.create(*trn::onnx::findRecord("", "DynamicQuantizeLinear"), {{node.operand(0)}}, {}, {true, true, true});
  if (!a)
    return failure();
  Value sum = node.createSimple("MatMulInteger", {a->getResult(0), node.operand(1), a->getResult(2), node.operand(3)}, {});
  Value scale = sum ? node.createSimple("Mul", {a->getResult(1), node.operand(2)}, {}) : sum;
  return defineScaled(node, sum, scale, node.operand(4), node.builder.getF32Type());
}

LogicalResult upgrade::microsoftQuantizedGemm(NodeImporter &node) {
  Arithmetic write(node);
  auto flag = [&](StringRef name) {
    auto given = dyn_cast_or_null<BoolAttr>(node.attributes.get(name));
    return given && given.getValue();
  };
  auto matrix = [&](unsigned operand, StringRef swap) {
    Value x = node.operand(operand);
    return flag(swap) ? write.op("Transpose", {x}, node.named("perm", node.builder.getDenseI64ArrayAttr({1, 0}))) : x;
  };
  Value a = matrix(0, "transA"), b = a ? matrix(3, "transB") : a;
  Value sum = b ? node.createSimple("MatMulInteger", {a, b, node.operand(2), node.operand(5)}, {}) : b;
  if (node.operand(6))
    sum = write.add(sum, node.operand(6));
  Value scale = write.mul(node.operand(1), node.operand(4));
  auto alpha = dyn_cast_or_null<FloatAttr>(node.attributes.get("alpha"));
  if (alpha && alpha.getValueAsDouble() != 1)
    scale = write.mul(scale, node.constant(DenseElementsAttr::get(RankedTensorType::get({}, node.builder.getF32Type()),
                                                                 float(alpha.getValueAsDouble()))));
  if (!node.operand(7))
    return sum ? defineScaled(node, sum, scale, {}, node.builder.getF32Type()) : failure();
  Value y = sum ? write.mul(write.real(sum), scale) : sum;
  return defineQuantized(node, y, 7, node.operand(8) ? node.operand(8) : node.operand(0));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

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
