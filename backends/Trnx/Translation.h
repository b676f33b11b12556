//===- Translation.h - executables as IR and back -------------------------===//
//
// Owns the translation between exe::Executable and the trnx dialect. Neither direction decides anything.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trnx/TrnxDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/executable/Executable.h"

namespace trn {

/// A module with one `trnx.executable`. Fails with an error at the module when the weights cannot be read.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> exportToTrnx(const exe::Executable &executable,
                                                                mlir::MLIRContext *context);

/// The executable that a module of stage `encoded` mirrors. It owns its weights.
mlir::FailureOr<exe::Executable> importFromTrnx(mlir::ModuleOp module);

} // namespace trn
