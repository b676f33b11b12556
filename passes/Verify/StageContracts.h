//===- StageContracts.h - the contract of any stage -----------------------===//
//
// Owns the way from a stage to its contract: the compiler checks it at the stage's border, `trn-verify-stage` by name.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Pipeline/Stages.h"
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"

namespace trn {

/// Checks what holds at `stage` beyond the verifiers of the operations. The contract of `encoded` is that of the file
/// format, which the loader checks.
mlir::LogicalResult verifyStage(Stage stage, mlir::ModuleOp module, const isa::DeviceInfo &device);

} // namespace trn
