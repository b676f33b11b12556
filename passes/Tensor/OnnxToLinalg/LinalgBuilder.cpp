//===- LinalgBuilder.cpp - building blocks of the lowerings ---------------===//
#include "passes/Tensor/OnnxToLinalg/LinalgBuilder.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <limits>

using namespace mlir;
namespace trn {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Type signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

Value scalarConstant(ImplicitLocOpBuilder &builder, Type type, double value) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, builder.getFloatAttr(real, value));
  return arith::ConstantOp::create(builder, builder.getIntegerAttr(signless(type), int64_t(value)));
}

static Value integerBound(ImplicitLocOpBuilder &builder, Type type, const APInt &value) {
  return arith::ConstantOp::create(builder, builder.getIntegerAttr(signless(type), value));
}

Value lowestConstant(ImplicitLocOpBuilder &builder, Type type, bool isUnsigned) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, builder.getFloatAttr(real, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true)));
  unsigned width = type.getIntOrFloatBitWidth();
  return integerBound(builder, type, isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
}

Value highestConstant(ImplicitLocOpBuilder &builder, Type type, bool isUnsigned) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, builder.getFloatAttr(real, APFloat::getInf(real.getFloatSemantics())));
  unsigned width = type.getIntOrFloatBitWidth();
  return integerBound(builder, type, isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
}

/// An f32 rounded to the nearest number of a float type of at most 8 bits; beyond the largest, what MLIR's truncation
/// gives. x + c - c rounds to the last place of c, which is 1.5 * 2^23 of the last place that the type has at x.
static Value roundToSmall(ImplicitLocOpBuilder &b, Value x, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int fraction = int(APFloat::semanticsPrecision(semantics)) - 1;
  double largest = APFloat::getLargest(semantics).convertToDouble();
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto number = [&](double value) { return scalarConstant(b, f32, value); };
  auto clamp = [&](Value value, double limit) {
    value = arith::MaximumFOp::create(b, value, number(-limit));
    return arith::MinimumFOp::create(b, value, number(limit)).getResult();
  };
  // Without infinity and NaN, what is too large is the largest; there, 4 is enough to see that it is.
  bool isFinite = !APFloat::semanticsHasInf(semantics) && !APFloat::semanticsHasNaN(semantics);
  Value small = clamp(x, isFinite ? largest : 4 * largest);
  Value bits = arith::BitcastOp::create(b, i32, small);
  Value exponent = arith::AndIOp::create(b, bits, scalarConstant(b, i32, 0x7F800000));
  Value place = arith::MaximumFOp::create(b, arith::BitcastOp::create(b, f32, exponent),
                                          number(std::ldexp(1.0, APFloat::semanticsMinExponent(semantics))));
  Value shift = arith::MulFOp::create(b, place, number(std::ldexp(1.5, 23 - fraction)));
  Value rounded = arith::SubFOp::create(b, arith::AddFOp::create(b, small, shift), shift);
  if (isFinite) // NaN is 0
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, x), number(0), rounded);
  // Zero keeps its sign where the type has two.
  if (!APFloat::getZero(semantics, /*Negative=*/true).bitcastToAPInt().isZero()) {
    Value sign = arith::AndIOp::create(b, bits, scalarConstant(b, i32, -2147483648.0));
    Value all = arith::OrIOp::create(b, arith::BitcastOp::create(b, i32, rounded), sign);
    rounded = arith::BitcastOp::create(b, f32, all);
  }
  Value tooLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, rounded), number(largest));
  Value instead = APFloat::semanticsHasInf(semantics)
                      ? arith::MulFOp::create(b, rounded, number(INFINITY)).getResult()
                      : number(std::nan(""));
  return arith::SelectOp::create(b, tooLarge, instead, rounded);
}

static bool isSmall(Type type) { return type.getIntOrFloatBitWidth() <= 8; }

static Value convertFloat(ImplicitLocOpBuilder &b, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  if (from == to)
    return value;
  if (isSmall(from) || isSmall(to)) {
    Type f32 = b.getF32Type();
    if (!from.isF32())
      value = from.getWidth() < 32 ? arith::ExtFOp::create(b, f32, value).getResult()
                                   : arith::TruncFOp::create(b, f32, value).getResult();
    if (isSmall(to))
      return arith::TruncFOp::create(b, to, roundToSmall(b, value, to));
    return convertFloat(b, value, to);
  }
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, to, value);
  if (from.getWidth() > to.getWidth())
    return arith::TruncFOp::create(b, to, value);
  // Same width, other format (f16 and bf16, two 8-bit formats): through f32.
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), value);
  return arith::TruncFOp::create(b, to, wide);
}

