//===- Indexing.cpp - ONNX operations that read or write by index ---------===//
// A gather is a map whose body extracts rows of a table; indices that are known and evenly spaced are slices. Scatters and
// orders are reductions over all pairs, which the engines do on all lanes.
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include <numeric>

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

/// A position in a dimension of `size`: negative ones count from the end. Computed in the type of the index, as the
/// device does it.
static Value fromEnd(Builder1 &b, Value index, int64_t size) {
  Type type = index.getType();
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, scalarConstant(b, type, 0));
  Value wrapped = arith::AddIOp::create(b, index, scalarConstant(b, type, double(size)));
  return arith::SelectOp::create(b, isNegative, wrapped, index);
}
static Value wrapIndex(Builder1 &b, Value index, int64_t size) {
  return arith::IndexCastOp::create(b, b.getIndexType(), fromEnd(b, index, size));
}

/// The larger or smaller of two values.
static Value combineExtreme(Builder1 &b, bool isMax, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return isMax ? arith::MaximumFOp::create(b, x, y).getResult() : arith::MinimumFOp::create(b, x, y).getResult();
  if (isUnsigned)
    return isMax ? arith::MaxUIOp::create(b, x, y).getResult() : arith::MinUIOp::create(b, x, y).getResult();
  return isMax ? arith::MaxSIOp::create(b, x, y).getResult() : arith::MinSIOp::create(b, x, y).getResult();
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
  return b.map(b.indices(indices), b.dims(rank, indexDims), shapeOf(op.getY()), elementTypeOf(x),
               [&](Builder1 &b, ValueRange e) -> Value {
                 SmallVector<Value> position;
                 for (int64_t dim = 0, e = shapeOf(x).size(); dim < e; ++dim)
                   position.push_back(dim == axis ? Value()
                                                  : linalg::IndexOp::create(b, dim < axis ? dim : dim + indexRank - 1));
                 position[axis] = wrapIndex(b, e[0], size);
                 return tensor::ExtractOp::create(b, x, position);
               });
}

//===----------------------------------------------------------------------===//
// By several indices
//===----------------------------------------------------------------------===//

/// Positions in a flattened tensor: sums of indices (tensors, negative ones from the end) and of the iterators of the
/// result's own dimensions, times strides.
class Positions {
public:
  Positions(LinalgBuilder &b, ArrayRef<int64_t> shape) : b(b), shape(shape) {}

  void addIndex(Value indices, AffineMap map, int64_t size, int64_t stride) {
    terms.push_back({stride, size});
    operands.push_back(b.indices(indices));
    maps.push_back(map);
  }
  void addDim(int64_t dim, int64_t stride) {
    if (shape[dim] == 1 || stride == 0)
      return;
    terms.push_back({stride, 0});
    operands.push_back(b.positions(shape[dim]));
    maps.push_back(b.dims(shape.size(), dim));
  }
  Value build() {
    Type i32 = b.getI32Type();
    return b.map(operands, maps, shape, i32, [&](Builder1 &inner, ValueRange e) -> Value {
      Value sum = scalarConstant(inner, i32, 0);
      for (auto [term, value] : llvm::zip_equal(terms, e)) {
        Value position = term.size ? fromEnd(inner, value, term.size) : value;
        position = convertScalar(inner, position, position.getType(), i32);
        position = arith::MulIOp::create(inner, position, scalarConstant(inner, i32, double(term.stride)));
        sum = arith::AddIOp::create(inner, sum, position);
      }
      return sum;
    });
  }

private:
  struct Term {
    int64_t stride, size; ///< size 0: cannot be negative
  };
  LinalgBuilder &b;
  SmallVector<int64_t> shape;
  SmallVector<Term> terms;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
};

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<int64_t>());
}

/// The rows [n, width] of a table at positions of any shape; the result has the positions' shape and the width.
static Value gatherRows(LinalgBuilder &b, Value table, Value positions) {
  SmallVector<int64_t> shape = {product(shapeOf(positions)), shapeOf(table)[1]};
  Value flat = b.reshape(positions, shape[0]);
  return b.map(flat, b.dims(2, 0), shape, elementTypeOf(table), [&](Builder1 &b, ValueRange e) -> Value {
    Value row = arith::IndexCastOp::create(b, b.getIndexType(), e[0]);
    Value column = linalg::IndexOp::create(b, 1);
    return tensor::ExtractOp::create(b, table, ValueRange{row, column});
  });
}

