//===- Elementwise.cpp - ONNX operations on corresponding elements --------===//
// Owns elementwise lowerings. An operation whose record has a scalar operation or a formula for its element type is lowered
// from the record; what depends on more than operands and float attributes has its body in this file.
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Activation.h"
#include "dialects/ONNX/Shape/Inference.h"
#include "dialects/ONNX/TypeNames.h"
#include "dialects/Trn/Formula.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include <cmath>

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

//===----------------------------------------------------------------------===//
// From the record
//===----------------------------------------------------------------------===//

/// What a record says of an element of the result, for operands of one element type: a scalar operation or a formula.
struct ScalarMeaning {
  StringRef scalar;
  const Formula *formula;

  explicit operator bool() const { return !scalar.empty() || !formula->empty(); }
};

static std::optional<ScalarMeaning> scalarMeaning(Operation *op) {
  const onnx::OpRecord *record = onnx::lookupRecord(op);
  if (!record || op->getNumOperands() == 0)
    return std::nullopt;
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  // One scalar operation has one type (the exponent of Pow may have another).
  if (llvm::any_of(op->getOperandTypes(), [&](Type type) { return getElementTypeOrSelf(type) != element; }))
    return std::nullopt;
  if (llvm::isa<FloatType>(element))
    return ScalarMeaning{record->floatScalar, &record->floatFormula};
  if (element.isUnsignedInteger())
    return ScalarMeaning{record->uintScalar, &record->uintFormula};
  return ScalarMeaning{record->intScalar, &record->intFormula};
}

std::optional<LoweringTable::Function> recordLowering(Operation *op) {
  std::optional<ScalarMeaning> meaning = scalarMeaning(op);
  if (!meaning || !*meaning)
    return std::nullopt;
  return [meaning = *meaning](Operation *op, LinalgBuilder &b, LoweringTable::Results &results) -> LogicalResult {
    bool isVariadic = onnx::lookupRecord(op)->operands[0].arity == onnx::Arity::Variadic;
    Value result = op->getResult(0);
    auto attribute = [&](StringRef name) { return op->getAttrOfType<FloatAttr>(name).getValueAsDouble(); };
    auto body = [&](Builder1 &inner, ValueRange elements) -> Value {
      if (meaning.scalar.empty())
        return ir::buildFormula(inner, *meaning.formula, elements, {attribute, nullptr});
      if (!isVariadic)
        return ir::buildScalar(inner, meaning.scalar, elements);
      Value value = elements[0];
      for (Value next : elements.drop_front())
        value = ir::buildScalar(inner, meaning.scalar, {value, next});
      return value;
    };
    // A library kernel, which computes what the engines have no type for, takes a few operands: two at a time.
    if (isVariadic && elementTypeOf(result).getIntOrFloatBitWidth() == 64 && op->getNumOperands() > 2) {
      Value value = op->getOperand(0);
      for (Value next : op->getOperands().drop_front()) {
        FailureOr<onnx::Sizes> shape = onnx::broadcastSizes(shapeOf(value), shapeOf(next));
        if (failed(shape))
          return failure();
        value = b.map({value, next}, *shape, elementTypeOf(result), body);
      }
      results.push_back(value);
      return success();
    }
    results.push_back(b.map(op->getOperands(), shapeOf(result), elementTypeOf(result), body));
    return success();
  };
}

//===----------------------------------------------------------------------===//
// Bodies in C++
//===----------------------------------------------------------------------===//

