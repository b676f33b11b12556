//===- IntegerRanges.cpp - what the integers of a model can be ------------===//
#include "passes/Tensor/IntegerRanges.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;

namespace trn {

/// Rounds after which a reduction that still grows is taken for unbounded.
static constexpr int64_t kMaxRounds = 8;

static Type elementOf(Type type) { return getElementTypeOrSelf(type); }
static bool isIntegral(Type type) { return elementOf(type).isIntOrIndex(); }
static unsigned widthOf(Type type) { return ConstantIntRanges::getStorageBitwidth(elementOf(type)); }

bool fitsSigned32(const ConstantIntRanges &range) {
  return range.smin().isSignedIntN(32) && range.smax().isSignedIntN(32);
}
bool fitsUnsigned32(const ConstantIntRanges &range) { return range.umax().isIntN(32); }

std::string rangeText(const ConstantIntRanges &range, bool isUnsigned) {
  SmallString<24> low, high;
  (isUnsigned ? range.umin() : range.smin()).toString(low, 10, !isUnsigned);
  (isUnsigned ? range.umax() : range.smax()).toString(high, 10, !isUnsigned);
  return (low + " to " + high).str();
}

/// The smallest and largest element of a constant of integers of 64 bits, or of a few narrower ones.
static std::optional<ConstantIntRanges> rangeOfConstant(ElementsAttr attribute) {
  constexpr int64_t kMostNarrow = 4096; // narrower types are bounded already
  std::optional<Constant> constant = Constant::get(attribute);
  if (!constant || constant->size() == 0)
    return std::nullopt;
  unsigned width = widthOf(constant->elementType());
  int64_t count = constant->isSplat() ? 1 : constant->size();
  if (width < 64 && count > kMostNarrow)
    return std::nullopt;
  APInt smin = APInt::getSignedMaxValue(width), smax = APInt::getSignedMinValue(width);
  APInt umin = APInt::getMaxValue(width), umax = APInt::getMinValue(width);
  for (int64_t i = 0; i < count; ++i) {
    APInt value = APInt(64, static_cast<uint64_t>(constant->integer(i))).zextOrTrunc(width);
    smin = llvm::APIntOps::smin(smin, value);
    smax = llvm::APIntOps::smax(smax, value);
    umin = llvm::APIntOps::umin(umin, value);
    umax = llvm::APIntOps::umax(umax, value);
  }
  return ConstantIntRanges(umin, umax, smin, smax);
}

/// The value behind casts between types of one width.
static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    value = cast.getOperand(0);
  return value;
}

/// Whether all that happens to an accumulator is that `sum` adds to it.
static bool isOnlyAddedTo(Value accumulator, Operation *sum) {
  while (accumulator.hasOneUse()) {
    Operation *user = *accumulator.user_begin();
    if (user == sum)
      return true;
    if (!llvm::isa<UnrealizedConversionCastOp>(user))
      return false;
    accumulator = user->getResult(0);
  }
  return false;
}

/// `times` terms of a sum, each in `term`, on top of `start`: all sums after the first term.
static ConstantIntRanges rangeOfSum(const ConstantIntRanges &start, const ConstantIntRanges &term, int64_t times) {
  unsigned width = start.smin().getBitWidth();
  constexpr unsigned kWide = 192; // no overflow: a product of two numbers of 64 bits and a few more
  auto sums = [&](bool isSigned) -> std::pair<APInt, APInt> {
    auto wide = [&](const APInt &value) { return isSigned ? value.sext(kWide) : value.zext(kWide); };
    APInt count(kWide, static_cast<uint64_t>(times));
    APInt low = wide(isSigned ? term.smin() : term.umin()), high = wide(isSigned ? term.smax() : term.umax());
    APInt lowest = low.isNegative() ? low * count : low, highest = high.isNegative() ? high : high * count;
    return {wide(isSigned ? start.smin() : start.umin()) + lowest, wide(isSigned ? start.smax() : start.umax()) + highest};
  };
  auto [smin, smax] = sums(true);
  auto [umin, umax] = sums(false);
  std::optional<ConstantIntRanges> result;
  if (smin.isSignedIntN(width) && smax.isSignedIntN(width))
    result = ConstantIntRanges::fromSigned(smin.trunc(width), smax.trunc(width));
  if (umax.isIntN(width)) {
    auto other = ConstantIntRanges::fromUnsigned(umin.trunc(width), umax.trunc(width));
    result = result ? result->intersection(other) : other;
  }
  return result.value_or(ConstantIntRanges::maxRange(width));
}

