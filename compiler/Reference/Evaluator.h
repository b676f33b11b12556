//===- Evaluator.h - the reference evaluator ------------------------------===//
// Computes what a function of any stage means, on the host, in the plainest arithmetic: every fp32 operation is the C
// library's, narrow floats round after each operation, contractions accumulate in fp32. Instructions of the `trn` dialect
// run on the emulator's kernels: in program order on buffers of their own, from `allocated` on at their addresses, and
// at `synced` in an order that queues and semaphores allow. It is what folds constants and what a wrong number is
// bisected with. It refuses dynamic shapes, branches of queues and operations that it does not know, by name.
#pragma once
#include "compiler/Reference/Tensor.h"
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace trn {

/// What a buffer held when its last name died. Locations are those that flattening gives: with the call, when the function
/// is called from several places.
struct FinalBuffer {
  mlir::MemRefType type;
  mlir::Location location;   ///< of the allocation
  mlir::Location lastWriter; ///< of the last operation that wrote it
  uint64_t lastWrite;        ///< when: counts all writes of the evaluation
  Tensor values;
};

struct EvaluateOptions {
  /// Called after every operation with results, with the shaped results (scalars are left out).
  std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)> observer;
  /// Called for every buffer that was written, when it dies.
  std::function<void(const FinalBuffer &)> bufferObserver;
  /// The device that instructions run on.
  const isa::DeviceInfo *device = isa::device("trn2");
};

/// Evaluates `function` on `arguments`. A function without arguments in a module of `trn.global`s takes its arguments
/// from the globals of kind input and returns those of kind output, in their order. Results are row major. Errors are
/// emitted at the operation.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments,
                                                    const EvaluateOptions &options = {});

/// Evaluates one operation, for folding: `operands` are the values of its tensor operands; scalar operands and values that
/// its regions capture must be constants. An onnx operation is lowered into a scratch function first; a result that its
/// lowering leaves out is an empty Tensor.
/// Operands and results may be views; splats in give splats out where the operation allows. Fails without a diagnostic
/// when the operation cannot be evaluated.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

} // namespace trn
