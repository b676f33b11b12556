//===- LayoutPasses.cpp - the way from stage tensor to stage grouped -------===//
// Owns the order of the passes of LayoutPasses.td.
#include "passes/Tile/LayoutPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace trn {

void addLayoutPasses(OpPassManager &manager, StringRef target, bool printPlans,
                     unsigned residentPercent) {
  manager.addNestedPass<func::FuncOp>(createNormalizeStructurePass());
  manager.addNestedPass<func::FuncOp>(createFoldTapsPass({target.str()}));
  ChooseLayoutPassOptions layout;
  layout.target = target.str();
  layout.residentPercent = residentPercent;
  layout.printPlan = printPlans;
  manager.addNestedPass<func::FuncOp>(createChooseLayoutPass(layout));
  manager.addPass(createApplyLayoutPass({target.str(), residentPercent}));
  manager.addPass(createFormGroupsPass({printPlans}));
  manager.addPass(createAccumulateAddendsPass({target.str()}));
}

} // namespace trn
