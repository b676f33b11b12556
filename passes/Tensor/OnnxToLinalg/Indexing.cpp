//===- Indexing.cpp - ONNX operations that read or write by index ---------===//
// A gather is a map whose body extracts from the table; indices that are known and evenly spaced are slices. Scatters
// are loops over the updates, in order, because two updates may name one element.
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

static int64_t axisOf(int64_t axis, Value x) { return axis < 0 ? axis + int64_t(shapeOf(x).size()) : axis; }
static Value indexConstant(Builder1 &b, int64_t value) { return arith::ConstantOp::create(b, b.getIndexAttr(value)); }

/// A position in a dimension of `size`: negative ones count from the end. Computed in the type of the index, as the
/// device does it.
static Value wrapIndex(Builder1 &b, Value index, int64_t size) {
  Type type = index.getType();
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, scalarConstant(b, type, 0));
  Value fromEnd = arith::AddIOp::create(b, index, scalarConstant(b, type, double(size)));
  Value position = arith::SelectOp::create(b, isNegative, fromEnd, index);
  return arith::IndexCastOp::create(b, b.getIndexType(), position);
}

/// The values of a small constant index tensor.
static std::optional<SmallVector<int64_t>> constantIndices(Value indices) {
  auto weight = indices.getDefiningOp<onnx::WeightOp>();
  auto dense = weight ? dyn_cast<DenseIntElementsAttr>(weight.getValue()) : DenseIntElementsAttr();
  if (!dense)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &value : dense.getValues<APInt>())
    values.push_back(value.getSExtValue());
  return values;
}

static FailureOr<Value> lowerGather(onnx::GatherOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices();
  int64_t axis = axisOf(op.getAxis(), x), size = shapeOf(x)[axis], rank = shapeOf(op.getY()).size();
  int64_t indexRank = shapeOf(indices).size();
  if (std::optional<SmallVector<int64_t>> known = constantIndices(indices)) {
    int64_t step = known->size() > 1 ? (*known)[1] - (*known)[0] : 1;
    bool even = !known->empty() && step > 0;
    for (size_t i = 0; i < known->size(); ++i) {
      (*known)[i] += (*known)[i] < 0 ? size : 0;
      if ((*known)[i] < 0 || (*known)[i] >= size)
        return op.emitOpError("index ") << (*known)[i] << " is outside of the dimension of " << size;
      even &= i == 0 || (*known)[i] - (*known)[i - 1] == step;
    }
    if (even)
      return b.reshape(b.sliceDim(x, axis, known->front(), known->size(), step), shapeOf(op.getY()));
  }
  SmallVector<int64_t> indexDims = llvm::to_vector(llvm::seq<int64_t>(axis, axis + indexRank));
  return b.map(indices, b.dims(rank, indexDims), shapeOf(op.getY()), elementTypeOf(x),
               [&](Builder1 &b, ValueRange e) -> Value {
                 SmallVector<Value> position;
                 for (int64_t dim = 0, e = shapeOf(x).size(); dim < e; ++dim)
                   position.push_back(dim == axis ? Value()
                                                  : linalg::IndexOp::create(b, dim < axis ? dim : dim + indexRank - 1));
                 position[axis] = wrapIndex(b, e[0], size);
                 return tensor::ExtractOp::create(b, x, position);
               });
}

static FailureOr<Value> lowerGatherElements(onnx::GatherElementsOp op, LinalgBuilder &b) {
  Value x = op.getX();
  int64_t axis = axisOf(op.getAxis(), x), rank = shapeOf(x).size();
  return b.map(op.getIndices(), shapeOf(op.getY()), elementTypeOf(x), [&](Builder1 &b, ValueRange e) -> Value {
    SmallVector<Value> position;
    for (int64_t dim = 0; dim < rank; ++dim)
      position.push_back(dim == axis ? wrapIndex(b, e[0], shapeOf(x)[axis])
                                     : linalg::IndexOp::create(b, dim).getResult());
    return tensor::ExtractOp::create(b, x, position);
  });
}

static FailureOr<Value> lowerGatherND(onnx::GatherNDOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices();
  ArrayRef<int64_t> indexShape = shapeOf(indices);
  int64_t batchDims = op.getBatchDims(), depth = indexShape.back(), prefix = int64_t(indexShape.size()) - 1;
  return b.map(ValueRange(), shapeOf(op.getY()), elementTypeOf(x), [&](Builder1 &b, ValueRange) -> Value {
    SmallVector<Value> outer, position;
    for (int64_t dim = 0; dim < prefix; ++dim)
      outer.push_back(linalg::IndexOp::create(b, dim));
    for (int64_t dim = 0; dim < batchDims; ++dim)
      position.push_back(outer[dim]);
    for (int64_t i = 0; i < depth; ++i) {
      SmallVector<Value> at = outer;
      at.push_back(indexConstant(b, i));
      position.push_back(wrapIndex(b, tensor::ExtractOp::create(b, indices, at), shapeOf(x)[batchDims + i]));
    }
    for (int64_t dim = position.size(), at = prefix, e = shapeOf(x).size(); dim < e; ++dim)
      position.push_back(linalg::IndexOp::create(b, at++));
    return tensor::ExtractOp::create(b, x, position);
  });
}

