//===- ModelContracts.h - what holds at the stages imported to tensor -----===//
//
// Owns the whole-program rules of the stages `imported`, `graph` and `tensor`. Rules of single operations are their
// verifiers'. An error is emitted for every breach.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace trn {

/// M1  the module holds one function, @main, with a body of one block
/// M2  every input and every output has a name (`onnx.name`), inputs different ones
/// M3  @main holds operations of `onnx` and its return only
/// M4  every operation but weights tells its node in its location
/// M5  a weight of more than kInlineBytes whose elements differ is a resource
/// M7  inputs and outputs are tensors, or sequences of them; @main ends in its return
mlir::LogicalResult verifyImported(mlir::ModuleOp module);

/// M1 to M5, M7, and
/// M6  every value is a tensor with a rank and a static shape
/// M8  `onnx.count` of an output is the number of an output of one 32-bit integer, `onnx.count_dim` one of its dimensions
mlir::LogicalResult verifyGraph(mlir::ModuleOp module);

/// M1, M5, M6 of what is a tensor and of inputs and outputs, and
/// T1  @main holds operations of linalg, tensor, arith, math, scf and affine, weights, calls of library kernels and scalar
///     functions only;
///     inside of a structured operation also casts between integers with and without sign
/// T2  tensors are logical: no space, no other encoding; no buffers
/// T3  elements have a type of the device: at most 32 bits, bytes for booleans; floats of 64 bits
///     where library kernels compute and in constants
/// T4  structured operations have elements: what has none is a constant
mlir::LogicalResult verifyTensor(mlir::ModuleOp module);

} // namespace trn
