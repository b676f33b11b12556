//===- ScalarFunction.cpp - the functions of trn.scalar -------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

Value scalarFunction(ImplicitLocOpBuilder &b, StringRef name, Value x) {
  Value one = scalarConstant(b, x.getType(), 1);
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, math::ExpOp::create(b, arith::NegFOp::create(b, x))));
}

} // namespace trn
