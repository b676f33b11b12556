//===- Formulas.cpp - formulas of records as tables -----------------------===//
#include "dialects/tblgen/Formulas.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include <cmath>
#include <cstdio>
#include <map>

using namespace llvm;

namespace trn::tblgen {

namespace {
/// The steps of one formula. TableGen keeps one object for equal terms, so a term that stands twice is one step.
class FormulaSteps {
public:
  FormulaSteps(ArrayRef<std::string> operands, ArrayRef<std::string> parameters, const Record &record)
      : operands(operands), parameters(parameters), record(record) {}

  unsigned term(const Init *value, const StringInit *name) {
    if (const auto *dag = dyn_cast<DagInit>(value))
      return operation(dag);
    if (isa<UnsetInit>(value) && name)
      return named(name->getValue());
    return number(value);
  }
  ArrayRef<std::string> steps() const { return rows; }

private:
  unsigned operation(const DagInit *dag) {
    auto known = operations.find(dag);
    if (known != operations.end())
      return known->second;
    const Record *op = dag->getOperatorAsDef(record.getLoc());
    if (!op->isSubClassOf("FormulaOp"))
      PrintFatalError(&record, "expected an operation of Formula.td, but got '" + op->getName() + "'");
    unsigned arity = op->getValueAsInt("arity");
    if (dag->getNumArgs() != arity)
      PrintFatalError(&record, "expected " + Twine(arity) + " arguments of '" + op->getName() + "', but got " +
                                   Twine(dag->getNumArgs()));
    std::string arguments;
    for (unsigned i = 0; i < arity; ++i)
      arguments += (i ? ", " : "") + std::to_string(term(dag->getArg(i), dag->getArgName(i)));
    return operations[dag] = add("Operation, \"" + op->getValueAsString("key").str() + "\", 0, " + std::to_string(arity) +
                                 ", {" + arguments + "}");
  }

  unsigned named(StringRef name) {
    size_t operand = llvm::find(operands, name) - operands.begin();
    if (operand < operands.size())
      return leaf("Operand, nullptr, 0, " + std::to_string(operand));
    if (!is_contained(parameters, name))
      PrintFatalError(&record, "expected the name of an operand or of a float attribute, but got '$" + name + "'");
    return leaf("Parameter, \"" + name.str() + "\", 0, 0");
  }

  unsigned number(const Init *value) {
    return leaf("Number, nullptr, " + numberLiteral(value->getAsUnquotedString(), record) + ", 0");
  }

  unsigned leaf(const std::string &row) {
    auto [known, isNew] = leaves.try_emplace(row, rows.size());
    return isNew ? add(row + ", {}") : known->second;
  }
  unsigned add(const std::string &row) {
    rows.push_back("{::trn::FormulaStep::Kind::" + row + "}");
    return rows.size() - 1;
  }

  ArrayRef<std::string> operands, parameters;
  const Record &record;
  std::vector<std::string> rows;
  DenseMap<const DagInit *, unsigned> operations;
  std::map<std::string, unsigned> leaves;
};
} // namespace

std::string numberLiteral(StringRef text, const Record &record) {
  char *end = nullptr;
  std::string digits = text.str();
  double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end || std::isnan(value))
    PrintFatalError(&record, "expected a number but got '" + text + "'");
  if (std::isinf(value))
    return value > 0 ? "kInfinity" : "-kInfinity";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

std::string accuracyLiteral(const Record &accuracy) {
  return "{" + numberLiteral(accuracy.getValueAsString("ulps"), accuracy) + ", " +
         numberLiteral(accuracy.getValueAsString("scale"), accuracy) + ", " +
         (accuracy.getValueAsBit("ofNan") ? "true" : "false") + "}";
}

std::string writeFormula(const DagInit *formula, StringRef name, ArrayRef<std::string> operands,
                         ArrayRef<std::string> parameters, const Record &record, raw_ostream &os) {
  FormulaSteps steps(operands, parameters, record);
  steps.term(formula, nullptr);
  os << "static const ::trn::FormulaStep " << name << "[] = {\n";
  for (const std::string &step : steps.steps())
    os << "  " << step << ",\n";
  os << "};\n";
  return "{" + name.str() + ", " + std::to_string(steps.steps().size()) + "}";
}

} // namespace trn::tblgen
