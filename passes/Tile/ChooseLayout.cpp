//===- ChooseLayout.cpp - plan and report layouts --------------------------===//
// Owns tile-choose-layout: computes LayoutPlan, turns its problems into errors and its prices into remarks.
#include "compiler/Support/PlanReport.h"
#include "dialects/Trn/Target.h"
#include "mlir/IR/Remarks.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/LayoutPlan.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_CHOOSELAYOUTPASS
#include "passes/Tile/LayoutPasses.h.inc"

namespace {
struct ChooseLayoutPass : public impl::ChooseLayoutPassBase<ChooseLayoutPass> {
  using ChooseLayoutPassBase::ChooseLayoutPassBase;

  void runOnOperation() override {
    // Plans are for @main; groups have been laid out.
    if (getOperation().getName() != "main" || getOperation().isExternal())
      return markAllAnalysesPreserved();
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    if (!device)
      return signalPassFailure();
    const LayoutPlan &plan = getAnalysis<LayoutAnalysis>().planFor(*device, residentPercent, *crowdedNodes);
    for (auto &[op, reason] : plan.problems)
      op->emitError("expected an operation with a layout, but ") << reason;
    if (plan.failed())
      return signalPassFailure();
    if (printPlan)
      reportPlan(getOperation(), plan);
    report(plan);
    markAllAnalysesPreserved();
  }

  /// Tensors that take two layouts, or that SBUF has no room for, are missed chances.
  void report(const LayoutPlan &plan) {
    for (const TensorForm &form : plan.allForms()) {
      if (form.spilled && residentPercent > 0)
        remark::missed(form.value.getLoc(), remark::RemarkOpts::name("Spilled").category("layout"))
            << "kept in HBM: SBUF has no room for its " << (std::to_string(form.bytesPerLane) + " bytes per partition");
      if (form.layout.isOnChip() && form.layout != plan.home(form.value) && !plan.home(form.value).isHbm())
        remark::missed(form.value.getLoc(), remark::RemarkOpts::name("Relayout").category("layout"))
            << "moved to other partitions for one of its uses";
    }
  }
};
} // namespace

} // namespace trn
