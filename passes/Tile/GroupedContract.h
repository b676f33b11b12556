//===- GroupedContract.h - what stage grouped promises ---------------------===//
// Owns the whole-program rules of stage `grouped`. Rules of single operations are their verifiers'.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace trn {

/// Emits an error for every breach of the contract:
///   G1  @main takes and returns nothing and holds globals, empty tensors, views in HBM, calls and stores only
///   G2  tensors at function borders have a space; those in SBUF have 1 to 128 partitions first
///   G3  a group holds structured operations, slices, reshapes, empty tensors and scalar constants only; generic
///       ones have elements
///   G4  every result of a group is what was written into one of its arguments
///   G5  on chip, a slice keeps dimension 0, from partition 0, 32, 64 or 96 on (a copy from
///       HBM may write from any partition on); a reshape leaves it alone
///   G6  a contraction has the same reduction iterator first in both inputs, and first in its result a parallel one
///       that exactly one input has; maps and reductions have one iterator first in the result and in every on-chip
///       input of more than one element
mlir::LogicalResult verifyGrouped(mlir::ModuleOp module);

/// Checks rule G1 and the borders of @main, which hold at the stages from `grouped` to `tiled`; `stage` and `rule` are named
/// in the errors.
mlir::LogicalResult verifyOutsideOfGroups(mlir::func::FuncOp main, llvm::StringRef stage, llvm::StringRef rule);

} // namespace trn
