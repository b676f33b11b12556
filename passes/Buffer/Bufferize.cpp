//===- Bufferize.cpp - tensors to memrefs with spaces ----------------------===//
// Owns the options of MLIR's one-shot bufferisation: spaces come from encodings, function signatures keep identity
// layouts. Refuses allocations returned from loops: no static allocator can place them.
#include "passes/Buffer/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"

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
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
      signalPassFailure();
  }
};
} // namespace
} // namespace trn
