//===- Passes.h - passes of stage buffered -> selected ----------------------===//
// Owns the declarations of the passes in Passes.td and their order.
#pragma once
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace trn {
#define GEN_PASS_DECL
#include "passes/Select/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Select/Passes.h.inc"

/// Appends the passes from stage `buffered` to stage `selected`, in order.
void buildSelectPipeline(mlir::OpPassManager &modulePasses, llvm::StringRef device = "trn2");
/// Registers that order as the pipeline `buffered-to-selected`.
void registerSelectPipeline();
} // namespace trn
