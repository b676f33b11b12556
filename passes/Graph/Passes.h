//===- Passes.h - passes of stage graph -----------------------------------===//
//
// Owns the constructors of the passes on the onnx dialect, and their order.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/ONNX/ONNXDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace trn {

#define GEN_PASS_DECL
#include "passes/Graph/Passes.h.inc"

/// From stage `imported` to stage `graph`, for a device.
void buildGraphPipeline(mlir::OpPassManager &manager, llvm::StringRef target = "trn2");
/// Resolves what a model's control flow allows, and splits it at the loops that are left to the device. What follows is
/// for each part by itself (dialects/Trn/Program.h).
void buildControlPipeline(mlir::OpPassManager &manager, llvm::StringRef target = "trn2");
/// Makes the pipeline known to trn-opt as `imported-to-graph`.
void registerGraphPipeline();

#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"

} // namespace trn
