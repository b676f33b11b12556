//===- ReadFixedRows.cpp - reads at known places become operands ----------===//
// Owns the choice of the reads that an operand with an indexing map can do.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tensor/Passes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace trn {
#define GEN_PASS_DEF_READFIXEDROWSPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

namespace {
/// What a read sees of its table: along each dimension the whole, over an iterator, or one place.
struct FixedRead {
  SmallVector<OpFoldResult> offsets, sizes, strides; ///< of the slice
  SmallVector<int64_t> shape;                        ///< of the slice, without the dimensions of one place
  SmallVector<AffineExpr> iterators;                 ///< of the slice's dimensions

  static std::optional<FixedRead> get(tensor::ExtractOp read, linalg::GenericOp op);
};
} // namespace

std::optional<FixedRead> FixedRead::get(tensor::ExtractOp read, linalg::GenericOp op) {
  auto table = cast<RankedTensorType>(read.getTensor().getType());
  if (!table.hasStaticShape() || op.getBody() == read.getTensor().getParentBlock())
    return std::nullopt;
  Builder b(op.getContext());
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  llvm::SmallBitVector used(extents.size());
  FixedRead fixed;
  for (auto [size, index] : llvm::zip_equal(table.getShape(), read.getIndices())) {
    APInt place;
    int64_t offset = 0, extent = 1;
    if (auto iterator = index.getDefiningOp<linalg::IndexOp>()) {
      unsigned dim = iterator.getDim();
      extent = extents[dim];
      if (extent > size || used.test(dim))
        return std::nullopt;
      used.set(dim);
      fixed.shape.push_back(extent);
      fixed.iterators.push_back(b.getAffineDimExpr(dim));
    } else if (matchPattern(index, m_ConstantInt(&place)) && place.sge(0) && place.slt(size)) {
      offset = place.getSExtValue();
    } else {
      return std::nullopt;
    }
    fixed.offsets.push_back(b.getIndexAttr(offset));
    fixed.sizes.push_back(b.getIndexAttr(extent));
    fixed.strides.push_back(b.getIndexAttr(1));
  }
  return fixed;
}

/// Gives `op` an operand for the read.
static void readAsOperand(linalg::GenericOp op, tensor::ExtractOp read, const FixedRead &fixed) {
  OpBuilder before(op);
  auto table = cast<RankedTensorType>(read.getTensor().getType());
  auto type = RankedTensorType::get(fixed.shape, table.getElementType());
  Value slice = tensor::ExtractSliceOp::create(before, read.getLoc(), type, read.getTensor(), fixed.offsets,
                                               fixed.sizes, fixed.strides);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const unsigned position = op.getNumDpsInputs();
  maps.insert(maps.begin() + position,
              AffineMap::get(op.getNumLoops(), 0, fixed.iterators, op.getContext()));
  op.getInputsMutable().append(slice);
  op.setIndexingMapsAttr(before.getAffineMapArrayAttr(maps));
  read.replaceAllUsesWith(op.getBody()->insertArgument(position, table.getElementType(), read.getLoc()));
  SmallVector<Operation *> indices;
  for (Value index : read.getIndices())
    indices.push_back(index.getDefiningOp());
  read.erase();
  for (Operation *index : llvm::SetVector<Operation *>(indices.begin(), indices.end()))
    if (index->use_empty() && op->isProperAncestor(index))
      index->erase();
}

namespace {
class ReadFixedRows : public impl::ReadFixedRowsPassBase<ReadFixedRows> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      for (auto read : llvm::make_early_inc_range(op.getBody()->getOps<tensor::ExtractOp>()))
        if (std::optional<FixedRead> fixed = FixedRead::get(read, op))
          readAsOperand(op, read, *fixed);
    });
  }
};
} // namespace
} // namespace trn
