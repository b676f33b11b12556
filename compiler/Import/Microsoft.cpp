//===- Microsoft.cpp - com.microsoft in terms of the standard -------------===//
//
// Owns the import steps of Ops/Microsoft.td. Refuses outputs that only training reads.
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

/// The operand of a group, null when it is absent.
static Value operand(NodeImporter &node, unsigned group) {
  return group < node.operands.size() && !node.operands[group].empty() ? node.operands[group][0] : Value();
}

/// `x + y`; null after a problem. `y` may be absent.
static Value sum(NodeImporter &node, Value x, Value y) { return x && y ? node.createSimple("Add", {x, y}, {}) : x; }

static NamedAttribute named(NodeImporter &node, StringRef name, Attribute value) {
  return NamedAttribute(node.builder.getStringAttr(name), value);
}

/// The given attribute, or its record's default where other operators have another.
static Attribute epsilonOf(NodeImporter &node, float byDefault) {
  Attribute given = node.attributes.get("epsilon");
  return given ? given : node.builder.getF32FloatAttr(byDefault);
}

LogicalResult upgrade::microsoftGelu(NodeImporter &node) {
  return node.define(node.createSimple("Gelu", {sum(node, operand(node, 0), operand(node, 1))}, {}));
}

LogicalResult upgrade::microsoftFastGelu(NodeImporter &node) {
  NamedAttribute tanh = named(node, "approximate", node.builder.getStringAttr("tanh"));
  return node.define(node.createSimple("Gelu", {sum(node, operand(node, 0), operand(node, 1))}, tanh));
}

LogicalResult upgrade::microsoftQuickGelu(NodeImporter &node) {
  Attribute alpha = node.attributes.get("alpha");
  return node.define(node.createSimple("Swish", {operand(node, 0)},
                                       named(node, "alpha", alpha ? alpha : node.builder.getF32FloatAttr(1.702f))));
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
  Value total = sum(node, sum(node, operand(node, 0), operand(node, 1)), operand(node, 4));
  if (!total)
    return failure();
  return defineWithSum(node,
                       node.createSimple("LayerNormalization", {total, operand(node, 2), operand(node, 3)},
                                         named(node, "epsilon", epsilonOf(node, 1e-12f))),
                       total);
}

LogicalResult upgrade::microsoftSkipSimplifiedNorm(NodeImporter &node) {
  Value total = sum(node, sum(node, operand(node, 0), operand(node, 1)), operand(node, 3));
  if (!total)
    return failure();
  return defineWithSum(
      node,
      node.createSimple("RMSNormalization", {total, operand(node, 2)}, named(node, "epsilon", epsilonOf(node, 1e-12f))),
      total);
}

LogicalResult upgrade::microsoftSimplifiedNorm(NodeImporter &node) {
  if (node.hasOutput(1))
    return node.problem(Kind::Unsupported, "the deviation as an output is not supported",
                        "export the model for inference");
  return node.define(node.createSimple("RMSNormalization", {operand(node, 0), operand(node, 1)}, node.attributes));
}

LogicalResult upgrade::microsoftFusedMatMul(NodeImporter &node) {
  auto flag = [&](StringRef name) {
    auto given = dyn_cast_or_null<BoolAttr>(node.attributes.get(name));
    return given && given.getValue();
  };
  if (flag("transBatchA") || flag("transBatchB"))
    return node.problem(Kind::Unsupported, "transposed batches are not supported", "export the model without fusions");
  Value factors[] = {operand(node, 0), operand(node, 1)};
  for (auto [factor, name] : llvm::zip_equal(factors, ArrayRef<StringRef>{"transA", "transB"})) {
    if (!flag(name))
      continue;
    auto type = dyn_cast<RankedTensorType>(factor.getType());
    if (!type)
      return node.problem(Kind::Unsupported, "'" + name.str() + "' needs an operand whose rank is known",
                          "export the model without fusions");
    if (type.getRank() < 2)
      continue; // A vector stays.
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    factor = node.createSimple("Transpose", {factor}, named(node, "perm", node.builder.getDenseI64ArrayAttr(perm)));
    if (!factor)
      return failure();
  }
  Value product = node.createSimple("MatMul", {factors[0], factors[1]}, {});
  auto alpha = dyn_cast_or_null<FloatAttr>(node.attributes.get("alpha"));
  if (!product || !alpha || alpha.getValueAsDouble() == 1)
    return node.define(product);
  Type element = getElementTypeOrSelf(product.getType());
  auto factor = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                       ArrayRef<Attribute>(FloatAttr::get(element, alpha.getValueAsDouble())));
  return node.define(node.createSimple("Mul", {product, node.constant(factor)}, {}));
}
