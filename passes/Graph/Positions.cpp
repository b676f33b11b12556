//===- Positions.cpp - operators that choose by position ------------------===//
#include "passes/Graph/Positions.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "passes/Graph/GraphWriter.h"
#include "passes/Graph/Match.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

/// Compares each index with 0 … depth - 1; negative indices count from the end, others outside give all "off".
static Value choose(OneHotOp op, OpBuilder &b) {
  if (!op.getDepth() || typeOf(op.getValues()).getNumElements() != 2)
    return {};
  GraphWriter write(b, op.getLoc());
  RankedTensorType type = typeOf(op.getIndices());
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + type.getRank() + 1 : op.getAxis(), depth = *op.getDepth();
  SmallVector<int64_t> shape(type.getShape()), rangeShape(type.getRank() + 1 - axis, 1);
  shape.insert(shape.begin() + axis, 1);
  rangeShape[0] = depth;
  Value indices = write.reshape(op.getIndices(), shape);
  Value negative = write.op("Less", {indices, write.scalar(0, indices)});
  Value wrapped = write.op("Add", {indices, write.scalar(double(depth), indices)});
  Value wanted = write.op("Where", {negative, wrapped, indices});
  Value range = write.positions(depth, rangeShape, type.getElementType());
  auto value = [&](int64_t i) {
    Value one = write.op("Slice", {op.getValues()}, {write.ints("starts", {i}), write.ints("ends", {i + 1})});
    return write.reshape(one, {});
  };
  return write.op("Where", {write.op("Equal", {wanted, range}), value(1), value(0)});
}

/// A constant mask keeps one triangle.
static Value choose(TriluOp op, OpBuilder &b) {
  RankedTensorType type = typeOf(op.getX());
  Type element = type.getElementType();
  if (op.getKOperand() || type.getRank() < 2 || !element.isIntOrFloat())
    return {};
  GraphWriter write(b, op.getLoc());
  int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getDimSize(type.getRank() - 1);
  int64_t k = int64_t(op.getK().value_or(0));
  std::vector<char> mask;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      mask.push_back(op.getUpper() ? column - row >= k : column - row <= k);
  if (mask.empty())
    return op.getX();
  Value keep = write.constant(makeConstant(RankedTensorType::get({rows, columns}, b.getI1Type()), std::move(mask)));
  return write.op("Where", {keep, op.getX(), write.scalar(0, op.getX())});
}

/// Ones where the column is the row's, moved by k. Small ones are constants.
static Value choose(EyeLikeOp op, OpBuilder &b) {
  RankedTensorType type = typeOf(op.getY());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return {};
  GraphWriter write(b, op.getLoc());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  Value row = write.positions(rows, {rows, 1}, b.getI64Type()), column = write.positions(columns, {columns}, b.getI64Type());
  Value shifted = write.op("Add", {row, write.scalar(double(op.getK()), row)});
  return write.cast(write.op("Equal", {column, shifted}), type.getElementType());
}

Value trn::chooseByPosition(Operation *op, OpBuilder &b) {
  if (auto oneHot = dyn_cast<OneHotOp>(op))
    return choose(oneHot, b);
  if (auto triangle = dyn_cast<TriluOp>(op))
    return choose(triangle, b);
  if (auto eye = dyn_cast<EyeLikeOp>(op))
    return choose(eye, b);
  return {};
}
