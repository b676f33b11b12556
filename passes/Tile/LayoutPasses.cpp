//===- LayoutPasses.cpp - the way from stage tensor to stage grouped -------===//
// Owns the order of the passes of LayoutPasses.td.
#include "passes/Tile/LayoutPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace trn {

void addLayoutPasses(OpPassManager &manager, const LayoutPipelineOptions &options) {
  manager.addNestedPass<func::FuncOp>(createNormalizeStructurePass());
  SplitPlanesPassOptions planes;
  planes.target = options.target;
  planes.residentPercent = options.residency.percent;
  planes.crowdedNodes.assign(options.residency.crowdedNodes.begin(), options.residency.crowdedNodes.end());
  planes.foldsTaps = options.foldTaps;
  planes.printPlan = options.printPlans;
  manager.addNestedPass<func::FuncOp>(createSplitPlanesPass(planes));
  if (options.foldTaps)
    manager.addNestedPass<func::FuncOp>(createFoldTapsPass({options.target}));
  ChooseLayoutPassOptions layout;
  layout.target = options.target;
  layout.residentPercent = options.residency.percent;
  layout.crowdedNodes.assign(options.residency.crowdedNodes.begin(), options.residency.crowdedNodes.end());
  layout.printPlan = options.printPlans;
  manager.addNestedPass<func::FuncOp>(createChooseLayoutPass(layout));
  ApplyLayoutPassOptions apply;
  apply.target = options.target;
  apply.residentPercent = options.residency.percent;
  apply.crowdedNodes.assign(options.residency.crowdedNodes.begin(), options.residency.crowdedNodes.end());
  manager.addPass(createApplyLayoutPass(apply));
  manager.addPass(createFormGroupsPass({options.printPlans}));
  manager.addPass(createAccumulateAddendsPass({options.target}));
}

} // namespace trn
