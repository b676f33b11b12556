//===- FoldTaps.h - kernel taps beside few channels ------------------------===//
// Owns the rewrite of tile-fold-taps, for those who plan for what it leaves.
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trn {

/// Folds the taps of every convolution of `function` where that pays on `device`.
void foldTaps(mlir::func::FuncOp function, const isa::DeviceInfo &device);

} // namespace trn
