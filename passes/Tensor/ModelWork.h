//===- ModelWork.h - the algorithmic work of a model ----------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>

namespace trn {

/// Multiply-accumulates of all contractions in `root`, at stage `tensor`: the product of the loop bounds of every
/// structured operation that reduces products. Neither padding nor recomputation counts.
uint64_t modelMacs(mlir::Operation *root);
/// Writes those of a module into it (`trn.model_macs`), where later stages and dumps keep them.
void setModelMacs(mlir::ModuleOp module);

} // namespace trn
