//===- ReuseDestinations.cpp - write straight into the final tensor ---------===//
// Owns the removal of fresh destinations whose value is only inserted elsewhere. MLIR's empty-tensor elimination does the
// work, but is blind to memories: it would hand the HBM side of a store to the computation before it. Refuses to replace
// a destination by one in another memory.
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_REUSEDESTINATIONSPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {
struct ReuseDestinationsPass : impl::ReuseDestinationsPassBase<ReuseDestinationsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // The analysis is expensive for long chains of insertions; without a fresh destination there is nothing to find.
    WalkResult walk = function.walk([](tensor::EmptyOp) { return WalkResult::interrupt(); });
    if (!walk.wasInterrupted())
      return;
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true; // only an analysis: nothing is allocated here
    options.defaultMemorySpaceFn = [](TensorType type) -> std::optional<Attribute> {
      auto ranked = dyn_cast<RankedTensorType>(type);
      return ranked ? ranked.getEncoding() : Attribute();
    };
    bufferization::OneShotAnalysisState state(function, options);
    if (failed(bufferization::analyzeOp(function, state)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    auto withinOneSpace = [](RewriterBase &rewriter, SubsetInsertionOpInterface insertion, tensor::EmptyOp empty,
                             Operation *user) -> Value {
      if (spaceOf(empty.getResult()) != spaceOf(insertion.getDestinationOperand().get()))
        return Value();
      return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
    };
    if (failed(bufferization::eliminateEmptyTensors(rewriter, function, state, withinOneSpace)))
      signalPassFailure();
  }
};
} // namespace
} // namespace trn
