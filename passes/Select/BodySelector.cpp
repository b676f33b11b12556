//===- BodySelector.cpp - instructions for the body of an elementwise operation ===//
// Owns the covering. The DAG is walked from its results; each value that an instruction can compute together with its
// operand's producer is, when that producer has no other use. Values that depend on the partition only are computed once
// per partition ([partitions, 1]) and enter wide instructions as scalar operands.
#include "passes/Select/BodySelector.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Spaces.h"
#include <cmath>

using namespace mlir;
using trn::isa::ActivationFunc;
using trn::isa::AluOp;

namespace trn {

static bool isCommutative(AluOp op) {
  switch (op) {
  case AluOp::Add:
  case AluOp::Multiply:
  case AluOp::Max:
  case AluOp::Min:
  case AluOp::AbsMax:
  case AluOp::IsEq:
  case AluOp::IsNe:
  case AluOp::LogicalAnd:
  case AluOp::LogicalOr:
  case AluOp::LogicalXor:
  case AluOp::BitwiseAnd:
  case AluOp::BitwiseOr:
  case AluOp::BitwiseXor:
    return true;
  default:
    return false;
  }
}

static bool isBitwise(AluOp op) { return isa::info(op).kind == isa::AluKind::Bitwise; }

/// Two operators of one instruction: both arithmetic or both bitwise, on an engine that has both.
static bool canShareInstruction(AluOp first, AluOp second) {
  return isBitwise(first) == isBitwise(second) && (isa::info(first).engines & isa::info(second).engines) != 0;
}

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

static std::optional<double> constantValue(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
    return number.getType().isInteger(1) ? static_cast<double>(number.getValue().getZExtValue())
                                         : static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

/// The number that a constant is read as.
static std::optional<double> constantNumber(Reading read) {
  std::optional<double> number = constantValue(read.value);
  if (number && *number < 0 && read.isUnsigned && read.value.getType().isInteger())
    *number += std::ldexp(1.0, static_cast<int>(read.value.getType().getIntOrFloatBitWidth()));
  return number;
}

/// The row of the operation in the table of scalar operations.
static const isa::ScalarOpInfo *tableRow(Operation *op) {
  // x uno x asks for NaN, which differs from itself.
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (compare && compare.getPredicate() == arith::CmpFPredicate::UNO && compare.getLhs() == compare.getRhs())
    return isa::scalarOp("arith.cmpf.une");
  return ir::scalarOpInfo(op);
}

BodySelector::BodySelector(OpBuilder &builder, linalg::LinalgOp op, Tile &tile, int coreVersion)
    : emitter(builder, op.getLoc()), op(op), tile(tile), coreVersion(coreVersion) {}

LogicalResult BodySelector::fail(llvm::Twine why) {
  if (reason.empty())
    reason = why.str();
  return failure();
}

//===----------------------------------------------------------------------===//
// Facts about values
//===----------------------------------------------------------------------===//

/// True when `conversion`, of integers, makes floats of fewer bits than fp32 that do not have all these integers.
static bool roundsIntegers(Operation *conversion) {
  if (!llvm::isa<arith::SIToFPOp, arith::UIToFPOp>(conversion))
    return false;
  auto real = cast<FloatType>(conversion->getResult(0).getType());
  unsigned bits = conversion->getOperand(0).getType().getIntOrFloatBitWidth() - llvm::isa<arith::SIToFPOp>(conversion);
  return real.getWidth() < 32 && bits > real.getFPMantissaWidth();
}

/// True when `value` is rounded to a float of fewer bits than the engines compute with: it is what a buffer of its type
/// holds, and no part of an instruction.
static bool isRounded(Value value) {
  auto type = dyn_cast<FloatType>(value.getType());
  Operation *definition = value.getDefiningOp();
  if (!type || type.getWidth() >= 32 || !definition)
    return false;
  if (roundsIntegers(definition))
    return true;
  // These give what has the type already: an operand, its magnitude, its negative or its whole part.
  return !llvm::isa<arith::ConstantOp, arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp, arith::BitcastOp, arith::SelectOp,
                    arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp, math::AbsFOp,
                    math::FloorOp, math::CeilOp, math::RoundEvenOp, math::RoundOp, math::TruncOp>(definition);
}

/// Conversions that reading an operand does by itself: every engine computes in fp32. The innermost one says with which
/// sign the operand is read.
Reading BodySelector::skipConversions(Reading read) {
  while (Operation *definition = read.value.getDefiningOp()) {
    bool isUnsigned = read.isUnsigned, free = false;
    // A boolean is 0 or 1 in a byte; its signed number would be -1.
    bool isBoolean = definition->getNumOperands() == 1 && definition->getOperand(0).getType().isInteger(1);
    if (llvm::isa<arith::ExtFOp>(definition)) {
      free = true;
    } else if (llvm::isa<arith::UIToFPOp, arith::SIToFPOp>(definition)) {
      isUnsigned = llvm::isa<arith::UIToFPOp>(definition);
      free = !roundsIntegers(definition) && (isUnsigned || !isBoolean);
    } else if (llvm::isa<arith::ExtUIOp>(definition)) {
      isUnsigned = free = true;
    } else if (llvm::isa<arith::ExtSIOp>(definition)) {
      isUnsigned &= rangeOf(read.value).smin().isNegative(); // a number that is not is the same with its sign
      free = !isUnsigned && !isBoolean;
    } else if (llvm::isa<arith::TruncIOp>(definition)) {
      free = read.value.getType().isInteger(1);
    } else if (llvm::isa<UnrealizedConversionCastOp>(definition)) {
      free = definition->getNumOperands() == 1 && definition->getNumResults() == 1;
    }
    if (!free)
      break;
    read = {definition->getOperand(0), isUnsigned};
  }
  return read;
}

bool BodySelector::isVarying(Value value) {
  auto known = varying.find(value);
  if (known != varying.end())
    return known->second;
  bool result = false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    result = argument.getOwner() == op.getBlock() && !tile.accesses[argument.getArgNumber()].isColumn();
  else
    result = llvm::any_of(value.getDefiningOp()->getOperands(), [&](Value operand) { return isVarying(operand); });
  varying[value] = result;
  return result;
}

ArrayRef<int64_t> BodySelector::shapeOf(Value value) {
  return isVarying(value) ? ArrayRef<int64_t>(tile.sizes) : ArrayRef<int64_t>();
}

/// True when the producer of what is read may be computed inside its only user.
bool BodySelector::isFusable(Reading read) {
  Value value = read.value;
  return value.getDefiningOp() && value.hasOneUse() && !sources.contains(value) && !isRounded(value) && makesNumber(read);
}

std::optional<BodySelector::AluMatch> BodySelector::matchAlu(Value value) {
  Operation *definition = value.getDefiningOp();
  const isa::ScalarOpInfo *row = definition ? tableRow(definition) : nullptr;
  if (!row || !row->alu || needsWords(definition))
    return std::nullopt;
  // The roots are cheaper and on a less busy engine as activation functions.
  if (row->arity == 1 && row->activation && *row->alu == AluOp::Power)
    return std::nullopt;
  bool isUnsigned = readsUnsigned(definition);
  AluMatch match{*row->alu, Reading(definition->getOperand(0), isUnsigned), Value()};
  if (row->arity == 1) {
    match.immediate = row->aluImmediate.value_or(0.0f);
    match.reverse = row->aluReverse;
  } else {
    match.rhs = {definition->getOperand(1), isUnsigned};
  }
  return match;
}

FailureOr<std::pair<Reading, ScalarStep>> BodySelector::matchStep(Value value, bool &matched) {
  matched = false;
  std::optional<AluMatch> match = matchAlu(value);
  if (!match)
    return std::make_pair(Reading(Value()), ScalarStep());
  ScalarStep step{match->op, ScalarOperand::constant(match->immediate), match->reverse};
  Reading data = match->lhs;
  if (match->rhs.value) {
    // The operand that varies is data; of two that do not, one that is no constant.
    bool swap = isVarying(value) ? !isVarying(match->lhs.value) : constantValue(match->lhs.value).has_value();
    Reading other = match->rhs;
    if (swap)
      std::swap(data, other);
    if (isVarying(value) && isVarying(other.value))
      return std::make_pair(Reading(Value()), ScalarStep());
    // Scalar operands are fp32, which would round the bits of a word.
    std::optional<double> constant = constantNumber(skipConversions(other));
    bool isExact = constant ? static_cast<double>(static_cast<float>(*constant)) == *constant : isExactInFp32(other);
    if (isBitwise(match->op) && !isExact)
      return std::make_pair(Reading(Value()), ScalarStep());
    if (constant && isBitwise(match->op)) {
      step.operand = ScalarOperand::constant(static_cast<float>(*constant));
      step.reverse = swap && !isCommutative(match->op);
      matched = true;
      return std::make_pair(data, step);
    }
    // Rounding keeps the order: a comparison needs one exact side.
    FailureOr<ScalarOperand> operand = scalarOperand(other, llvm::isa<arith::CmpIOp>(value.getDefiningOp()));
    if (failed(operand))
      return failure();
    step.operand = *operand;
    step.reverse = swap && !isCommutative(match->op);
  }
  matched = true;
  return std::make_pair(data, step);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value BodySelector::temporary(ArrayRef<int64_t> shape, Type element) {
  return createTemporary(emitter.builder, emitter.loc, tile.partitions, shape, element);
}
Type BodySelector::storedType(Value value) {
  Type type = value.getType();
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return type.isInteger() ? integerType(type.getIntOrFloatBitWidth(), !makesNumber(value)) : type;
}
Value BodySelector::temporary(Value like) { return temporary(shapeOf(like), storedType(like)); }

FailureOr<BodySelector::Source> BodySelector::source(Reading read) {
  read = skipConversions(read);
  FailureOr<Source> found = storedSource(read.value);
  if (failed(found) || !read.value.getType().isInteger() || read.value.getType().isInteger(1))
    return found;
  if (found->kind == Source::Immediate)
    found->immediate = *constantNumber(read);
  else
    found->buffer = withSign(found->buffer, read.isUnsigned);
  return found;
}

FailureOr<BodySelector::Source> BodySelector::storedSource(Value value) {
  auto known = sources.find(value);
  if (known != sources.end())
    return known->second;
  Source result;
  if (auto constant = constantValue(value)) {
    result.immediate = *constant;
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    const Access &access = tile.accesses[argument.getArgNumber()];
    result.kind = isVarying(value) ? Source::Tensor : Source::Column;
    Access read = access;
    if (result.kind == Source::Column)
      read.strides.clear();
    result.buffer = createView(emitter.builder, emitter.loc, read, tile.partitions, shapeOf(value));
  } else {
    result.kind = isVarying(value) ? Source::Tensor : Source::Column;
    result.buffer = temporary(value);
    if (failed(computeInto(value, result.buffer)))
      return failure();
  }
  sources[value] = result;
  return result;
}

FailureOr<Value> BodySelector::asTensor(const Source &source, ArrayRef<int64_t> shape) {
  if (source.kind == Source::Tensor)
    return source.buffer;
  Value column = source.buffer;
  if (source.kind == Source::Immediate) {
    column = temporary({}, emitter.builder.getF32Type());
    emitter.fill(column, source.immediate);
  }
  return shape.empty() ? column : createBroadcast(emitter.builder, emitter.loc, column, shape);
}

FailureOr<Value> BodySelector::tensorOperand(Reading read, ArrayRef<int64_t> shape) {
  FailureOr<Source> found = source(read);
  if (failed(found))
    return failure();
  return asTensor(*found, shape);
}

FailureOr<ScalarOperand> BodySelector::scalarOperand(Reading read, bool mayRound) {
  FailureOr<Source> found = source(read);
  if (failed(found))
    return failure();
  if (found->kind == Source::Immediate) {
    if (!mayRound && read.value.getType().isInteger() &&
        static_cast<double>(static_cast<float>(found->immediate)) != found->immediate) {
      (void)fail("the integer constant " + llvm::Twine(static_cast<int64_t>(found->immediate)) +
                 " has no exact fp32 value");
      return failure();
    }
    return ScalarOperand::constant(static_cast<float>(found->immediate));
  }
  assert(found->kind == Source::Column && "a varying value is no scalar operand");
  // Scalar operands are fp32 (ISA32 tensor_scalar). Others that read the value read it unrounded.
  if (elementOf(found->buffer).isF32())
    return ScalarOperand::at(found->buffer);
  Value &wide = scalars[{skipConversions(read).value, elementOf(found->buffer)}];
  if (!wide) {
    wide = temporary({}, emitter.builder.getF32Type());
    emitter.copy(wide, found->buffer);
  }
  return ScalarOperand::at(wide);
}

/// A copy in SBUF of an operand that lies in PSUM, for instructions that cannot read it there.
FailureOr<Value> BodySelector::outOfPsum(Value buffer, Reading read) {
  if (!isInPsum(buffer))
    return buffer;
  Value copy = temporary(shapeOf(read.value), cast<MemRefType>(buffer.getType()).getElementType());
  emitter.copy(copy, buffer);
  sources[skipConversions(read).value] = {isVarying(read.value) ? Source::Tensor : Source::Column, 0.0, copy};
  return copy;
}

FailureOr<Value> BodySelector::compute(Reading read) { return tensorOperand(read, tile.sizes); }

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult BodySelector::computeInto(Reading read, Value dst) {
  Type type = read.value.getType(), element = elementOf(dst);
  if (type.isInteger() && element.isInteger() && type.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth()) {
    read.isUnsigned = element.isUnsignedInteger();
    if (!makesNumber(read)) {
      read.isUnsigned = !read.isUnsigned;
      dst = withSign(dst, read.isUnsigned);
    }
  }
  read = skipConversions(read);
  Value value = read.value;
  // What does not vary is computed once per partition, then spread.
  bool wide = !tile.sizes.empty() && dst.getType() && cast<MemRefType>(dst.getType()).getShape().drop_front() ==
                                                           ArrayRef<int64_t>(tile.sizes);
  Operation *definition = value.getDefiningOp();
  if (!definition || constantValue(value) || (wide && !isVarying(value)) || sources.contains(value) ||
      !makesNumber(read))
    return emitCopy(read, dst);
  // Writing rounds to the type that is written, and to no other.
  if (isRounded(value) && elementOf(dst) != value.getType())
    return emitCopy(read, dst);
  if (auto narrow = dyn_cast<arith::TruncFOp>(definition))
    return computeInto(narrow.getIn(), dst);
  if (roundsIntegers(definition))
    return emitConversion(definition, dst);
  if (auto select = dyn_cast<arith::SelectOp>(definition))
    return emitSelect(select, dst);
  if (llvm::isa<math::FloorOp, math::CeilOp, math::RoundEvenOp, math::RoundOp, math::TruncOp, arith::FPToSIOp,
                arith::FPToUIOp>(definition))
    return emitRounding(definition, dst);
  if (auto narrow = dyn_cast<arith::TruncIOp>(definition))
    return emitTruncation(narrow, read.isUnsigned, dst);
  if (auto bits = dyn_cast<arith::BitcastOp>(definition))
    return emitBits(bits, read.isUnsigned, dst);
  if (needsWords(definition))
    return emitWords(definition, dst);
  if (auto remainder = dyn_cast<arith::RemFOp>(definition))
    return emitRemainder(remainder, dst);
  if (std::optional<AluMatch> match = matchAlu(value))
    return emitAlu(read, *match, dst);
  const isa::ScalarOpInfo *row = tableRow(definition);
  if (row && row->activation)
    return emitActivation(value, *row->activation, dst);
  return fail("no instruction computes '" + definition->getName().getStringRef() + "'");
}

LogicalResult BodySelector::emitCopy(Reading read, Value dst) {
  FailureOr<Source> found = source(read);
  if (failed(found))
    return failure();
  if (found->kind == Source::Immediate) {
    Type element = cast<MemRefType>(dst.getType()).getElementType();
    if (element.isInteger(32) && static_cast<double>(static_cast<float>(found->immediate)) != found->immediate)
      emitter.fillInteger(dst, static_cast<int64_t>(found->immediate));
    else
      emitter.fill(dst, found->immediate);
    return success();
  }
  FailureOr<Value> tensor = asTensor(*found, cast<MemRefType>(dst.getType()).getShape().drop_front());
  if (failed(tensor))
    return failure();
  emitter.copy(dst, *tensor);
  return success();
}

/// Integers as floats of fewer bits: a write that rounds.
LogicalResult BodySelector::emitConversion(Operation *conversion, Value dst) {
  ArrayRef<int64_t> shape = cast<MemRefType>(dst.getType()).getShape().drop_front();
  FailureOr<Value> integers = tensorOperand({conversion->getOperand(0), readsUnsigned(conversion)}, shape);
  if (failed(integers))
    return failure();
  emitter.copy(dst, *integers);
  return success();
}

/// func(data * scale + bias): the affine part is taken from the operand's producers.
LogicalResult BodySelector::emitActivation(Value value, ActivationFunc func, Value dst) {
  ScalarOperand scale = ScalarOperand::constant(1.0f), bias = ScalarOperand::constant(0.0f);
  Operation *definition = value.getDefiningOp();
  Reading data = skipConversions({definition->getOperand(0), readsUnsigned(definition)});
  auto peel = [&](auto &&accept) -> LogicalResult {
    if (!isFusable(data) || isVarying(data.value) != isVarying(value))
      return success();
    std::optional<AluMatch> match = matchAlu(data.value);
    if (!match || !accept(match->op))
      return success();
    bool matched;
    auto step = matchStep(data.value, matched);
    if (failed(step))
      return failure();
    if (!matched)
      return success();
    auto [inner, found] = *step;
    switch (found.op) {
    case AluOp::Add:
      bias = found.operand;
      break;
    case AluOp::Subtract:
      if (found.reverse) {
        bias = found.operand;
        scale = ScalarOperand::constant(-1.0f);
      } else if (!found.operand.column) {
        bias = ScalarOperand::constant(-found.operand.immediate);
      } else {
        Value negative = temporary({}, emitter.builder.getF32Type());
        emitter.tensorScalar(negative, found.operand.column, {AluOp::Multiply, ScalarOperand::constant(-1.0f)});
        bias = ScalarOperand::at(negative);
      }
      break;
    default: // Multiply
      if (scale.isConstant(1.0f))
        scale = found.operand;
      else if (!found.operand.column)
        scale = ScalarOperand::constant(scale.immediate * found.operand.immediate);
      else
        return success();
    }
    data = skipConversions(inner);
    return success();
  };
  bool isReciprocal = func == ActivationFunc::Reciprocal && coreVersion < 3; // takes no bias there (ISA32)
  if (!isReciprocal && failed(peel([](AluOp op) { return op == AluOp::Add || op == AluOp::Subtract; })))
    return failure();
  if (failed(peel([](AluOp op) { return op == AluOp::Multiply; })))
    return failure();
  // A constant bias is an operand from core version 3 on only (ISA32 activation).
  if (coreVersion < 3 && !bias.column && bias.immediate != 0.0f) {
    Value column = temporary({}, emitter.builder.getF32Type());
    emitter.fill(column, bias.immediate);
    bias = ScalarOperand::at(column);
  }
  FailureOr<Value> src = tensorOperand(data, shapeOf(value));
  if (failed(src))
    return failure();
  emitter.activation(dst, *src, func, scale, bias);
  return success();
}

/// Bitwise operators take and write one type of integers: a value is read as the bits of that type. The signed one has
/// more constants that fp32 holds.
LogicalResult BodySelector::emitBitwise(Reading read, const AluMatch &match, Value dst) {
  Value value = read.value;
  ArrayRef<int64_t> shape = shapeOf(value);
  Type bits = value.getType().isInteger(1) ? emitter.builder.getI8Type() : value.getType();
  dst = asWord(dst, bits);
  Value target = elementOf(dst) == bits ? dst : temporary(shape, bits);
  auto finish = [&] {
    if (target != dst)
      emitter.copy(dst, withSign(target, read.isUnsigned));
    return success();
  };
  bool matched;
  auto step = matchStep(value, matched);
  if (failed(step))
    return failure();
  if (!matched) {
    FailureOr<Value> lhs = wordOperand(match.lhs.value, shape, bits), rhs = wordOperand(match.rhs.value, shape, bits);
    if (failed(lhs) || failed(rhs))
      return failure();
    emitter.tensorTensor(target, *lhs, *rhs, match.op);
    return finish();
  }
  auto [data, outer] = *step;
  Value inner = skipConversions(data).value;
  std::optional<AluMatch> innerMatch;
  if (isFusable(inner) && isVarying(inner) == isVarying(value) && inner.getType() == value.getType())
    innerMatch = matchAlu(inner);
  if (innerMatch && canShareInstruction(innerMatch->op, match.op)) {
    auto innerStep = matchStep(inner, matched);
    if (failed(innerStep))
      return failure();
    if (matched) {
      FailureOr<Value> src = wordOperand(innerStep->first.value, shape, bits);
      if (failed(src))
        return failure();
      emitter.tensorScalar(target, *src, innerStep->second, outer);
      return finish();
    }
  }
  FailureOr<Value> src = wordOperand(data.value, shape, bits);
  if (failed(src))
    return failure();
  emitter.tensorScalar(target, *src, outer);
  return finish();
}

LogicalResult BodySelector::emitAlu(Reading read, const AluMatch &match, Value dst) {
  if (isBitwise(match.op))
    return emitBitwise(read, match, dst);
  Value value = read.value;
  ArrayRef<int64_t> shape = shapeOf(value);
  bool isZero = match.rhs.value ? constantValue(match.rhs.value) == 0.0 : match.immediate == 0.0f;
  if (match.op == AluOp::Max && isZero && isVarying(value)) {
    // max(x * scale + bias, 0) out of PSUM: ACT is the engine next to PSUM, and DVE has what only it can do.
    Reading data = skipConversions(match.lhs);
    while (isFusable(data)) {
      std::optional<AluMatch> inner = matchAlu(data.value);
      if (!inner || (inner->op != AluOp::Add && inner->op != AluOp::Multiply) || !inner->rhs.value ||
          isVarying(inner->lhs.value) == isVarying(inner->rhs.value))
        break;
      data = skipConversions(isVarying(inner->lhs.value) ? inner->lhs : inner->rhs);
    }
    auto argument = dyn_cast<BlockArgument>(data.value);
    if (argument && isInPsum(tile.accesses[argument.getArgNumber()].root))
      return emitActivation(value, ActivationFunc::Relu, dst);
  }

  bool matched;
  auto step = matchStep(value, matched);
  if (failed(step))
    return failure();
  bool onPool = match.op == AluOp::Power; // POOL does not reach PSUM
  if (matched) {
    auto [data, outer] = *step;
    Reading inner = skipConversions(data);
    std::optional<AluMatch> innerMatch;
    if (isFusable(inner) && isVarying(inner.value) == isVarying(value))
      innerMatch = matchAlu(inner.value);
    if (innerMatch && canShareInstruction(innerMatch->op, match.op)) {
      auto innerStep = matchStep(inner.value, matched);
      if (failed(innerStep))
        return failure();
      if (matched) {
        FailureOr<Value> src = tensorOperand(innerStep->first, shape);
        if (failed(src) || (onPool && failed(src = outOfPsum(*src, innerStep->first))))
          return failure();
        emitter.tensorScalar(dst, *src, innerStep->second, outer);
        return success();
      }
    }
    FailureOr<Value> src = tensorOperand(data, shape);
    if (failed(src) || (onPool && failed(src = outOfPsum(*src, data))))
      return failure();
    emitter.tensorScalar(dst, *src, outer);
    return success();
  }

  // Both operands vary: one of them may be a step itself.
  Reading sides[2] = {match.lhs, match.rhs};
  for (unsigned side = 0; side != 2 && !onPool; ++side) {
    Reading inner = skipConversions(sides[side]);
    std::optional<AluMatch> innerMatch;
    if (isFusable(inner) && isVarying(inner.value))
      innerMatch = matchAlu(inner.value);
    if (!innerMatch || !canShareInstruction(innerMatch->op, match.op) || innerMatch->op == AluOp::Power)
      continue;
    auto innerStep = matchStep(inner.value, matched);
    if (failed(innerStep))
      return failure();
    if (!matched)
      continue;
    FailureOr<Value> src = tensorOperand(innerStep->first, shape), rhs = tensorOperand(sides[1 - side], shape);
    if (failed(src) || failed(rhs))
      return failure();
    if (isInPsum(*src) && isInPsum(*rhs) && failed(rhs = outOfPsum(*rhs, sides[1 - side])))
      return failure();
    emitter.scalarTensorTensor(dst, *src, innerStep->second, match.op, *rhs, side == 1 && !isCommutative(match.op));
    return success();
  }
  FailureOr<Value> lhs = tensorOperand(match.lhs, shape), rhs = tensorOperand(match.rhs, shape);
  if (failed(lhs) || failed(rhs))
    return failure();
  if (onPool && (failed(lhs = outOfPsum(*lhs, match.lhs)) || failed(rhs = outOfPsum(*rhs, match.rhs))))
    return failure();
  if (isInPsum(*lhs) && isInPsum(*rhs) && failed(rhs = outOfPsum(*rhs, match.rhs)))
    return failure();
  emitter.tensorTensor(dst, *lhs, *rhs, match.op);
  return success();
}

LogicalResult BodySelector::emitSelect(arith::SelectOp select, Value dst) {
  if (needsWords(select))
    return emitWords(select, dst);
  ArrayRef<int64_t> shape = shapeOf(select.getResult());
  FailureOr<Value> predicate = tensorOperand(select.getCondition(), shape);
  bool isUnsigned = readsUnsigned(select);
  FailureOr<Value> onTrue = tensorOperand({select.getTrueValue(), isUnsigned}, shape);
  FailureOr<Value> onFalse = tensorOperand({select.getFalseValue(), isUnsigned}, shape);
  if (failed(predicate) || failed(onTrue) || failed(onFalse))
    return failure();
  emitter.select(dst, *predicate, *onTrue, *onFalse);
  return success();
}

void BodySelector::keepWhole(Value rounded, Value input, ArrayRef<int64_t> shape) {
  constexpr float kWhole = 8388608.0f; // 2^23: floats from here on have no fraction
  Type i8 = emitter.builder.getI8Type(), f32 = emitter.builder.getF32Type();
  if (cast<MemRefType>(input.getType()).getElementType() != f32) {
    Value wide = temporary(shape, f32);
    emitter.copy(wide, input);
    input = wide;
  }
  // Both comparisons are false with NaN.
  Value above = temporary(shape, i8), between = temporary(shape, i8);
  emitter.tensorScalar(above, input, {AluOp::IsGt, ScalarOperand::constant(-kWhole)});
  emitter.scalarTensorTensor(between, input, {AluOp::IsLt, ScalarOperand::constant(kWhole)}, AluOp::LogicalAnd, above,
                             false);
  emitter.copyPredicated(rounded, input, between, /*reverse=*/true);
}

/// Rounding to integers goes through int32: writing one rounds to nearest even and saturates (device guide 4.2). The
/// other modes correct that result by a comparison; floats above 2^23 are integers already and are taken as they are.
LogicalResult BodySelector::emitRounding(Operation *rounding, Value dst) {
  Type f32 = emitter.builder.getF32Type(), i32 = emitter.builder.getI32Type();
  ArrayRef<int64_t> shape = shapeOf(rounding->getResult(0));
  Value argument = rounding->getOperand(0);
  // Writing an integer rounds to nearest even by itself.
  if (auto nearest = argument.getDefiningOp<math::RoundEvenOp>();
      nearest && llvm::isa<arith::FPToSIOp, arith::FPToUIOp>(rounding) &&
      cast<MemRefType>(dst.getType()).getElementType().isInteger())
    return computeInto(nearest.getOperand(), dst);
  FailureOr<Value> src = tensorOperand(argument, shape);
  if (failed(src))
    return failure();
  auto nearest = [&](Value from) {
    Value rounded = temporary(shape, i32);
    emitter.copy(rounded, from);
    return rounded;
  };
  // rounded + sign * (rounded compared with exact)
  auto correct = [&](Value into, Value rounded, Value exact, AluOp compare, AluOp combine) {
    Value wrong = temporary(shape, f32);
    emitter.tensorTensor(wrong, rounded, exact, compare);
    emitter.tensorTensor(into, rounded, wrong, combine);
  };
  // A conversion of what is integral already only writes.
  bool isConversion = llvm::isa<arith::FPToSIOp, arith::FPToUIOp>(rounding);
  if (Operation *producer = argument.getDefiningOp();
      isConversion && producer &&
      llvm::isa<math::FloorOp, math::CeilOp, math::RoundEvenOp, math::RoundOp, math::TruncOp>(producer)) {
    emitter.copy(dst, *src);
    return success();
  }
  Value result = temporary(shape, f32);
  if (llvm::isa<math::RoundEvenOp>(rounding)) {
    emitter.copy(result, nearest(*src));
  } else if (llvm::isa<math::FloorOp>(rounding)) {
    correct(result, nearest(*src), *src, AluOp::IsGt, AluOp::Subtract);
  } else if (llvm::isa<math::CeilOp>(rounding)) {
    correct(result, nearest(*src), *src, AluOp::IsLt, AluOp::Add);
  } else {
    // Toward zero, and halves away from zero: on the magnitude, then the sign.
    Value magnitude = temporary(shape, f32), sign = temporary(shape, f32), whole = temporary(shape, f32);
    emitter.tensorScalar(magnitude, *src, {AluOp::AbsMax, ScalarOperand::constant(0.0f)});
    correct(whole, nearest(magnitude), magnitude, AluOp::IsGt, AluOp::Subtract);
    if (llvm::isa<math::RoundOp>(rounding)) {
      Value fraction = temporary(shape, f32), rounded = temporary(shape, f32);
      emitter.tensorTensor(fraction, magnitude, whole, AluOp::Subtract);
      emitter.scalarTensorTensor(rounded, fraction, {AluOp::IsGe, ScalarOperand::constant(0.5f)}, AluOp::Add, whole,
                                 false);
      whole = rounded;
    }
    emitter.activation(sign, *src, ActivationFunc::Sign, ScalarOperand::constant(1.0f), ScalarOperand::constant(0.0f));
    emitter.tensorTensor(result, whole, sign, AluOp::Multiply);
  }
  // Integers are saturated by the write; only uint32 has more than int32 holds.
  if (!isConversion || (llvm::isa<arith::FPToUIOp>(rounding) && rounding->getResult(0).getType().isInteger(32)))
    keepWhole(result, *src, shape);
  emitter.copy(dst, result);
  return success();
}

/// The bits of a value as another type: a copy that reads them so.
LogicalResult BodySelector::emitBits(arith::BitcastOp bits, bool isUnsigned, Value dst) {
  Value target = dst;
  Type element = cast<MemRefType>(dst.getType()).getElementType(), result = bits.getType();
  if (element.isInteger() != result.isInteger() || element.getIntOrFloatBitWidth() != result.getIntOrFloatBitWidth())
    target = temporary(bits.getResult()); // what converts does not reinterpret
  Value source = temporary(bits.getIn());
  if (failed(computeInto(bits.getIn(), source)))
    return failure();
  auto type = MemRefType::Builder(cast<MemRefType>(source.getType()))
                  .setElementType(cast<MemRefType>(target.getType()).getElementType());
  emitter.copy(target, ir::BitcastOp::create(emitter.builder, emitter.loc, MemRefType(type), source));
  if (target != dst)
    emitter.copy(dst, withSign(target, isUnsigned));
  return success();
}

/// The sign of the dividend; the ALU's remainder has the divisor's, so that magnitudes give that of the magnitudes.
LogicalResult BodySelector::emitRemainder(arith::RemFOp remainder, Value dst) {
  ArrayRef<int64_t> shape = shapeOf(remainder.getResult());
  FailureOr<Value> lhs = tensorOperand(remainder.getLhs(), shape), rhs = tensorOperand(remainder.getRhs(), shape);
  if (failed(lhs) || failed(rhs))
    return failure();
  Type f32 = emitter.builder.getF32Type();
  Value dividend = temporary(shape, f32), divisor = temporary(shape, f32), rest = temporary(shape, f32);
  Value sign = temporary(shape, f32);
  ScalarStep magnitude{AluOp::AbsMax, ScalarOperand::constant(0.0f)};
  emitter.tensorScalar(dividend, *lhs, magnitude);
  emitter.tensorScalar(divisor, *rhs, magnitude);
  emitter.tensorTensor(rest, dividend, divisor, AluOp::Mod);
  emitter.activation(sign, *lhs, ActivationFunc::Sign, ScalarOperand::constant(1.0f), ScalarOperand::constant(0.0f));
  emitter.tensorTensor(dst, rest, sign, AluOp::Multiply);
  return success();
}

} // namespace trn
