//===- ScalarFunctions.h - block kernels of the scalar operations ---------===//
//
// Owns the evaluation of the table of scalar operations (dialects/Trn/ISA/ScalarFunctions.def), one block kernel per row:
// for the library kernels of the emulated device, and for the reference evaluator of the compiler.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ScalarFunctions.h"

namespace trn::rt {

/// Computes `n` lanes of 8 bytes or less. `laneClass` of the operands: 'f' float, 'd' double, 'i' int64_t. `width`: bits
/// of an integer type.
void runScalarFunction(isa::ScalarFunction function, char laneClass, unsigned width, int n, char *target, const char *a,
                       const char *b, const char *c);

} // namespace trn::rt