static Value constantLike(Builder1 &b, Value value, double number) {
  return scalarConstant(b, value.getType(), number);
}
static Value add(Builder1 &b, Value x, Value y) { return arith::AddFOp::create(b, x, y); }
static Value mul(Builder1 &b, Value x, Value y) { return arith::MulFOp::create(b, x, y); }
static Value div(Builder1 &b, Value x, Value y) { return arith::DivFOp::create(b, x, y); }
static Value maximum(Builder1 &b, Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
static Value minimum(Builder1 &b, Value x, Value y) { return arith::MinimumFOp::create(b, x, y); }
static Value select(Builder1 &b, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}
static FailureOr<Value> lowerAbs(onnx::AbsOp op, LinalgBuilder &) { return op.getX(); } // Unsigned: itself.

static FailureOr<Value> lowerIdentity(onnx::IdentityOp op, LinalgBuilder &) { return op.getX(); }

static FailureOr<Value> lowerIsInf(onnx::IsInfOp op, LinalgBuilder &b) {
  return b.map(op.getX(), shapeOf(op.getX()), b.getI1Type(), [&](Builder1 &b, ValueRange e) -> Value {
    using P = arith::CmpFPredicate;
    Value high = highestConstant(b, e[0].getType(), false), low = lowestConstant(b, e[0].getType(), false);
    Value isHigh = arith::CmpFOp::create(b, P::OEQ, e[0], high), isLow = arith::CmpFOp::create(b, P::OEQ, e[0], low);
    if (op.getDetectPositive() && op.getDetectNegative())
      return arith::OrIOp::create(b, isHigh, isLow);
    if (op.getDetectPositive() || op.getDetectNegative())
      return op.getDetectPositive() ? isHigh : isLow;
    return scalarConstant(b, b.getI1Type(), 0);
  });
}

static FailureOr<Value> lowerSwish(onnx::SwishOp op, LinalgBuilder &b) {
  double alpha = op.getAlpha().convertToFloat();
  return b.mapLike(op.getX(), [&](Builder1 &b, ValueRange e) {
    if (alpha == 1)
      return ir::buildScalar(b, "trn.scalar.silu", e[0]);
    return mul(b, e[0], ir::buildScalar(b, "trn.scalar.sigmoid", mul(b, e[0], constantLike(b, e[0], alpha))));
  });
}

static FailureOr<Value> lowerGelu(onnx::GeluOp op, LinalgBuilder &b) {
  StringRef kind = op.getApproximate();
  if (kind != "none" && kind != "tanh")
    return op.emitOpError("expected approximate \"none\" or \"tanh\" but got \"") << kind << "\"";
  return b.mapLike(op.getX(), [&](Builder1 &b, ValueRange e) {
    return ir::buildScalar(b, kind == "none" ? "trn.scalar.gelu" : "trn.scalar.gelu_tanh", e[0]);
  });
}

/// Integers are compared with the whole number next to lambda, and biased exactly when the bias is one.
static Value shrinkInteger(Builder1 &b, Value x, Type element, double lambda, double bias) {
  using P = arith::CmpIPredicate;
  bool isUnsigned = element.isUnsignedInteger();
  unsigned width = element.getIntOrFloatBitWidth();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, int(width) - 1), high = std::ldexp(1.0, int(width) - !isUnsigned) - 1;
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(x.getType(), APInt(64, uint64_t(int64_t(value))).trunc(width)));
  };
  auto biased = [&](double by) -> Value {
    if (by == std::floor(by))
      return arith::AddIOp::create(b, x, number(by));
    Type f32 = b.getF32Type();
    return convertScalar(b, add(b, convertScalar(b, x, element, f32), scalarConstant(b, f32, by)), f32, element);
  };
  Value result = number(0);
  // No number of the type is beyond its ends.
  if (double bound = std::max(std::floor(lambda), low - 1); bound < high) {
    Value isAbove = bound < low ? scalarConstant(b, b.getI1Type(), 1)
                                : arith::CmpIOp::create(b, isUnsigned ? P::ugt : P::sgt, x, number(bound)).getResult();
    result = select(b, isAbove, biased(-bias), result);
  }
  if (double bound = std::min(std::ceil(-lambda), high + 1); bound > low) {
    Value isBelow = bound > high ? scalarConstant(b, b.getI1Type(), 1)
                                 : arith::CmpIOp::create(b, isUnsigned ? P::ult : P::slt, x, number(bound)).getResult();
    result = select(b, isBelow, biased(bias), result);
  }
  return result;
}

/// Of integers; the record has the formula of floats.
static FailureOr<Value> lowerShrink(onnx::ShrinkOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX());
  return b.mapLike(op.getX(), [&](Builder1 &b, ValueRange e) {
    return shrinkInteger(b, e[0], element, op.getLambd().convertToFloat(), op.getBias().convertToFloat());
  });
}