/// What a scatter stores: the update, or the old value combined with it. Null for an unknown reduction.
static Value combineUpdate(Builder1 &b, StringRef reduction, Value old, Value update) {
  bool isFloat = isa<FloatType>(update.getType());
  auto pick = [&](auto real, auto integer) { return isFloat ? real() : integer(); };
  if (reduction == "none")
    return update;
  if (reduction == "add")
    return pick([&]() -> Value { return arith::AddFOp::create(b, old, update); },
                [&]() -> Value { return arith::AddIOp::create(b, old, update); });
  if (reduction == "mul")
    return pick([&]() -> Value { return arith::MulFOp::create(b, old, update); },
                [&]() -> Value { return arith::MulIOp::create(b, old, update); });
  if (reduction == "max")
    return pick([&]() -> Value { return arith::MaximumFOp::create(b, old, update); },
                [&]() -> Value { return arith::MaxSIOp::create(b, old, update); });
  if (reduction == "min")
    return pick([&]() -> Value { return arith::MinimumFOp::create(b, old, update); },
                [&]() -> Value { return arith::MinSIOp::create(b, old, update); });
  return nullptr;
}

/// Loops over every position of `shape`, carrying a tensor.
static Value loopOver(Builder1 &b, ArrayRef<int64_t> shape, Value carried,
                      llvm::function_ref<Value(Builder1 &, ValueRange position, Value carried)> body) {
  SmallVector<Value> lower, upper, steps;
  for (int64_t size : shape) {
    lower.push_back(indexConstant(b, 0));
    upper.push_back(indexConstant(b, size));
    steps.push_back(indexConstant(b, 1));
  }
  auto nest = scf::buildLoopNest(b, b.getLoc(), lower, upper, steps, carried,
                                 [&](OpBuilder &nested, Location loc, ValueRange position, ValueRange values) {
                                   ImplicitLocOpBuilder inner(loc, nested);
                                   return scf::ValueVector{body(inner, position, values[0])};
                                 });
  return nest.results[0];
}

static FailureOr<Value> lowerScatterElements(onnx::ScatterElementsOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices(), updates = op.getUpdates();
  int64_t axis = axisOf(op.getAxis(), x);
  if (elementTypeOf(x).isUnsignedInteger())
    return op.emitOpError("unsigned elements are not supported");
  bool known = true;
  Value y = loopOver(b, shapeOf(indices), x, [&](Builder1 &b, ValueRange position, Value carried) -> Value {
    SmallVector<Value> target(position);
    target[axis] = wrapIndex(b, tensor::ExtractOp::create(b, indices, position), shapeOf(x)[axis]);
    Value update = tensor::ExtractOp::create(b, updates, position);
    Value old = tensor::ExtractOp::create(b, carried, target);
    Value stored = combineUpdate(b, op.getReduction(), old, update);
    known &= bool(stored);
    return tensor::InsertOp::create(b, stored ? stored : update, carried, target);
  });
  if (!known)
    return op.emitOpError("reduction \"") << op.getReduction() << "\" is not supported";
  return y;
}

static FailureOr<Value> lowerScatterND(onnx::ScatterNDOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices(), updates = op.getUpdates();
  if (elementTypeOf(x).isUnsignedInteger())
    return op.emitOpError("unsigned elements are not supported");
  int64_t depth = shapeOf(indices).back(), prefix = int64_t(shapeOf(indices).size()) - 1;
  bool known = true;
  Value y = loopOver(b, shapeOf(updates), x, [&](Builder1 &b, ValueRange position, Value carried) -> Value {
    SmallVector<Value> target;
    for (int64_t i = 0; i < depth; ++i) {
      SmallVector<Value> at(position.take_front(prefix));
      at.push_back(indexConstant(b, i));
      target.push_back(wrapIndex(b, tensor::ExtractOp::create(b, indices, at), shapeOf(x)[i]));
    }
    llvm::append_range(target, position.drop_front(prefix));
    Value update = tensor::ExtractOp::create(b, updates, position);
    Value old = tensor::ExtractOp::create(b, carried, target);
    Value stored = combineUpdate(b, op.getReduction(), old, update);
    known &= bool(stored);
    return tensor::InsertOp::create(b, stored ? stored : update, carried, target);
  });
  if (!known)
    return op.emitOpError("reduction \"") << op.getReduction() << "\" is not supported";
  return y;
}

/// on where the index (negative ones from the end) equals the position along the axis, off elsewhere.
static FailureOr<Value> lowerOneHot(onnx::OneHotOp op, LinalgBuilder &b) {
  if (!op.getDepth())
    return op.emitOpError("expected a constant depth but got one computed at run time");
  Value y = op.getY(), indices = op.getIndices();
  int64_t rank = shapeOf(y).size(), depth = *op.getDepth(), axis = axisOf(op.getAxis(), y);
  Type element = elementTypeOf(y), indexType = elementTypeOf(indices), i32 = b.getI32Type();
  SmallVector<int64_t> indexDims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      indexDims.push_back(dim);
  Value off = b.reshape(b.sliceDim(op.getValues(), 0, 0, 1), {});
  Value on = b.reshape(b.sliceDim(op.getValues(), 0, 1, 1), {});
  return b.map({indices, off, on}, {b.dims(rank, indexDims), b.dims(rank, {}), b.dims(rank, {})}, shapeOf(y), element,
               [&](Builder1 &b, ValueRange e) -> Value {
                 Value index = convertScalar(b, e[0], indexType, i32);
                 Value isNegative =
                     arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, scalarConstant(b, i32, 0));
                 Value fromEnd = arith::AddIOp::create(b, index, scalarConstant(b, i32, double(depth)));
                 index = arith::SelectOp::create(b, isNegative, fromEnd, index);
                 Value position = arith::IndexCastOp::create(b, i32, linalg::IndexOp::create(b, axis));
                 Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, position);
                 return arith::SelectOp::create(b, same, e[2], e[1]);
               });
}

void addIndexingLowerings(LoweringTable &table) {
  table.add(lowerGather);
  table.add(lowerGatherElements);
  table.add(lowerGatherND);
  table.add(lowerScatterElements);
  table.add(lowerScatterND);
  table.add(lowerOneHot);
}

} // namespace trn
