//===- Counted.cpp - ONNX operations whose result size depends on data -----===//
// Calls of library kernels: each gives tensors of the largest size, zeros behind what is valid, and a count.
#include "dialects/ONNX/Ops/Indexing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include <algorithm>
#include <array>
#include <limits>

using namespace mlir;
namespace trn {

static NamedAttribute number(LinalgBuilder &b, StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI32IntegerAttr(int32_t(value)));
}

/// The type of a count.
static RankedTensorType countType(LinalgBuilder &b) { return RankedTensorType::get({1}, b.getI32Type()); }

/// A tensor of rank 1 with the same elements.
static Value flattened(LinalgBuilder &b, Value x) { return b.reshape(x, {tensorType(x).getNumElements()}); }

/// A count as the operation gives it, where it does.
static void addCount(LinalgBuilder &b, Value wanted, Value count, LoweringTable::Results &results) {
  if (wanted)
    results.push_back(b.convert(b.reshape(count, {}), elementTypeOf(wanted)));
}

static LogicalResult lowerNonZero(onnx::NonZeroOp op, LinalgBuilder &b, LoweringTable::Results &results) {
  SmallVector<int32_t> dims(shapeOf(op.getX()));
  SmallVector<Value> made =
      b.kernel("library_nonzero", {flattened(b, op.getX())}, {op.getY().getType(), countType(b)},
           {b.getNamedAttr("dims", b.getDenseI32ArrayAttr(dims))});
  results.push_back(made[0]);
  addCount(b, op.getCount(), made[1], results);
  return success();
}

static LogicalResult lowerUnique(onnx::UniqueOp op, LinalgBuilder &b, LoweringTable::Results &results) {
  Value x = op.getX();
  int64_t rank = shapeOf(x).size(), axis = op.getAxis().value_or(0);
  // Items are rows of a matrix.
  SmallVector<int64_t> front{axis}, back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      front.push_back(dim);
  for (auto [position, dim] : llvm::enumerate(front))
    back[dim] = position;
  Value rows = op.getAxis() ? b.transpose(x, front) : flattened(b, x);
  SmallVector<int64_t> shape(shapeOf(rows));
  int64_t items = shape[0], elements = tensorType(x).getNumElements(), size = items == 0 ? 0 : elements / items;
  if (items > 0 && size == 0)
    return op.emitOpError("expected items with elements but got ") << items << " without any";
  auto matrix = RankedTensorType::get({items, size}, elementTypeOf(x)), list = RankedTensorType::get({items}, b.getI64Type());
  SmallVector<Value> made = b.kernel("library_unique", {b.reshape(rows, {items, size})},
                                 {matrix, list, list, list, countType(b)},
                                 {number(b, "items", items), number(b, "sorted", op.getSorted())});
  Value y = b.reshape(made[0], shape);
  results.push_back(op.getAxis() ? b.transpose(y, back) : y);
  // Results that the node leaves out are none of the operation's.
  const std::array<Value, 3> optional{op.getIndices(), op.getInverse(), op.getCounts()};
  for (auto [index, result] : llvm::enumerate(optional))
    if (result)
      results.push_back(made[1 + index]);
  addCount(b, op.getCount(), made[4], results);
  return success();
}

static LogicalResult lowerNonMaxSuppression(onnx::NonMaxSuppressionOp op, LinalgBuilder &b,
                                            LoweringTable::Results &results) {
  ArrayRef<int64_t> scores = shapeOf(op.getScores());
  // A threshold that is not given excludes nothing.
  auto threshold = [&](Value operand, float otherwise) {
    return operand ? flattened(b, operand) : b.weight(RankedTensorType::get({1}, b.getF32Type()), {otherwise});
  };
  int64_t limit = std::clamp<int64_t>(op.getLimit().value_or(0), 0, scores[2]);
  Value most = op.getLimitOperand() ? flattened(b, op.getLimitOperand()) : b.weight({1}, {int32_t(limit)});
  for (Value value : {op.getBoxes(), op.getScores()})
    if (!elementTypeOf(value).isF32())
      return op.emitOpError("expected boxes and scores of float32");
  SmallVector<Value> made =
      b.kernel("library_nms",
           {flattened(b, op.getBoxes()), flattened(b, op.getScores()), most, threshold(op.getIouThreshold(), 0),
            threshold(op.getScoreThreshold(), -std::numeric_limits<float>::infinity())},
           {op.getSelected().getType(), countType(b)},
           {number(b, "batches", scores[0]), number(b, "classes", scores[1]), number(b, "boxes", scores[2]),
            number(b, "center_point_box", op.getCenterPointBox())});
  results.push_back(made[0]);
  addCount(b, op.getCount(), made[1], results);
  return success();
}

void addCountedLowerings(LoweringTable &table) {
  table.add<onnx::NonZeroOp>(lowerNonZero);
  table.add<onnx::UniqueOp>(lowerUnique);
  table.add<onnx::NonMaxSuppressionOp>(lowerNonMaxSuppression);
}

} // namespace trn
