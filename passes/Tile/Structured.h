//===- Structured.h - what a structured operation is to the device --------===//
// Owns the classification of linalg operations of a group: which unit computes them and which role each iterator plays.
// Works on tensors and on memrefs. Refuses to guess: an operation that fits no kind is `Other`.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace trn {

enum class StructuredKind {
  Contraction, // PE: both inputs reduced over dimension 0
  Transpose,   // PE: dimension 0 exchanged with another
  Map,         // ACT, DVE, POOL: all iterators parallel
  Reduction,   // DVE: partition iterator parallel, others reduced
  Copy,        // linalg.copy; any movement with HBM on one side
  Gather,      // DMA: rows of a table in HBM, chosen by data
  Broadcast,   // linalg.broadcast: the same data to every partition
  Fill,        // linalg.fill
  Other,
};

StructuredKind classify(mlir::Operation *op);
llvm::StringRef name(StructuredKind kind);

/// True for operations whose result the PE writes, hence lies in PSUM.
bool isWrittenByPE(mlir::Operation *op);

/// True for a generic that yields its only input unchanged through equal maps.
bool isIdentityCopy(mlir::linalg::GenericOp op);

/// The roles of a contraction's operands and iterators.
struct ContractionRoles {
  unsigned stationary = 0, moving = 1;         // operand numbers
  unsigned partition = 0;                      // the iterator on the partitions of both inputs
  unsigned rows = 0;                           // the iterator on the partitions of the result
  llvm::SmallVector<unsigned> blocks;          // parallel, in the stationary operand (and perhaps also in the moving one)
  llvm::SmallVector<unsigned> columns;         // parallel, in the moving operand only
  llvm::SmallVector<unsigned> reductions;      // reduced one step per matmul: chunks and taps
};
/// The roles, or nothing when `op` is no contraction that the PE can do.
std::optional<ContractionRoles> contractionRoles(mlir::linalg::LinalgOp op);

/// The iterator that dimension `dim` of `operand` is indexed with alone, if any.
std::optional<unsigned> iteratorOfDim(mlir::linalg::LinalgOp op, mlir::OpOperand *operand, unsigned dim);

/// True when iterator `iterator` occurs in the indexing map of `operand`.
bool isIndexedBy(mlir::linalg::LinalgOp op, mlir::OpOperand *operand, unsigned iterator);

/// True when an operand of `op` is read against the order of a loop (`d -> -d + c`).
bool readsBackwards(mlir::linalg::LinalgOp op);

/// Number of elements per partition of a tensor or memref with the partition first.
int64_t freeElements(mlir::ShapedType type);
int64_t freeBytes(mlir::ShapedType type);

/// Bytes of one element; sub-byte types (i1) occupy one byte.
int64_t elementSizeInBytes(mlir::Type type);

} // namespace trn
