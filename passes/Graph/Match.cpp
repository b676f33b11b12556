//===- Match.cpp - what the graph patterns ask about values ---------------===//
//
// Owns the answers.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Match.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Movement.h"

#include <cmath>

using namespace mlir;
using namespace trn;

std::optional<double> trn::uniformConstant(Value value) {
  std::optional<Constant> constant = Constant::get(value);
  if (!constant || constant->size() == 0 || (constant->size() != 1 && !constant->isSplat()))
    return std::nullopt;
  return constant->real(0);
}

bool trn::isConstantNear(Value value, double expected) {
  std::optional<double> number = uniformConstant(value);
  return number && std::fabs(*number - expected) <= kConstantTolerance * std::fabs(expected);
}

bool trn::isConstant(Value value) { return Constant::get(value).has_value(); }

bool trn::isReshape(Operation *op) {
  return isa<onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp, onnx::FlattenOp>(op);
}

RankedTensorType trn::typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool trn::isReal(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }

static void collect(Value value, Value root, Product &product) {
  if (std::optional<double> number = uniformConstant(value)) {
    product.constant *= *number;
    return;
  }
  bool inner = value == root || (value.hasOneUse() && value.getType() == root.getType());
  if (auto mul = value.getDefiningOp<onnx::MulOp>(); mul && inner) {
    collect(mul.getA(), root, product);
    collect(mul.getB(), root, product);
    return;
  }
  if (auto div = value.getDefiningOp<onnx::DivOp>(); div && inner && uniformConstant(div.getB())) {
    product.constant /= *uniformConstant(div.getB());
    collect(div.getA(), root, product);
    return;
  }
  product.factors.push_back(value);
}

Product trn::takeProductApart(Value root) {
  Product product;
  collect(root, root, product);
  return product;
}
