//===- AccessPatterns.h - views of buffers become access patterns ---------===//
//
// Owns the composition of memref views into one strided view of a base buffer, and the translation of such views into
// the access patterns of an instruction's operands.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace trn {

/// A strided view of a base buffer; offset and strides in elements of the base.
struct View {
  mlir::Value base;
  mlir::Type element; ///< null: that of the base
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 6> sizes, strides;

  static View whole(mlir::Value base);
  /// False when an offset or stride has more than 64 bits.
  bool slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
             const llvm::SmallBitVector &dropped);
  void reinterpret(int64_t offset, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  /// False when a group's dimensions do not lie side by side.
  bool collapse(llvm::ArrayRef<mlir::ReassociationIndices> groups);
  void expand(llvm::ArrayRef<mlir::ReassociationIndices> groups, llvm::ArrayRef<int64_t> shape);
  void permute(mlir::AffineMap permutation);
};

/// Makes `op`, whose memref operands are the views' bases, address what the views show. Emits an error when a view has
/// no access pattern.
mlir::LogicalResult setAccessPatterns(ir::InstructionOpInterface op, llvm::ArrayRef<View *> views);

} // namespace trn
