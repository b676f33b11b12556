//===- BodyWords.cpp - integers beyond 2^24 ----------------------------------===//
// Owns the part of BodySelector that computes 32-bit integers exactly. DVE takes integers through fp32, which is exact to
// 2^24; native are only POOL's sum and product of words in SBUF (ISA32 tensor_tensor, SH26 operator table) and DVE's
// bitwise operators, raw copies and predicated copies. Everything else is composed of these. Here are also the facts about
// integers: what numbers they can be, and which sign an operation reads and makes.
#include "passes/Select/BodySelector.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Tile/Spaces.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using trn::isa::AluOp;

namespace trn {

/// Every integer of a smaller magnitude has its own fp32 value, and no other integer rounds to it.
static constexpr uint64_t kExactInFp32 = uint64_t(1) << 24;
/// Words are compared by halves.
static constexpr float kHalfBits = 16.0f, kHalfMask = 65535.0f, kSignBit = -2147483648.0f;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// True for integers whose bits are a number with or without a sign, which booleans are not.
static bool hasSigns(Type type) { return type.isInteger() && !type.isInteger(1); }

ConstantIntRanges BodySelector::rangeOf(Value value) {
  auto known = ranges.find(value);
  if (known != ranges.end())
    return known->second;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges range = ConstantIntRanges::maxRange(width);
  Operation *definition = value.getDefiningOp();
  if (auto index = dyn_cast_if_present<linalg::IndexOp>(definition)) {
    int64_t size = op.getStaticLoopRanges()[index.getDim()];
    range = ConstantIntRanges::fromUnsigned(APInt::getZero(width), APInt(width, size - 1));
  } else if (llvm::isa_and_present<UnrealizedConversionCastOp>(definition)) {
    if (ConstantIntRanges::getStorageBitwidth(definition->getOperand(0).getType()) == width)
      range = rangeOf(definition->getOperand(0));
  } else if (llvm::isa_and_present<math::AbsIOp>(definition)) {
    ConstantIntRanges operand = rangeOf(definition->getOperand(0));
    range = ConstantIntRanges::fromUnsigned(APInt::getZero(width),
                                            llvm::APIntOps::umax(operand.smin().abs(), operand.smax().abs()));
  } else if (auto inferring = dyn_cast_if_present<InferIntRangeInterface>(definition)) {
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : definition->getOperands())
      operands.push_back(rangeOf(operand));
    inferring.inferResultRanges(operands, [&](Value, const ConstantIntRanges &found) { range = found; });
  }
  return ranges.try_emplace(value, range).first->second;
}

bool BodySelector::isExactInFp32(Reading read) {
  if (!hasSigns(read.value.getType()))
    return read.value.getType().isInteger(1);
  ConstantIntRanges range = rangeOf(read.value);
  if (read.isUnsigned)
    return range.umax().getZExtValue() < kExactInFp32;
  auto exact = static_cast<int64_t>(kExactInFp32);
  return range.smin().getSExtValue() > -exact && range.smax().getSExtValue() < exact;
}

bool BodySelector::readsUnsigned(Operation *operation) {
  if (llvm::isa<arith::UIToFPOp, arith::ExtUIOp, arith::MaxUIOp, arith::MinUIOp>(operation))
    return true;
  auto compare = dyn_cast<arith::CmpIOp>(operation);
  if (compare && compare.getPredicate() > arith::CmpIPredicate::ne)
    return compare.getPredicate() >= arith::CmpIPredicate::ult;
  auto select = dyn_cast<arith::SelectOp>(operation);
  if (!compare && (!select || !hasSigns(select.getType())))
    return false;
  auto known = chosenSigns.find(operation);
  if (known != chosenSigns.end())
    return known->second;
  Value lhs = operation->getOperand(select ? 1 : 0), rhs = operation->getOperand(select ? 2 : 1);
  auto isExact = [&](bool isUnsigned) {
    bool left = isExactInFp32({lhs, isUnsigned}), right = isExactInFp32({rhs, isUnsigned});
    return select ? left && right : left || right;
  };
  bool isUnsigned = isExact(true);
  if (isUnsigned == isExact(false))
    isUnsigned = !makesNumber(lhs) || !makesNumber(rhs);
  chosenSigns[operation] = isUnsigned;
  return isUnsigned;
}

