//===- Passes.h - proofs about placed programs ----------------------------===//
//
// Owns the entry points of the passes declared in Passes.td.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace trn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Verify/Passes.h.inc"

} // namespace trn
