//===- StandardFunctions.h - operators that the standard defines by others ===//
//
// Owns access to the functions of the standard, made from the pinned onnx package at build time.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/ModelFile.h"

namespace trn {

/// The function that defines operator `name` of ai.onnx in a model of `opset`; null when it has none that fits all nodes.
const ::onnx::FunctionProto *standardFunction(const std::string &name, int64_t opset);

} // namespace trn
