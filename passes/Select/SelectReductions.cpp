//===- SelectReductions.cpp - instructions for reductions --------------------===//
// Owns reductions over free dimensions, windows included. Refuses bodies that are not `combine(accumulator, f(inputs))`
// with an operator that reduces.
//
// A sum over weighted taps (a depthwise convolution) is accumulated tap by tap: a tap's weight is one scalar per
// partition, its product goes through PSUM, because DVE adds an operand from PSUM at twice the rate of two from SBUF
// (ISA26 tensor_tensor), and ACT or DVE, whichever is free, multiplies.
#include "passes/Select/BodySelector.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Structure.h"
#include "passes/Tile/Structured.h"
#include "passes/Tile/Taps.h"

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
struct Combiner {
  isa::AluOp alu;
  Reading value; ///< with the sign of the numbers that are combined
};
std::optional<Combiner> combiner(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value accumulator = body->getArguments().back();
  Operation *combine = skipCasts(body->getTerminator()->getOperand(0)).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2)
    return std::nullopt;
  const isa::ScalarOpInfo *row = ir::scalarOpInfo(combine);
  if (!row || !row->alu || !isa::info(*row->alu).reducible || *row->alu == isa::AluOp::Subtract)
    return std::nullopt;
  bool isUnsigned = llvm::isa<arith::MaxUIOp, arith::MinUIOp>(combine);
  for (unsigned side : {0, 1})
    if (skipCasts(combine->getOperand(side)) == accumulator)
      return Combiner{*row->alu, {combine->getOperand(1 - side), isUnsigned}};
  return std::nullopt;
}

/// True when combining with the filled value changes nothing. -inf and the most negative finite value both start a
/// maximum.
bool isIdentityFill(linalg::FillOp fill, isa::AluOp alu, bool isUnsigned) {
  TypedAttr constant = scalarConstant(fill.getInputs()[0]);
  if (!constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant)) {
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
  auto number = dyn_cast<IntegerAttr>(constant);
  if (!number)
    return false;
  const llvm::APInt &value = number.getValue();
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

/// A sum over taps whose weight is the same for all kept elements of a partition.
struct WeightedTaps {
  unsigned data, weight; // operand numbers
  unsigned leading;      // kept loops, outermost, in each step of which the weights are others
};

/// fp32 elements of one PSUM bank, through which a product passes.
constexpr int64_t kProductElements = 512;
/// An addition's result is there about this many elements' time after its last element (157 ns, M3): as many sums grow in
/// turns as keep DVE working meanwhile.
constexpr int64_t kLatencyElements = 150;

/// The operand of `op` that `value` is, conversions aside.
std::optional<unsigned> operandOf(linalg::LinalgOp op, Value value) {
  value = skipCasts(value);
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = skipCasts(extension.getIn());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock() || !llvm::isa<FloatType>(argument.getType()))
    return std::nullopt;
  return argument.getArgNumber();
}

/// Reads `value`, summed over the loops of `tile` from `kept` on, as weighted taps.
std::optional<WeightedTaps> weightedTaps(linalg::LinalgOp op, const Tile &tile, unsigned kept, Value value) {
  auto product = skipCasts(value).getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  std::optional<unsigned> lhs = operandOf(op, product.getLhs()), rhs = operandOf(op, product.getRhs());
  if (!lhs || !rhs || lhs == rhs)
    return std::nullopt;
  int64_t taps = 1;
  for (int64_t size : ArrayRef(tile.sizes).drop_front(kept))
    taps *= size;
  if (taps > kMostTaps || tile.sizes.size() - kept > kMaxFreeRank)
    return std::nullopt;
  for (auto [data, weight] : {std::make_pair(*lhs, *rhs), std::make_pair(*rhs, *lhs)}) {
    WeightedTaps found{data, weight, 0};
    ArrayRef<int64_t> steps = ArrayRef(tile.accesses[weight].strides).take_front(kept);
    while (found.leading < kept && steps[found.leading] != 0)
      ++found.leading;
    int64_t row = 1;
    for (int64_t size : ArrayRef(tile.sizes).take_front(kept).drop_front(found.leading))
      row *= size;
    if (row >= kShortestTap && llvm::all_of(steps.drop_front(found.leading), [](int64_t step) { return step == 0; }))
      return found;
  }
  return std::nullopt;
}

/// The part of `access` from position `begin` of its first loops on; what else it walks is dropped.
Access partOf(const Access &access, ArrayRef<int64_t> begin, unsigned loops) {
  Access part = access;
  for (auto [position, step] : llvm::zip(begin, access.strides))
    part.offset += position * step;
  part.strides.truncate(loops);
  return part;
}