std::optional<bool> BodySelector::makesUnsigned(Value value) {
  Operation *definition = value.getDefiningOp();
  if (!definition ||
      llvm::isa<arith::ConstantOp, arith::TruncIOp, arith::BitcastOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(definition))
    return std::nullopt;
  if (llvm::isa<UnrealizedConversionCastOp>(definition))
    return definition->getNumOperands() == 1 ? makesUnsigned(definition->getOperand(0)) : std::nullopt;
  if (llvm::isa<arith::SelectOp>(definition))
    return readsUnsigned(definition);
  return llvm::isa<arith::FPToUIOp, arith::ExtUIOp, arith::MaxUIOp, arith::MinUIOp>(definition);
}

bool BodySelector::makesNumber(Reading read) {
  if (!hasSigns(read.value.getType()))
    return true;
  std::optional<bool> isUnsigned = makesUnsigned(read.value);
  return !isUnsigned || *isUnsigned == read.isUnsigned || rangeOf(read.value).smin().isNonNegative();
}

bool BodySelector::needsWords(Operation *operation) {
  bool isUnsigned = readsUnsigned(operation);
  auto isLarge = [&](Value value) { return hasSigns(value.getType()) && !isExactInFp32({value, isUnsigned}); };
  // A comparison is right when one side is exact: rounding keeps the order.
  if (auto compare = dyn_cast<arith::CmpIOp>(operation))
    return isLarge(compare.getLhs()) && isLarge(compare.getRhs());
  if (llvm::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(operation))
    return isLarge(operation->getResult(0)) || llvm::any_of(operation->getOperands(), isLarge);
  if (llvm::isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, math::AbsIOp, arith::SelectOp>(operation))
    return llvm::any_of(operation->getOperands(), isLarge);
  return false;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

Value BodySelector::asWord(Value buffer, Type word) {
  auto type = cast<MemRefType>(buffer.getType());
  Type element = type.getElementType();
  if (!element.isInteger() || !word.isInteger() || element == word ||
      element.getIntOrFloatBitWidth() != word.getIntOrFloatBitWidth())
    return buffer;
  MemRefType seen = MemRefType::Builder(type).setElementType(word);
  return ir::BitcastOp::create(emitter.builder, emitter.loc, seen, buffer);
}

Value BodySelector::withSign(Value buffer, bool isUnsigned) {
  Type element = elementOf(buffer);
  return element.isInteger() ? asWord(buffer, integerType(element.getIntOrFloatBitWidth(), isUnsigned)) : buffer;
}

FailureOr<Value> BodySelector::wordOperand(Value value, ArrayRef<int64_t> shape, Type word) {
  FailureOr<Source> read = source(value);
  if (failed(read))
    return failure();
  Value buffer = read->buffer;
  bool isTensor = read->kind == Source::Tensor;
  if (read->kind == Source::Immediate) {
    buffer = temporary({}, word);
    emitter.fillInteger(buffer, static_cast<int64_t>(read->immediate));
  } else if (bool hasBits = elementOf(asWord(buffer, word)) == word; !hasBits || isInPsum(buffer)) {
    // The wider signed type has all numbers of fewer bits.
    Type copied = hasBits ? elementOf(buffer) : integerType(word.getIntOrFloatBitWidth(), false);
    Value copy = temporary(isTensor ? shape : ArrayRef<int64_t>(), copied);
    emitter.copy(copy, buffer);
    buffer = copy;
  }
  if (!isTensor && !shape.empty())
    buffer = createBroadcast(emitter.builder, emitter.loc, buffer, shape);
  return asWord(buffer, word);
}

void BodySelector::compareWords(Value dst, Value lhs, Value rhs, ArrayRef<int64_t> shape, AluOp compare) {
  Type word = elementOf(lhs), f32 = emitter.builder.getF32Type();
  ScalarStep shift{AluOp::ShiftRight, ScalarOperand::constant(kHalfBits)};
  auto upperHalf = [&](Value from) {
    Value half = temporary(shape, word);
    // Without the sign bit the order of the bits is the order of the numbers.
    if (word.isUnsignedInteger())
      emitter.tensorScalar(half, from, shift);
    else
      emitter.tensorScalar(half, from, {AluOp::BitwiseXor, ScalarOperand::constant(kSignBit)}, shift);
    return half;
  };
  auto lowerHalf = [&](Value from) {
    Value half = temporary(shape, word);
    emitter.tensorScalar(half, from, {AluOp::BitwiseAnd, ScalarOperand::constant(kHalfMask)});
    return half;
  };
  Value upper = temporary(shape, f32), lower = temporary(shape, f32), difference = temporary(shape, f32);
  emitter.tensorTensor(upper, upperHalf(lhs), upperHalf(rhs), AluOp::Subtract);
  emitter.tensorTensor(lower, lowerHalf(lhs), lowerHalf(rhs), AluOp::Subtract);
  // 2^17 outweighs every difference of lower halves: the sum is exact or has the right sign.
  emitter.scalarTensorTensor(difference, upper, {AluOp::Multiply, ScalarOperand::constant(131072.0f)}, AluOp::Add,
                             lower, false);
  emitter.tensorScalar(dst, difference, {compare, ScalarOperand::constant(0.0f)});
}

LogicalResult BodySelector::emitWords(Operation *operation, Value dst) {
  ArrayRef<int64_t> shape = shapeOf(operation->getResult(0));
  Builder &b = emitter.builder;
  auto select = dyn_cast<arith::SelectOp>(operation);
  SmallVector<Value, 2> values(llvm::drop_begin(operation->getOperands(), select ? 1 : 0));
  Type word = integerType(32, readsUnsigned(operation));
  SmallVector<Value, 2> operands;
  for (Value value : values) {
    FailureOr<Value> operand = wordOperand(value, shape, word);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  if (llvm::isa<arith::CmpIOp>(operation)) {
    compareWords(dst, operands[0], operands[1], shape, *ir::scalarOpInfo(operation)->alu);
    return success();
  }

  dst = asWord(dst, word);
  // A predicated copy needs the other operand after the first write: dst may lie where that operand does.
  bool writesOnce = llvm::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(operation);
  Value target = writesOnce && elementOf(dst) == word && !isInPsum(dst) ? dst : temporary(shape, word);
  auto negated = [&](Value from) {
    Value minusOne = temporary({}, word), result = temporary(shape, word);
    emitter.fillInteger(minusOne, -1);
    if (!shape.empty())
      minusOne = createBroadcast(emitter.builder, emitter.loc, minusOne, shape);
    emitter.wordTensorTensor(result, from, minusOne, AluOp::Multiply);
    return result;
  };
  Value predicate = writesOnce || select ? Value() : temporary(shape, b.getI8Type());
  if (llvm::isa<arith::AddIOp>(operation)) {
    emitter.wordTensorTensor(target, operands[0], operands[1], AluOp::Add);
  } else if (llvm::isa<arith::SubIOp>(operation)) {
    emitter.wordTensorTensor(target, operands[0], negated(operands[1]), AluOp::Add);
  } else if (llvm::isa<arith::MulIOp>(operation)) {
    emitter.wordTensorTensor(target, operands[0], operands[1], AluOp::Multiply);
  } else if (select) {
    FailureOr<Value> condition = tensorOperand(select.getCondition(), shape);
    if (failed(condition))
      return failure();
    emitter.copy(target, operands[1]);
    emitter.copyPredicated(target, operands[0], *condition);
  } else if (llvm::isa<math::AbsIOp>(operation)) {
    emitter.tensorScalar(predicate, operands[0], {AluOp::IsLt, ScalarOperand::constant(0.0f)});
    emitter.copy(target, operands[0]);
    emitter.copyPredicated(target, negated(operands[0]), predicate);
  } else {
    bool isMax = llvm::isa<arith::MaxSIOp, arith::MaxUIOp>(operation);
    compareWords(predicate, operands[1], operands[0], shape, isMax ? AluOp::IsGt : AluOp::IsLt);
    emitter.copy(target, operands[0]);
    emitter.copyPredicated(target, operands[1], predicate);
  }
  if (target != dst)
    emitter.copy(dst, target);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

bool BodySelector::reductionNeedsWords(Reading read, AluOp op, int64_t count) {
  if (!read.value.getType().isInteger(32))
    return false;
  ConstantIntRanges range = rangeOf(read.value);
  uint64_t largest = llvm::APIntOps::umax(range.smin().abs(), range.smax().abs()).getZExtValue();
  switch (op) {
  case AluOp::Add:
    return largest >= kExactInFp32 / static_cast<uint64_t>(count);
  case AluOp::Max:
  case AluOp::Min:
    return !isExactInFp32(read);
  case AluOp::Multiply:
    return largest > 1;
  default:
    return false;
  }
}

/// Sums of parts of few bits are exact in fp32; POOL adds them in their places, modulo 2^32.
static unsigned partBits(int64_t count) {
  unsigned bits = 16;
  while (bits > 1 && static_cast<uint64_t>(count) * ((uint64_t(1) << bits) - 1) >= kExactInFp32)
    --bits;
  return bits;
}

/// No instruction multiplies words along a row: halves of it are multiplied until one element is left.
Value BodySelector::multiplyWords(Value words, ArrayRef<int64_t> kept) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t rows = 1;
  for (int64_t size : kept)
    rows *= size;
  auto type = cast<MemRefType>(words.getType());
  int64_t count = type.getNumElements() / type.getDimSize(0) / rows;
  // A buffer of its own, contiguous: [rows, count].
  Value all = temporary(type.getShape().drop_front(), elementOf(words));
  emitter.copy(all, words);
  auto part = [&](int64_t from, int64_t size) {
    Access access;
    access.root = all;
    access.offset = from;
    access.partitionStride = rows * count;
    access.strides = {count, 1};
    return createView(builder, loc, access, tile.partitions, {rows, size});
  };
  for (int64_t left = count; left > 1; left = llvm::divideCeil(left, 2))
    emitter.wordTensorTensor(part(0, left / 2), part(0, left / 2), part(llvm::divideCeil(left, 2), left / 2), AluOp::Multiply);
  Access access;
  access.root = all;
  access.partitionStride = rows * count;
  access.strides.assign(kept.size(), count);
  for (size_t loop = kept.size(); loop-- > 1;)
    access.strides[loop - 1] = access.strides[loop] * kept[loop];
  return createView(builder, loc, access, tile.partitions, kept);
}

FailureOr<Value> BodySelector::reduceWords(Reading read, AluOp op, unsigned reduced) {
  ArrayRef<int64_t> shape = tile.sizes, kept = shape.drop_back(reduced);
  Type f32 = emitter.builder.getF32Type(), word = integerType(32, read.isUnsigned);
  FailureOr<Value> src = wordOperand(read.value, shape, word);
  if (failed(src))
    return failure();
  Value result = temporary(kept, word);

  if (op == AluOp::Add) {
    int64_t count = 1;
    for (int64_t size : shape.take_back(reduced))
      count *= size;
    unsigned bits = partBits(count);
    ScalarStep mask{AluOp::BitwiseAnd, ScalarOperand::constant(static_cast<float>((1u << bits) - 1))};
    for (unsigned low = 0; low < 32; low += bits) {
      Value part = temporary(shape, word), sum = low == 0 ? result : temporary(kept, word);
      ScalarStep shift{AluOp::ShiftRight, ScalarOperand::constant(static_cast<float>(low))};
      low == 0 ? emitter.tensorScalar(part, *src, mask) : emitter.tensorScalar(part, *src, shift, mask);
      emitter.reduce(sum, part, AluOp::Add, reduced);
      if (low == 0)
        continue;
      Value placed = temporary(kept, word);
      emitter.tensorScalar(placed, sum, {AluOp::ShiftLeft, ScalarOperand::constant(static_cast<float>(low))});
      emitter.wordTensorTensor(result, result, placed, AluOp::Add);
    }
    return result;
  }

  if (op == AluOp::Multiply)
    return multiplyWords(*src, kept);

  // The extreme of the upper halves, then that of the lower halves beside it.
  bool isMax = op == AluOp::Max;
  ScalarStep shift{AluOp::ShiftRight, ScalarOperand::constant(kHalfBits)},
      unshift{AluOp::ShiftLeft, ScalarOperand::constant(kHalfBits)},
      flip{AluOp::BitwiseXor, ScalarOperand::constant(kSignBit)};
  bool isUnsignedWord = word.isUnsignedInteger();
  Value upper = temporary(shape, word), lower = temporary(shape, word), extreme = temporary(kept, word);
  isUnsignedWord ? emitter.tensorScalar(upper, *src, shift) : emitter.tensorScalar(upper, *src, flip, shift);
  emitter.reduce(extreme, upper, op, reduced);
  Access spread;
  spread.root = extreme;
  spread.partitionStride = cast<MemRefType>(extreme.getType()).getNumElements() / tile.partitions;
  spread.strides.assign(shape.size(), 0);
  int64_t stride = 1;
  for (size_t loop = kept.size(); loop-- > 0; stride *= kept[loop])
    spread.strides[loop] = stride;
  Value everywhere = createView(emitter.builder, emitter.loc, spread, tile.partitions, shape);
  Value beside = temporary(shape, emitter.builder.getI8Type()), rank = temporary(shape, f32);
  emitter.tensorTensor(beside, upper, everywhere, AluOp::IsEq);
  emitter.tensorScalar(lower, *src, {AluOp::BitwiseAnd, ScalarOperand::constant(kHalfMask)});
  // 1 to 2^16, the largest for the element sought; 0 elsewhere.
  ScalarStep rise = isMax ? ScalarStep{AluOp::Add, ScalarOperand::constant(1.0f)}
                          : ScalarStep{AluOp::Subtract, ScalarOperand::constant(kHalfMask + 1.0f), true};
  emitter.scalarTensorTensor(rank, lower, rise, AluOp::Multiply, beside, false);
  Value best = temporary(kept, f32), low = temporary(kept, word), high = temporary(kept, word);
  emitter.reduce(best, rank, AluOp::Max, reduced);
  rise.op = AluOp::Subtract;
  emitter.tensorScalar(low, best, rise);
  isUnsignedWord ? emitter.tensorScalar(high, extreme, unshift) : emitter.tensorScalar(high, extreme, unshift, flip);
  emitter.tensorTensor(result, high, low, AluOp::BitwiseOr);
  return result;
}

void BodySelector::combineWords(Value dst, Value other, AluOp op) {
  if (op == AluOp::Add || op == AluOp::Multiply)
    return emitter.wordTensorTensor(dst, dst, other, op);
  ArrayRef<int64_t> shape = cast<MemRefType>(dst.getType()).getShape().drop_front();
  Value predicate = temporary(shape, emitter.builder.getI8Type());
  compareWords(predicate, other, dst, shape, op == AluOp::Max ? AluOp::IsGt : AluOp::IsLt);
  emitter.copyPredicated(dst, other, predicate);
}

/// The low bits: a narrowing conversion wraps around, where a write would saturate.
LogicalResult BodySelector::emitTruncation(arith::TruncIOp narrow, bool isUnsigned, Value dst) {
  ArrayRef<int64_t> shape = shapeOf(narrow.getResult());
  unsigned width = narrow.getType().getIntOrFloatBitWidth();
  if (width > 16)
    return fail("no instruction narrows to " + llvm::Twine(width) + " bits");
  // A number of the narrow type stays what it is.
  ConstantIntRanges range = rangeOf(narrow.getIn());
  bool fits = isUnsigned ? range.umax().isIntN(width) : range.smin().isSignedIntN(width) && range.smax().isSignedIntN(width);
  if (fits)
    return computeInto({narrow.getIn(), isUnsigned}, dst);
  Type word = integerType(32, false);
  FailureOr<Value> src = wordOperand(narrow.getIn(), shape, word);
  if (failed(src))
    return failure();
  Value bits = temporary(shape, word);
  ScalarStep mask{AluOp::BitwiseAnd, ScalarOperand::constant(static_cast<float>((1u << width) - 1))};
  if (isUnsigned) {
    emitter.tensorScalar(bits, *src, mask);
    emitter.copy(dst, bits);
    return success();
  }
  // (bits ^ sign) - sign extends the sign.
  ScalarOperand sign = ScalarOperand::constant(static_cast<float>(1u << (width - 1)));
  emitter.tensorScalar(bits, *src, mask, {AluOp::BitwiseXor, sign});
  emitter.tensorScalar(dst, bits, {AluOp::Subtract, sign});
  return success();
}

} // namespace trn
