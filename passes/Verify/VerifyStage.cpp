//===- VerifyStage.cpp - contracts as passes ------------------------------===//
//
// Owns `trn-verify-stage` and `trn-verify-sync`, the contract of the last stage by its own name.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/ReadProgram.h"
#include "passes/Verify/Contracts.h"
#include "passes/Verify/Passes.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNVERIFYSYNC
#define GEN_PASS_DEF_TRNVERIFYSTAGE
#include "passes/Verify/Passes.h.inc"
} // namespace trn

using namespace trn;

namespace {

struct VerifySyncPass : trn::impl::TrnVerifySyncBase<VerifySyncPass> {
  using TrnVerifySyncBase::TrnVerifySyncBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    if (!device || failed(verifySynced(getOperation(), *device)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct VerifyStagePass : trn::impl::TrnVerifyStageBase<VerifyStagePass> {
  using TrnVerifyStageBase::TrnVerifyStageBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    if (!device || failed(verify(*device)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verify(const isa::DeviceInfo &device) {
    if (stage == "scheduled")
      return verifyScheduled(getOperation(), device);
    if (stage == "allocated")
      return verifyAllocated(getOperation(), device);
    if (stage == "synced")
      return verifySynced(getOperation(), device);
    return getOperation().emitError("unknown stage '") << stage << "'; expected scheduled, allocated or synced";
  }
};

} // namespace