static Value convertToBool(ImplicitLocOpBuilder &b, Value value) {
  Value zero = scalarConstant(b, value.getType(), 0);
  if (llvm::isa<FloatType>(value.getType()))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
}

Value convertScalar(ImplicitLocOpBuilder &b, Value value, Type from, Type to) {
  if (from == to)
    return value;
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  Type target = signless(to);
  if (llvm::isa<FloatType>(to) && isSmall(to) && !llvm::isa<FloatType>(from))
    return convertFloat(b, convertScalar(b, value, from, b.getF32Type()), cast<FloatType>(to));
  if (llvm::isa<FloatType>(from) && isSmall(from) && !llvm::isa<FloatType>(to))
    return convertScalar(b, convertFloat(b, value, b.getF32Type()), b.getF32Type(), to);
  if (to.isInteger() && to.getIntOrFloatBitWidth() < 8 && !to.isInteger(1)) {
    // Wraps around, as the narrowing of wider integers does.
    unsigned width = to.getIntOrFloatBitWidth();
    Type i32 = b.getI32Type();
    Value wide = convertScalar(b, value, from, i32);
    if (to.isUnsignedInteger()) {
      wide = arith::AndIOp::create(b, wide, scalarConstant(b, i32, (1 << width) - 1));
    } else {
      Value unused = scalarConstant(b, i32, 32 - width);
      wide = arith::ShRSIOp::create(b, arith::ShLIOp::create(b, wide, unused), unused);
    }
    return arith::TruncIOp::create(b, target, wide);
  }
  if (to.isInteger(1))
    return convertToBool(b, value);
  if (auto real = dyn_cast<FloatType>(to)) {
    if (llvm::isa<FloatType>(from))
      return convertFloat(b, value, real);
    if (fromUnsigned)
      return arith::UIToFPOp::create(b, real, value);
    return arith::SIToFPOp::create(b, real, value);
  }
  if (llvm::isa<FloatType>(from)) {
    if (to.isUnsignedInteger())
      return arith::FPToUIOp::create(b, target, value);
    return arith::FPToSIOp::create(b, target, value);
  }
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, target, value);
  if (fromWidth == toWidth)
    return value;
  if (fromUnsigned)
    return arith::ExtUIOp::create(b, target, value);
  return arith::ExtSIOp::create(b, target, value);
}

Value saturateIndex(ImplicitLocOpBuilder &b, Value index) {
  Type i64 = b.getI64Type();
  Value low = scalarConstant(b, i64, double(std::numeric_limits<int32_t>::min()));
  Value high = scalarConstant(b, i64, double(std::numeric_limits<int32_t>::max()));
  Value inside = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, index, low), high);
  return arith::TruncIOp::create(b, b.getI32Type(), inside);
}

Value isExtreme(ImplicitLocOpBuilder &b, Value element, Value extreme) {
  if (!llvm::isa<FloatType>(element.getType()))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, element, extreme);
  // Where there is a NaN, the extreme is NaN and only NaNs are.
  Value equal = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, element, extreme);
  return arith::OrIOp::create(b, equal, arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, element, element));
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

Value LinalgBuilder::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(*this, shape, element);
}

Value LinalgBuilder::filled(ArrayRef<int64_t> shape, Value scalar) {
  Value target = empty(shape, scalar.getType());
  return linalg::FillOp::create(*this, scalar, target).getResult(0);
}

/// A constant of 4-byte elements; large ones become resources.
template <typename T> static ElementsAttr elements(RankedTensorType type, ArrayRef<T> values) {
  const auto *from = reinterpret_cast<const char *>(values.data());
  return makeConstant(type, std::vector<char>(from, from + values.size() * sizeof(T)));
}

Value LinalgBuilder::weight(RankedTensorType type, ArrayRef<float> values) {
  assert(type.getElementType().isF32() && "the values are fp32");
  return onnx::WeightOp::create(*this, elements(type, values));
}

Value LinalgBuilder::weight(ArrayRef<int64_t> shape, ArrayRef<int32_t> values) {
  return onnx::WeightOp::create(*this, elements(RankedTensorType::get(shape, getI32Type()), values));
}

