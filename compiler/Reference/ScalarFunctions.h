//===- ScalarFunctions.h - the scalar function of an MLIR operation --------===//
// From an operation of arith, math or trn.scalar to its row in the table of scalar functions.
#pragma once
#include "dialects/Trn/ISA/ScalarFunctions.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace trn {

using isa::ScalarFunction;

/// The row that computes `op`, by its name and operand types; none if there is none.
std::optional<ScalarFunction> scalarFunctionOf(mlir::Operation *op);

} // namespace trn
