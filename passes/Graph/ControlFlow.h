//===- ControlFlow.h - bodies resolved while compiling --------------------===//
//
// Owns If, Loop and Scan in inference: a branch that is known is inlined, loops are unrolled step by step, each step
// inferred and folded before the next is looked at, and a condition that only the run knows selects between results.
// Refuses loops whose number of steps is neither known nor bounded, and results whose shape would depend on data.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Operation.h"

namespace trn {

enum class Resolution {
  NotYet,   ///< what it depends on is not known (yet): nothing was changed
  Resolved, ///< replaced; the operation is gone
  Refused,  ///< an error was emitted
};

/// Infers, folds and resolves one operation that was just written.
using VisitOperation = llvm::function_ref<void(mlir::Operation *)>;

bool isControlFlow(mlir::Operation *op);
/// Resolves `op` if what it depends on is constant; `atRunTime` also by computing all that a condition selects from.
Resolution resolveControlFlow(mlir::Operation *op, bool atRunTime, VisitOperation visit);

} // namespace trn
