//===- Microsoft.cpp - com.microsoft in terms of the standard -------------===//
//
// Owns the import steps of Ops/Microsoft.td for floats. Refuses outputs that only training reads, weights that are no
// constants, and parts of the attention operators that their decompositions leave out.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"

#include "compiler/Weights/PackedWeights.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// `x + y`; null after a problem. `y` may be absent.
static Value sum(NodeImporter &node, Value x, Value y) { return x && y ? node.createSimple("Add", {x, y}, {}) : x; }

/// The given attribute, or its record's default where other operators have another.
static Attribute epsilonOf(NodeImporter &node, float byDefault) {
  Attribute given = node.attributes.get("epsilon");
  return given ? given : node.builder.getF32FloatAttr(byDefault);
}

LogicalResult upgrade::microsoftGelu(NodeImporter &node) {
  return node.define(node.createSimple("Gelu", {sum(node, node.operand(0), node.operand(1))}, {}));
}

LogicalResult upgrade::microsoftFastGelu(NodeImporter &node) {
  NamedAttribute tanh = node.named("approximate", node.builder.getStringAttr("tanh"));
  return node.define(node.createSimple("Gelu", {sum(node, node.operand(0), node.operand(1))}, tanh));
}

LogicalResult upgrade::microsoftQuickGelu(NodeImporter &node) {
  Attribute alpha = node.attributes.get("alpha");
  return node.define(node.createSimple("Swish", {node.operand(0)},
                                       node.named("alpha", alpha ? alpha : node.builder.getF32FloatAttr(1.702f))));
}

/// The last of four outputs is the sum that is normalised; those between are statistics.
static LogicalResult defineWithSum(NodeImporter &node, Value normalized, Value total) {
  if (node.hasOutput(1) || node.hasOutput(2))
    return node.problem(Kind::Unsupported, "the mean and the deviation as outputs are not supported",
                        "export the model for inference");
  if (failed(node.define(normalized)))
    return failure();
  return node.define(total, 3);
}

LogicalResult upgrade::microsoftSkipLayerNorm(NodeImporter &node) {
  Value total = sum(node, sum(node, node.operand(0), node.operand(1)), node.operand(4));
  if (!total)
    return failure();
  return defineWithSum(node,
                       node.createSimple("LayerNormalization", {total, node.operand(2), node.operand(3)},
                                         node.named("epsilon", epsilonOf(node, 1e-12f))),
                       total);
}

LogicalResult upgrade::microsoftSkipSimplifiedNorm(NodeImporter &node) {
  Value total = sum(node, sum(node, node.operand(0), node.operand(1)), node.operand(3));
  if (!total)
    return failure();
  return defineWithSum(
      node,
      node.createSimple("RMSNormalization", {total, node.operand(2)}, node.named("epsilon", epsilonOf(node, 1e-12f))),
      total);
}

LogicalResult upgrade::microsoftSimplifiedNorm(NodeImporter &node) {
  if (node.hasOutput(1))
    return node.problem(Kind::Unsupported, "the deviation as an output is not supported",
                        "export the model for inference");
  return node.define(node.createSimple("RMSNormalization", {node.operand(0), node.operand(1)}, node.attributes));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool flagOf(NodeImporter &node, StringRef name) {
  auto given = dyn_cast_or_null<BoolAttr>(node.attributes.get(name));
  return given && given.getValue();
}

static double realOf(NodeImporter &node, StringRef name, double byDefault) {
  auto given = dyn_cast_or_null<FloatAttr>(node.attributes.get(name));
  return given ? given.getValueAsDouble() : byDefault;
}

static int64_t integerOf(NodeImporter &node, StringRef name, int64_t byDefault) {
  auto given = dyn_cast_or_null<IntegerAttr>(node.attributes.get(name));
  return given ? given.getInt() : byDefault;
}

/// `x · factor`; `x` itself for a factor of 1, null after a problem.
static Value scaled(NodeImporter &node, Value x, double factor) {
  if (!x || factor == 1)
    return x;
  Type element = getElementTypeOrSelf(x.getType());
  auto value =
      DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>(FloatAttr::get(element, factor)));
  return node.createSimple("Mul", {x, node.constant(value)}, {});
}

