//===- ReuseDestinations.cpp - write straight into the final tensor ---------===//
// Owns the removal of fresh destinations whose value is only inserted elsewhere. MLIR's empty-tensor elimination does the
// work, but is blind to memories: it would hand the HBM side of a store to the computation before it; and it leaves the copy
// of a value to where that value is now. Refuses to replace a destination by one in another memory.
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_REUSEDESTINATIONSPASS
#include "passes/Tile/SchedulePasses.h.inc"

/// Whether `value` may be a fresh tensor, written in place by the operations on the way. A slice is no fresh tensor.
static bool mayEndInFreshTensor(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (llvm::isa<tensor::ExtractSliceOp>(op))
      return false;
    if (auto insertion = dyn_cast<SubsetInsertionOpInterface>(op))
      value = insertion.getDestinationOperand().get();
    else if (auto writer = dyn_cast<linalg::LinalgOp>(op))
      value = writer.getDpsInits()[result.getResultNumber()];
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      value = loop.getInitArgs()[result.getResultNumber()];
    else
      return true;
  }
  return !llvm::isa<func::FuncOp>(value.getParentBlock()->getParentOp());
}

/// Whether an operation writes into the result of `op`.
static bool isDestination(Operation *op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto writer = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return !writer || writer.isDpsInit(&use);
  });
}

namespace {
struct ReuseDestinationsPass : impl::ReuseDestinationsPassBase<ReuseDestinationsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // The analysis takes minutes for long chains of insertions, and finds nothing where nothing is to be found.
    WalkResult walk = function.walk([](SubsetInsertionOpInterface insertion) {
      Value source = insertion.getSourceOperand().get();
      bool oneSpace = spaceOf(source) == spaceOf(insertion.getDestinationOperand().get());
      return oneSpace && mayEndInFreshTensor(source) ? WalkResult::interrupt() : WalkResult::advance();
    });
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
    llvm::SmallSetVector<linalg::CopyOp, 4> inPlace;
    auto withinOneSpace = [&](RewriterBase &rewriter, SubsetInsertionOpInterface insertion, tensor::EmptyOp empty,
                             Operation *user) -> Value {
      if (spaceOf(empty.getResult()) != spaceOf(insertion.getDestinationOperand().get()))
        return Value();
      if (auto copy = dyn_cast<linalg::CopyOp>(insertion.getOperation())) {
        // Who writes into the copy may need its source as it is.
        Value source = copy.getInputs()[0];
        bool isKept = !source.hasOneUse() && isDestination(copy);
        if (isKept || source.getType() != copy->getResult(0).getType() || source.getType() != empty.getType())
          return Value();
        inPlace.insert(copy);
      }
      return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
    };
    if (failed(bufferization::eliminateEmptyTensors(rewriter, function, state, withinOneSpace)))
      return signalPassFailure();
    // What is computed where it would have been copied to is the copy.
    for (linalg::CopyOp copy : inPlace)
      rewriter.replaceOp(copy, copy.getInputs());
  }
};
} // namespace
} // namespace trn
