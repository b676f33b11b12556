//===- ExpandScalars.cpp - scalar operations that no instruction computes -----===//
// Owns the compositions: a scalar operation without a row in the table isa::scalarOp, or whose row is right on a part of
// its domain only, becomes operations that have rows, on all inputs. Floats are computed in fp32 whatever their type;
// integers exactly. Refuses nothing: what has neither row nor composition is refused where bodies are covered.
#include "passes/Select/Passes.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_EXPANDSCALARSPASS
#include "passes/Select/Passes.h.inc"

namespace {
using P = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

constexpr double kPi = 3.14159265358979323846, kLn2 = 0.69314718055994530942;

/// Short names for the operations of a body. Floats are f32.
struct Body : ImplicitLocOpBuilder {
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value number(double value) {
    return arith::ConstantOp::create(*this, getF32FloatAttr(static_cast<float>(value)));
  }
  Value integer(Type type, int64_t value) { return arith::ConstantOp::create(*this, getIntegerAttr(type, value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(*this, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(*this, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(*this, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(*this, x, y); }
  Value add(Value x, double y) { return add(x, number(y)); }
  Value mul(Value x, double y) { return mul(x, number(y)); }
  Value abs(Value x) { return math::AbsFOp::create(*this, x); }
  Value exp(Value x) { return math::ExpOp::create(*this, x); }
  Value sqrt(Value x) { return math::SqrtOp::create(*this, x); }
  Value sign(Value x) { return function(isa::ActivationFunc::Sign, x); }
  Value function(isa::ActivationFunc which, Value x) {
    return ir::ScalarOp::create(*this, x.getType(), ir::ActivationFuncAttr::get(getContext(), which), x);
  }
  Value compare(P predicate, Value x, Value y) { return arith::CmpFOp::create(*this, predicate, x, y); }
  Value above(Value x, double bound) { return compare(P::OGT, x, number(bound)); }
  Value below(Value x, double bound) { return compare(P::OLT, x, number(bound)); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(*this, condition, x, y); }
  Value negated(Value condition) { return arith::XOrIOp::create(*this, condition, integer(getI1Type(), 1)); }
  Value either(Value x, Value y) { return arith::OrIOp::create(*this, x, y); }
};

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

/// The table covers [-pi, pi] (SH32) and does not reduce: x - k 2 pi + shift, k the nearest integer. 2 pi in three parts of
/// few bits, so that its products with k are exact up to |k| = 2^13.
Value expandSine(Body &b, Value x, double shift) {
  constexpr double kHigh = 6.28125, kMiddle = 1.93500518798828125e-3, kLow = 3.0199157827e-7;
  constexpr double kShiftHigh = 1.57079637050628662109375, kShiftLow = -4.37113900018624283e-8;
  Value turns = b.mul(x, 0.5 / kPi);
  if (shift != 0)
    turns = b.add(turns, 0.25);
  Value whole = arith::FPToSIOp::create(b, b.getI32Type(), math::RoundEvenOp::create(b, turns));
  Value k = arith::SIToFPOp::create(b, b.getF32Type(), whole);
  Value reduced = b.sub(b.sub(x, b.mul(k, kHigh)), b.mul(k, kMiddle));
  reduced = b.sub(reduced, b.mul(k, kLow));
  if (shift != 0)
    reduced = b.add(b.add(reduced, kShiftHigh), kShiftLow);
  // Rounding may leave the range by a few units in the last place.
  reduced = arith::MinimumFOp::create(b, reduced, b.number(3.1415925));
  reduced = arith::MaximumFOp::create(b, reduced, b.number(-3.1415925));
  return b.function(isa::ActivationFunc::Sin, reduced);
}

/// The table covers [-pi/2, pi/2] (SH32): atan(x) = pi/2 - atan(1/x) for x > 1, and it is odd.
Value expandArctan(Body &b, Value x) {
  Value magnitude = b.abs(x), isLarge = b.above(magnitude, 1);
  Value folded = b.select(isLarge, b.div(b.number(1), magnitude), magnitude);
  Value angle = b.function(isa::ActivationFunc::Arctan, folded);
  return b.mul(b.select(isLarge, b.sub(b.number(kPi / 2), angle), angle), b.sign(x));
}

/// asin(x) = atan(x / sqrt((1 - x) (1 + x)))
Value expandArcsine(Body &b, Value x) {
  Value square = b.mul(b.sub(b.number(1), x), b.add(x, 1));
  return expandArctan(b, b.div(x, b.sqrt(square)));
}

/// acos(x) = 2 atan(sqrt((1 - x) / (1 + x))), which keeps its digits near 1. The argument is not negative, or NaN.
Value expandArccosine(Body &b, Value x) {
  return b.mul(expandArctan(b, b.sqrt(b.div(b.sub(b.number(1), x), b.add(x, 1)))), 2);
}

/// The table covers [2^-64, 2^64] (SH32); powers of two are taken out beyond.
Value expandLog(Body &b, Value x) {
  constexpr double kUp = 86, kDown = 64;
  Value isSmall = b.below(x, 0x1p-64), isLarge = b.above(x, 0x1p64), one = b.number(1), zero = b.number(0);
  Value scale = b.select(isSmall, b.number(0x1p86), b.select(isLarge, b.number(0x1p-64), one));
  Value rest = b.select(isSmall, b.number(-kUp * kLn2), b.select(isLarge, b.number(kDown * kLn2), zero));
  return b.add(math::LogOp::create(b, b.mul(x, scale)), rest);
}

/// log(1 + y), y >= 0: the digits of y that the sum loses come back as the quotient.
Value logOnePlus(Body &b, Value y) {
  Value sum = b.add(y, 1), kept = b.add(sum, -1);
  Value log = expandLog(b, sum);
  // From 2^24 on nothing that counts is lost, and infinity stays.
  Value precise = b.select(b.above(y, 0x1p24), log, b.mul(log, b.div(y, kept)));
  return b.select(b.compare(P::OEQ, kept, b.number(0)), y, precise);
}

/// sign(x) log(1 + y), y = |x| + x^2 / (1 + sqrt(x^2 + 1))
Value expandAreaSine(Body &b, Value x) {
  Value magnitude = b.abs(x), isLarge = b.above(magnitude, 0x1p28);
  Value small = arith::MinimumFOp::create(b, magnitude, b.number(0x1p28)), square = b.mul(small, small);
  Value y = b.add(small, b.div(square, b.add(b.sqrt(b.add(square, 1)), 1)));
  Value far = b.add(expandLog(b, magnitude), kLn2);
  return b.mul(b.select(isLarge, far, logOnePlus(b, y)), b.sign(x));
}

/// log(1 + y), y = t + sqrt(t (t + 2)), t = x - 1
Value expandAreaCosine(Body &b, Value x) {
  Value isLarge = b.above(x, 0x1p28);
  Value t = b.add(Value(arith::MinimumFOp::create(b, x, b.number(0x1p28))), -1);
  Value y = b.add(t, b.sqrt(b.mul(t, b.add(t, 2))));
  return b.select(isLarge, b.add(expandLog(b, x), kLn2), logOnePlus(b, y));
}

/// sign(x) log(1 + 2 |x| / (1 - |x|)) / 2
Value expandAreaTangent(Body &b, Value x) {
  Value magnitude = b.abs(x);
  Value y = b.div(b.mul(magnitude, 2), b.sub(b.number(1), magnitude));
  // Below -1 the quotient is negative: log1p of -2 is NaN, as it should be.
  return b.mul(b.mul(logOnePlus(b, y), 0.5), b.sign(x));
}

/// sign(x) (e^|x| - e^-|x|) / 2. The difference loses the digits of a small x, where a polynomial has them all; e^|x| / 2 is
/// e^(|x| / 2) squared and halved between, which neither overflows early nor rounds the exponent.
Value expandHyperbolicSine(Body &b, Value x) {
  Value magnitude = b.abs(x), square = b.mul(x, x), series = b.number(1.0 / 362880);
  for (double coefficient : {1.0 / 5040, 1.0 / 120, 1.0 / 6, 1.0})
    series = b.add(b.mul(series, square), coefficient);
  Value root = b.exp(b.mul(magnitude, 0.5)), half = b.mul(b.mul(root, 0.5), root);
  Value far = b.mul(b.sub(half, b.div(b.number(0.25), half)), b.sign(x));
  return b.select(b.above(magnitude, 1), far, b.mul(series, x));
}

/// (e^|x| + e^-|x|) / 2, halved before it can overflow.
Value expandCosine(Body &b, Value x) {
  Value half = b.exp(b.add(b.abs(x), -kLn2));
  return b.add(half, b.div(b.number(0.25), half));
}

/// log(1 + x) and e^x - 1 keep the digits of a small x.
Value expandLogOnePlus(Body &b, Value x) {
  Value sum = b.add(x, 1), kept = b.add(sum, -1), log = expandLog(b, sum);
  Value precise = b.select(b.above(x, 0x1p24), log, b.mul(log, b.div(x, kept)));
  return b.select(b.compare(P::OEQ, kept, b.number(0)), x, precise);
}

/// A sum with a positive constant is never a tiny positive number: its digits end at those of the constant.
bool isFarFromZero(Value x) {
  auto sum = x.getDefiningOp<arith::AddFOp>();
  auto constant = sum ? sum.getRhs().getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return value && value.getValueAsDouble() >= 0x1p-60;
}

/// The tables cover [2^-116, 2^118] and [2^-87, 2^97] (SH32); 4^n is taken out beyond.
Value expandRoot(Body &b, Value x, bool inverse) {
  double low = inverse ? 0x1p-87 : 0x1p-116, high = inverse ? 0x1p97 : 0x1p118;
  Value isSmall = b.below(x, low), isLarge = b.above(x, high), one = b.number(1);
  Value scale = b.select(isSmall, b.number(0x1p64), b.select(isLarge, b.number(0x1p-64), one));
  double up = inverse ? 0x1p32 : 0x1p-32;
  Value back = b.select(isSmall, b.number(up), b.select(isLarge, b.number(1 / up), one));
  Value scaled = b.mul(x, scale);
  Value root = inverse ? math::RsqrtOp::create(b, scaled).getResult() : b.sqrt(scaled);
  return b.mul(root, back);
}

/// The composition of a function of one float in f32; null when the operation is fine as it is.
Value expandUnary(Body &b, Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::SinOp) { return expandSine(b, x, 0); })
      .Case([&](math::CosOp) { return expandSine(b, x, kPi / 2); })
      .Case([&](math::TanOp) { return b.div(expandSine(b, x, 0), expandSine(b, x, kPi / 2)); })
      .Case([&](math::AtanOp) { return expandArctan(b, x); })
      .Case([&](math::AsinOp) { return expandArcsine(b, x); })
      .Case([&](math::AcosOp) { return expandArccosine(b, x); })
      .Case([&](math::AsinhOp) { return expandAreaSine(b, x); })
      .Case([&](math::AcoshOp) { return expandAreaCosine(b, x); })
      .Case([&](math::AtanhOp) { return expandAreaTangent(b, x); })
      .Case([&](math::SinhOp) { return expandHyperbolicSine(b, x); })
      .Case([&](math::CoshOp) { return expandCosine(b, x); })
      .Case([&](math::Log1pOp) { return expandLogOnePlus(b, x); })
      .Case([&](math::LogOp) { return expandLog(b, x); })
      .Case([&](math::SqrtOp) { return expandRoot(b, x, false); })
      .Case([&](math::RsqrtOp) { return expandRoot(b, x, true); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// The ALU compares false with NaN, except is_ne (SH32): other unordered predicates are negations of ordered ones.
Value expandCompare(Body &b, arith::CmpFOp op) {
  Value x = op.getLhs(), y = op.getRhs();
  auto isNumber = [&](Value value) { return b.compare(P::OEQ, value, value); };
  auto differ = [&] { return b.either(b.compare(P::OLT, x, y), b.compare(P::OGT, x, y)); };
  switch (op.getPredicate()) {
  case P::ULT:
    return b.negated(b.compare(P::OGE, x, y));
  case P::ULE:
    return b.negated(b.compare(P::OGT, x, y));
  case P::UGT:
    return b.negated(b.compare(P::OLE, x, y));
  case P::UGE:
    return b.negated(b.compare(P::OLT, x, y));
  case P::UEQ:
    return b.negated(differ());
  case P::ONE:
    return differ();
  case P::ORD:
    return arith::AndIOp::create(b, isNumber(x), isNumber(y));
  case P::UNO:
    return x == y ? b.compare(P::UNE, x, x) : b.either(b.compare(P::UNE, x, x), b.compare(P::UNE, y, y));
  case P::AlwaysFalse:
  case P::AlwaysTrue:
    return b.integer(b.getI1Type(), op.getPredicate() == P::AlwaysTrue);
  default:
    return Value();
  }
}

//===----------------------------------------------------------------------===//
// Division of integers
//===----------------------------------------------------------------------===//

/// Quotient and remainder, truncated. fp32 quotients of integers below 2^24 truncate exactly: a quotient that is no
/// integer is further from one than fp32 rounds. Words take two steps of long division, whose digits never exceed the
/// true ones because each is made smaller by more than its rounding errors, and one comparison at the end.
std::pair<Value, Value> divide(Body &b, Value x, Value y, bool isUnsigned) {
  Type type = x.getType(), f32 = b.getF32Type(), i32 = b.getI32Type();
  auto real = [&](Value value) -> Value {
    return isUnsigned ? arith::UIToFPOp::create(b, f32, value).getResult()
                      : arith::SIToFPOp::create(b, f32, value).getResult();
  };
  auto minus = [&](Value from, Value what) { return arith::SubIOp::create(b, from, what).getResult(); };
  auto times = [&](Value lhs, Value rhs) { return arith::MulIOp::create(b, lhs, rhs).getResult(); };
  auto plus = [&](Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs).getResult(); };
  if (type.getIntOrFloatBitWidth() < 32) {
    Value wide = arith::FPToSIOp::create(b, i32, b.div(real(x), real(y)));
    Value quotient = arith::TruncIOp::create(b, type, wide);
    return {quotient, minus(x, times(quotient, y))};
  }
  auto digit = [&](Value rest) -> Value {
    Value estimate = b.mul(b.div(real(rest), real(y)), 1 - 0x1p-21);
    return isUnsigned ? arith::FPToUIOp::create(b, type, estimate).getResult()
                      : arith::FPToSIOp::create(b, type, estimate).getResult();
  };
  Value first = digit(x), rest = minus(x, times(first, y));
  Value second = digit(rest), last = minus(rest, times(second, y));
  Value zero = b.integer(type, 0), one = b.integer(type, 1), more;
  if (isUnsigned) {
    Value left = arith::CmpIOp::create(b, I::uge, last, y);
    more = b.select(left, one, zero);
  } else {
    // Magnitudes as negative numbers, which have room for all.
    auto negative = [&](Value value) { return arith::MinSIOp::create(b, value, minus(zero, value)).getResult(); };
    Value left = arith::CmpIOp::create(b, I::sle, negative(last), negative(y));
    Value differ = arith::CmpIOp::create(b, I::ne, arith::CmpIOp::create(b, I::slt, x, zero),
                                         arith::CmpIOp::create(b, I::slt, y, zero));
    more = b.select(left, b.select(differ, b.integer(type, -1), one), zero);
  }
  return {plus(plus(first, second), more), minus(last, times(more, y))};
}

//===----------------------------------------------------------------------===//
// Integers of fewer than 32 bits
//===----------------------------------------------------------------------===//

/// Integers wrap around, but an engine that writes a narrow one saturates (device guide 4.2): sums, differences, products
/// and magnitudes are computed in 32 bits, and their low bits are the result. Null for other operations.
Value expandNarrow(Body &b, Operation *op) {
  if (!llvm::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, math::AbsIOp>(op))
    return Value();
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!type || type.getWidth() == 1 || type.getWidth() >= 32)
    return Value();
  bool needsSign = llvm::isa<math::AbsIOp>(op);
  IRMapping wide;
  for (Value operand : op->getOperands()) {
    // Low bits of a sum are those of the sum of low bits: what is wide already stays so.
    auto narrowed = operand.getDefiningOp<arith::TruncIOp>();
    if (narrowed && !needsSign && narrowed.getIn().getType().isInteger(32))
      wide.map(operand, narrowed.getIn());
    else
      wide.map(operand, arith::ExtSIOp::create(b, b.getI32Type(), operand));
  }
  Operation *computed = b.clone(*op, wide);
  computed->getResult(0).setType(b.getI32Type());
  return arith::TruncIOp::create(b, type, computed->getResult(0));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

Value expand(Operation *op) {
  Body b(op->getLoc(), op);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return expandCompare(b, compare);
  if (llvm::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    if (!op->getOperand(0).getType().isInteger())
      return Value();
    bool isUnsigned = llvm::isa<arith::DivUIOp, arith::RemUIOp>(op);
    auto [quotient, remainder] = divide(b, op->getOperand(0), op->getOperand(1), isUnsigned);
    return llvm::isa<arith::DivSIOp, arith::DivUIOp>(op) ? quotient : remainder;
  }
  if (Value narrow = expandNarrow(b, op))
    return narrow;
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return Value();
  auto type = dyn_cast<FloatType>(op->getResult(0).getType());
  if (!type || type != op->getOperand(0).getType() || type.getWidth() > 32)
    return Value();
  Value x = op->getOperand(0);
  if (llvm::isa<math::SqrtOp, math::RsqrtOp>(op) && isFarFromZero(x))
    return Value();
  if (type.isF32())
    return expandUnary(b, op, x);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), x), result = expandUnary(b, op, wide);
  if (result)
    return arith::TruncFOp::create(b, type, result);
  wide.getDefiningOp()->erase();
  return Value();
}

/// Whether two or more of the tensors that `value` is computed from have an element for each of the result; the others are
/// one scalar per partition, or per part of the result.
bool readsTwoTensors(linalg::GenericOp op, Value value) {
  unsigned tensors = 0;
  SmallPtrSet<Value, 16> visited{value};
  SmallVector<Value> toVisit{value};
  while (!toVisit.empty() && tensors < 2) {
    Value next = toVisit.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == op.getBody())
        tensors += op.getMatchingIndexingMap(&op->getOpOperand(argument.getArgNumber())).getNumResults() == op.getNumLoops();
    } else if (Operation *producer = next.getDefiningOp(); producer->getBlock() == op.getBody()) {
      for (Value operand : producer->getOperands())
        if (visited.insert(operand).second)
          toVisit.push_back(operand);
    }
  }
  return tensors >= 2;
}

/// Rounds behind the larger or smaller of a rounded value and a constant of the rounded type. Rounding keeps the order, so
/// the bits are the same, and one instruction computes both and rounds what it stores. A sum of two tensors is an
/// instruction of its own, behind which the rounded value is faster to read.
void roundLast(linalg::GenericOp op) {
  for (Operation &selection : llvm::make_early_inc_range(op.getBody()->without_terminator())) {
    if (!llvm::isa<arith::MaximumFOp, arith::MinimumFOp>(selection))
      continue;
    auto wide = selection.getOperand(0).getDefiningOp<arith::ExtFOp>();
    auto rounded = wide ? wide.getIn().getDefiningOp<arith::TruncFOp>() : arith::TruncFOp();
    auto constant = selection.getOperand(1).getDefiningOp<arith::ConstantOp>();
    if (!rounded || !constant || !wide->hasOneUse() || !rounded->hasOneUse() ||
        rounded.getIn().getType() != wide.getType() || readsTwoTensors(op, rounded.getIn()))
      continue;
    Type narrow = rounded.getType();
    APFloat value = cast<FloatAttr>(constant.getValue()).getValue();
    bool inexact;
    value.convert(cast<FloatType>(narrow).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    if (inexact)
      continue;
    selection.setOperand(0, rounded.getIn());
    wide.erase();
    rounded.erase();
    bool isRounded = llvm::all_of(selection.getUsers(), [&](Operation *user) {
      return llvm::isa<arith::TruncFOp>(user) && user->getResult(0).getType() == narrow;
    });
    if (isRounded)
      continue;
    OpBuilder b(&selection);
    b.setInsertionPointAfter(&selection);
    auto again = arith::TruncFOp::create(b, selection.getLoc(), narrow, selection.getResult(0));
    auto back = arith::ExtFOp::create(b, selection.getLoc(), selection.getResult(0).getType(), again.getResult());
    selection.getResult(0).replaceAllUsesExcept(back, again);
  }
}

struct ExpandScalarsPass : impl::ExpandScalarsPassBase<ExpandScalarsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> scalars;
    getOperation().walk([&](linalg::GenericOp op) {
      roundLast(op);
      for (Operation &scalar : op.getBody()->without_terminator())
        scalars.push_back(&scalar);
    });
    for (Operation *op : scalars)
      if (Value composed = expand(op)) {
        op->getResult(0).replaceAllUsesWith(composed);
        op->erase();
      }
  }
};
} // namespace
} // namespace trn