/// A factor of a product with its dimensions in the order of MatMul; null after a problem.
static Value reorderedFactor(NodeImporter &node, Value factor, StringRef side) {
  bool swap = flagOf(node, ("trans" + side).str()), batch = flagOf(node, ("transBatch" + side).str());
  if (!swap && !batch)
    return factor;
  auto type = dyn_cast<RankedTensorType>(factor.getType());
  if (!type) {
    (void)node.problem(Kind::Unsupported, "'trans" + side.str() + "' needs an operand whose rank is known",
                       "export the model without fusions");
    return {};
  }
  if (type.getRank() < 2)
    return factor; // A vector stays.
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (batch)
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (swap)
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return node.createSimple("Transpose", {factor}, node.named("perm", node.builder.getDenseI64ArrayAttr(perm)));
}

LogicalResult upgrade::microsoftFusedMatMul(NodeImporter &node) {
  Value a = reorderedFactor(node, node.operand(0), "A"), b = reorderedFactor(node, node.operand(1), "B");
  if (!a || !b)
    return failure();
  return node.define(scaled(node, node.createSimple("MatMul", {a, b}, {}), realOf(node, "alpha", 1)));
}

/// `parameters` are those that the node gives, in the order of the activation's attributes; null after a problem.
static Value activated(NodeImporter &node, Value x, ArrayRef<std::optional<float>> parameters) {
  auto name = dyn_cast_or_null<StringAttr>(node.attributes.get("activation"));
  if (!x || !name || name.getValue().empty())
    return x;
  static const std::pair<StringRef, SmallVector<StringRef>> activations[] = {{"Relu", {}},
                                                                             {"Sigmoid", {}},
                                                                             {"Tanh", {}},
                                                                             {"Softplus", {}},
                                                                             {"Softsign", {}},
                                                                             {"LeakyRelu", {"alpha"}},
                                                                             {"Elu", {"alpha"}},
                                                                             {"Clip", {"min", "max"}},
                                                                             {"HardSigmoid", {"alpha", "beta"}},
                                                                             {"Selu", {"alpha", "gamma"}},
                                                                             {"ThresholdedRelu", {"alpha"}}};
  const auto *entry =
      llvm::find_if(activations, [&](const auto &candidate) { return candidate.first == name.getValue(); });
  if (entry == std::end(activations)) {
    (void)node.problem(Kind::Unsupported, "the activation '" + name.getValue().str() + "' is not supported",
                       "export the model without fusions");
    return {};
  }
  SmallVector<NamedAttribute> attributes;
  for (auto [attribute, value] : llvm::zip(entry->second, parameters))
    if (value)
      attributes.push_back(node.named(attribute, node.builder.getF32FloatAttr(*value)));
  return node.createSimple(entry->first, {x}, attributes);
}

/// The attributes that the node gives among `names`.
static SmallVector<NamedAttribute> given(NodeImporter &node, ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : names)
    if (Attribute value = node.attributes.get(name))
      attributes.push_back(node.named(name, value));
  return attributes;
}

LogicalResult upgrade::microsoftFusedGemm(NodeImporter &node) {
  Value y = node.createSimple("Gemm", {node.operand(0), node.operand(1), node.operand(2)},
                              given(node, {"alpha", "beta", "transA", "transB"}));
  auto parameter = [&](StringRef name) -> std::optional<float> {
    auto value = dyn_cast_or_null<FloatAttr>(node.attributes.get(name));
    return value ? std::optional<float>(value.getValueAsDouble()) : std::nullopt;
  };
  std::optional<float> alpha = parameter("activation_alpha"), beta = parameter("activation_beta"),
                       gamma = parameter("activation_gamma");
  return node.define(activated(node, y, {alpha, beta ? beta : gamma}));
}

LogicalResult upgrade::microsoftFusedConv(NodeImporter &node) {
  Value y = node.createSimple("Conv", {node.operand(0), node.operand(1), node.operand(2)},
                              given(node, {"kernel_shape", "strides", "pads", "dilations", "group", "auto_pad"}));
  SmallVector<std::optional<float>> parameters;
  if (auto values = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.get("activation_params")))
    parameters.append(values.asArrayRef().begin(), values.asArrayRef().end());
  return node.define(activated(node, sum(node, y, node.operand(3)), parameters));
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// What is asked for that there is not; empty when there is all. What fits what is the shape rule's.
static std::string unsupportedPart(NodeImporter &node) {
  if (int64_t bits = integerOf(node, "bits", 4); !PackedWeights::isSupported(bits))
    return "weights of " + std::to_string(bits) + " bits are not supported";
  if (integerOf(node, "weight_prepacked", 0) != 0)
    return "weights that are packed for one kind of GPU are not supported";
  if (node.operand(4))
    return "'g_idx' is not supported";
  if (!Constant::get(node.operand(1)))
    return "weights that are not constant are not supported";
  return "";
}

