//===- Pipeline.cpp - from imported to graph ------------------------------===//
//
// Owns the order of the graph passes.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void trn::buildGraphPipeline(OpPassManager &manager) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createInferFoldPass());
  function.addPass(createCSEPass());
  function.addPass(createSimplifyPass());
  function.addPass(createInferFoldPass());
  // Composites are recognised before scales are moved: moving would take them apart.
  function.addPass(createRecomposePass());
  function.addPass(createFoldNormalizationPass());
  function.addPass(createInferFoldPass());
  function.addPass(createDecomposePass());
  function.addPass(createInferFoldPass());
  function.addPass(createSimplifyPass());
  function.addPass(createInferFoldPass());
  function.addPass(createCSEPass());
}

void trn::buildControlPipeline(OpPassManager &manager) {
  manager.nest<func::FuncOp>().addPass(createInferFoldPass());
  manager.addPass(createSplitControlPass());
}

void trn::registerGraphPipeline() {
  PassPipelineRegistration<>("imported-to-graph", "All passes from stage imported to stage graph", buildGraphPipeline);
}
