//===- TypeNames.h - element types in the standard's words ------------------===//
// Owns how messages for users name element types.
#pragma once
#include "mlir/IR/Types.h"
#include <string>

namespace trn::onnx {

/// `float32`, `bfloat16`, `uint8`, `bool` …: MLIR's name where the standard has none.
std::string typeName(mlir::Type element);

} // namespace trn::onnx
