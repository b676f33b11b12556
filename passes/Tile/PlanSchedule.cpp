//===- PlanSchedule.cpp - compute and report the plan of a group -----------===//
// Owns the pass that shows TilePlanAnalysis: one remark per nest. Refuses to change the IR.
#include "compiler/Support/PlanReport.h"
#include "dialects/Trn/Target.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/TilePlan.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_PLANSCHEDULEPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {
struct PlanSchedulePass : impl::PlanSchedulePassBase<PlanSchedulePass> {
  using PlanSchedulePassBase::PlanSchedulePassBase;

  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    if (!device)
      return signalPassFailure();
    for (TileNest nest : getAnalysis<TilePlanAnalysis>().planFor(*device).nests) {
      reportPlan(nest.root, nest);
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace trn
