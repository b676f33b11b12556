//===- Reduction.cpp - ONNX operations that reduce along axes -------------===//
// Owns the Reduce family, ArgMax and ArgMin (two single reductions: the extreme value, then the first position that has
// it) and CumSum (a product with a triangular matrix of ones).
#include "dialects/ONNX/Ops/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

static Value square(Builder1 &b, ValueRange e) {
  return isa<FloatType>(e[0].getType()) ? arith::MulFOp::create(b, e[0], e[0]).getResult()
                                        : arith::MulIOp::create(b, e[0], e[0]).getResult();
}
static Value absolute(Builder1 &b, ValueRange e) {
  return isa<FloatType>(e[0].getType()) ? math::AbsFOp::create(b, e[0]).getResult()
                                        : math::AbsIOp::create(b, e[0]).getResult();
}
static Value itself(Builder1 &, ValueRange e) { return e[0]; }

/// The axes of a reduction; all of them when the list is empty, none when that means no reduction.
template <typename Op> static SmallVector<int64_t> axesOf(Op op) {
  SmallVector<int64_t> axes;
  if (std::optional<ArrayRef<int64_t>> given = op.getAxes())
    axes.assign(given->begin(), given->end());
  int64_t rank = shapeOf(op.getX()).size();
  for (int64_t &axis : axes)
    axis = axisOf(axis, op.getX());
  if (axes.empty() && !op.getNoopWithEmptyAxes())
    llvm::append_range(axes, llvm::seq<int64_t>(0, rank));
  return axes;
}

/// The product of the extents of some dimensions.
static int64_t extent(Value value, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(value)[axis];
  return count;
}

/// Booleans reduce as `and` (Min) and `or` (Max), which on bytes are minimum and maximum.
static Value reduceBool(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes, Reduction kind) {
  Value bytes = b.convert(x, b.getIntegerType(8));
  return b.convert(b.reduce(bytes, axes, kind), b.getI1Type());
}

/// The floats in which functions of integers are computed before they are truncated.
static Type floatFor(OpBuilder &b, Type element) {
  return element.getIntOrFloatBitWidth() == 64 ? Type(b.getF64Type()) : Type(b.getF32Type());
}

/// Logarithms of half floats are computed in f32; those of integers are truncated.
static Value asFloats(LinalgBuilder &b, Value x) {
  Type element = elementTypeOf(x);
  return b.convert(x, element.isInteger() ? floatFor(b, element) : b.wideType(element));
}

/// ReduceLogSumExp: the maximum is taken out, or exp would overflow. An infinite one would take itself out and leave no
/// number; the largest finite number in its place gives the infinity back.
static Value logSumExp(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    kept.push_back(llvm::is_contained(axes, int64_t(dim)) ? 1 : size);
  auto element = cast<FloatType>(elementTypeOf(x));
  Value max = b.mapLike(b.reduce(x, axes, Reduction::Max), [&](Builder1 &b, ValueRange e) -> Value {
    auto limit = [&](bool isNegative) -> Value {
      auto value = llvm::APFloat::getLargest(element.getFloatSemantics(), isNegative);
      return arith::ConstantOp::create(b, b.getFloatAttr(element, value));
    };
    return arith::MaximumFOp::create(b, arith::MinimumFOp::create(b, e[0], limit(false)), limit(true));
  });
  Value shifted =
      b.map({x, b.reshape(max, kept)}, shapeOf(x), elementTypeOf(x), [](Builder1 &b, ValueRange e) -> Value {
        return math::ExpOp::create(b, arith::SubFOp::create(b, e[0], e[1]));
      });
  Value sum = b.reduce(shifted, axes, Reduction::Sum);
  return b.map({sum, max}, shapeOf(sum), elementTypeOf(x), [](Builder1 &b, ValueRange e) -> Value {
    return arith::AddFOp::create(b, math::LogOp::create(b, e[0]), e[1]);
  });
}

