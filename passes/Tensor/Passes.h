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

struct TensorPipelineOptions {
  std::string autoCast = "none";     ///< none, matmult, all
  std::string autoCastType = "bf16"; ///< bf16, fp16
  bool fuseMaps = true;              ///< whether tensor-fuse-elementwise runs
};

/// From stage `graph` to stage `tensor`.
void buildTensorPipeline(mlir::OpPassManager &manager, const TensorPipelineOptions &options = {});
/// The pipeline as `graph-to-tensor`, for textual pipelines.
void registerTensorPipeline();

#define GEN_PASS_REGISTRATION
#include "passes/Tensor/Passes.h.inc"

} // namespace trn
