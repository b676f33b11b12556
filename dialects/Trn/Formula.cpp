//===- Formula.cpp - formulas of records as IR ----------------------------===//
#include "dialects/Trn/Formula.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace mlir;
namespace trn::ir {

std::string scalarKey(Operation *op) {
  std::string key = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    key += "." + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    key += "." + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  else if (auto scalar = dyn_cast<ScalarOp>(op))
    key += std::string(".") + isa::name(scalar.getFunc());
  return key;
}

Value buildScalar(ImplicitLocOpBuilder &b, StringRef key, ValueRange operands) {
  auto [operation, enumCase] = key.rsplit('.');
  if (operation == "arith.cmpf")
    return arith::CmpFOp::create(b, *arith::symbolizeCmpFPredicate(enumCase), operands[0], operands[1]);
  if (operation == "arith.cmpi")
    return arith::CmpIOp::create(b, *arith::symbolizeCmpIPredicate(enumCase), operands[0], operands[1]);
  if (operation == "trn.scalar") {
    std::optional<isa::ActivationFunc> function = isa::parseActivationFunc({enumCase.data(), enumCase.size()});
    assert(function && "records name functions of ScalarOps.td");
    return ScalarOp::create(b, operands[0].getType(), *function, operands[0]);
  }
  if (key == arith::SelectOp::getOperationName())
    return arith::SelectOp::create(b, operands[0], operands[1], operands[2]);
  return b.create(OperationState(b.getLoc(), key, operands, operands[0].getType()))->getResult(0);
}

namespace {
/// A term of a formula: a number until an operation needs it as a value of some type.
struct Term {
  Value value;
  double number = 0;
};

class FormulaWriter {
public:
  FormulaWriter(ImplicitLocOpBuilder &b, ValueRange operands, FormulaHooks hooks)
      : b(b), operands(operands), hooks(hooks), element(operands[0].getType()) {}

  Value write(const Formula &formula) {
    for (const FormulaStep &step : formula)
      terms.push_back(term(step));
    return valueOf(terms.back(), element);
  }

private:
  using Kind = FormulaStep::Kind;

  Term term(const FormulaStep &step) {
    switch (step.kind) {
    case Kind::Operand:
      return {operands[step.index]};
    case Kind::Parameter:
      return {Value(), hooks.parameter(step.text)};
    case Kind::Number:
      return {Value(), step.number};
    case Kind::Operation:
      break;
    }
    SmallVector<Term, 3> arguments;
    for (unsigned i = 0; i < step.index; ++i)
      arguments.push_back(terms[step.arguments[i]]);
    if (std::optional<double> number = compute(step.text, arguments))
      return {Value(), *number};
    return {operation(step.text, arguments)};
  }

  /// Arithmetic of constants.
  std::optional<double> compute(StringRef key, ArrayRef<Term> arguments) {
    if (llvm::any_of(arguments, [](const Term &argument) { return argument.value; }))
      return std::nullopt;
    double x = arguments[0].number, y = arguments.back().number;
    return llvm::StringSwitch<std::optional<double>>(key)
        .Case("arith.addf", x + y)
        .Case("arith.subf", x - y)
        .Case("arith.mulf", x * y)
        .Case("arith.divf", x / y)
        .Case("arith.negf", -x)
        .Default(std::nullopt);
  }

  Value operation(StringRef key, ArrayRef<Term> arguments) {
    // Numbers beside booleans are booleans.
    bool isBoolean = llvm::any_of(arguments, [](const Term &argument) {
      return argument.value && argument.value.getType().isInteger(1);
    });
    Type type = isBoolean && key != arith::SelectOp::getOperationName() ? Type(b.getI1Type()) : element;
    SmallVector<Value, 3> values;
    for (const Term &argument : arguments)
      values.push_back(valueOf(argument, type));
    if (hooks.operation)
      if (Value built = hooks.operation(key, values))
        return built;
    return buildScalar(b, key, values);
  }

  Value valueOf(const Term &term, Type type) {
    if (term.value)
      return term.value;
    if (llvm::isa<FloatType>(type))
      return arith::ConstantOp::create(b, b.getFloatAttr(type, term.number));
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, static_cast<int64_t>(term.number)));
  }

  ImplicitLocOpBuilder &b;
  ValueRange operands;
  FormulaHooks hooks;
  Type element;
  SmallVector<Term> terms;
};
} // namespace

Value buildFormula(ImplicitLocOpBuilder &builder, const Formula &formula, ValueRange operands, FormulaHooks hooks) {
  return FormulaWriter(builder, operands, hooks).write(formula);
}

} // namespace trn::ir