template <typename Op> static FailureOr<Value> lowerReduce(Op op, LinalgBuilder &b) {
  Value x = op.getX();
  SmallVector<int64_t> axes = axesOf(op);
  Value y;
  if constexpr (std::is_same_v<Op, onnx::ReduceSumOp>) {
    y = b.reduce(x, axes, Reduction::Sum);
  } else if constexpr (std::is_same_v<Op, onnx::ReduceMeanOp>) {
    y = b.meanOf(b.sum(x, axes, itself), extent(x, axes), elementTypeOf(x));
  } else if constexpr (std::is_same_v<Op, onnx::ReduceProdOp>) {
    y = b.reduce(x, axes, Reduction::Product);
  } else if constexpr (std::is_same_v<Op, onnx::ReduceMaxOp> || std::is_same_v<Op, onnx::ReduceMinOp>) {
    Reduction kind = std::is_same_v<Op, onnx::ReduceMaxOp> ? Reduction::Max : Reduction::Min;
    y = elementTypeOf(x).isInteger(1) ? reduceBool(b, x, axes, kind) : b.reduce(x, axes, kind);
  } else if constexpr (std::is_same_v<Op, onnx::ReduceL1Op>) {
    // The signless value of an unsigned element may look negative.
    y = elementTypeOf(x).isUnsignedInteger() ? b.reduce(x, axes, Reduction::Sum) : b.reduce(x, axes, Reduction::Sum, absolute);
  } else if constexpr (std::is_same_v<Op, onnx::ReduceSumSquareOp>) {
    y = b.reduce(x, axes, Reduction::Sum, square);
  } else if constexpr (std::is_same_v<Op, onnx::ReduceL2Op>) {
    Type element = elementTypeOf(x);
    Value sum = b.sum(x, axes, square);
    y = b.map(sum, shapeOf(sum), element, [&](Builder1 &b, ValueRange e) -> Value {
      Type wide = llvm::isa<FloatType>(element) ? e[0].getType() : floatFor(b, element);
      Value real = convertScalar(b, e[0], elementTypeOf(sum), wide);
      return convertScalar(b, math::SqrtOp::create(b, real), wide, element);
    });
  } else if constexpr (std::is_same_v<Op, onnx::ReduceLogSumOp>) {
    Value sum = b.sum(asFloats(b, x), axes, itself);
    y = b.mapLike(sum, [](Builder1 &b, ValueRange e) -> Value { return math::LogOp::create(b, e[0]); });
  } else {
    static_assert(std::is_same_v<Op, onnx::ReduceLogSumExpOp>);
    y = logSumExp(b, asFloats(b, x), axes);
  }
  return b.reshape(b.convert(y, elementTypeOf(x)), shapeOf(op.getY()));
}

/// The first (or last) position of the extreme value along an axis.
template <typename Op> static FailureOr<Value> lowerArgReduce(Op op, LinalgBuilder &b) {
  constexpr bool isMax = std::is_same_v<Op, onnx::ArgMaxOp>;
  Value x = op.getX();
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + int64_t(shape.size()) : op.getAxis();
  bool last = op.getSelectLastIndex();
  Value extreme = b.reduce(x, axis, isMax ? Reduction::Max : Reduction::Min);
  SmallVector<int64_t> kept(shape), keptDims;
  kept[axis] = 1;
  Type i32 = b.getI32Type();
  Value other = scalarConstant(b, i32, last ? -1 : double(shape[axis]));
  Value all = b.reshape(extreme, kept);
  AffineMap along = b.dims(shape.size(), axis), own = b.identity(shape.size()), row = b.broadcastMap(all, shape);
  Value positions = b.map({x, all, b.positions(shape[axis])}, {own, row, along}, shape, i32,
                          [&](Builder1 &b, ValueRange e) -> Value {
                            return arith::SelectOp::create(b, isExtreme(b, e[0], e[1]), e[2], other);
                          });
  Value position = b.reduce(positions, axis, last ? Reduction::Max : Reduction::Min);
  return b.reshape(b.convert(position, b.getI64Type()), shapeOf(op.getY()));
}

