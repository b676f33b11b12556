//===- ScalarFunctions.cpp - the scalar function of an MLIR operation ------===//
#include "compiler/Reference/ScalarFunctions.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
namespace trn {

static const llvm::StringMap<ScalarFunction> &functionsByName() {
  static const llvm::StringMap<ScalarFunction> table = {
#define REAL1(number, name, op, formula) {op, ScalarFunction::name},
#define REAL2(number, name, op, formula) {op, ScalarFunction::name},
#define REAL3(number, name, op, formula) {op, ScalarFunction::name},
#define TEST1(number, name, op, formula) {op, ScalarFunction::name},
#define INT1(number, name, op, formula) {op, ScalarFunction::name},
#define INT2(number, name, op, formula) {op, ScalarFunction::name},
#define CONVERT(number, name, op, from, to, formula) {op, ScalarFunction::name},
#include "dialects/Trn/ISA/ScalarFunctions.def"
  };
  return table;
}

/// The row of a conversion for the double type that it involves, if it does.
static ScalarFunction conversionFor(ScalarFunction function, Type from, Type to) {
  if (function == ScalarFunction::bitcasti && llvm::isa<FloatType>(to))
    return to.isF64() ? ScalarFunction::bitcastf64 : ScalarFunction::bitcastf;
  bool involvesDouble = from.isF64() || to.isF64();
  if (!involvesDouble)
    return function;
  switch (function) {
  case ScalarFunction::sitofp:
    return ScalarFunction::sitofp64;
  case ScalarFunction::uitofp:
    return ScalarFunction::uitofp64;
  case ScalarFunction::fptosi:
    return ScalarFunction::fptosi64;
  case ScalarFunction::fptoui:
    return ScalarFunction::fptoui64;
  case ScalarFunction::extf:
    return ScalarFunction::extf64;
  case ScalarFunction::truncf:
    return ScalarFunction::truncf64;
  case ScalarFunction::bitcasti:
    return ScalarFunction::bitcasti64;
  default:
    return function;
  }
}

std::optional<ScalarFunction> scalarFunctionOf(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return std::nullopt;
  std::string name = op->getName().getStringRef().str();
  if (auto scalar = dyn_cast<ir::ScalarOp>(op))
    name += std::string(".") + isa::name(scalar.getFunc());
  auto row = functionsByName().find(name);
  if (name.empty() || row == functionsByName().end())
    return std::nullopt;
  return conversionFor(row->second, op->getOperand(0).getType(), op->getResult(0).getType());
}

} // namespace trn
