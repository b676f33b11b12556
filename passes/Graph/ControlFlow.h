//===- ControlFlow.h - bodies resolved while compiling --------------------===//
//
// Owns If, Loop and Scan in inference: a branch that is known is inlined, loops are unrolled step by step, each step
// inferred and folded before the next is looked at. A condition that only the run knows selects between results, or becomes
// a branch of the device (`onnx.branch`), whatever costs less. Loops that are long, or whose number of steps only the run
// knows, become loops of the device (`onnx.repeat`). Refuses results whose shape would depend on data.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Device.h"
#include "mlir/IR/Operation.h"

namespace trn {

enum class Resolution {
  NotYet,   ///< what it depends on is not known (yet): nothing was changed
  Resolved, ///< replaced; the operation is gone
  Refused,  ///< an error was emitted
};

/// Infers, folds and resolves one operation that was just written.
using VisitOperation = llvm::function_ref<void(mlir::Operation *)>;

/// Longer loops are loops of the device: a program of 128 copies of a body is large enough.
constexpr int64_t kUnrolledSteps = 128;

bool isControlFlow(mlir::Operation *op);
/// Whether `op` may become a loop of the device: it has bodies, or is a recurrent layer.
bool mayLoop(mlir::Operation *op);
/// Replaces a recurrent layer over more than kUnrolledSteps steps by scans; false when it is none, or cannot be.
bool scanRecurrence(mlir::Operation *op);
/// Resolves `op` if what it depends on is constant; `atRunTime` also by a loop or branch of the
/// device, or by computing all that a condition selects from, whatever takes `device` less time.
Resolution resolveControlFlow(mlir::Operation *op, bool atRunTime, VisitOperation visit, const isa::DeviceInfo &device);

} // namespace trn
