//===- ExpandScalars.cpp - scalar operations that no instruction computes -----===//
// Writes the compositions of dialects/Trn/ISA/Compositions.td into bodies: a scalar operation without a row in the table
// isa::scalarOp, or whose row is right on a part of its domain only, becomes operations that have rows, on all inputs.
// Floats are computed in fp32 whatever their type; integers exactly, by the functions of this file that records name.
// Refuses nothing: what has neither row nor composition is refused where bodies are covered.
#include "passes/Select/Passes.h"
#include "dialects/Trn/Formula.h"
#include "dialects/Trn/ISA/Compositions.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_EXPANDSCALARSPASS
#include "passes/Select/Passes.h.inc"

namespace {
using I = arith::CmpIPredicate;

/// Short names for the operations of integer arithmetic. Floats are f32.
struct Body : ImplicitLocOpBuilder {
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value integer(Type type, int64_t value) { return arith::ConstantOp::create(*this, getIntegerAttr(type, value)); }
  Value mul(Value x, double y) {
    return arith::MulFOp::create(*this, x, arith::ConstantOp::create(*this, getF32FloatAttr(static_cast<float>(y))));
  }
  Value div(Value x, Value y) { return arith::DivFOp::create(*this, x, y); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(*this, condition, x, y); }
};

//===----------------------------------------------------------------------===//
// Division of integers
//===----------------------------------------------------------------------===//

/// Quotient and remainder, truncated. fp32 quotients of integers below 2^24 truncate exactly: a quotient that is no
/// integer is further from one than fp32 rounds; and fp32 has the products. Words take two steps of long division, whose
/// digits never exceed the true ones because each is made smaller by more than its rounding errors, and one comparison at
/// the end.
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
    Value exact = b.div(real(x), real(y)), wide = arith::FPToSIOp::create(b, i32, exact);
    Value whole = arith::SIToFPOp::create(b, f32, wide);
    Value rest = arith::SubFOp::create(b, real(x), arith::MulFOp::create(b, whole, real(y)));
    rest = math::RoundEvenOp::create(b, rest); // integral; a write that rounds is one instruction
    // The quotient of the smallest number by -1 wraps around.
    if (!isUnsigned)
      return {arith::TruncIOp::create(b, type, wide), arith::FPToSIOp::create(b, type, rest)};
    return {arith::FPToUIOp::create(b, type, exact), arith::FPToUIOp::create(b, type, rest)};
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

Value expandDivision(Body &b, Operation *op) {
  if (!op->getOperand(0).getType().isInteger())
    return Value();
  auto [quotient, remainder] =
      divide(b, op->getOperand(0), op->getOperand(1), llvm::isa<arith::DivUIOp, arith::RemUIOp>(op));
  return llvm::isa<arith::DivSIOp, arith::DivUIOp>(op) ? quotient : remainder;
}

//===----------------------------------------------------------------------===//
// Integers of fewer than 32 bits
//===----------------------------------------------------------------------===//

/// Integers wrap around, but an engine that writes a narrow one saturates (device guide 4.2): sums, differences, products
/// and magnitudes are computed in 32 bits, and their low bits are the result. Null for wider ones.
Value expandNarrow(Body &b, Operation *op) {
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!type || type.getWidth() == 1 || type.getWidth() >= 32)
    return Value();
  bool needsSign = llvm::isa<math::AbsIOp>(op);
  IRMapping wide;
  for (Value operand : op->getOperands()) {
    // Low bits of a sum are those of the sum of low bits: either sign is right, and what is wide already stays so.
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

/// A sum with a positive constant is never a tiny positive number: its digits end at those of the constant.
bool isAtLeast(Value x, double bound) {
  auto sum = x.getDefiningOp<arith::AddFOp>();
  auto constant = sum ? sum.getRhs().getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return value && value.getValueAsDouble() >= bound;
}

/// The composition of an operation with these operands; null when it has none, or they do not need it.
const isa::Composition *compositionOf(StringRef key, ValueRange operands) {
  const isa::Composition *composition = isa::composition({key.data(), key.size()});
  return composition && !isAtLeast(operands[0], composition->rowFrom) ? composition : nullptr;
}

Value write(Body &b, const isa::Composition &composition, ValueRange operands) {
  auto operation = [&](StringRef key, ValueRange arguments) -> Value {
    const isa::Composition *inner = key == composition.key ? nullptr : compositionOf(key, arguments);
    return inner ? write(b, *inner, arguments) : Value();
  };
  return ir::buildFormula(b, composition.formula, operands, {nullptr, operation});
}

/// The record's composition, computed in fp32.
Value expandFloat(Body &b, Operation *op, const isa::Composition &composition) {
  Type type = op->getOperand(0).getType();
  if (llvm::any_of(op->getOperandTypes(), [&](Type other) { return other != type; }) || type.getIntOrFloatBitWidth() > 32)
    return Value();
  // Comparisons are exact in every type.
  if (type.isF32() || llvm::isa<arith::CmpFOp>(op))
    return write(b, composition, op->getOperands());
  SmallVector<Value> wide;
  for (Value operand : op->getOperands())
    wide.push_back(arith::ExtFOp::create(b, b.getF32Type(), operand));
  return arith::TruncFOp::create(b, type, write(b, composition, wide));
}

using ExpandFunction = Value (*)(Body &, Operation *);
ExpandFunction expandFunction(StringRef key) {
  return llvm::StringSwitch<ExpandFunction>(key)
#define COMPOSED_IN_CODE(key, function) .Case(key, function)
#include "dialects/Trn/ISA/CompositionsInCode.inc"
#undef COMPOSED_IN_CODE
      .Default(nullptr);
}

Value expand(Operation *op) {
  // `x uno x` asks for NaN: one instruction.
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare && compare.getLhs() == compare.getRhs() &&
                                                  compare.getPredicate() == arith::CmpFPredicate::UNO)
    return Value();
  std::string key = ir::scalarKey(op);
  Body b(op->getLoc(), op);
  if (ExpandFunction function = expandFunction(key))
    return function(b, op);
  const isa::Composition *composition = op->getNumOperands() ? compositionOf(key, op->getOperands()) : nullptr;
  return composition ? expandFloat(b, op, *composition) : Value();
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
