//===- Allocate.cpp - addresses of on-chip buffers ------------------------===//
//
// Owns `trn-allocate`: modelled lifetimes in, `address` attributes out.
//
//===----------------------------------------------------------------------===//
#include "compiler/Support/PlanReport.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Analysis/AllocationPlan.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNALLOCATE
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

namespace {

struct AllocatePass : trn::impl::TrnAllocateBase<AllocatePass> {
  using TrnAllocateBase::TrnAllocateBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    func::FuncOp entry = device ? findEntry(getOperation()) : func::FuncOp();
    if (!entry)
      return signalPassFailure();
    for (auto alloc : llvm::make_early_inc_range(entry.getOps<ir::AllocOp>()))
      if (alloc->use_empty())
        alloc.erase();
    FailureOr<FunctionProgram> read = readProgram(entry, *device);
    if (failed(read) || failed(allocate(entry, *read, resourcesOf(*device))))
      signalPassFailure();
  }

private:
  LogicalResult allocate(func::FuncOp entry, const FunctionProgram &read, const Resources &resources);
};

} // namespace

LogicalResult AllocatePass::allocate(func::FuncOp entry, const FunctionProgram &read, const Resources &resources) {
  std::vector<ScheduledInstruction> scheduled;
  for (ir::InstructionOpInterface op : read.operations) {
    if (!op.getEngine() || !op.getIssue() || !op.getCompletion())
      return op->emitOpError("expected an engine and modelled times; run trn-schedule");
    scheduled.push_back({*op.getEngine(), *op.getIssue(), *op.getCompletion()});
  }
  AllocationPlan plan = computeAllocation(read.program, scheduled, resources);
  if (!plan.ok()) {
    InFlightDiagnostic error = emitError(entry.getLoc(), "the function has ")
                               << plan.failed.size() << " buffers without a place in memory; schedule it again with a "
                               << "smaller sbuf-budget";
    for (uint32_t buffer : ArrayRef(plan.failed).take_front(8))
      error.attachNote(read.buffers[buffer].getLoc()) << read.buffers[buffer].getType();
    return error;
  }
  for (uint32_t buffer = 0; buffer < read.buffers.size(); ++buffer)
    if (auto alloc = read.buffers[buffer].getDefiningOp<ir::AllocOp>())
      if (read.program.buffers[buffer].space != isa::Space::HBM)
        alloc.setAddress(plan.addresses[buffer]);
  if (printPlan)
    reportPlan(entry, plan);
  return success();
}