LogicalResult upgrade::microsoftMatMulNBits(NodeImporter &node) {
  if (std::string reason = unsupportedPart(node); !reason.empty())
    return node.problem(Kind::Unsupported, reason, "quantise the model's weights in blocks of 4 or 8 bits");
  Value zeroPoints = node.operand(3);
  if (zeroPoints && !isa<FloatType>(getElementTypeOrSelf(zeroPoints.getType())) && !Constant::get(zeroPoints))
    return node.problem(Kind::Unsupported, "zero points that are not constant are not supported",
                        "quantise the model's weights with constant zero points");
  return node.buildDefault();
}

//===----------------------------------------------------------------------===//
// Attention: what is refused
//===----------------------------------------------------------------------===//

/// Builds the operation unless the node asks for one of these parts.
static LogicalResult buildUnless(NodeImporter &node, ArrayRef<std::pair<bool, StringRef>> parts, StringRef hint) {
  for (auto [asked, part] : parts)
    if (asked)
      return node.problem(Kind::Unsupported, part.str() + " is not supported", hint.str());
  return node.buildDefault();
}

/// The last dimension of a mask of as many samples as the GPU's packed form has: 3 · batch + 2 positions.
static bool isPackedMask(Value mask, Value input) {
  auto type = mask ? dyn_cast<RankedTensorType>(mask.getType()) : RankedTensorType();
  auto inputType = dyn_cast<RankedTensorType>(input.getType());
  return type && inputType && type.getRank() == 1 && inputType.getRank() > 0 && type.hasStaticShape() &&
         !inputType.isDynamicDim(0) && type.getDimSize(0) == 3 * inputType.getDimSize(0) + 2;
}

constexpr StringRef kShareHint = "export the model for ONNX Runtime's CPU";

LogicalResult upgrade::microsoftMultiHead(NodeImporter &node) {
  return buildUnless(node,
                     {{bool(node.operand(8)), "a length of the past within a shared buffer"},
                      {bool(node.operand(9)), "a cache that beams share"},
                      {isPackedMask(node.operand(4), node.operand(0)), "a mask of lengths and starts of all samples"}},
                     kShareHint);
}

LogicalResult upgrade::microsoftAttention(NodeImporter &node) {
  Value mask = node.operand(3);
  auto type = mask ? dyn_cast<RankedTensorType>(mask.getType()) : RankedTensorType();
  return buildUnless(
      node,
      {{bool(node.operand(6)) || flagOf(node, "past_present_share_buffer"), "a buffer shared between past and present"},
       {flagOf(node, "do_rotary"), "a rotation of the queries inside Attention"},
       {type && type.getRank() == 4, "a mask of 4 dimensions"},
       {isPackedMask(mask, node.operand(0)), "a mask of lengths and starts of all samples"}},
      kShareHint);
}

LogicalResult upgrade::microsoftQuantizedAttention(NodeImporter &node) {
  return buildUnless(node,
                     {{flagOf(node, "past_present_share_buffer"), "a buffer shared between past and present"},
                      {flagOf(node, "do_rotary"), "a rotation of the queries inside Attention"},
                      {isPackedMask(node.operand(5), node.operand(0)), "a mask of lengths and starts of all samples"}},
                     kShareHint);
}

LogicalResult upgrade::microsoftGroupQuery(NodeImporter &node) {
  auto quantized = [&](StringRef name) {
    auto type = dyn_cast_or_null<StringAttr>(node.attributes.get(name));
    return type && !type.getValue().empty() && type.getValue() != "NONE";
  };
  bool scales = node.operand(12) || node.operand(13) || quantized("k_quant_type") || quantized("v_quant_type");
  return buildUnless(node,
                     {{scales, "a quantised cache"},
                      {node.operand(14) || node.operand(15), "a norm of queries and keys inside GroupQueryAttention"},
                      {bool(node.operand(16)), "a chunk of queries that is padded ('query_seqlens')"},
                      {flagOf(node, "sliding_window_cache"), "a cache of the window's size"},
                      {node.hasOutput(3) || integerOf(node, "qk_output", 0) != 0, "the scores as an output"}},
                     kShareHint);
}

LogicalResult upgrade::microsoftRotary(NodeImporter &node) {
  return buildUnless(node,
                     {{flagOf(node, "is_packed_batching"), "a batch of packed samples"},
                      {realOf(node, "scale", 1) != 1, "a scale of the positions"}},
                     kShareHint);
}
