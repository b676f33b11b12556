//===- KernelBufferization.cpp - library kernels on buffers ----------------===//
// Owns how MLIR's bufferisation sees trn.kernel: inputs are read, outputs are written in place, nothing else.
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "passes/Buffer/Passes.h"

using namespace mlir;

namespace trn {

namespace {
struct KernelModel : bufferization::DstBufferizableOpInterfaceExternalModel<KernelModel, ir::KernelOp> {
  /// A kernel writes all of its outputs before it reads any of them.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    return cast<ir::KernelOp>(op).isDpsInput(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto kernel = cast<ir::KernelOp>(op);
    SmallVector<Value> inputs, outputs;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      (kernel.isDpsInput(&operand) ? inputs : outputs).push_back(*buffer);
    }
    ir::KernelOp::create(rewriter, op->getLoc(), TypeRange(), kernel.getKernelAttr(), inputs, outputs,
                         kernel.getParametersAttr());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};
} // namespace

void registerKernelBufferization(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, ir::TrnDialect *) { ir::KernelOp::attachInterface<KernelModel>(*context); });
}

} // namespace trn
