//===- SelectPipeline.cpp - order of the passes buffered -> selected ---------===//
// Owns the order, nothing else.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Select/Passes.h"

using namespace mlir;

void trn::buildSelectPipeline(OpPassManager &modulePasses, llvm::StringRef device) {
  OpPassManager &passes = modulePasses.nest<func::FuncOp>();
  passes.addPass(createExpandScalarsPass());
  // Contractions and reductions take the fills that start them; movement selects the fills that are left.
  passes.addPass(createSelectContractionsPass());
  passes.addPass(createSelectReductionsPass({device.str()}));
  passes.addPass(createSelectElementwisePass({device.str()}));
  passes.addPass(createSelectLibraryPass());
  passes.addPass(createSelectMovementPass());
  modulePasses.addPass(createCanonicalizerPass());
  modulePasses.addPass(createCSEPass());
  modulePasses.addNestedPass<func::FuncOp>(createFuseReductionsPass());
  modulePasses.addPass(createSpreadLoadsPass());
  modulePasses.addPass(createCanonicalizerPass()); // buffers that nobody uses any more
  modulePasses.addPass(createVerifySelectedPass());
}

void trn::registerSelectPipeline() {
  PassPipelineRegistration<>("buffered-to-selected", "All passes from stage buffered to stage selected",
                             [](OpPassManager &modulePasses) { buildSelectPipeline(modulePasses); });
}
