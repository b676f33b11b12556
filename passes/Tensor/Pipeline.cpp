//===- Pipeline.cpp - from graph to tensor --------------------------------===//
//
// Owns the order of the tensor passes.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Tensor/Passes.h"

using namespace mlir;

void trn::buildTensorPipeline(OpPassManager &manager, const TensorPipelineOptions &options) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createOnnxToLinalgPass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createFoldConstantsPass());
  function.addPass(createNarrowIntegersPass());
  function.addPass(createNarrowTypesPass());
  function.addPass(createCallLibraryPass());
  if (options.autoCast != "none") {
    AssignPrecisionPassOptions precision;
    precision.autoCast = options.autoCast;
    precision.autoCastType = options.autoCastType;
    function.addPass(createAssignPrecisionPass(precision));
    // Casts of weights, and of casts that another cast undoes.
    function.addPass(createCanonicalizerPass());
    function.addPass(createFoldConstantsPass());
  }
  function.addPass(createSimplifyMovementPass());
  if (options.fuseMaps)
    function.addPass(createFuseElementwisePass());
  function.addPass(createReadFixedRowsPass());
  function.addPass(createCSEPass());
}

namespace {
struct Options : PassPipelineOptions<Options> {
  Option<std::string> autoCast{*this, "auto-cast", llvm::cl::desc("none, matmult or all"), llvm::cl::init("none")};
  Option<std::string> autoCastType{*this, "auto-cast-type", llvm::cl::desc("bf16 or fp16"), llvm::cl::init("bf16")};
};
} // namespace

void trn::registerTensorPipeline() {
  PassPipelineRegistration<Options>("graph-to-tensor", "All passes from stage graph to stage tensor",
                                    [](OpPassManager &manager, const Options &options) {
                                      buildTensorPipeline(manager, {options.autoCast, options.autoCastType});
                                    });
}