/// Single elements are rows of one element.
static FailureOr<Value> lowerGatherElements(onnx::GatherElementsOp op, LinalgBuilder &b) {
  Value x = op.getX();
  int64_t axis = axisOf(op.getAxis(), x);
  ArrayRef<int64_t> shape = shapeOf(op.getY());
  SmallVector<int64_t> strides = computeSuffixProduct(shapeOf(x));
  Positions positions(b, shape);
  positions.addIndex(op.getIndices(), b.identity(shape.size()), shapeOf(x)[axis], strides[axis]);
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != axis)
      positions.addDim(dim, strides[dim]);
  Value rows = gatherRows(b, b.reshape(x, {product(shapeOf(x)), 1}), positions.build());
  return b.reshape(rows, shape);
}

/// Positions that the last dimension of `indices` gives in the leading dimensions `sizes` of a tensor, after `batch`
/// dimensions that both have.
static Value positionsOf(LinalgBuilder &b, Value indices, ArrayRef<int64_t> sizes, int64_t batch) {
  ArrayRef<int64_t> prefix = shapeOf(indices).drop_back();
  SmallVector<int64_t> strides = computeSuffixProduct(sizes);
  Positions positions(b, prefix);
  for (int64_t dim = 0; dim < batch; ++dim)
    positions.addDim(dim, strides[dim]);
  for (int64_t i = 0, depth = shapeOf(indices).back(); i < depth; ++i) {
    Value part = b.reshape(b.sliceDim(indices, prefix.size(), i, 1), prefix);
    positions.addIndex(part, b.identity(prefix.size()), sizes[batch + i], strides[batch + i]);
  }
  return positions.build();
}

