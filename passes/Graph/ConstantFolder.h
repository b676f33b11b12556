//===- ConstantFolder.h - the value of an operation on constants ----------===//
//
// Owns the evaluation of ONNX operations whose operands are constants: shape arithmetic, movement, elementwise and
// reductions. Reals are computed in double and rounded once; integers wrap. Refuses (leaves in place) what it does not
// know, what is undefined (integer division by zero) and what would make the module larger.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace trn {

/// The constant results of `op`, empty when it is not folded. A result that is not a splat has at most `maxElements`
/// elements, or no more than the largest operand.
llvm::SmallVector<mlir::ElementsAttr> foldConstants(mlir::Operation *op, int64_t maxElements);

} // namespace trn
