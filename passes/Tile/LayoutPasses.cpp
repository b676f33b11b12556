//===- LayoutPasses.cpp - the way from stage tensor to stage grouped -------===//
// Owns the order of the passes of LayoutPasses.td.
#include "passes/Tile/LayoutPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace trn {

void addLayoutPasses(OpPassManager &manager, StringRef target, bool printPlans,
                     const Residency &residency) {
  manager.addNestedPass<func::FuncOp>(createNormalizeStructurePass());
  manager.addNestedPass<func::FuncOp>(createFoldTapsPass({target.str()}));
  ChooseLayoutPassOptions layout;
  layout.target = target.str();
  layout.residentPercent = residency.percent;
  layout.crowdedNodes.assign(residency.crowdedNodes.begin(), residency.crowdedNodes.end());
  layout.printPlan = printPlans;
  manager.addNestedPass<func::FuncOp>(createChooseLayoutPass(layout));
  ApplyLayoutPassOptions apply;
  apply.target = target.str();
  apply.residentPercent = residency.percent;
  apply.crowdedNodes.assign(residency.crowdedNodes.begin(), residency.crowdedNodes.end());
  manager.addPass(createApplyLayoutPass(apply));
  manager.addPass(createFormGroupsPass({printPlans}));
  manager.addPass(createAccumulateAddendsPass({target.str()}));
}

} // namespace trn
