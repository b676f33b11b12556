//===- ScalarFunctions.h - scalar operations by number --------------------===//
//
// Owns the enumeration of the scalar operations that the compiler's IR is made of (ScalarFunctions.def), with the numbers
// that they have in programs of library kernels. Computing them is runtime/emulator's.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace trn::isa {

enum class ScalarFunction : uint16_t {
#define REAL1(number, name, op, formula) name = number,
#define REAL2(number, name, op, formula) name = number,
#define REAL3(number, name, op, formula) name = number,
#define TEST1(number, name, op, formula) name = number,
#define INT1(number, name, op, formula) name = number,
#define INT2(number, name, op, formula) name = number,
#define CONVERT(number, name, op, from, to, formula) name = number,
#include "dialects/Trn/ISA/ScalarFunctions.def"
};

/// What a program needs to know of a function: how many operands it takes, and of which class of lanes ('f' float,
/// 'd' double, 'i' int64_t; 'r' float or double) they and the result are ('r': that of the operands).
struct ScalarFunctionInfo {
  const char *name;
  unsigned arity;
  char operand, result;
};
/// Whether the width that an integer function computes in is that of its result, not of its operand.
constexpr bool hasResultWidth(ScalarFunction function) {
  return function == ScalarFunction::trunci || function == ScalarFunction::index_cast;
}
/// Null when no function has that number.
const ScalarFunctionInfo *scalarFunction(unsigned number);

/// A function of one real number, by its operation's key, in double precision; none when there is no such row.
std::optional<double> evaluateReal(std::string_view key, double x);

} // namespace trn::isa
