//===- Positions.h - operators that choose by position --------------------===//
//
// Owns what OneHot, Trilu and EyeLike mean: a choice by comparing positions, or by a constant mask.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Builders.h"

namespace trn {

/// The result of an `onnx.OneHot`, `onnx.Trilu` or `onnx.EyeLike`, written by other operators at `b`. Null, and nothing is written, for any
/// other operation, and while its depth or diagonal is not constant.
mlir::Value chooseByPosition(mlir::Operation *op, mlir::OpBuilder &b);

} // namespace trn