static FailureOr<Value> lowerGatherND(onnx::GatherNDOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices();
  int64_t batch = op.getBatchDims(), depth = shapeOf(indices).back();
  ArrayRef<int64_t> leading = shapeOf(x).take_front(batch + depth), rest = shapeOf(x).drop_front(batch + depth);
  Value table = b.reshape(x, {product(leading), product(rest)});
  return b.reshape(gatherRows(b, table, positionsOf(b, indices, leading, batch)), shapeOf(op.getY()));
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// A scatter as reductions: each element of the result looks through the updates for those that name it. The work is
/// that of a product of the two, on all lanes; programs beyond this many steps are refused.
static constexpr int64_t kMaxScatterSteps = int64_t(1) << 32;

struct Scatter {
  Value x, target, updates;        ///< where each update goes along `axis` of x
  int64_t axis;                    ///< the position of the update is iterator `rank` instead
  AffineMap targetMap, updatesMap; ///< over the dimensions of x, then the updates
  int64_t count;                   ///< of updates
};

static FailureOr<Value> lowerScatter(Operation *op, LinalgBuilder &b, Scatter s, StringRef reduction) {
  ArrayRef<int64_t> shape = shapeOf(s.x);
  unsigned rank = shape.size();
  if (product(shape) > kMaxScatterSteps / std::max<int64_t>(s.count, 1))
    return op->emitOpError("scattering ") << s.count << " updates into " << product(shape) << " elements is not supported";
  Type element = elementTypeOf(s.x), i32 = b.getI32Type();
  bool isUnsigned = element.isUnsignedInteger(), isFloat = isa<FloatType>(element);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  SmallVector<int64_t> own = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  AffineMap result = b.dims(rank + 1, own), along = b.dims(rank + 1, s.axis), update = b.dims(rank + 1, rank);
  Value place = b.positions(shape[s.axis]);
  auto equal = [](Builder1 &b, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  /// Combines, for each element, the updates whose target (or, with `order`, whose number) it is.
  auto combine = [&](Reduction kind, Value neutral) {
    return b.reduce({s.target, place, s.updates}, {s.targetMap, along, s.updatesMap, result}, iterators, shape, element,
                    kind, [&](Builder1 &b, ValueRange e) -> Value {
                      return arith::SelectOp::create(b, equal(b, e[0], e[1]), e[2], neutral);
                    });
  };
  auto both = [&](Value found, auto body) { return b.map({s.x, found}, shape, element, body); };
  if (reduction == "add")
    return both(combine(Reduction::Sum, scalarConstant(b, element, 0)), [&](Builder1 &b, ValueRange e) -> Value {
      return isFloat ? arith::AddFOp::create(b, e[0], e[1]).getResult() : arith::AddIOp::create(b, e[0], e[1]).getResult();
    });
  if (reduction == "mul")
    return both(combine(Reduction::Product, scalarConstant(b, element, 1)), [&](Builder1 &b, ValueRange e) -> Value {
      return isFloat ? arith::MulFOp::create(b, e[0], e[1]).getResult() : arith::MulIOp::create(b, e[0], e[1]).getResult();
    });
  if (reduction == "max" || reduction == "min") {
    bool isMax = reduction == "max";
    Value neutral = isMax ? lowestConstant(b, element, isUnsigned) : highestConstant(b, element, isUnsigned);
    return both(combine(isMax ? Reduction::Max : Reduction::Min, neutral), [&](Builder1 &b, ValueRange e) {
      return combineExtreme(b, isMax, e[0], e[1], isUnsigned);
    });
  }
  if (reduction != "none")
    return op->emitOpError("reduction \"") << reduction << "\" is not supported";
  // The last update of an element counts: its number first, then its value.
  bool isBool = element.isInteger(1);
  Value order = b.positions(s.count), values = isBool ? b.convert(s.updates, b.getI8Type()) : s.updates;
  Type plain = elementTypeOf(values);
  // At most one update is left for an element: the largest of it and nothing is it, or the sum.
  Value none = scalarConstant(b, i32, -1);
  Value nothing = isFloat ? lowestConstant(b, plain, false) : scalarConstant(b, plain, 0);
  Value last = b.reduce({s.target, place, order}, {s.targetMap, along, update, result}, iterators, shape, i32,
                        Reduction::Max, [&](Builder1 &b, ValueRange e) -> Value {
                          return arith::SelectOp::create(b, equal(b, e[0], e[1]), e[2], none);
                        });
  Value value = b.reduce({last, order, values}, {result, update, s.updatesMap, result}, iterators, shape, plain,
                         isFloat ? Reduction::Max : Reduction::Sum, [&](Builder1 &b, ValueRange e) -> Value {
                           return arith::SelectOp::create(b, equal(b, e[0], e[1]), e[2], nothing);
                         });
  return b.map({s.x, last, b.convert(value, element)}, shape, element, [&](Builder1 &b, ValueRange e) -> Value {
    Value isHit = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, e[1], scalarConstant(b, i32, 0));
    return arith::SelectOp::create(b, isHit, e[2], e[0]);
  });
}

/// Indices of a tensor, none of them negative, as 32-bit integers.
static Value plainIndices(LinalgBuilder &b, Value indices, int64_t size) {
  Type i32 = b.getI32Type();
  return b.map(b.indices(indices), shapeOf(indices), i32, [&](Builder1 &b, ValueRange e) -> Value {
    Value position = fromEnd(b, e[0], size);
    return convertScalar(b, position, position.getType(), i32);
  });
}

static FailureOr<Value> lowerScatterElements(onnx::ScatterElementsOp op, LinalgBuilder &b) {
  Value x = op.getX(), updates = op.getUpdates();
  int64_t axis = axisOf(op.getAxis(), x), rank = shapeOf(x).size(), count = shapeOf(updates)[axis];
  Value target = plainIndices(b, op.getIndices(), shapeOf(x)[axis]);
  // Where the updates end before the data, no update goes anywhere.
  SmallVector<int64_t> low(rank, 0), high(rank, 0), along = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      high[dim] = shapeOf(x)[dim] - shapeOf(updates)[dim];
  along[axis] = rank;
  if (llvm::any_of(high, [](int64_t missing) { return missing != 0; })) {
    target = b.pad(target, low, high, scalarConstant(b, b.getI32Type(), -1));
    updates = b.pad(updates, low, high, scalarConstant(b, elementTypeOf(updates), 0));
  }
  AffineMap map = b.dims(rank + 1, along);
  return lowerScatter(op, b, {x, target, updates, axis, map, map, count}, op.getReduction());
}

static FailureOr<Value> lowerScatterND(onnx::ScatterNDOp op, LinalgBuilder &b) {
  Value x = op.getX(), indices = op.getIndices();
  int64_t depth = shapeOf(indices).back(), count = product(shapeOf(indices).drop_back());
  ArrayRef<int64_t> leading = shapeOf(x).take_front(depth), rest = shapeOf(x).drop_front(depth);
  Value table = b.reshape(x, {product(leading), product(rest)});
  Value target = b.reshape(positionsOf(b, indices, leading, 0), count);
  Value updates = b.reshape(op.getUpdates(), {count, product(rest)});
  FailureOr<Value> y =
      lowerScatter(op, b, {table, target, updates, 0, b.dims(3, 2), b.dims(3, {2, 1}), count}, op.getReduction());
  if (failed(y))
    return failure();
  return b.reshape(*y, shapeOf(x));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Each element's rank is the number of elements before it in the order; the k-th result is the element of rank k. Equal
/// elements keep their order, as the standard asks.
static LogicalResult lowerTopK(onnx::TopKOp op, LinalgBuilder &b, LoweringTable::Results &results) {
  Value x = op.getX();
  if (!op.getK())
    return op.emitOpError("expected a constant k but got one computed at run time");
  int64_t rank = shapeOf(x).size(), axis = axisOf(op.getAxis(), x), size = shapeOf(x)[axis], k = *op.getK();
  constexpr int64_t kMaxSize = 1 << 14;
  if (size > kMaxSize)
    return op.emitOpError("ordering ") << size << " elements is not supported: at most " << kMaxSize;
  Type element = elementTypeOf(x), i32 = b.getI32Type();
  bool isUnsigned = element.isUnsignedInteger(), isFloat = isa<FloatType>(element), largest = op.getLargest();
  // Iterators: the dimensions of x, with each element along the axis; then the elements that it is compared with.
  SmallVector<int64_t> own = llvm::to_vector(llvm::seq<int64_t>(0, rank)), other = own;
  other[axis] = rank;
  unsigned loops = rank + 1;
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  AffineMap ownMap = b.dims(loops, own), otherMap = b.dims(loops, other);
  AffineMap ownAxis = b.dims(loops, axis), otherAxis = b.dims(loops, rank);
  auto compare = [&](Builder1 &b, arith::CmpFPredicate real, arith::CmpIPredicate integer, Value x, Value y) -> Value {
    return isFloat ? arith::CmpFOp::create(b, real, x, y).getResult() : arith::CmpIOp::create(b, integer, x, y).getResult();
  };
  using P = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  I before = largest ? (isUnsigned ? I::ugt : I::sgt) : (isUnsigned ? I::ult : I::slt);
  Value place = b.positions(size);
  Value ranks = b.reduce({x, x, place, place}, {ownMap, otherMap, ownAxis, otherAxis, ownMap}, iterators, shapeOf(x), i32,
                         Reduction::Sum, [&](Builder1 &b, ValueRange e) -> Value {
                           Value isBefore = compare(b, largest ? P::OGT : P::OLT, before, e[1], e[0]);
                           Value isEqual = compare(b, P::OEQ, I::eq, e[1], e[0]);
                           Value isEarlier = arith::CmpIOp::create(b, I::slt, e[3], e[2]);
                           Value counts = arith::OrIOp::create(b, isBefore, arith::AndIOp::create(b, isEqual, isEarlier));
                           return arith::ExtUIOp::create(b, i32, counts);
                         });
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = k;
  Value ordinal = b.positions(k);
  // Iterators: the dimensions of the result; then the elements.
  // Exactly one element has each rank: the largest of it and nothing is it, or the sum.
  auto pick = [&](Value from, AffineMap map, Type type) {
    bool real = isa<FloatType>(type);
    Value nothing = real ? lowestConstant(b, type, false) : scalarConstant(b, type, 0);
    return b.reduce({ranks, ordinal, from}, {otherMap, ownAxis, map, ownMap}, iterators, shape, type,
                    real ? Reduction::Max : Reduction::Sum, [&](Builder1 &b, ValueRange e) -> Value {
                      Value found = arith::CmpIOp::create(b, I::eq, e[0], e[1]);
                      return arith::SelectOp::create(b, found, e[2], nothing);
                    });
  };
  Value values = pick(x, otherMap, element), indices = pick(place, otherAxis, i32);
  results.append({values, b.convert(indices, b.getI64Type())});
  return success();
}

void addIndexingLowerings(LoweringTable &table) {
  table.add(lowerGather);
  table.add(lowerGatherElements);
  table.add(lowerGatherND);
  table.add(lowerScatterElements);
  table.add(lowerScatterND);
  table.add(lowerTopK);
}

} // namespace trn
