//===- Bufferize.cpp - tensors to memrefs with spaces ----------------------===//
// Owns the options of MLIR's one-shot bufferisation: spaces come from encodings, function signatures keep identity
// layouts. Destinations are written in place when WriteOrder shows that they can be; else MLIR's analysis decides. Refuses
// allocations returned from loops: no static allocator can place them.
#include "passes/Buffer/Passes.h"
#include "passes/Buffer/WriteOrder.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "passes/Buffer/Passes.h.inc"

namespace {

bufferization::OneShotBufferizationOptions bufferizationOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  options.bufferAlignment = 0; // addresses are the allocator's
  options.defaultMemorySpaceFn = [](TensorType type) -> std::optional<Attribute> {
    auto ranked = dyn_cast<RankedTensorType>(type);
    return ranked ? ranked.getEncoding() : Attribute();
  };
  return options;
}

struct BufferizePass : impl::BufferizePassBase<BufferizePass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options = bufferizationOptions();
    bufferization::BufferizationState state;
    if (!writesInOrder(getOperation())) {
      if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
        signalPassFailure();
      return;
    }
    if (failed(bufferization::bufferizeModuleOp(getOperation(), options, state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(getOperation());
  }

  /// Whether no function needs a copy when every destination is written in place.
  static bool writesInOrder(ModuleOp module) {
    llvm::DenseMap<Operation *, FunctionEffects> effects;
    // Groups come before those who call them.
    for (auto function : module.getOps<func::FuncOp>()) {
      std::string reason;
      std::optional<FunctionEffects> found = trn::writesInOrder(function, effects, reason);
      if (!found) {
        emitRemark(function.getLoc(), "copies are decided by the general analysis: ") << reason;
        return false;
      }
      effects[function] = *found;
    }
    return true;
  }
};
} // namespace
} // namespace trn