/// Results over growing parts of an axis: each step combines every element with the one twice as far away, so that
/// log2(n) maps do it.
static Value scan(LinalgBuilder &b, Value x, int64_t axis, bool reverse, bool exclusive, double identity,
                  llvm::function_ref<Value(Builder1 &, Value, Value)> combine) {
  int64_t rank = shapeOf(x).size(), size = shapeOf(x)[axis];
  // The elements moved along the axis, the identity where none comes from.
  auto moved = [&](Value x, int64_t distance) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    (reverse ? high : low)[axis] = distance;
    Value part = b.sliceDim(x, axis, reverse ? distance : 0, size - distance);
    return b.pad(part, low, high, scalarConstant(b, elementTypeOf(x), identity));
  };
  if (exclusive)
    x = size == 1 ? b.mapLike(x, [&](Builder1 &b, ValueRange e) { return scalarConstant(b, e[0].getType(), identity); })
                  : moved(x, 1);
  for (int64_t distance = 1; distance < size; distance *= 2)
    x = b.map({x, moved(x, distance)}, shapeOf(x), elementTypeOf(x),
              [&](Builder1 &b, ValueRange e) { return combine(b, e[0], e[1]); });
  return x;
}

static FailureOr<Value> lowerCumProd(onnx::CumProdOp op, LinalgBuilder &b) {
  if (!op.getAxis())
    return op.emitOpError("expected a constant axis but got one computed at run time");
  return scan(b, op.getX(), *op.getAxis(), op.getReverse(), op.getExclusive(), 1, [](Builder1 &b, Value x, Value y) -> Value {
    return isa<FloatType>(x.getType()) ? arith::MulFOp::create(b, x, y).getResult()
                                       : arith::MulIOp::create(b, x, y).getResult();
  });
}

/// Not a product with a triangular matrix: 0 times an infinity is no number, and would reach sums that it is no part of.
static FailureOr<Value> lowerCumSum(onnx::CumSumOp op, LinalgBuilder &b) {
  Value x = op.getX();
  if (!op.getAxis())
    return op.emitOpError("expected a constant axis but got one computed at run time");
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t rank = shape.size(), axis = *op.getAxis() < 0 ? *op.getAxis() + rank : *op.getAxis();
  Type element = elementTypeOf(x);
  bool reverse = op.getReverse(), exclusive = op.getExclusive();
  if (isa<FloatType>(element)) {
    if (shape[axis] == 0)
      return x;
    Value wide = element.getIntOrFloatBitWidth() < 32 ? b.convert(x, b.getF32Type()) : x;
    Value sums = scan(b, wide, axis, reverse, exclusive, 0,
                      [](Builder1 &b, Value x, Value y) -> Value { return arith::AddFOp::create(b, x, y); });
    return b.convert(sums, element);
  }
  // The iterator after those of the result runs over what may count into each sum.
  SmallVector<int64_t> own = llvm::to_vector(llvm::seq<int64_t>(0, rank)), other = own;
  other[axis] = rank;
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  unsigned loops = rank + 1;
  Value place = b.positions(shape[axis]);
  using P = arith::CmpIPredicate;
  P counts = reverse ? (exclusive ? P::sgt : P::sge) : (exclusive ? P::slt : P::sle);
  return b.reduce({x, place, place}, {b.dims(loops, other), b.dims(loops, rank), b.dims(loops, axis), b.dims(loops, own)},
                  iterators, shape, element, Reduction::Sum, [&](Builder1 &b, ValueRange e) -> Value {
                    Value isCounted = arith::CmpIOp::create(b, counts, e[1], e[2]);
                    return arith::SelectOp::create(b, isCounted, e[0], scalarConstant(b, element, 0));
                  });
}

void addReductionLowerings(LoweringTable &table) {
  table.add(lowerReduce<onnx::ReduceSumOp>);
  table.add(lowerReduce<onnx::ReduceMeanOp>);
  table.add(lowerReduce<onnx::ReduceMaxOp>);
  table.add(lowerReduce<onnx::ReduceMinOp>);
  table.add(lowerReduce<onnx::ReduceProdOp>);
  table.add(lowerReduce<onnx::ReduceL1Op>);
  table.add(lowerReduce<onnx::ReduceL2Op>);
  table.add(lowerReduce<onnx::ReduceLogSumOp>);
  table.add(lowerReduce<onnx::ReduceLogSumExpOp>);
  table.add(lowerReduce<onnx::ReduceSumSquareOp>);
  table.add(lowerArgReduce<onnx::ArgMaxOp>);
  table.add(lowerArgReduce<onnx::ArgMinOp>);
  table.add(lowerCumSum);
  table.add(lowerCumProd);
}

} // namespace trn
