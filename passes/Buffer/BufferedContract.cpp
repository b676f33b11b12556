//===- BufferedContract.cpp - the contract of stage buffered ---------------===//
// Owns the checks: who reaches which memory (device guide 2.1), and that nothing but buffers is left. Refuses to repair.
#include "passes/Buffer/BufferedContract.h"
#include "passes/Buffer/Passes.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_VERIFYBUFFEREDPASS
#include "passes/Buffer/Passes.h.inc"

namespace {

LogicalResult checkTypes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (llvm::isa<TensorType>(type))
      return op->emitOpError("expected buffers at stage 'buffered' but got ") << type;
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer)
      return success();
    if (!spaceOf(buffer))
      return op->emitOpError("expected a memory space on ") << buffer;
    if (!buffer.hasStaticShape())
      return op->emitOpError("expected a static shape but got ") << buffer;
    return success();
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

LogicalResult checkCopy(Operation *op) {
  auto from = spaceOf(op->getOperand(0)), to = spaceOf(op->getOperand(1));
  if (to == isa::Space::PSUM)
    return op->emitOpError("expected a copy into HBM or SBUF but got one into PSUM, which only the PE fills");
  if (from == isa::Space::PSUM && to == isa::Space::HBM)
    return op->emitOpError("expected PSUM to be emptied into SBUF but got a copy into HBM, which DMA does from SBUF only");
  return success();
}

LogicalResult checkFill(linalg::FillOp op) {
  if (!isInPsum(op.getOutputs()[0]))
    return success();
  auto constant = op.getInputs()[0].getDefiningOp<arith::ConstantOp>();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!value || !value.getValue().isPosZero())
    return op.emitOpError("expected PSUM to start from zero");
  return success();
}

LogicalResult checkCompute(linalg::LinalgOp op) {
  bool byPE = isWrittenByPE(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto space = spaceOf(operand.get());
    if (!llvm::isa<MemRefType>(operand.get().getType()))
      continue;
    bool isInput = op.isDpsInput(&operand);
    bool legal = byPE ? space == (isInput ? isa::Space::SBUF : isa::Space::PSUM)
                      : space == isa::Space::SBUF || space == isa::Space::PSUM;
    if (!legal)
      return op.emitOpError("expected operand #")
             << operand.getOperandNumber() << " of a " << name(classify(op)) << " in "
             << (!byPE ? "sbuf or psum" : isInput ? "sbuf" : "psum") << " but got " << spaceName(space);
  }
  return success();
}

LogicalResult checkOperation(Operation *op) {
  if (failed(checkTypes(op)))
    return failure();
  if (llvm::isa<memref::CopyOp>(op))
    return op->emitOpError("expected linalg.copy at stage 'buffered'; run buffer-copies-to-movement");
  StructuredKind kind = classify(op);
  if (kind == StructuredKind::Copy || kind == StructuredKind::Broadcast)
    return checkCopy(op);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return checkFill(fill);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return checkCompute(structured);
  return success();
}

struct VerifyBufferedPass : impl::VerifyBufferedPassBase<VerifyBufferedPass> {
  void runOnOperation() override {
    if (failed(verifyBuffered(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

LogicalResult verifyBuffered(ModuleOp module) {
  bool valid = true;
  module.walk([&](Operation *op) {
    if (!llvm::isa_and_nonnull<linalg::LinalgOp>(op->getParentOp())) // bodies hold scalars
      valid &= succeeded(checkOperation(op));
  });
  return success(valid);
}
} // namespace trn
