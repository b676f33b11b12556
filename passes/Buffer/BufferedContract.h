//===- BufferedContract.h - the contract of stage buffered -----------------===//
// Owns the rules that hold for every module at stage buffered.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace trn {
/// Emits an error for every operation that breaks the contract; fails if there was one.
mlir::LogicalResult verifyBuffered(mlir::ModuleOp module);
} // namespace trn