SmallVector<Value> LinalgBuilder::kernel(StringRef name, ArrayRef<Value> inputs, ArrayRef<Type> types,
                                         ArrayRef<NamedAttribute> parameters) {
  SmallVector<Value> outputs;
  for (Type type : types)
    outputs.push_back(empty(cast<RankedTensorType>(type).getShape(), cast<RankedTensorType>(type).getElementType()));
  auto op = ir::KernelOp::create(*this, TypeRange(types), getStringAttr(name), inputs, outputs, getDictionaryAttr(parameters));
  return llvm::to_vector_of<Value>(op.getResults());
}

Value LinalgBuilder::positions(int64_t size) {
  return weight({size}, llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(size))));
}

AffineMap LinalgBuilder::dims(unsigned rank, ArrayRef<int64_t> positions) {
  SmallVector<AffineExpr> exprs;
  for (int64_t position : positions)
    exprs.push_back(getAffineDimExpr(position));
  return AffineMap::get(rank, 0, exprs, getContext());
}

Value LinalgBuilder::generic(ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                             Value init, Type element, ScalarBody body) {
  // Without a result, or without anything that goes into it, nothing is computed.
  auto isEmpty = [](Value value) { return llvm::is_contained(shapeOf(value), 0); };
  if (isEmpty(init) || llvm::any_of(inputs, isEmpty))
    return init;
  auto build = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    ImplicitLocOpBuilder inner(loc, nested);
    SmallVector<Value> elements;
    for (Value argument : arguments) {
      Type plain = signless(argument.getType());
      if (plain != argument.getType())
        argument = UnrealizedConversionCastOp::create(inner, plain, argument).getResult(0);
      elements.push_back(argument);
    }
    Value result = body(inner, elements);
    if (result.getType() != element)
      result = UnrealizedConversionCastOp::create(inner, element, result).getResult(0);
    linalg::YieldOp::create(inner, result);
  };
  return linalg::GenericOp::create(*this, init.getType(), inputs, init, maps, iterators, build).getResult(0);
}

Value LinalgBuilder::map(ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<int64_t> shape, Type element,
                         ScalarBody body) {
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(identity(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  return generic(inputs, allMaps, iterators, empty(shape, element), element,
                 [&](ImplicitLocOpBuilder &b, ValueRange arguments) { return body(b, arguments.drop_back()); });
}

AffineMap LinalgBuilder::broadcastMap(Value &operand, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = shapeOf(operand);
  SmallVector<int64_t> dropped, positions;
  int64_t lead = int64_t(shape.size()) - int64_t(own.size());
  for (auto [dim, size] : llvm::enumerate(own)) {
    if (size == 1 && shape[lead + dim] != 1)
      dropped.push_back(dim);
    else
      positions.push_back(lead + dim);
  }
  operand = dropUnitDims(operand, dropped);
  return dims(shape.size(), positions);
}

Value LinalgBuilder::map(ValueRange inputs, ArrayRef<int64_t> shape, Type element, ScalarBody body) {
  SmallVector<Value> operands(inputs);
  SmallVector<AffineMap> maps;
  for (Value &operand : operands)
    maps.push_back(broadcastMap(operand, shape));
  return map(operands, maps, shape, element, body);
}

Value LinalgBuilder::mapLike(Value input, ScalarBody body) {
  return map(input, shapeOf(input), elementTypeOf(input), body);
}

static Value combine(ImplicitLocOpBuilder &b, Reduction kind, Value accumulator, Value value, bool isUnsigned) {
  bool isFloat = llvm::isa<FloatType>(value.getType());
  switch (kind) {
  case Reduction::Sum:
    return isFloat ? arith::AddFOp::create(b, accumulator, value).getResult()
                   : arith::AddIOp::create(b, accumulator, value).getResult();
  case Reduction::Product:
    return isFloat ? arith::MulFOp::create(b, accumulator, value).getResult()
                   : arith::MulIOp::create(b, accumulator, value).getResult();
  case Reduction::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, accumulator, value);
    return isUnsigned ? arith::MaxUIOp::create(b, accumulator, value).getResult()
                      : arith::MaxSIOp::create(b, accumulator, value).getResult();
  case Reduction::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, accumulator, value);
    return isUnsigned ? arith::MinUIOp::create(b, accumulator, value).getResult()
                      : arith::MinSIOp::create(b, accumulator, value).getResult();
  }
  llvm_unreachable("all reductions handled");
}

