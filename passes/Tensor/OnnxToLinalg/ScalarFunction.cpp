//===- ScalarFunction.cpp - the functions of trn.scalar -------------------===//
#include "dialects/Trn/TrnOps.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

Value scalarFunction(ImplicitLocOpBuilder &b, StringRef name, Value x) {
  std::optional<isa::ActivationFunc> function = isa::parseActivationFunc(std::string_view(name.data(), name.size()));
  assert(function && "records and lowerings name functions of ScalarOps.td");
  return ir::ScalarOp::create(b, x.getType(), *function, x);
}

} // namespace trn
