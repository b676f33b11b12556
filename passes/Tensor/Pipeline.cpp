//===- Pipeline.cpp - from graph to tensor --------------------------------===//
//
// Owns the order of the tensor passes.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Tensor/Passes.h"

using namespace mlir;

void trn::buildTensorPipeline(OpPassManager &manager, const TensorPipelineOptions &options) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createOnnxToLinalgPass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createFoldConstantsPass());
  function.addPass(createNarrowTypesPass());
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
  function.addPass(createFuseElementwisePass());
  function.addPass(createCSEPass());
}