/// Positions of all steps of loops of `sizes`, the last loop fastest.
SmallVector<SmallVector<int64_t>> positionsOf(ArrayRef<int64_t> sizes) {
  SmallVector<SmallVector<int64_t>> positions = {{}};
  for (int64_t size : sizes) {
    SmallVector<SmallVector<int64_t>> next;
    for (const SmallVector<int64_t> &outer : positions)
      for (int64_t step = 0; step < size; ++step) {
        next.push_back(outer);
        next.back().push_back(step);
      }
    positions = std::move(next);
  }
  return positions;
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
  static LogicalResult selectWords(linalg::LinalgOp op, BodySelector &body, Emitter &emitter, Reading value,
                                   isa::AluOp alu, unsigned reduced, Value dst, linalg::FillOp replaced) {
    FailureOr<Value> result = body.reduceWords(value, alu, reduced);
    if (failed(result))
      return op.emitOpError("cannot be a reduction: ") << body.failureReason();
    auto wordOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
    dst = body.asWord(dst, wordOf(*result));
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

  /// dst = sum over the loops of `tile` from `kept` on of data * weight, both views of all of dst's partitions. All kept
  /// loops see the same weights.
  static void selectTaps(linalg::LinalgOp op, const Tile &tile, unsigned kept, const WeightedTaps &taps,
                         const Access &dst, Emitter &emitter, int coreVersion) {
    OpBuilder &builder = emitter.builder;
    Location loc = op.getLoc();
    Type f32 = builder.getF32Type();
    ArrayRef<int64_t> keptSizes = ArrayRef(tile.sizes).take_front(kept), tapSizes = ArrayRef(tile.sizes).drop_front(kept);
    SmallVector<SmallVector<int64_t>> tapPositions = positionsOf(tapSizes);

    // Scalar operands are fp32.
    Access weights = tile.accesses[taps.weight];
    weights.strides.erase(weights.strides.begin(), weights.strides.begin() + kept);
    if (weights.elementType() != f32) {
      Value wide = createTemporary(builder, loc, tile.partitions, tapSizes, f32);
      emitter.copy(wide, createView(builder, loc, weights, tile.partitions, tapSizes));
      std::string reason;
      unsigned rank = tapSizes.size();
      weights = *accessOf(wide, builder.getMultiDimIdentityMap(rank + 1), reason);
      weights.partitionStride = weights.strides.front();
      weights.strides.erase(weights.strides.begin());
    }

    // Blocks of the kept loops whose products fit one PSUM bank: single steps of the outer loops, runs of one.
    unsigned cut = kept - 1;
    int64_t inner = 1;
    while (cut > 0 && inner * keptSizes[cut] <= kProductElements)
      inner *= keptSizes[cut--];
    int64_t run = std::max<int64_t>(1, kProductElements / inner);
    run = llvm::divideCeil(keptSizes[cut], llvm::divideCeil(keptSizes[cut], run));
    SmallVector<Block> blocks;
    for (SmallVector<int64_t> &begin : positionsOf(keptSizes.take_front(cut)))
      for (int64_t first = 0; first < keptSizes[cut]; first += run) {
        Block block;
        block.begin = begin;
        block.begin.push_back(first);
        block.begin.append(kept - cut - 1, 0);
        block.sizes.assign(keptSizes.begin(), keptSizes.end());
        std::fill_n(block.sizes.begin(), cut, 1);
        block.sizes[cut] = std::min(run, keptSizes[cut] - first);
        blocks.push_back(std::move(block));
      }
    // Sums that grow in turns: of several blocks, or parts of one.
    size_t turns = 1 + llvm::divideCeil(kLatencyElements, std::max<int64_t>(64, run * inner));
    for (size_t next = 0; next < blocks.size();) {
      size_t left = blocks.size() - next, count = left < 2 * turns ? left : turns;
      size_t parts = std::min(llvm::divideCeil(turns, count), llvm::divideCeil(tapPositions.size(), 4));
      sumBlocks(op, tile, taps, MutableArrayRef(blocks).slice(next, count), parts, dst, weights, tapPositions, emitter,
                coreVersion);
      next += count;
    }
  }

  /// One block of the kept loops, and the sums of its parts.
  struct Block {
    SmallVector<int64_t> begin, sizes;
    Value target;
    SmallVector<Value> sums;
  };

  /// Sums of `blocks`, a tap of each in turn. Sums stay fp32; the last addition converts.
  static void sumBlocks(linalg::LinalgOp op, const Tile &tile, const WeightedTaps &taps, MutableArrayRef<Block> blocks,
                        size_t parts, const Access &dst, const Access &weights,
                        ArrayRef<SmallVector<int64_t>> tapPositions, Emitter &emitter, int coreVersion) {
    OpBuilder &builder = emitter.builder;
    Location loc = op.getLoc();
    Type f32 = builder.getF32Type();
    for (Block &block : blocks) {
      block.target = createView(builder, loc, partOf(dst, block.begin, block.sizes.size()), tile.partitions, block.sizes);
      block.sums.resize(parts);
      if (dst.elementType() == f32 || tapPositions.size() == 1)
        block.sums[0] = block.target;
      for (Value &sum : block.sums)
        if (!sum)
          sum = createTemporary(builder, loc, tile.partitions, block.sizes, f32);
    }
    for (auto [index, tap] : llvm::enumerate(tapPositions)) {
      Value weight = createView(builder, loc, partOf(weights, tap, 0), tile.partitions, {});
      for (Block &block : blocks) {
        SmallVector<int64_t> position(block.begin);
        llvm::append_range(position, tap);
        Value data = createView(builder, loc, partOf(tile.accesses[taps.data], position, block.sizes.size()),
                                tile.partitions, block.sizes);
        Value sum = block.sums[index % parts];
        if (index < parts) {
          emitter.tensorScalar(sum, data, {isa::AluOp::Multiply, ScalarOperand::at(weight)});
          continue;
        }
        Value product = createTemporary(builder, loc, tile.partitions, block.sizes, f32, isa::Space::PSUM);
        if (coreVersion >= 3) // there ACT has tensor_scalar, too
          emitter.tensorScalar(product, data, {isa::AluOp::Multiply, ScalarOperand::at(weight)});
        else
          emitter.activation(product, data, isa::ActivationFunc::Copy, ScalarOperand::at(weight),
                             ScalarOperand::constant(0.0f));
        bool last = index + 1 == tapPositions.size() && parts == 1;
        emitter.tensorTensor(last ? block.target : sum, sum, product, isa::AluOp::Add);
      }
    }
    for (size_t part = 1; part < parts; ++part)
      for (Block &block : blocks)
        emitter.tensorTensor(part + 1 == parts ? block.target : block.sums[0], block.sums[0], block.sums[part],
                             isa::AluOp::Add);
  }

  static LogicalResult select(linalg::LinalgOp op, int coreVersion) {
    auto combine = combiner(op);
    if (!combine)
      return op.emitOpError("cannot be a reduction: expected a body that combines its accumulator with one value by an "
                            "operator that reduces");
    isa::AluOp alu = combine->alu;
    Reading value = combine->value;
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
    bool overwrites = fill && isIdentityFill(fill, alu, value.isUnsigned);
    kept = mergeLoops(*tile, {kept}).front();
    unsigned reduced = tile->sizes.size() - kept;
    if (std::optional<WeightedTaps> taps = alu == isa::AluOp::Add ? weightedTaps(op, *tile, kept, value.value) : std::nullopt) {
      unrollOuterLoops(builder, op.getLoc(), *tile, tile->sizes.size() - taps->leading);
      kept -= taps->leading;
      unrollOuterLoops(builder, op.getLoc(), *tile, std::min<unsigned>(tile->sizes.size(), kMaxFreeRank + reduced));
      kept = tile->sizes.size() - reduced;
      Access dst = tile->accesses.back();
      dst.strides.truncate(kept);
      ArrayRef<int64_t> shape = ArrayRef(tile->sizes).take_front(kept);
      Value whole = createView(builder, op.getLoc(), dst, tile->partitions, shape);
      if (overwrites) {
        selectTaps(op, *tile, kept, *taps, dst, emitter, coreVersion);
        fill.erase();
        return success();
      }
      Value sums = createTemporary(builder, op.getLoc(), tile->partitions, shape, builder.getF32Type());
      std::string unused;
      Access target = *accessOf(sums, builder.getMultiDimIdentityMap(kept + 1), unused);
      target.partitionStride = target.strides.front();
      target.strides.erase(target.strides.begin());
      selectTaps(op, *tile, kept, *taps, target, emitter, coreVersion);
      emitter.tensorTensor(whole, whole, sums, alu);
      return success();
    }
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
    Value squared = alu == isa::AluOp::Add && kept == 0 && reduced != 0 ? squareOf(value.value) : Value();
    FailureOr<Value> src = body.compute(squared ? Reading(squared) : value);
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
