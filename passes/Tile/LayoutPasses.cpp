//===- LayoutPasses.cpp - the way from stage tensor to stage grouped -------===//
// Owns the order of the passes of LayoutPasses.td.
#include "passes/Tile/LayoutPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace trn {

void addLayoutPasses(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createNormalizeStructurePass());
  manager.addNestedPass<func::FuncOp>(createFoldTapsPass());
  manager.addNestedPass<func::FuncOp>(createChooseLayoutPass());
  manager.addPass(createApplyLayoutPass());
  manager.addPass(createFormGroupsPass());
}

} // namespace trn
