//===- ModelWork.h - the algorithmic work of a model ----------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>

namespace trn {

/// Multiply-accumulates of all contractions of a module at stage `tensor`: the product of the loop bounds of every
/// structured operation that reduces products. Neither padding nor recomputation counts (performance.md's T_PE).
uint64_t modelMacs(mlir::ModuleOp module);
/// Writes them into the module (`trn.model_macs`), where later stages and dumps keep them.
void setModelMacs(mlir::ModuleOp module);

} // namespace trn
