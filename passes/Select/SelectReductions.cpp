//===- SelectReductions.cpp - instructions for reductions --------------------===//
// Owns reductions over free dimensions, windows included. Refuses bodies that are not `combine(accumulator, f(inputs))`
// with an operator that reduces.
#include "passes/Select/BodySelector.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Structured.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SELECTREDUCTIONSPASS
#include "passes/Select/Passes.h.inc"

namespace {

/// Unsigned buffers are read into signless values by casts that do nothing.
Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    value = cast.getOperand(0);
  return value;
}

/// The operator that combines the accumulator with a new value, and that value.
std::optional<std::pair<isa::AluOp, Value>> combiner(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value accumulator = body->getArguments().back();
  Operation *combine = skipCasts(body->getTerminator()->getOperand(0)).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2)
    return std::nullopt;
  const isa::ScalarOpInfo *row = ir::scalarOpInfo(combine);
  if (!row || !row->alu || !isa::info(*row->alu).reducible || *row->alu == isa::AluOp::Subtract)
    return std::nullopt;
  if (skipCasts(combine->getOperand(0)) == accumulator)
    return std::make_pair(*row->alu, combine->getOperand(1));
  if (skipCasts(combine->getOperand(1)) == accumulator)
    return std::make_pair(*row->alu, combine->getOperand(0));
  return std::nullopt;
}

/// True when combining with the filled value changes nothing. -inf and the most negative finite value both start a
/// maximum.
bool isIdentityFill(linalg::FillOp fill, isa::AluOp alu) {
  auto constant = fill.getInputs()[0].getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
    const llvm::APFloat &value = number.getValue();
    bool isLargest = value.isInfinity() || value.isLargest();
    switch (alu) {
    case isa::AluOp::Add:
      return value.isZero();
    case isa::AluOp::Multiply:
      return value.isExactlyValue(1.0);
    case isa::AluOp::Max:
      return isLargest && value.isNegative();
    case isa::AluOp::Min:
      return isLargest && !value.isNegative();
    default:
      return false;
    }
  }
  auto number = dyn_cast<IntegerAttr>(constant.getValue());
  if (!number)
    return false;
  const llvm::APInt &value = number.getValue();
  bool isUnsigned = number.getType().isUnsignedInteger();
  switch (alu) {
  case isa::AluOp::Add:
  case isa::AluOp::LogicalOr:
  case isa::AluOp::BitwiseOr:
  case isa::AluOp::BitwiseXor:
    return value.isZero();
  case isa::AluOp::Multiply:
    return value.isOne();
  case isa::AluOp::BitwiseAnd:
    return value.isAllOnes();
  case isa::AluOp::Max:
    return isUnsigned ? value.isMinValue() : value.isMinSignedValue();
  case isa::AluOp::Min:
    return isUnsigned ? value.isMaxValue() : value.isMaxSignedValue();
  default:
    return false;
  }
}

/// The fill that gives `op` its initial value, when nothing else touches the buffer in between.
linalg::FillOp initialFill(linalg::LinalgOp op, Value root) {
  Value init = op.getDpsInits()[0];
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.getOutputs()[0] == init)
      return fill;
    bool touches = false;
    before->walk([&](Operation *nested) {
      if (llvm::isa<ViewLikeOpInterface, memref::AllocOp>(nested))
        return;
      for (Value operand : nested->getOperands()) {
        if (!llvm::isa<MemRefType>(operand.getType()))
          continue;
        Value base = operand;
        while (auto view = base.getDefiningOp<ViewLikeOpInterface>())
          base = view.getViewSource();
        touches |= base == root;
      }
    });
    if (touches)
      return nullptr;
  }
  return nullptr;
}

/// x when `value` is x * x.
Value squareOf(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && product.getLhs() == product.getRhs() ? product.getLhs() : Value();
}

