//===- DeviceMemory.h - does a model fit the device at all? ---------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace trn {

/// Adds up what a module of stage `graph` needs in device memory in any case: inputs, outputs and weights. The reason
/// when that is more than a core of `device` has. Asked early, because planning terabytes takes forever.
std::optional<std::string> exceedsDeviceMemory(mlir::ModuleOp module, const isa::DeviceInfo &device);

/// The reason why an input or output cannot be described in an executable, when there is one.
std::optional<std::string> exceedsExecutableFormat(mlir::ModuleOp module);

} // namespace trn