static Value identityOf(ImplicitLocOpBuilder &b, Reduction kind, Type type, bool isUnsigned) {
  switch (kind) {
  case Reduction::Sum:
    return scalarConstant(b, type, 0);
  case Reduction::Product:
    return scalarConstant(b, type, 1);
  case Reduction::Max:
    return lowestConstant(b, type, isUnsigned);
  case Reduction::Min:
    return highestConstant(b, type, isUnsigned);
  }
  llvm_unreachable("all reductions handled");
}

static bool isHalf(Type type) { return llvm::isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

/// What a reduction of elements accumulates in: sums and products of half floats in f32; integers in signless ones of at
/// least 32 bits, whose low bits are the result. Engines would saturate a narrow accumulator.
static Type accumulatorType(Type element, Reduction kind) {
  bool adds = kind == Reduction::Sum || kind == Reduction::Product;
  if (llvm::isa<FloatType>(element))
    return isHalf(element) && adds ? Type(Float32Type::get(element.getContext())) : element;
  unsigned width = element.getIntOrFloatBitWidth();
  // The extreme of signed elements is one of them.
  if (!adds && !element.isUnsignedInteger())
    return element;
  return IntegerType::get(element.getContext(), std::max(width, 32u));
}

Value LinalgBuilder::reduce(ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                            ArrayRef<int64_t> shape, Type element, Reduction kind, ScalarBody body,
                            ArrayRef<int64_t> window) {
  Type accumulator = accumulatorType(element, kind);
  // Elements of a narrow unsigned type are numbers that the accumulator has as a signed type.
  bool isWider = accumulator.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() && !isWider;
  bool isOfNothing = llvm::any_of(inputs, [](Value input) { return llvm::is_contained(shapeOf(input), 0); });
  Value init = isOfNothing ? convertScalar(*this, identityOf(*this, kind, element, element.isUnsignedInteger()), element, accumulator)
                           : identityOf(*this, kind, accumulator, isUnsigned);
  Value target = linalg::FillOp::create(*this, init, empty(shape, accumulator)).getResult(0);
  SmallVector<Value> operands(inputs);
  SmallVector<AffineMap> allMaps(maps);
  if (!window.empty()) {
    // As in upstream's pooling operations: a shape-only operand gives the window's extents.
    unsigned rank = iterators.size();
    SmallVector<int64_t> last;
    for (unsigned i = 0; i < window.size(); ++i)
      last.push_back(rank - window.size() + i);
    operands.push_back(empty(window, element));
    allMaps.insert(allMaps.end() - 1, dims(rank, last));
  }
  unsigned numInputs = inputs.size();
  Value result =
      generic(operands, allMaps, iterators, target, accumulator, [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
        Value value = body(b, arguments.take_front(numInputs));
        if (isWider)
          value = convertScalar(b, value, element, accumulator);
        return combine(b, kind, arguments.back(), value, isUnsigned);
      });
  return convert(result, element);
}

Value LinalgBuilder::reduce(Value input, ArrayRef<int64_t> axes, Reduction kind, ScalarBody body) {
  // Over no axes there is nothing to combine (noop_with_empty_axes).
  if (axes.empty())
    return map(input, shapeOf(input), elementTypeOf(input), body);
  SmallVector<int64_t> kept, shape;
  SmallVector<utils::IteratorType> iterators;
  for (auto [dim, size] : llvm::enumerate(shapeOf(input))) {
    bool reduced = llvm::is_contained(axes, int64_t(dim));
    iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (reduced)
      continue;
    kept.push_back(dim);
    shape.push_back(size);
  }
  unsigned rank = iterators.size();
  return reduce(input, {identity(rank), dims(rank, kept)}, iterators, shape, elementTypeOf(input), kind, body);
}

Value LinalgBuilder::reduce(Value input, ArrayRef<int64_t> axes, Reduction kind) {
  return reduce(input, axes, kind, [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

Type LinalgBuilder::wideType(Type element) { return isHalf(element) ? Type(getF32Type()) : element; }

Value LinalgBuilder::sum(Value input, ArrayRef<int64_t> axes, ScalarBody body) {
  Type element = elementTypeOf(input), wide = wideType(element);
  auto widened = [&](ImplicitLocOpBuilder &b, ValueRange elements) {
    return body(b, convertScalar(b, elements[0], element, wide));
  };
  ArrayRef<int64_t> shape = shapeOf(input);
  SmallVector<int64_t> kept, sizes;
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::reduction);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (llvm::is_contained(axes, int64_t(dim)))
      continue;
    iterators[dim] = utils::IteratorType::parallel;
    kept.push_back(dim);
    sizes.push_back(size);
  }
  // Over no axes there is nothing to combine.
  if (axes.empty())
    return map(input, shape, wide, widened);
  unsigned rank = shape.size();
  return reduce(input, {identity(rank), dims(rank, kept)}, iterators, sizes, wide, Reduction::Sum, widened);
}

Value LinalgBuilder::meanOf(Value sum, int64_t count, Type element) {
  bool isUnsigned = element.isUnsignedInteger();
  return map(sum, shapeOf(sum), element, [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
    Value total = elements[0];
    if (!llvm::isa<FloatType>(element)) {
      Value divisor = scalarConstant(b, total.getType(), double(count));
      return isUnsigned ? arith::DivUIOp::create(b, total, divisor).getResult()
                        : arith::DivSIOp::create(b, total, divisor).getResult();
    }
    // The inverse of a power of two is exact, and a factor fuses with more than a divisor.
    bool isExact = llvm::isPowerOf2_64(uint64_t(count));
    Value number = scalarConstant(b, total.getType(), isExact ? 1 / double(count) : double(count));
    Value mean = isExact ? arith::MulFOp::create(b, total, number).getResult()
                         : arith::DivFOp::create(b, total, number).getResult();
    return convertScalar(b, mean, elementTypeOf(sum), element);
  });
}

Value LinalgBuilder::contract(Value lhs, AffineMap lhsMap, Value rhs, AffineMap rhsMap, AffineMap resultMap,
                              ArrayRef<int64_t> shape, Type element) {
  Type accumulator = accumulatorType(element, Reduction::Sum);
  bool isFloat = llvm::isa<FloatType>(element);
  auto product = [&](ImplicitLocOpBuilder &b, ValueRange arguments) -> Value {
    if (isFloat)
      return arith::MulFOp::create(b, convertFloat(b, arguments[0], cast<FloatType>(accumulator)),
                                   convertFloat(b, arguments[1], cast<FloatType>(accumulator)));
    return arith::MulIOp::create(b, convertScalar(b, arguments[0], elementTypeOf(lhs), accumulator),
                                 convertScalar(b, arguments[1], elementTypeOf(rhs), accumulator));
  };
  // Nothing to add up: a map, which others can be fused with.
  if (resultMap.isIdentity())
    return convert(map({lhs, rhs}, {lhsMap, rhsMap}, shape, accumulator, product), element);
  SmallVector<utils::IteratorType> iterators(resultMap.getNumDims(), utils::IteratorType::reduction);
  for (AffineExpr expr : resultMap.getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] = utils::IteratorType::parallel;
  Value init = filled(shape, scalarConstant(*this, accumulator, 0));
  Value result = generic({lhs, rhs}, {lhsMap, rhsMap, resultMap}, iterators, init, accumulator,
                         [&](ImplicitLocOpBuilder &b, ValueRange arguments) -> Value {
                           Value term = product(b, arguments);
                           return isFloat ? arith::AddFOp::create(b, arguments[2], term).getResult()
                                          : arith::AddIOp::create(b, arguments[2], term).getResult();
                         });
  return convert(result, element);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Groups the dimensions of two shapes with equal element counts into the finest pieces of equal size.
static void groupDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to, SmallVectorImpl<ReassociationIndices> &fromGroups,
                      SmallVectorImpl<ReassociationIndices> &toGroups) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left = {int64_t(i)}, right = {int64_t(j)};
    int64_t leftSize = from[i++], rightSize = to[j++];
    while (leftSize != rightSize) {
      if (leftSize < rightSize) {
        left.push_back(i);
        leftSize *= from[i++];
      } else {
        right.push_back(j);
        rightSize *= to[j++];
      }
    }
    fromGroups.push_back(left);
    toGroups.push_back(right);
  }
  // What is left on one side has extent 1.
  for (; i < from.size(); ++i)
    fromGroups.back().push_back(i);
  for (; j < to.size(); ++j)
    toGroups.back().push_back(j);
}

