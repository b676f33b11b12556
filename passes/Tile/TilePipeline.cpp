//===- TilePipeline.cpp - order of the passes grouped -> tiled -------------===//
// Owns the order, nothing else.
#include "passes/Tile/SchedulePasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void trn::buildTilePipeline(OpPassManager &modulePasses, StringRef target, bool printPlans) {
  OpPassManager &passes = modulePasses.nest<func::FuncOp>();
  passes.addPass(createStageTransfersPass());
  // Shared initial values would keep producers out of the loops of their consumers.
  passes.addPass(createSplitDestinationsPass());
  if (printPlans)
    passes.addPass(createPlanSchedulePass({target.str()}));
  passes.addPass(createApplySchedulePass({target.str()}));
  // The last CSE: from here on equal destinations are different buffers.
  passes.addPass(createCSEPass());
  passes.addPass(createSplitDestinationsPass());
  passes.addPass(createPlacePass());
  passes.addPass(createReuseDestinationsPass());
  passes.addPass(createCanonicalizerPass());
}

void trn::registerTilePipeline() {
  PassPipelineRegistration<>("grouped-to-tiled", "All passes from stage grouped to stage tiled",
                             [](OpPassManager &modulePasses) { buildTilePipeline(modulePasses); });
}
