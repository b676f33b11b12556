//===- Gather.cpp - reading rows of a table by numbers that data decides ----===//
// Implements Gather.h.
#include "passes/Tile/Gather.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace trn {

bool readsTable(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(),
                      [](Operation &nested) { return llvm::isa<tensor::ExtractOp, memref::LoadOp>(nested); });
}

std::optional<RowGather> rowGather(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *read = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!read || !llvm::isa<tensor::ExtractOp, memref::LoadOp>(read))
    return std::nullopt;
  RowGather gather;
  gather.table = read->getOperand(0);
  AffineMap indexMap = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> position;
  bool found = false;
  for (Value at : read->getOperands().drop_front()) {
    if (auto loop = at.getDefiningOp<linalg::IndexOp>()) {
      // An index that changes along the row would pick single elements.
      if (indexMap.isFunctionOfDim(loop.getDim()))
        return std::nullopt;
      position.push_back(getAffineDimExpr(loop.getDim(), context));
    } else if (std::optional<int64_t> constant = getConstantIntValue(at)) {
      position.push_back(getAffineConstantExpr(*constant, context));
    } else {
      auto cast = at.getDefiningOp<arith::IndexCastOp>();
      if (!cast || cast.getIn() != body->getArgument(0) || found)
        return std::nullopt;
      found = true;
      gather.rowDim = position.size();
      position.push_back(getAffineConstantExpr(0, context));
    }
  }
  if (!found)
    return std::nullopt;
  gather.tableMap = AffineMap::get(op.getNumLoops(), 0, position, context);
  return gather;
}

} // namespace trn
