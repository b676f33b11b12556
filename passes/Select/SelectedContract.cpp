//===- SelectedContract.cpp - the contract of stage selected -----------------===//
// Owns the check that only instructions, loops with constant bounds, index arithmetic and views are left.
#include "passes/Select/SelectedContract.h"
#include "dialects/Trn/TrnDialect.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_VERIFYSELECTEDPASS
#include "passes/Select/Passes.h.inc"

namespace {

LogicalResult checkLoop(scf::ForOp loop) {
  if (!getConstantIntValue(loop.getLowerBound()) || !getConstantIntValue(loop.getUpperBound()) ||
      !getConstantIntValue(loop.getStep()))
    return loop.emitOpError("expected constant bounds");
  if (loop.getNumResults() != 0)
    return loop.emitOpError("expected no loop-carried values");
  return success();
}

LogicalResult checkBuffers(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (auto buffer = dyn_cast<MemRefType>(type)) {
      if (!spaceOf(buffer))
        return op->emitOpError("expected a memory space on ") << buffer;
    } else if (llvm::isa<ShapedType>(type)) {
      return op->emitOpError("expected buffers at stage 'selected' but got ") << type;
    }
  }
  return success();
}

LogicalResult checkOperation(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return checkLoop(loop);
  if (failed(checkBuffers(op)))
    return failure();
  if (llvm::isa_and_nonnull<ir::TrnDialect>(op->getDialect()) ||
      llvm::isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) ||
      llvm::isa<ModuleOp, func::FuncOp, func::ReturnOp, func::CallOp, scf::YieldOp, memref::AllocOp, memref::DeallocOp,
                memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp, memref::CollapseShapeOp,
                memref::ExpandShapeOp>(op))
    return success();
  return op->emitOpError("expected only instructions, loops, index arithmetic and views at stage 'selected'");
}

struct VerifySelectedPass : impl::VerifySelectedPassBase<VerifySelectedPass> {
  void runOnOperation() override {
    if (failed(verifySelected(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

LogicalResult verifySelected(ModuleOp module) {
  bool valid = true;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    valid &= succeeded(checkOperation(op));
    return llvm::isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return success(valid);
}
} // namespace trn
