//===- ScalarFunctions.h - what each scalar operation computes ------------===//
// The table of scalar operations (ScalarFunctions.def) as an enumeration, and one block kernel per row.
#pragma once
#include "mlir/IR/Operation.h"
#include <cstdint>
#include <optional>

namespace trn {

enum class ScalarFunction : uint16_t {
#define REAL1(name, op, formula) name,
#define REAL2(name, op, formula) name,
#define REAL3(name, op, formula) name,
#define TEST1(name, op, formula) name,
#define INT1(name, op, formula) name,
#define INT2(name, op, formula) name,
#define CONVERT(name, op, from, to, formula) name,
#include "compiler/Reference/ScalarFunctions.def"
};

/// The row that computes `op`, by its name and operand types; none if there is none.
std::optional<ScalarFunction> scalarFunctionOf(mlir::Operation *op);

/// Computes `n` lanes. `laneClass` of the operands: 'f' float, 'd' double, 'i' int64_t. `width`: bits of an integer
/// type.
void runScalarFunction(ScalarFunction function, char laneClass, unsigned width, int n, char *target, const char *a,
                       const char *b, const char *c);

} // namespace trn