static bool isTrivial(ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [](const ReassociationIndices &group) { return group.size() == 1; });
}

Value LinalgBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return empty(shape, elementTypeOf(value));
  RankedTensorType type = tensorType(value);
  auto resultType = RankedTensorType::get(shape, type.getElementType());
  if (type == resultType)
    return value;
  if (type.getNumElements() == 0)
    return empty(shape, type.getElementType());
  // Rank 0 has no dimensions to group.
  if (shape.empty())
    return tensor::CollapseShapeOp::create(*this, resultType, value, ArrayRef<ReassociationIndices>());
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(*this, resultType, value, ArrayRef<ReassociationIndices>());
  SmallVector<ReassociationIndices> from, to;
  groupDims(type.getShape(), shape, from, to);
  if (!isTrivial(from)) {
    SmallVector<int64_t> grouped;
    for (const ReassociationIndices &group : from) {
      int64_t size = 1;
      for (int64_t dim : group)
        size *= type.getDimSize(dim);
      grouped.push_back(size);
    }
    value = tensor::CollapseShapeOp::create(*this, RankedTensorType::get(grouped, type.getElementType()), value, from);
  }
  if (!isTrivial(to))
    value = tensor::ExpandShapeOp::create(*this, resultType, value, to);
  return value;
}

Value LinalgBuilder::dropUnitDims(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  return reshape(value, shape);
}