/// The bits of the exponents that may be set, and whether one may be negative.
static std::pair<unsigned, bool> exponentBits(Value exponents) {
  Type type = elementTypeOf(exponents);
  bool isSigned = !type.isUnsignedInteger();
  unsigned bits = type.getIntOrFloatBitWidth() - isSigned;
  DenseIntElementsAttr known;
  if (!matchPattern(exponents, m_Constant(&known)))
    return {bits, isSigned};
  unsigned used = 1;
  bool isNegative = false;
  for (const APInt &value : known) {
    isNegative |= isSigned && value.isNegative();
    used = std::max(used, isSigned && value.isNegative() ? 1u : value.getActiveBits());
  }
  return {std::min(used, bits), isNegative};
}

/// Powers of integers wrap around, as their products do: by squaring, one step for each bit of the exponent. The inverse
/// of an integer is one only for 1 and -1.
static Value integerPower(Builder1 &b, Value x, Type base, Value y, Type exponent, std::pair<unsigned, bool> bits) {
  using P = arith::CmpIPredicate;
  auto number = [&](Value like, int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(like.getType(), value));
  };
  Type wide = b.getIntegerType(std::max(32u, base.getIntOrFloatBitWidth()));
  Type steps = b.getIntegerType(std::max(32u, exponent.getIntOrFloatBitWidth()));
  Value factor = convertScalar(b, x, base, wide), left = convertScalar(b, y, exponent, steps);
  Value one = number(factor, 1), result = one;
  Value isOdd = arith::CmpIOp::create(b, P::ne, arith::AndIOp::create(b, left, number(left, 1)), number(left, 0));
  for (unsigned bit = 0; bit < bits.first; ++bit) {
    Value shifted = bit == 0 ? left : arith::ShRUIOp::create(b, left, number(left, bit)).getResult();
    Value isSet = bit == 0 ? isOdd
                           : arith::CmpIOp::create(b, P::ne, arith::AndIOp::create(b, shifted, number(left, 1)), number(left, 0))
                                 .getResult();
    result = select(b, isSet, bit == 0 ? factor : arith::MulIOp::create(b, result, factor).getResult(), result);
    if (bit + 1 < bits.first)
      factor = arith::MulIOp::create(b, factor, factor);
  }
  if (bits.second) {
    Value first = convertScalar(b, x, base, wide), zero = number(first, 0);
    Value isOne = arith::CmpIOp::create(b, P::eq, first, one);
    Value isMinusOne = arith::CmpIOp::create(b, P::eq, first, number(first, -1));
    Value unit = select(b, isOdd, first, one);
    Value inverse = select(b, isOne, one, base.isUnsignedInteger() ? zero : select(b, isMinusOne, unit, zero));
    Value isNegative = arith::CmpIOp::create(b, P::slt, left, number(left, 0));
    result = select(b, isNegative, inverse, result);
  }
  return base.getIntOrFloatBitWidth() < 32 ? arith::TruncIOp::create(b, x.getType(), result).getResult() : result;
}

static FailureOr<Value> lowerPow(onnx::PowOp op, LinalgBuilder &b) {
  Type base = elementTypeOf(op.getA()), exponent = elementTypeOf(op.getB());
  if (base.isInteger() && exponent.isInteger()) {
    auto bits = exponentBits(op.getB());
    return b.map({op.getA(), op.getB()}, shapeOf(op.getC()), base, [&](Builder1 &b, ValueRange e) {
      return integerPower(b, e[0], base, e[1], exponent, bits);
    });
  }
  auto is64 = [](Type type) { return type.getIntOrFloatBitWidth() == 64; };
  Type wide = is64(base) || is64(exponent) ? Type(b.getF64Type()) : Type(b.getF32Type());
  if (auto real = dyn_cast<FloatType>(base))
    wide = real;
  return b.map({op.getA(), op.getB()}, shapeOf(op.getC()), base, [&](Builder1 &b, ValueRange e) -> Value {
    Value power = math::PowFOp::create(b, convertScalar(b, e[0], base, wide), convertScalar(b, e[1], exponent, wide));
    return convertScalar(b, power, wide, base);
  });
}

