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

/// More instructions than this are a mistake of the input, not a program: 4 Mi commands are 25 times Llama-3-8B's layer.
inline constexpr uint64_t kMaxInstructions = uint64_t(1) << 22;

} // namespace trn
