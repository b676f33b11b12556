//===- Target.h - the device that a pass compiles for ----------------------===//
// Owns the look-up of a target by name. Refuses names that are not in Devices.td, and lists those that are.
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/Operation.h"

namespace trn {

/// The device of that name; null with an error at `op` otherwise.
const isa::DeviceInfo *findDevice(mlir::Operation *op, llvm::StringRef name);

} // namespace trn
