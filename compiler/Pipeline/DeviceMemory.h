//===- DeviceMemory.h - does a model fit the device at all? ---------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace trn {

/// Adds up what the parts of a program of stage `graph` need in device memory in any case: inputs, outputs and weights;
/// what crosses from part to part, by its name, once. The reason when that is more than a core of `device` has. Asked
/// early, because planning terabytes takes forever.
std::optional<std::string> exceedsDeviceMemory(llvm::ArrayRef<mlir::ModuleOp> parts, const isa::DeviceInfo &device);

/// Checks the same at stage `buffered`, where what is kept in device memory between groups is known, too; before loops are
/// unrolled. Emits an error at the largest buffer.
mlir::LogicalResult verifyBuffersInDeviceMemory(llvm::ArrayRef<mlir::ModuleOp> parts, const isa::DeviceInfo &device);

/// Refuses, at stage `tensor`, reductions that the longest program (kMaxInstructions) cannot do even when each of its
/// instructions keeps the whole of its engine busy: they would be tiled for ever.
mlir::LogicalResult checkProgramSize(mlir::ModuleOp module, const isa::DeviceInfo &device);

/// Checks that each on-chip buffer of a module of stage `buffered` fits its memory alone, and emits an error at each that
/// does not. Asked before anything is unrolled, which takes long for sizes that cannot fit anyway; what is alive at once
/// is the scheduler's to find out.
mlir::LogicalResult verifyBuffersOnChip(mlir::ModuleOp module, const isa::DeviceInfo &device);

/// The reason why an input or output cannot be described in an executable, when there is one.
std::optional<std::string> exceedsExecutableFormat(mlir::ModuleOp module);

} // namespace trn
