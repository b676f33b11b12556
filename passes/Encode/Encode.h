//===- Encode.h - from synced instructions to an executable ---------------===//
//
// Owns the step from IR to exe::Executable: commands per queue, the buffer table, the debug map, and weights that are
// laid out only while somebody reads them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/executable/Executable.h"

namespace trn {

struct EncodeOptions {
  std::string target = "trn2";
  /// Facts that only the caller knows: compiler version, options. `model_macs`, `weight_bytes`, `scratch_bytes`,
  /// `instructions` and `hardware_macs` are added.
  std::map<std::string, std::string> build;
  /// Keep the module's text in the executable.
  bool keepIr = false;
  /// Without it the executable has no weights, and their values need not be readable: enough for checks.
  bool weights = true;
};

/// Encodes a module of stage `synced`. The weights of the result read from the module's attributes: the MLIR context
/// must outlive it, or its weights must be written first. The module itself may go.
mlir::FailureOr<exe::Executable> encodeModule(mlir::ModuleOp module, const EncodeOptions &options = {});

} // namespace trn