Value LinalgBuilder::addUnitDims(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> own = shapeOf(value);
  for (int64_t dim = 0, e = own.size() + dims.size(); dim < e; ++dim) {
    if (llvm::is_contained(dims, dim)) {
      shape.push_back(1);
      continue;
    }
    shape.push_back(own.front());
    own = own.drop_front();
  }
  return reshape(value, shape);
}

Value LinalgBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  bool identical = true;
  SmallVector<int64_t> shape;
  for (auto [dim, source] : llvm::enumerate(permutation)) {
    identical &= int64_t(dim) == source;
    shape.push_back(shapeOf(value)[source]);
  }
  if (identical)
    return value;
  Value target = empty(shape, elementTypeOf(value));
  return linalg::TransposeOp::create(*this, value, target, permutation)->getResult(0);
}

static SmallVector<OpFoldResult> attributes(OpBuilder &builder, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return OpFoldResult(builder.getIndexAttr(value)); });
}

Value LinalgBuilder::slice(Value value, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  bool whole = sizes == shapeOf(value);
  for (auto [offset, stride, size] : llvm::zip_equal(offsets, strides, sizes))
    whole &= offset == 0 && (stride == 1 || size <= 1);
  if (whole)
    return value;
  return tensor::ExtractSliceOp::create(*this, value, attributes(*this, offsets), attributes(*this, sizes),
                                        attributes(*this, strides));
}

Value LinalgBuilder::sliceDim(Value value, int64_t dim, int64_t offset, int64_t size, int64_t stride) {
  SmallVector<int64_t> offsets(shapeOf(value).size(), 0), sizes(shapeOf(value)), strides(sizes.size(), 1);
  offsets[dim] = offset;
  sizes[dim] = size;
  strides[dim] = stride;
  return slice(value, offsets, sizes, strides);
}

Value LinalgBuilder::pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value scalar) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  SmallVector<int64_t> shape;
  for (auto [size, before, after] : llvm::zip_equal(shapeOf(value), low, high))
    shape.push_back(before + size + after);
  auto type = RankedTensorType::get(shape, elementTypeOf(value));
  if (scalar.getType() != type.getElementType())
    scalar = UnrealizedConversionCastOp::create(*this, type.getElementType(), scalar).getResult(0);
  if (llvm::is_contained(shapeOf(value), 0))
    return filled(shape, scalar);
  return tensor::PadOp::create(*this, type, value, attributes(*this, low), attributes(*this, high), scalar);
}

Value LinalgBuilder::concat(ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values[0];
  return tensor::ConcatOp::create(*this, dim, values);
}

Value LinalgBuilder::reverse(Value value, int64_t dim) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape[dim] == 1)
    return value;
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < shape.size(); ++i)
    exprs.push_back(getAffineDimExpr(i));
  exprs[dim] = getAffineConstantExpr(shape[dim] - 1) - exprs[dim];
  return map(value, AffineMap::get(shape.size(), 0, exprs, getContext()), shape, elementTypeOf(value),
             [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

Value LinalgBuilder::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return map(value, shape, elementTypeOf(value),
             [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

Value LinalgBuilder::indices(Value value) {
  if (!elementTypeOf(value).isInteger(64))
    return value;
  return map(value, shapeOf(value), getI32Type(),
             [](ImplicitLocOpBuilder &b, ValueRange elements) { return saturateIndex(b, elements[0]); });
}

Value LinalgBuilder::convert(Value value, Type element) {
  Type from = elementTypeOf(value);
  if (from == element)
    return value;
  return map(value, shapeOf(value), element, [&](ImplicitLocOpBuilder &b, ValueRange elements) {
    return convertScalar(b, elements[0], from, element);
  });
}

} // namespace trn
