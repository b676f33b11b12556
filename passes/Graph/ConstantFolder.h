//===- ConstantFolder.h - the value of an operation on constants ----------===//
//
// Owns constant folding: which operations on constants are computed while compiling. Their values are the reference
// evaluator's. Refuses (leaves in place) what has no lowering and what would make the module larger.
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
