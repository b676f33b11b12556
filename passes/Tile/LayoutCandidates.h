//===- LayoutCandidates.h - the layouts an operation can work in -----------===//
// Owns the list, per operation of stage tensor, of the combinations of operand and result layouts that the machine can
// execute, each with its cost. Constants have no layout here: they are laid out while compiling, per use. An operation
// with no way to execute gets an empty list and the reason.
#pragma once
#include "passes/Tile/LayoutCost.h"
#include "passes/Tile/Structure.h"
#include <string>

namespace trn {

/// One way to execute an operation.
struct LayoutCandidate {
  enum class Form : uint8_t {
    Contraction, ///< multiply-add on PE
    Map,         ///< elementwise on ACT, DVE or POOL
    Reduction,   ///< along free dimensions, on DVE
    Gather,      ///< rows of a table in HBM, one per partition and instruction
    View,        ///< no work: the result is another view of the operand
    Place,       ///< the operands become regions of the result: pad, concat, insert_slice
    Source,      ///< no operands: fill, empty
    Library      ///< a library kernel, on whole tensors in HBM
  };
  Form form = Form::Map;
  /// Per operand of `layoutOperands`.
  llvm::SmallVector<Layout> operands;
  Layout result;
  double nanoseconds = 0;
  /// The part of `nanoseconds` that a map which empties PSUM in the same layout saves.
  double drain = 0;
  /// Contraction: the operand that PE holds, the iterator on the partitions of both operands and the one on the
  /// partitions of the result (-1: one lane). Map, Reduction, Gather: `partition` is the iterator on the partitions.
  unsigned stationary = 0;
  int64_t contracted = -1;
  int64_t partition = -1;
};

llvm::StringRef name(LayoutCandidate::Form form);

/// The operands of `op` whose layout matters.
llvm::SmallVector<mlir::OpOperand *> layoutOperands(mlir::Operation *op);

/// Every way to execute `op`. Empty, with `reason`, if there is none.
llvm::SmallVector<LayoutCandidate> layoutCandidates(mlir::Operation *op, const LayoutCosts &costs, std::string &reason);

/// Joining tensors of `shapes` on chip along their partition dimension `dim`: engines move lanes between the few
/// partitions at which their operands may begin, DMA moves the others from SBUF to SBUF.
double joinLanesCost(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes, int64_t dim, mlir::Type elementType,
                     const LayoutCosts &costs);

/// Whether `op` is a pad that only concatenations read: in HBM it is never made, its source is placed in them.
bool isPlacedByConcats(mlir::Operation *op);

/// Result dimension of each source dimension of a reshape or rank-reducing slice, dimensions of extent 1 aside; -1
/// where the dimension is merged, split or sliced away.
llvm::SmallVector<int64_t> dimensionImages(mlir::Operation *viewOp);

} // namespace trn