IntegerRanges::IntegerRanges(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto known = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), "onnx.range");
    if (known && known.size() == 2 && elementOf(argument.getType()).isInteger(64))
      set(argument, ConstantIntRanges::fromSigned(APInt(64, static_cast<uint64_t>(known[0])),
                                                  APInt(64, static_cast<uint64_t>(known[1]))));
  }
  for (Operation &op : function.front())
    infer(&op);
}

ConstantIntRanges IntegerRanges::of(Value value) const {
  auto found = ranges.find(value);
  return found != ranges.end() ? found->second : ConstantIntRanges::maxRange(widthOf(value.getType()));
}

ConstantIntRanges IntegerRanges::accumulated(BlockArgument accumulator) const {
  auto found = steady.find(accumulator);
  return found != steady.end() ? found->second : of(accumulator);
}

void IntegerRanges::inferJoin(Operation *op, ValueRange parts) {
  if (!isIntegral(op->getResult(0).getType()) || parts.empty())
    return;
  ConstantIntRanges range = of(parts[0]);
  for (Value part : parts.drop_front())
    range = range.rangeUnion(of(part));
  set(op->getResult(0), range);
}

void IntegerRanges::infer(Operation *op) {
  if (auto weight = dyn_cast<onnx::WeightOp>(op)) {
    if (isIntegral(weight.getType()))
      if (std::optional<ConstantIntRanges> range = rangeOfConstant(weight.getValue()))
        set(weight, *range);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op);
             constant && llvm::isa<ElementsAttr>(constant.getValue()) && isIntegral(constant.getType())) {
    if (std::optional<ConstantIntRanges> range = rangeOfConstant(cast<ElementsAttr>(constant.getValue())))
      set(constant, *range);
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    infer(structured);
  } else if (llvm::isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    inferJoin(op, op->getOperand(0));
  } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
    inferJoin(op, {insertion.getSource(), insertion.getDest()});
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    inferJoin(op, concat.getInputs());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (Value padding = pad.getConstantPaddingValue())
      inferJoin(op, {pad.getSource(), padding});
  } else if (auto kernel = dyn_cast<ir::KernelOp>(op)) {
    // Positions and counts of elements, or elements of an input of the same type.
    const isa::InstInfo *info = kernel.getKernelInfo();
    for (auto [result, operand] : llvm::zip(kernel.getResults(), info->operands)) {
      Type element = elementOf(result.getType());
      if (!element.isInteger())
        continue;
      unsigned width = element.getIntOrFloatBitWidth();
      if ((operand.dtypes & ~(isa::maskOf(isa::DType::I32) | isa::maskOf(isa::DType::I64))) == 0) {
        set(result, ConstantIntRanges::fromSigned(APInt(width, 0), APInt(width, INT32_MAX)));
        continue;
      }
      for (Value input : kernel.getInputs())
        if (elementOf(input.getType()) == element)
          set(result, of(input).rangeUnion(ConstantIntRanges::constant(APInt(width, 0))));
    }
  } else {
    inferScalar(op);
  }
}

