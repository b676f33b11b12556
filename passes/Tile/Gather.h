//===- Gather.h - reading rows of a table by numbers that data decides ------===//
// Owns the form in which a gather travels from stage tensor to selection: a linalg.generic whose body does nothing but
// read one element of a table, at an index that is its only input along one dimension and at loop positions along the
// others. Refuses everything else: a body that computes, an element with an index of its own in every column.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace trn {

/// result[i..., j...] = table[j..., indices[i...], j...].
struct RowGather {
  mlir::Value table;
  /// The dimension of the table along which the index counts.
  unsigned rowDim = 0;
  /// Where in the table, as far as loops decide: the position of each dimension, 0 for `rowDim`.
  mlir::AffineMap tableMap;

  /// The table is the only operand of the body from outside; the indices are the only input of the operation.
  int64_t rows() const { return mlir::cast<mlir::ShapedType>(table.getType()).getDimSize(rowDim); }
};

/// Whether the body of `op` reads elements of a tensor or buffer at computed positions.
bool readsTable(mlir::linalg::LinalgOp op);

/// The gather that `op` is, if it is one. Works on tensors and on memrefs.
std::optional<RowGather> rowGather(mlir::linalg::LinalgOp op);

} // namespace trn
