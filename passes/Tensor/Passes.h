//===- Passes.h - passes of stage tensor ----------------------------------===//
//
// Owns the constructors of the passes between stage graph and stage tensor, and their order.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace trn {

#define GEN_PASS_DECL
#include "passes/Tensor/Passes.h.inc"

struct TensorPipelineOptions {};

/// From stage `graph` to stage `tensor`.
void buildTensorPipeline(mlir::OpPassManager &manager, const TensorPipelineOptions &options = {});

#define GEN_PASS_REGISTRATION
#include "passes/Tensor/Passes.h.inc"

} // namespace trn
