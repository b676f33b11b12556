//===- BufferPipeline.cpp - order of the passes tiled -> buffered -----------===//
// Owns the order, nothing else.
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Buffer/Passes.h"

using namespace mlir;

void trn::buildBufferPipeline(OpPassManager &modulePasses) {
  modulePasses.addPass(createBufferizePass());
  // Equal views become one value, then copies of a buffer to itself fold. CSE does not merge allocations.
  modulePasses.addPass(createCSEPass());
  modulePasses.addPass(createCanonicalizerPass());
  // Results are destinations by now that loops carry nothing.
  modulePasses.addPass(bufferization::createDropEquivalentBufferResultsPass());
  modulePasses.addNestedPass<func::FuncOp>(createCopiesToMovementPass());
  modulePasses.addNestedPass<func::FuncOp>(createPsumSlotsPass());
  modulePasses.addPass(createVerifyBufferedPass());
}

void trn::registerBufferPipeline() {
  PassPipelineRegistration<>("tiled-to-buffered", "All passes from stage tiled to stage buffered",
                             [](OpPassManager &modulePasses) { buildBufferPipeline(modulePasses); });
}
