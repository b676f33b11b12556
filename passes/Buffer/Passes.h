//===- Passes.h - passes of stage tiled -> buffered ------------------------===//
// Owns the declarations of the passes in Passes.td and their order.
#pragma once
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace trn {
#define GEN_PASS_DECL
#include "passes/Buffer/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Buffer/Passes.h.inc"

/// Appends the passes from stage `tiled` to stage `buffered`, in order.
void buildBufferPipeline(mlir::OpPassManager &modulePasses);
/// Registers how bufferisation treats `trn.kernel`.
void registerKernelBufferization(mlir::DialectRegistry &registry);
/// Registers that order as the pipeline `tiled-to-buffered`.
void registerBufferPipeline();
} // namespace trn
