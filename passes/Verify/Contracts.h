//===- Contracts.h - what holds at the stages scheduled to synced ---------===//
//
// Owns the whole-program rules of the stages `scheduled`, `allocated` and `synced`. What a single operation can know
// is its verifier's business.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"

namespace trn {

/// One block of base buffers and instructions in the order of modelled issue, with access patterns, engines that can
/// execute them, and times.
mlir::LogicalResult verifyScheduled(mlir::ModuleOp module, const isa::DeviceInfo &device);
/// And every on-chip buffer has an address inside its memory; buffers alive at one time are disjoint; the rules of
/// each instruction that need addresses hold.
mlir::LogicalResult verifyAllocated(mlir::ModuleOp module, const isa::DeviceInfo &device);
/// And guaranteed order excludes deadlocks, races, ambiguous counts and reads of bytes that nothing wrote.
mlir::LogicalResult verifySynced(mlir::ModuleOp module, const isa::DeviceInfo &device);

} // namespace trn
