//===- EmitStructured.h - structured operations on laid-out tensors --------===//
// Owns the rewriting of one linalg operation from logical to physical tensors: iterators on partitions become lane and
// chunk, uneven splits are peeled, contractions accumulate over the peeled parts of their reduction.
#pragma once
#include "passes/Tile/LayoutEmitter.h"

namespace trn {

/// Emits `op` as `candidate` says; its result's form is defined in `emitter`. Fails with an error on `op`.
mlir::LogicalResult emitStructured(mlir::linalg::LinalgOp op, const LayoutCandidate &candidate, LayoutEmitter &emitter);

} // namespace trn
