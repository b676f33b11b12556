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

static trn::InferFoldPassOptions inferFoldFor(StringRef target) {
  trn::InferFoldPassOptions options;
  options.target = target.str();
  return options;
}

void trn::buildGraphPipeline(OpPassManager &manager, StringRef target) {
  const trn::InferFoldPassOptions inferFold = inferFoldFor(target);
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createInferFoldPass(inferFold));
  function.addPass(createCSEPass());
  function.addPass(createSimplifyPass());
  function.addPass(createInferFoldPass(inferFold));
  // Composites are recognised before scales are moved: moving would take them apart.
  function.addPass(createRecomposePass());
  function.addPass(createFoldNormalizationPass());
  function.addPass(createInferFoldPass(inferFold));
  function.addPass(createDecomposePass());
  function.addPass(createInferFoldPass(inferFold));
  function.addPass(createSimplifyPass());
  function.addPass(createInferFoldPass(inferFold));
  function.addPass(createCSEPass());
  function.addPass(createBoundInputsPass());
}

void trn::buildControlPipeline(OpPassManager &manager, StringRef target) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createInferFoldPass(inferFoldFor(target)));
  function.addPass(createBoundInputsPass()); // before parts share inputs
  manager.addPass(createSplitControlPass());
}

void trn::registerGraphPipeline() {
  PassPipelineRegistration<>("imported-to-graph", "All passes from stage imported to stage graph",
                             [](OpPassManager &manager) { buildGraphPipeline(manager); });
}
