//===- Passes.h - from selected to synced ---------------------------------===//
//
// Owns the entry points of the passes declared in Passes.td.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace trn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Schedule/Passes.h.inc"

} // namespace trn