/// fmod: the sign of the dividend. Otherwise (integers): the sign of the divisor.
static FailureOr<Value> lowerMod(onnx::ModOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getA());
  return b.map({op.getA(), op.getB()}, shapeOf(op.getC()), element, [&](Builder1 &b, ValueRange e) -> Value {
    if (llvm::isa<FloatType>(element))
      return arith::RemFOp::create(b, e[0], e[1]);
    if (element.isUnsignedInteger())
      return arith::RemUIOp::create(b, e[0], e[1]);
    Value remainder = arith::RemSIOp::create(b, e[0], e[1]);
    if (op.getFmod())
      return remainder;
    Value zero = constantLike(b, e[0], 0);
    using P = arith::CmpIPredicate;
    Value differ = arith::XOrIOp::create(b, arith::CmpIOp::create(b, P::slt, remainder, zero),
                                         arith::CmpIOp::create(b, P::slt, e[1], zero));
    Value nonZero = arith::CmpIOp::create(b, P::ne, remainder, zero);
    return select(b, arith::AndIOp::create(b, differ, nonZero), arith::AddIOp::create(b, remainder, e[1]), remainder);
  });
}

static FailureOr<Value> lowerWhere(onnx::WhereOp op, LinalgBuilder &b) {
  return b.map({op.getCondition(), op.getX(), op.getY()}, shapeOf(op.getZ()), elementTypeOf(op.getZ()),
               [](Builder1 &b, ValueRange e) { return select(b, e[0], e[1], e[2]); });
}

static FailureOr<Value> lowerBitShift(onnx::BitShiftOp op, LinalgBuilder &b) {
  if (op.getDirection() != "LEFT" && op.getDirection() != "RIGHT")
    return op.emitOpError("expected direction \"LEFT\" or \"RIGHT\" but got \"") << op.getDirection() << "\"";
  bool left = op.getDirection() == "LEFT";
  return b.map({op.getA(), op.getB()}, shapeOf(op.getC()), elementTypeOf(op.getC()), [&](Builder1 &b, ValueRange e) {
    return left ? arith::ShLIOp::create(b, e[0], e[1]).getResult() : arith::ShRUIOp::create(b, e[0], e[1]).getResult();
  });
}

static FailureOr<Value> lowerBitCast(onnx::BitCastOp op, LinalgBuilder &b) {
  Type from = elementTypeOf(op.getX()), to = elementTypeOf(op.getY());
  if (from == to)
    return op.getX();
  // A boolean is a byte of 0 or 1.
  bool integers = from.isInteger() && to.isInteger() && !to.isInteger(1);
  unsigned width = std::max(from.getIntOrFloatBitWidth(), to.getIntOrFloatBitWidth());
  if (!integers && width != 64 && width != 32 && width != 16)
    return op.emitOpError("reading the bits of ")
           << onnx::typeName(from) << " as " << onnx::typeName(to) << " is not supported";
  return b.map(op.getX(), shapeOf(op.getX()), to, [&](Builder1 &b, ValueRange e) -> Value {
    // Conversions of integers keep the low bits.
    if (integers)
      return convertScalar(b, e[0], from, to);
    Type plain = llvm::isa<FloatType>(to) ? to : Type(b.getIntegerType(width));
    return arith::BitcastOp::create(b, plain, e[0]);
  });
}

/// To a power of two, up, down or to the nearest one: the fraction of an fp32 is carried into its exponent or dropped.
static FailureOr<Value> lowerCastToPower(onnx::CastOp op, LinalgBuilder &b) {
  Type from = elementTypeOf(op.getX()), to = elementTypeOf(op.getY());
  StringRef mode = op.getRoundMode().value_or("up");
  int carry = mode == "up" ? 0x007FFFFF : mode == "nearest" ? 0x00400000 : 0;
  if (mode != "up" && mode != "nearest" && mode != "down")
    return op.emitOpError("expected round_mode \"up\", \"down\" or \"nearest\" but got \"") << mode << "\"";
  return b.map(op.getX(), shapeOf(op.getX()), to, [&](Builder1 &b, ValueRange e) -> Value {
    Type f32 = b.getF32Type(), i32 = b.getI32Type();
    Value x = convertScalar(b, e[0], from, f32);
    Value bits = arith::BitcastOp::create(b, i32, x);
    if (carry)
      bits = arith::AddIOp::create(b, bits, scalarConstant(b, i32, carry));
    bits = arith::AndIOp::create(b, bits, scalarConstant(b, i32, 0x7F800000));
    Value power = arith::BitcastOp::create(b, f32, bits);
    power = minimum(b, maximum(b, power, constantLike(b, x, 0x1p-127)), constantLike(b, x, 0x1p127));
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, x);
    return arith::TruncFOp::create(b, to, select(b, isNan, x, power));
  });
}

