//===- StageTransfers.cpp - write every crossing between memories ---------===//
// Owns the insertion of loads, stores and drains into a group, so that tiling and placement only ever see operations
// whose operands they can reach. Refuses to choose residency.
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_STAGETRANSFERSPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {

/// Structured operations that compute: they read and write on-chip memory only.
bool computes(Operation *op) {
  switch (classify(op)) {
  case StructuredKind::Contraction:
  case StructuredKind::Transpose:
  case StructuredKind::Map:
  case StructuredKind::Reduction:
  case StructuredKind::Gather:
    return true;
  default:
    return false;
  }
}

Value createEmpty(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(builder, loc, shape, element);
}

Value createCopy(OpBuilder &builder, Location loc, Value source, Value destination) {
  return linalg::CopyOp::create(builder, loc, source, destination).getResult(0);
}

struct StageTransfersPass : impl::StageTransfersPassBase<StageTransfersPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    foldBodies(ops);
    for (linalg::LinalgOp &op : ops)
      keepIdentityCopy(op);
    llvm::erase_if(ops, [](linalg::LinalgOp op) { return !op; });
    SmallVector<linalg::LinalgOp> products;
    for (linalg::LinalgOp &op : ops) {
      if (!computes(op))
        continue;
      for (OpOperand *operand : op.getDpsInputOperands()) {
        if (isInHbm(operand->get()))
          load(op, *operand);
        else if (isOnOnePartition(op, *operand))
          spread(op, *operand, products);
      }
      // A broadcast over partitions alone is a copy now.
      keepIdentityCopy(op);
      if (!op)
        continue;
      for (OpOperand &operand : op.getDpsInitsMutable())
        if (isInHbm(operand.get()))
          store(op, operand);
    }
    llvm::erase_if(ops, [](linalg::LinalgOp op) { return !op; });
    ops.append(products);
    for (linalg::LinalgOp op : ops)
      if (isWrittenByPE(op))
        drain(op);
  }

  /// True for an on-chip operand of a map or reduction that lies on partition 0 and that every partition reads.
  static bool isOnOnePartition(linalg::LinalgOp op, OpOperand &operand) {
    if (isWrittenByPE(op) || !op.payloadUsesValueFromOperand(&operand) ||
        !llvm::isa<RankedTensorType>(operand.get().getType()))
      return false;
    auto partition = iteratorOfDim(op, op.getDpsInitOperand(0), 0);
    return partition && op.getStaticLoopRanges()[*partition] > 1 && !isIndexedBy(op, &operand, *partition);
  }

  using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

  /// A map of inputs of one shape.
  static Value createMap(OpBuilder &builder, Location loc, ValueRange inputs, Type element, Body body) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(inputs[0].getType()).getShape();
    SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(shape.size()));
    SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
    Value target = createEmpty(builder, loc, shape, element);
    return linalg::GenericOp::create(builder, loc, target.getType(), inputs, target, maps, iterators,
                                     [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                       ImplicitLocOpBuilder inner(loc, nested);
                                       linalg::YieldOp::create(inner, body(inner, arguments.drop_back()));
                                     })
        .getResult(0);
  }

  /// What `row`, floats on one partition, holds, on as many: the product with a row of ones on the PE, which is exact. It
  /// lies in PSUM, in fp32.
  static Value spreadFloats(OpBuilder &builder, Location loc, Value row, int64_t partitions,
                            SmallVector<linalg::LinalgOp> &products) {
    auto type = cast<RankedTensorType>(row.getType());
    unsigned rank = type.getRank();
    Type element = type.getElementType(), f32 = builder.getF32Type();
    Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, 1.0));
    Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(f32, 0.0));
    Value ones = linalg::FillOp::create(builder, loc, one, createEmpty(builder, loc, {1, partitions}, element)).getResult(0);
    SmallVector<int64_t> shape = {partitions};
    llvm::append_range(shape, type.getShape().drop_front());
    Value start = linalg::FillOp::create(builder, loc, zero, createEmpty(builder, loc, shape, f32)).getResult(0);
    // (p, free…, k): ones(k, p) * operand(k, free…), with one k.
    AffineExpr p = builder.getAffineDimExpr(0), k = builder.getAffineDimExpr(rank);
    SmallVector<AffineExpr> data = {k}, result = {p};
    for (unsigned dim = 1; dim < rank; ++dim) {
      data.push_back(builder.getAffineDimExpr(dim));
      result.push_back(builder.getAffineDimExpr(dim));
    }
    auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(rank + 1, 0, exprs, builder.getContext()); };
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    auto product = linalg::GenericOp::create(
        builder, loc, start.getType(), ValueRange{ones, row}, start,
        ArrayRef<AffineMap>{map({k, p}), map(data), map(result)}, iterators,
        [](OpBuilder &builder, Location loc, ValueRange arguments) {
          auto wide = [&](Value value) -> Value {
            return value.getType().isF32() ? value : arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
          };
          Value factor = arith::MulFOp::create(builder, loc, wide(arguments[0]), wide(arguments[1]));
          Value sum = arith::AddFOp::create(builder, loc, arguments[2], factor);
          linalg::YieldOp::create(builder, loc, sum);
        });
    products.push_back(cast<linalg::LinalgOp>(product.getOperation()));
    return product.getResult(0);
  }

  /// Integers go as the floats that hold them: those of 32 bits in halves.
  static Value spreadIntegers(OpBuilder &builder, Location loc, Value row, int64_t partitions,
                              SmallVector<linalg::LinalgOp> &products) {
    Type element = cast<RankedTensorType>(row.getType()).getElementType(), f32 = builder.getF32Type();
    Type i32 = builder.getI32Type(), plain = builder.getIntegerType(element.getIntOrFloatBitWidth());
    bool isUnsigned = element.isUnsignedInteger();
    auto signless = [&](ImplicitLocOpBuilder &b, Value value) -> Value {
      return isUnsigned ? UnrealizedConversionCastOp::create(b, plain, value).getResult(0) : value;
    };
    auto typed = [&](ImplicitLocOpBuilder &b, Value value) -> Value {
      return isUnsigned ? UnrealizedConversionCastOp::create(b, element, value).getResult(0) : value;
    };
    auto onEvery = [&](Body body) {
      return spreadFloats(builder, loc, createMap(builder, loc, row, f32, body), partitions, products);
    };
    // The write of an integer rounds by itself.
    auto integral = [](ImplicitLocOpBuilder &b, Value value) -> Value { return math::RoundEvenOp::create(b, value); };
    if (element.getIntOrFloatBitWidth() < 32) {
      Value numbers = onEvery([&](ImplicitLocOpBuilder &b, ValueRange e) -> Value {
        Value value = signless(b, e[0]);
        return isUnsigned ? arith::UIToFPOp::create(b, f32, value).getResult() : arith::SIToFPOp::create(b, f32, value).getResult();
      });
      return createMap(builder, loc, numbers, element, [&](ImplicitLocOpBuilder &b, ValueRange e) -> Value {
        Value whole = integral(b, e[0]);
        return typed(b, isUnsigned ? arith::FPToUIOp::create(b, plain, whole).getResult()
                                   : arith::FPToSIOp::create(b, plain, whole).getResult());
      });
    }
    auto word = [&](ImplicitLocOpBuilder &b, int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
    };
    auto half = [&](bool upper) {
      return onEvery([&](ImplicitLocOpBuilder &b, ValueRange e) -> Value {
        Value value = signless(b, e[0]);
        if (upper)
          value = arith::ShRUIOp::create(b, value, word(b, 16));
        return arith::SIToFPOp::create(b, f32, arith::AndIOp::create(b, value, word(b, 0xFFFF)));
      });
    };
    return createMap(builder, loc, {half(true), half(false)}, element, [&](ImplicitLocOpBuilder &b, ValueRange e) -> Value {
      Value upper = arith::FPToSIOp::create(b, i32, integral(b, e[0])), lower = arith::FPToSIOp::create(b, i32, integral(b, e[1]));
      return typed(b, arith::OrIOp::create(b, arith::ShLIOp::create(b, upper, word(b, 16)), lower));
    });
  }

  /// Gives every partition what partition 0 holds.
  static void spread(linalg::LinalgOp op, OpOperand &operand, SmallVector<linalg::LinalgOp> &products) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (!generic || type.getRank() == 0 || type.getDimSize(0) != 1)
      return; // selection says why it cannot be read
    OpBuilder builder(op);
    Location loc = op.getLoc();
    unsigned partition = *iteratorOfDim(op, op.getDpsInitOperand(0), 0);
    int64_t partitions = op.getStaticLoopRanges()[partition];
    Type element = type.getElementType();
    Value everywhere;
    if (element.isInteger()) {
      everywhere = spreadIntegers(builder, loc, operand.get(), partitions, products);
    } else {
      everywhere = spreadFloats(builder, loc, operand.get(), partitions, products);
      // The map still reads the operand's own type.
      if (!element.isF32()) {
        ArrayRef<int64_t> shape = cast<RankedTensorType>(everywhere.getType()).getShape();
        everywhere = createCopy(builder, loc, everywhere, createEmpty(builder, loc, shape, element));
      }
    }
    operand.set(everywhere);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &use = maps[operand.getOperandNumber()];
    SmallVector<AffineExpr> exprs(use.getResults());
    exprs[0] = builder.getAffineDimExpr(partition);
    use = AffineMap::get(use.getNumDims(), 0, exprs, builder.getContext());
    generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  }

  /// A body that folds to its input is an identity: seen now, not when canonicalisation deletes it later.
  void foldBodies(ArrayRef<linalg::LinalgOp> ops) {
    SmallVector<Operation *> scalars;
    for (linalg::LinalgOp op : ops)
      if (llvm::isa<linalg::GenericOp>(op))
        for (Operation &scalar : op.getBlock()->without_terminator())
          scalars.push_back(&scalar);
    RewritePatternSet patterns(&getContext());
    for (RegisteredOperationName name : getContext().getRegisteredOperations())
      if (name.getDialectNamespace() == arith::ArithDialect::getDialectNamespace() ||
          name.getDialectNamespace() == math::MathDialect::getDialectNamespace())
        name.getCanonicalizationPatterns(patterns, &getContext());
    (void)applyOpPatternsGreedily(scalars, std::move(patterns));
  }

  /// Canonicalisation deletes an identity generic even between two memories; a copy survives.
  static void keepIdentityCopy(linalg::LinalgOp &op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || !isIdentityCopy(generic))
      return;
    Value source = generic.getDpsInputs()[0];
    // Inside the group, between tensors in SBUF, there is nothing to copy.
    if (source.getType() == generic.getResultTypes()[0] && !spaceOf(source) && source.getDefiningOp() &&
        !isWrittenByPE(source.getDefiningOp())) {
      generic->replaceAllUsesWith(ValueRange(source));
      generic->erase();
      op = linalg::LinalgOp();
      return;
    }
    OpBuilder builder(generic);
    auto copy = linalg::CopyOp::create(builder, generic.getLoc(), source, generic.getDpsInits()[0]);
    generic->replaceAllUsesWith(copy->getResults());
    generic->erase();
    op = cast<linalg::LinalgOp>(copy.getOperation());
  }

  /// Reads `operand` from SBUF. The partition iterator of maps and reductions is the one on dimension 0 of the result;
  /// an operand that lacks it is the same for every partition and is loaded to each.
  static void load(linalg::LinalgOp op, OpOperand &operand) {
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(operand.get().getType());
    StructuredKind kind = classify(op);
    OpOperand *result = op.getDpsInitOperand(0);
    auto partition = iteratorOfDim(op, result, 0);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    bool replicated = (kind == StructuredKind::Map || kind == StructuredKind::Reduction) && generic && partition &&
                      !isIndexedBy(op, &operand, *partition);
    if (!replicated) {
      operand.set(createCopy(builder, op.getLoc(), operand.get(),
                             createEmpty(builder, op.getLoc(), type.getShape(), type.getElementType())));
      return;
    }
    SmallVector<int64_t> shape = {cast<ShapedType>(result->get().getType()).getDimSize(0)};
    llvm::append_range(shape, type.getShape());
    auto broadcast = linalg::BroadcastOp::create(
        builder, op.getLoc(), operand.get(), createEmpty(builder, op.getLoc(), shape, type.getElementType()),
        ArrayRef<int64_t>{0});
    operand.set(broadcast->getResult(0));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &map = maps[operand.getOperandNumber()];
    SmallVector<AffineExpr> exprs = {builder.getAffineDimExpr(*partition)};
    llvm::append_range(exprs, map.getResults());
    map = AffineMap::get(map.getNumDims(), 0, exprs, op.getContext());
    generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  }

  /// Gives `op` a fresh destination instead of `destination`, initialised alike, and returns what it wrote before.
  static Value replaceDestination(linalg::LinalgOp op, OpOperand &destination) {
    OpBuilder builder(op);
    Value previous = destination.get();
    auto type = cast<RankedTensorType>(previous.getType());
    Value fresh = createEmpty(builder, op.getLoc(), type.getShape(), type.getElementType());
    if (auto fill = previous.getDefiningOp<linalg::FillOp>()) {
      fresh = linalg::FillOp::create(builder, fill.getLoc(), fill.getInputs(), fresh).getResult(0);
      previous = fill.getOutputs()[0];
    }
    destination.set(fresh);
    op.getTiedOpResult(&destination).setType(fresh.getType());
    return previous;
  }

  /// Writes a fresh tensor, then copies it to the HBM destination.
  static void store(linalg::LinalgOp op, OpOperand &destination) {
    Value hbm = replaceDestination(op, destination);
    OpResult result = op.getTiedOpResult(&destination);
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(op);
    Value stored = createCopy(builder, op.getLoc(), result, hbm);
    result.replaceAllUsesExcept(stored, stored.getDefiningOp());
  }

  /// PSUM is read once, by a map or copy that empties it: anything else gets a copy in between.
  static void drain(linalg::LinalgOp op) {
    OpResult result = op->getResult(0);
    // A store comes after its drain: DMA does not reach PSUM.
    auto drains = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user->getBlock() != op->getBlock())
        return false;
      if (auto copy = dyn_cast<linalg::CopyOp>(user))
        return use.getOperandNumber() == 0 && !isInHbm(copy.getDpsInits()[0]);
      if (classify(user) != StructuredKind::Map)
        return false;
      auto map = cast<linalg::LinalgOp>(user);
      return map.isDpsInput(&use) && map.getMatchingIndexingMap(&use).isProjectedPermutation() &&
             map.getMatchingIndexingMap(&use).getNumResults() == map.getNumLoops();
    };
    // A contraction may go on where another ended: a ragged reduction is a chain of contractions on one accumulator.
    auto continues = [&](OpOperand &use) {
      auto next = dyn_cast<linalg::LinalgOp>(use.getOwner());
      return next && classify(next) == StructuredKind::Contraction && next.isDpsInit(&use);
    };
    if (result.hasOneUse() && (drains(*result.use_begin()) || continues(*result.use_begin())))
      return;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(op);
    auto type = cast<RankedTensorType>(result.getType());
    // The PE accumulates in fresh PSUM; what was its destination is the drain's.
    Value target = type.getEncoding() ? replaceDestination(op, *op.getDpsInitOperand(0))
                                      : createEmpty(builder, op.getLoc(), type.getShape(), type.getElementType());
    Value drained = createCopy(builder, op.getLoc(), result, target);
    result.replaceAllUsesExcept(drained, drained.getDefiningOp());
  }
};
} // namespace
} // namespace trn
