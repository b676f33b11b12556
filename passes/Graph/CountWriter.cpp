//===- CountWriter.cpp - computations with counts -------------------------===//
#include "passes/Graph/CountWriter.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "passes/Graph/Match.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

bool trn::isCastOfSizes(Operation *op) {
  return llvm::isa<CastOp>(op) && llvm::all_of(op->getResultTypes(), [](Type type) {
           Type element = getElementTypeOrSelf(type);
           return element.isInteger() && element.getIntOrFloatBitWidth() >= 32;
         });
}

Value CountWriter::number(int64_t value) { return integers({value}, {}, b.getI64Type()); }

/// The single number of a constant.
static std::optional<int64_t> known(Value value) {
  std::optional<Constant> constant = Constant::get(value);
  return constant && constant->size() == 1 ? std::optional<int64_t>(constant->integer(0)) : std::nullopt;
}

static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  auto x = a.getDefiningOp<WeightOp>(), y = b.getDefiningOp<WeightOp>();
  return x && y && x.getValue() == y.getValue();
}

Value CountWriter::once(Value value) {
  Operation *op = value.getDefiningOp();
  auto isConstant = [](Value operand) { return operand.getDefiningOp<WeightOp>() != nullptr; };
  auto operand = llvm::find_if_not(op->getOperands(), isConstant);
  if (operand == op->operand_end())
    return value;
  for (Operation *user : (*operand).getUsers())
    if (user != op && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) && user->getName() == op->getName() &&
        user->getAttrDictionary() == op->getAttrDictionary() && user->getResultTypes() == op->getResultTypes() &&
        user->getNumOperands() == op->getNumOperands() &&
        llvm::all_of(llvm::zip(user->getOperands(), op->getOperands()),
                     [](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); })) {
      op->erase();
      return user->getResult(0);
    }
  return value;
}

Value CountWriter::arithmetic(StringRef name, Value a, Value b) {
  std::optional<int64_t> x = known(a), y = known(b);
  int64_t result = 0;
  if (y == 0 && (name == "Add" || name == "Sub"))
    return a;
  if (x == 0 && name == "Add")
    return b;
  if (x && y && name == "Add" && !__builtin_add_overflow(*x, *y, &result))
    return number(result);
  if (x && y && name == "Sub" && !__builtin_sub_overflow(*x, *y, &result))
    return number(result);
  if (x && y && (name == "Min" || name == "Max"))
    return number(name == "Min" ? std::min(*x, *y) : std::max(*x, *y));
  return once(op(name, {a, b}));
}

Value CountWriter::atMost(Value a, int64_t b) {
  std::optional<SmallVector<int64_t>> largest = largestOf(a);
  return largest && largest->front() <= b ? a : arithmetic("Min", a, number(b));
}

Value CountWriter::least0(Value a) {
  std::optional<SmallVector<int64_t>> least = leastOf(a);
  return least && least->front() >= 0 ? a : arithmetic("Max", a, number(0));
}

/// What element `i` of the result of a movement of integers is; an operand and a position in it.
static std::optional<std::pair<Value, int64_t>> sourceOf(Operation *op, int64_t i) {
  if (llvm::isa<IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp>(op) || isCastOfSizes(op))
    return std::pair(op->getOperand(0), i);
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (Value input : concat.getInputs()) {
      const int64_t size = typeOf(input).getNumElements();
      if (typeOf(input).getRank() != 1)
        return std::nullopt;
      if (i < size)
        return std::pair(input, i);
      i -= size;
    }
  }
  if (auto gather = dyn_cast<GatherOp>(op); gather && typeOf(gather.getX()).getRank() == 1)
    if (std::optional<Constant> indices = Constant::get(gather.getIndices())) {
      const int64_t at = indices->integer(i);
      return std::pair(gather.getX(), at < 0 ? at + typeOf(gather.getX()).getDimSize(0) : at);
    }
  if (auto slice = dyn_cast<SliceOp>(op); slice && typeOf(slice.getX()).getRank() == 1 && slice.getStarts() && slice.getSteps())
    return std::pair(slice.getX(), (*slice.getStarts())[0] + i * (*slice.getSteps())[0]);
  return std::nullopt;
}

Value CountWriter::element(Value integers, int64_t i) {
  auto isSized = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getElementType().isInteger();
  };
  for (Operation *op = integers.getDefiningOp(); op; op = integers.getDefiningOp()) {
    if (std::optional<Constant> constant = Constant::get(integers))
      return number(constant->integer(i));
    if (auto shape = dyn_cast<ShapeOp>(op); shape && countedOf(shape.getX())) {
      Counted counted = *countedOf(shape.getX());
      const int64_t dim = shape.getStart() + i;
      return dim == counted.dim ? counted.count : number(typeOf(counted.whole).getDimSize(dim));
    }
    if (auto size = dyn_cast<SizeOp>(op); size && countedOf(size.getX())) {
      Counted counted = *countedOf(size.getX());
      RankedTensorType type = typeOf(counted.whole);
      return times(counted.count, type.getNumElements() / std::max<int64_t>(1, type.getDimSize(counted.dim)));
    }
    if (llvm::isa<AddOp, SubOp, MulOp, MinOp, MaxOp>(op) && op->getNumOperands() == 2 &&
        llvm::all_of(op->getOperands(), isSized)) {
      auto of = [&](Value operand) { return element(operand, typeOf(operand).getNumElements() == 1 ? 0 : i); };
      return arithmetic(op->getName().stripDialect(), of(op->getOperand(0)), of(op->getOperand(1)));
    }
    std::optional<std::pair<Value, int64_t>> source = sourceOf(op, i);
    if (!source || !isSized(source->first))
      break;
    std::tie(integers, i) = *source;
  }
  const int64_t size = typeOf(integers).getNumElements();
  Value flat = size == 1 ? integers : reshape(integers, {size});
  if (size != 1)
    flat = once(op("Gather", {flat, number(i)}, integer("axis", 0)));
  return cast(typeOf(flat).getRank() == 0 ? flat : once(reshape(flat, {})), b.getI64Type());
}

Value CountWriter::positions(int64_t size, int64_t dim, int64_t rank) {
  SmallVector<float> values(size);
  for (int64_t i = 0; i < size; ++i)
    values[i] = float(i);
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = size;
  std::vector<char> bytes(values.size() * sizeof(float));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return constant(makeConstant(RankedTensorType::get(shape, b.getF32Type()), std::move(bytes), "positions"));
}

Value CountWriter::valid(int64_t size, Value count, int64_t dim, int64_t rank) {
  return op("Less", {positions(size, dim, rank), real(count)});
}

Value CountWriter::masked(const Counted &counted, Value fill) {
  RankedTensorType type = typeOf(counted.whole);
  return where(valid(type.getDimSize(counted.dim), counted.count, counted.dim, type.getRank()), counted.whole, fill);
}

Value CountWriter::maskedByZero(const Counted &counted) {
  return counted.zeros ? counted.whole : masked(counted, scalar(0, counted.whole));
}

Value CountWriter::extreme(Type element, bool isLowest) {
  Attribute value;
  if (auto real = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    value = FloatAttr::get(element, APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, isLowest)
                                                                        : APFloat::getLargest(semantics, isLowest));
  } else {
    // The device computes integers of 64 bits in 32.
    const unsigned width = element.getIntOrFloatBitWidth(), bits = std::min(width, 32u);
    const bool isUnsigned = element.isUnsignedInteger() || bits == 1;
    APInt number = isLowest ? (isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits))
                            : (isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits));
    value = IntegerAttr::get(element, isUnsigned ? number.zext(width) : number.sext(width));
  }
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>(value)));
}