static FailureOr<Value> lowerCast(onnx::CastOp op, LinalgBuilder &b) {
  Type from = elementTypeOf(op.getX()), to = elementTypeOf(op.getY());
  if (llvm::isa<Float8E8M0FNUType>(to))
    return lowerCastToPower(op, b);
  bool saturates = llvm::isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 16 && op.getSaturate();
  return b.map(op.getX(), shapeOf(op.getX()), to, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = e[0];
    if (saturates && llvm::isa<FloatType>(from) && from.getIntOrFloatBitWidth() >= 16) {
      // Saturating: to the largest finite value.
      double limit = APFloat::getLargest(cast<FloatType>(to).getFloatSemantics()).convertToDouble();
      value = maximum(b, minimum(b, value, constantLike(b, value, limit)), constantLike(b, value, -limit));
    }
    return convertScalar(b, value, from, to);
  });
}

/// Bounds are scalars; one element of any rank is taken for one.
static FailureOr<Value> lowerClip(onnx::ClipOp op, LinalgBuilder &b) {
  Value x = op.getX();
  Type element = elementTypeOf(x);
  bool isUnsigned = element.isUnsignedInteger();
  SmallVector<Value> inputs = {x};
  int minAt = -1, maxAt = -1;
  if (op.getMinOperand())
    minAt = inputs.size(), inputs.push_back(b.reshape(op.getMinOperand(), {}));
  if (op.getMaxOperand())
    maxAt = inputs.size(), inputs.push_back(b.reshape(op.getMaxOperand(), {}));
  auto bound = [&](Builder1 &b, int at, TypedAttr attribute, ValueRange e) -> Value {
    if (at >= 0)
      return e[at];
    if (!attribute)
      return nullptr;
    if (auto real = dyn_cast<FloatAttr>(attribute))
      return scalarConstant(b, element, real.getValueAsDouble());
    auto type = IntegerType::get(b.getContext(), element.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, cast<IntegerAttr>(attribute).getValue()));
  };
  return b.map(inputs, shapeOf(x), element, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = e[0];
    if (Value low = bound(b, minAt, op.getMinAttr(), e)) {
      if (llvm::isa<FloatType>(element))
        value = maximum(b, value, low);
      else
        value = isUnsigned ? arith::MaxUIOp::create(b, value, low).getResult()
                           : arith::MaxSIOp::create(b, value, low).getResult();
    }
    if (Value high = bound(b, maxAt, op.getMaxAttr(), e)) {
      if (llvm::isa<FloatType>(element))
        value = minimum(b, value, high);
      else
        value = isUnsigned ? arith::MinUIOp::create(b, value, high).getResult()
                           : arith::MinSIOp::create(b, value, high).getResult();
    }
    return value;
  });
}

static FailureOr<Value> lowerMean(onnx::MeanOp op, LinalgBuilder &b) {
  return b.map(op.getInputs(), shapeOf(op.getY()), elementTypeOf(op.getY()), [&](Builder1 &b, ValueRange e) -> Value {
    Value sum = e[0];
    for (Value next : e.drop_front())
      sum = add(b, sum, next);
    return div(b, sum, constantLike(b, sum, double(e.size())));
  });
}

void addElementwiseLowerings(LoweringTable &table) {
  table.add(lowerAbs);
  table.add(lowerIdentity);
  table.add(lowerIsInf);
  table.add(lowerSwish);
  table.add(lowerGelu);
  table.add(lowerShrink);
  table.add(lowerPow);
  table.add(lowerMod);
  table.add(lowerWhere);
  table.add(lowerCast);
  table.add(lowerBitShift);
  table.add(lowerBitCast);
  table.add(lowerClip);
  table.add(lowerMean);
}

} // namespace trn
