//===- Access.h - how a device tile walks its buffers -----------------------===//
// Owns the step from indexing maps over strided buffers to what an instruction reads: a root buffer, an offset, and one
// stride per loop. A memref type alone is not the access pattern (a stride-2 tap of a 14x14 result is a 27x27 window), so
// patterns are computed from indexing map and view together. Refuses maps that are not linear and dynamic strides.
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace trn {

/// One operand of a tile: element (p, i0, i1, ...) lies at offset + p * partitionStride + sum of i_k * strides[k].
struct Access {
  mlir::Value root;                                              // allocation, argument or global
  int64_t offset = 0;                                            // elements, constant part
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;      // index values times elements
  int64_t partitionStride = 0;                                   // 0: the same for every partition
  llvm::SmallVector<int64_t> strides;                            // per loop of the tile

  mlir::Type elementType() const { return mlir::cast<mlir::MemRefType>(root.getType()).getElementType(); }
  /// True when the element depends on the partition only.
  bool isColumn() const {
    return llvm::all_of(strides, [](int64_t stride) { return stride == 0; });
  }
};

/// The loops of one device tile and the accesses of its operands. Loops of one iteration are dropped.
struct Tile {
  int64_t partitions = 1;
  llvm::SmallVector<int64_t> sizes;    // free loops, slowest first
  llvm::SmallVector<Access> accesses;  // in operand order
  int64_t elements() const;
};

/// Free dimensions that an access pattern has (device guide 2.1 rule 5).
constexpr unsigned kMaxFreeRank = 4;

/// The access of `buffer` through `map`, with a stride per dimension of `map`; the partition is not separated yet.
/// Fails with `reason` set.
mlir::FailureOr<Access> accessOf(mlir::Value buffer, mlir::AffineMap map, std::string &reason);

/// The tile of a structured operation on memrefs: `partition` is the loop on the partitions (absent: one partition), and
/// `loops` are its free loops in the order in which they are visited.
mlir::FailureOr<Tile> tileOf(mlir::linalg::LinalgOp op, std::optional<unsigned> partition,
                             llvm::ArrayRef<unsigned> loops, std::string &reason);

/// Merges loops `i` and `i + 1` where every access walks both as one, except at the positions in `borders` (a border `b`
/// lies before loop b). Returns the borders' new positions.
llvm::SmallVector<unsigned> mergeLoops(Tile &tile, llvm::ArrayRef<unsigned> borders = {});

/// Emits loops over the outermost free loops until `rank` are left, and moves the builder inside.
void unrollOuterLoops(mlir::OpBuilder &builder, mlir::Location loc, Tile &tile, unsigned rank = kMaxFreeRank);

/// The operand of an instruction: a view [partitions, sizes...] of the access's root. Without free loops: [partitions, 1].
mlir::Value createView(mlir::OpBuilder &builder, mlir::Location loc, const Access &access, int64_t partitions,
                       llvm::ArrayRef<int64_t> sizes);

/// The same element of every partition for all of `sizes`: stride 0.
mlir::Value createBroadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value column,
                            llvm::ArrayRef<int64_t> sizes);

/// A fresh buffer [partitions, sizes...] (at least one free dimension) in SBUF or PSUM.
mlir::Value createTemporary(mlir::OpBuilder &builder, mlir::Location loc, int64_t partitions,
                            llvm::ArrayRef<int64_t> sizes, mlir::Type element, isa::Space space = isa::Space::SBUF);

} // namespace trn