struct SelectReductionsPass : impl::SelectReductionsPassBase<SelectReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const isa::DeviceInfo *target = isa::device(device);
    if (!target) {
      getOperation().emitError("unknown device '") << device << "'";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> reductions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (classify(op) == StructuredKind::Reduction)
        reductions.push_back(op);
    });
    for (linalg::LinalgOp op : reductions)
      if (succeeded(select(op, target->version)))
        op->erase();
  }

  /// Integers that fp32 would round.
  static LogicalResult selectWords(linalg::LinalgOp op, BodySelector &body, Emitter &emitter, Value value,
                                   isa::AluOp alu, unsigned reduced, Value dst, linalg::FillOp replaced) {
    FailureOr<Value> result = body.reduceWords(value, alu, reduced);
    if (failed(result))
      return op.emitOpError("cannot be a reduction: ") << body.failureReason();
    auto wordOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
    if (wordOf(dst) != wordOf(*result))
      return op.emitOpError("cannot be a reduction: expected a result of ")
             << wordOf(*result) << " but got " << wordOf(dst);
    if (replaced) {
      emitter.copy(dst, *result);
      replaced.erase();
    } else {
      body.combineWords(dst, *result, alu);
    }
    return success();
  }

  static LogicalResult select(linalg::LinalgOp op, int coreVersion) {
    auto combine = combiner(op);
    if (!combine)
      return op.emitOpError("cannot be a reduction: expected a body that combines its accumulator with one value by an "
                            "operator that reduces");
    auto [alu, value] = *combine;
    unsigned partition = *iteratorOfDim(op, op.getDpsInitOperand(0), 0);
    SmallVector<unsigned> loops;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
      if (auto iterator = dyn_cast<AffineDimExpr>(expr); iterator && iterator.getPosition() != partition)
        loops.push_back(iterator.getPosition());
    unsigned kept = llvm::count_if(loops, [&](unsigned loop) { return ranges[loop] != 1; });
    auto iterators = op.getIteratorTypesArray();
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (iterators[loop] == utils::IteratorType::reduction)
        loops.push_back(loop);
    std::string reason;
    FailureOr<Tile> tile = tileOf(op, partition, loops, reason);
    if (failed(tile))
      return op.emitOpError("cannot be a reduction: ") << reason;

    OpBuilder builder(op);
    Emitter emitter(builder, op.getLoc());
    linalg::FillOp fill = initialFill(op, tile->accesses.back().root);
    bool overwrites = fill && isIdentityFill(fill, alu);
    kept = mergeLoops(*tile, {kept}).front();
    unsigned reduced = tile->sizes.size() - kept;
    if (reduced > kMaxFreeRank)
      return op.emitOpError("cannot be a reduction: expected at most ")
             << kMaxFreeRank << " reduced dimensions of an access pattern but got " << reduced;
    size_t rank = tile->sizes.size();
    unrollOuterLoops(builder, op.getLoc(), *tile, std::max(reduced, kMaxFreeRank));
    kept -= rank - tile->sizes.size();

    BodySelector body(builder, op, *tile, coreVersion);
    Access result = tile->accesses.back();
    result.strides.truncate(kept);
    ArrayRef<int64_t> shape = ArrayRef(tile->sizes).take_front(kept);
    Value dst = createView(builder, op.getLoc(), result, tile->partitions, shape);
    int64_t count = 1;
    for (int64_t size : ArrayRef(tile->sizes).drop_front(kept))
      count *= size;
    if (body.reductionNeedsWords(value, alu, count))
      return selectWords(op, body, emitter, value, alu, reduced, dst, overwrites ? fill : linalg::FillOp());
    Value target = dst;
    if (!overwrites)
      target = createTemporary(builder, op.getLoc(), tile->partitions, shape, builder.getF32Type());
    Value squared = alu == isa::AluOp::Add && kept == 0 && reduced != 0 ? squareOf(value) : Value();
    FailureOr<Value> src = body.compute(squared ? squared : value);
    if (failed(src))
      return op.emitOpError("cannot be a reduction: ") << body.failureReason();
    if (squared) {
      // ACT squares and sums a row in one instruction; the squares themselves are not needed.
      Value squares = createTemporary(builder, op.getLoc(), tile->partitions, tile->sizes, builder.getF32Type());
      emitter.activation(squares, *src, isa::ActivationFunc::Square, ScalarOperand::constant(1.0f),
                         ScalarOperand::constant(0.0f), target);
    } else if (reduced == 0) {
      emitter.copy(target, *src);
    } else {
      emitter.reduce(target, *src, alu, reduced);
    }
    if (overwrites)
      fill.erase();
    else
      emitter.tensorTensor(dst, dst, target, alu);
    return success();
  }
};
} // namespace
} // namespace trn
