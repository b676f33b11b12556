//===- VerifyStage.cpp - contracts as passes ------------------------------===//
//
// Owns `trn-verify-stage` and `trn-verify-sync`, the contract of the last stage by its own name.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/ReadProgram.h"
#include "passes/Verify/Contracts.h"
#include "passes/Verify/Passes.h"
#include "passes/Verify/StageContracts.h"

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
    if (std::optional<Stage> known = parseStage(stage))
      return verifyStage(*known, getOperation(), device);
    InFlightDiagnostic error = getOperation().emitError("unknown stage '") << stage << "'; expected one of";
    for (Stage known : allStages())
      error << " " << stageName(known);
    return error;
  }
};

} // namespace
