//===- FuseReductions.cpp - reductions that ride on other instructions -------===//
// Owns two fusions across operations of the source: the row sum of what an activation writes, and the negation of a
// reduction. Refuses to look past a block or past another access to the buffers involved.
#include "dialects/Trn/ACT.h"
#include "dialects/Trn/DVE.h"
#include "passes/Select/Passes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_FUSEREDUCTIONSPASS
#include "passes/Select/Passes.h.inc"

namespace {

Value rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// True when `op` or what it contains has an operand that lies in the buffer `root`.
bool touches(Operation *op, Value root) {
  bool found = false;
  op->walk([&](Operation *nested) {
    if (llvm::isa<ViewLikeOpInterface>(nested))
      return;
    for (Value operand : nested->getOperands())
      found |= llvm::isa<MemRefType>(operand.getType()) && rootOf(operand) == root;
  });
  return found;
}

bool hasF32Elements(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType().isF32(); }

/// tensor_reduce(add) over whole rows of what an activation just wrote: the activation's `reduce` operand.
bool fuseRowSum(ir::TensorReduceOp reduce) {
  auto source = cast<MemRefType>(reduce.getSrc().getType());
  if (reduce.getOp() != isa::AluOp::Add || reduce.getNegate() || reduce.getAxes() + 1 != source.getRank() ||
      !hasF32Elements(reduce.getSrc()) || !hasF32Elements(reduce.getDst()))
    return false;
  Value written = rootOf(reduce.getSrc()), sum = rootOf(reduce.getDst());
  for (Operation *before = reduce->getPrevNode(); before; before = before->getPrevNode()) {
    auto activation = dyn_cast<ir::ActivationOp>(before);
    if (activation && activation.getDst() == reduce.getSrc()) {
      if (activation.getReduce() || touches(activation, sum))
        return false;
      // The sum must be there when the activation starts: views are cheap to move.
      Operation *view = reduce.getDst().getDefiningOp();
      while (view && view->getBlock() == before->getBlock() && before->isBeforeInBlock(view)) {
        Operation *next = view->getNumOperands() ? view->getOperand(0).getDefiningOp() : nullptr;
        for (Value operand : view->getOperands().drop_front(std::min<size_t>(1, view->getNumOperands())))
          if (Operation *index = operand.getDefiningOp();
              index && index->getBlock() == before->getBlock() && before->isBeforeInBlock(index))
            return false;
        view->moveBefore(before);
        before = view; // what it is a view of comes before it
        view = next;
      }
      activation.getReduceMutable().assign(reduce.getDst());
      return true;
    }
    if (touches(before, written) || touches(before, sum))
      return false;
  }
  return false;
}

/// True when every use of `buffer` but `first` comes after `first`, in its block or nested in it.
bool isUsedAfterOnly(Value buffer, Operation *first) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    Operation *inBlock = first->getBlock()->findAncestorOpInBlock(*user);
    return user == first || (inBlock && first->isBeforeInBlock(inBlock));
  });
}

/// tensor_scalar(x * -1) of a reduction's result that nothing else reads: the reduction's `negate`.
bool fuseNegation(ir::TensorScalarOp negation) {
  bool isNegation = negation.getOp0() == isa::AluOp::Multiply && negation.getOp1() == isa::AluOp::Bypass &&
                    negation.getOperand0Imm() && negation.getOperand0Imm()->isExactlyValue(-1.0);
  Value reduced = negation.getSrc();
  if (!isNegation || !reduced.getDefiningOp<memref::AllocOp>() || !llvm::hasNItems(reduced.getUsers(), 2) ||
      !negation.getDst().getDefiningOp<memref::AllocOp>() || !isUsedAfterOnly(negation.getDst(), negation) ||
      !llvm::isa<FloatType>(cast<MemRefType>(reduced.getType()).getElementType()))
    return false;
  for (Operation *user : reduced.getUsers()) {
    auto reduce = dyn_cast<ir::TensorReduceOp>(user);
    if (!reduce || reduce.getDst() != reduced || reduce.getNegate() || reduce->getBlock() != negation->getBlock() ||
        !reduce->isBeforeInBlock(negation) || reduced.getType() != negation.getDst().getType())
      continue;
    reduce.setNegate(true);
    negation.getDst().replaceAllUsesWith(reduced);
    return true;
  }
  return false;
}

struct FuseReductionsPass : impl::FuseReductionsPassBase<FuseReductionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> fused;
    getOperation().walk([&](ir::TensorReduceOp reduce) {
      if (fuseRowSum(reduce))
        fused.push_back(reduce);
    });
    for (Operation *op : fused)
      op->erase();
    fused.clear();
    getOperation().walk([&](ir::TensorScalarOp scalar) {
      if (fuseNegation(scalar))
        fused.push_back(scalar);
    });
    for (Operation *op : fused)
      op->erase();
  }
};
} // namespace
} // namespace trn
