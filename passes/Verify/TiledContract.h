//===- TiledContract.h - what holds at stage tiled ------------------------===//
//
// Owns the whole-program rules of stage `tiled`. What fits into which instruction is selection's business: here a tile
// is what partitions and PSUM banks bound.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace trn {

/// Emits an error for every breach of the contract:
///   L1  @main holds globals, empty tensors, views in HBM, calls and stores only, as at `grouped`
///   L2  every tensor of a group has a space and a static shape; on chip 1 to 128 partitions come first
///   L3  a group holds structured operations, slices, reshapes, empty tensors, index arithmetic and loops only; loops
///       have constant bounds and a positive step
///   L4  what the PE computes lies in PSUM, and a tensor in PSUM fits into one bank, or takes one for each block
///   L5  an empty tensor, filled or not, is the destination of one operation at most
mlir::LogicalResult verifyTiled(mlir::ModuleOp module);

} // namespace trn
