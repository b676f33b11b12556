//===- Link.h - from parts to one executable ------------------------------===//
//
// Owns the step from a `trn.program` to one executable: the instructions of its parts one behind the other, barriers
// between them, and the registers, branches and copies of its loops and branches, which take their registers from those
// around them only. Buffers of one name are one buffer. Every queue loads what decides the way into a register of its own,
// so that all go the same way.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Encode/Encode.h"

namespace trn {

/// Encodes a module of stage `synced`: of one program, or of the parts of one (dialects/Trn/Program.h). `refused`, when
/// given, tells of a failure whether the program is right, but beyond the linker.
mlir::FailureOr<exe::Executable> linkModule(mlir::ModuleOp module, const EncodeOptions &options = {},
                                            bool *refused = nullptr);

} // namespace trn