void IntegerRanges::inferScalar(Operation *op) {
  if (op->getNumResults() != 1 || !isIntegral(op->getResult(0).getType()))
    return;
  Value result = op->getResult(0);
  unsigned width = widthOf(result.getType());
  ConstantIntRanges unknown = ConstantIntRanges::maxRange(width);
  set(result, unknown); // not what an earlier round said
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    set(result, of(extract.getTensor()));
  } else if (llvm::isa<UnrealizedConversionCastOp>(op)) {
    if (op->getNumOperands() == 1 && isIntegral(op->getOperand(0).getType()) && widthOf(op->getOperand(0).getType()) == width)
      set(result, of(op->getOperand(0)));
  } else if (llvm::isa<math::AbsIOp>(op)) {
    ConstantIntRanges x = of(op->getOperand(0));
    // The magnitude of the smallest number is a number without a sign.
    APInt low = x.smin().abs(), high = x.smax().abs(), zero(width, 0);
    bool crosses = x.smin().isNegative() && !x.smax().isNegative();
    set(result, ConstantIntRanges::fromUnsigned(crosses ? zero : llvm::APIntOps::umin(low, high),
                                                llvm::APIntOps::umax(low, high)));
  } else if (auto interface = dyn_cast<InferIntRangeInterface>(op)) {
    SmallVector<IntegerValueRange> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isIntegral(operand.getType()) ? IntegerValueRange(of(operand)) : IntegerValueRange());
    interface.inferResultRangesFromOptional(operands, [&](Value value, const IntegerValueRange &range) {
      if (value == result && !range.isUninitialized() && range.getValue().smin().getBitWidth() == width)
        set(result, range.getValue());
    });
  }
}

void IntegerRanges::inferBody(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      uint64_t last = std::max<int64_t>(extents[index.getDim()], 1) - 1;
      set(index, ConstantIntRanges::fromUnsigned(APInt(64, 0), APInt(64, last)));
      continue;
    }
    inferScalar(&inner);
  }
}

void IntegerRanges::infer(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  for (OpOperand *input : op.getDpsInputOperands())
    if (isIntegral(input->get().getType()))
      set(op.getMatchingBlockArgument(input), of(input->get()));
  int64_t rounds = 1;
  for (auto [extent, type] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    rounds *= type == utils::IteratorType::parallel ? 1 : std::max<int64_t>(extent, 1);

  struct Accumulator {
    BlockArgument argument;
    Value yielded, result;
    ConstantIntRanges first, all;
    bool isCovered;
  };
  SmallVector<Accumulator> accumulators;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!isIntegral(init.get().getType()) || op->getNumResults() == 0)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool isCovered = map.isProjectedPermutation() && llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
    ConstantIntRanges first = of(init.get());
    accumulators.push_back({op.getMatchingBlockArgument(&init), body->getTerminator()->getOperand(number),
                            op->getResult(number), first, first, isCovered});
  }
  for (Accumulator &each : accumulators)
    set(each.argument, each.first);
  inferBody(op);
  for (Accumulator &each : accumulators)
    each.all = of(each.yielded);
  auto run = [&] {
    for (Accumulator &each : accumulators)
      set(each.argument, each.first.rangeUnion(each.all));
    inferBody(op);
  };
  bool isStable = llvm::all_of(accumulators, [](Accumulator &each) { return each.argument.use_empty(); });
  for (int64_t round = 1; !isStable && round < std::min(rounds, kMaxRounds + 1); ++round) {
    run();
    isStable = true;
    for (Accumulator &each : accumulators) {
      ConstantIntRanges next = each.all.rangeUnion(of(each.yielded));
      isStable &= next == each.all;
      each.all = next;
    }
  }
  if (!isStable && rounds > kMaxRounds) {
    // Still growing: a sum does so by its terms, anything else without a bound.
    for (Accumulator &each : accumulators) {
      auto sum = withoutCasts(each.yielded).getDefiningOp<arith::AddIOp>();
      std::optional<ConstantIntRanges> range;
      for (unsigned side = 0; sum && side < 2 && accumulators.size() == 1; ++side)
        if (withoutCasts(sum->getOperand(side)) == each.argument && isOnlyAddedTo(each.argument, sum))
          range = rangeOfSum(each.first, of(sum->getOperand(1 - side)), rounds);
      each.all = range.value_or(ConstantIntRanges::maxRange(widthOf(each.argument.getType())));
    }
  }
  if (!isStable)
    run(); // the body as it is in all rounds
  for (Accumulator &each : accumulators) {
    steady.insert_or_assign(each.argument, each.all);
    set(each.result, each.isCovered ? each.all : each.all.rangeUnion(each.first));
  }
}

} // namespace trn
