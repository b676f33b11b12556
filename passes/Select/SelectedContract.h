//===- SelectedContract.h - the contract of stage selected -------------------===//
// Owns the rules that hold for every module at stage selected, hand-written kernels included.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace trn {
/// Emits an error for every operation that breaks the contract; fails if there was one.
mlir::LogicalResult verifySelected(mlir::ModuleOp module);
} // namespace trn
