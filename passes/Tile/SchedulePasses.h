//===- SchedulePasses.h - passes of stage grouped -> tiled ----------------===//
// Owns the declarations of the passes in SchedulePasses.td and their order.
#pragma once
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::func {
class FuncOp;
}

namespace trn {
#define GEN_PASS_DECL
#include "passes/Tile/SchedulePasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Tile/SchedulePasses.h.inc"

/// Appends the passes from stage `grouped` to stage `tiled` for `target`, in order.
void buildTilePipeline(mlir::OpPassManager &modulePasses, llvm::StringRef target = "trn2",
                       bool printPlans = false);
/// Registers that order as the pipeline `grouped-to-tiled`.
void registerTilePipeline();
} // namespace trn
