//===- ScalarFunctions.cpp - scalar functions of real numbers -------------===//
#include "dialects/Trn/ISA/ScalarFunctions.h"
#include "dialects/Trn/ISA/ScalarFormulas.h"

namespace trn::isa {

std::optional<double> evaluateReal(std::string_view key, double x) {
  using T = double;
#define REAL1(number, name, op, formula)                                                                               \
  if (key == op)                                                                                                       \
    return formula;
#include "dialects/Trn/ISA/ScalarFunctions.def"
  return std::nullopt;
}

} // namespace trn::isa
