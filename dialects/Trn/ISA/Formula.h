//===- Formula.h - scalar operations written as formulas ------------------===//
//
// Owns formulas as data: what the generators make of the dags in records (Formula.td), of ONNX operators and of scalar
// operations alike. dialects/Trn/Formula.h writes them as IR.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>

namespace trn {

/// One term of a formula. Terms follow their arguments; the last one is the result.
struct FormulaStep {
  enum class Kind : uint8_t { Operand, Parameter, Number, Operation };
  Kind kind;
  const char *text;      ///< the operation's key, or the parameter's name
  double number;
  unsigned index;        ///< which operand; of an operation, how many arguments it takes
  uint16_t arguments[3]; ///< the terms that they are
};

struct Formula {
  const FormulaStep *steps = nullptr;
  size_t size = 0;

  const FormulaStep *begin() const { return steps; }
  const FormulaStep *end() const { return steps + size; }
  bool empty() const { return size == 0; }
};

} // namespace trn
