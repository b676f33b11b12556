//===- ApplySchedule.cpp - tile a group by its plan ------------------------===//
// Owns the loops of a group. Tiling and fusion are MLIR's TilingInterface; this file decides their order and keeps every
// size static. Refuses to choose sizes: TilePlan does.
#include "dialects/Trn/Target.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/TilePlan.h"
#include "passes/Tile/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_APPLYSCHEDULEPASS
#include "passes/Tile/SchedulePasses.h.inc"

namespace {

/// A part of a root with its own tile sizes: the whole root, or the even or ragged part of one.
struct RootPart {
  TilingInterface op;
  SmallVector<int64_t> tileSizes;
};

SmallVector<OpFoldResult> asSizes(OpBuilder &builder, ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(sizes, [&](int64_t size) -> OpFoldResult { return builder.getIndexAttr(size); });
}

/// Parts of a split root that write a slice of a slice would, once slices are merged, no longer write into each other's
/// result, and bufferisation would copy. A fresh destination keeps the chain; tile-reuse-destinations removes it. It is an
/// allocation, unequal to every other one, until the last CSE is over: equal values that belong into two places of a
/// tensor would become one, which can be computed in one of them only. tile-split-destinations makes it an empty tensor.
void useFreshDestination(RewriterBase &rewriter, linalg::LinalgOp root) {
  OpOperand *init = root.getDpsInitOperand(0);
  auto type = cast<RankedTensorType>(init->get().getType());
  if (!init->get().getDefiningOp<tensor::ExtractSliceOp>() || root.payloadUsesValueFromOperand(init) ||
      root.getNumReductionLoops() != 0)
    return;
  rewriter.setInsertionPoint(root);
  Value fresh = bufferization::AllocTensorOp::create(rewriter, root.getLoc(), type, ValueRange());
  rewriter.modifyOpInPlace(root, [&] { init->set(fresh); });
}

/// Splits the root along every loop that its tile does not divide, so that each part has static tiles.
SmallVector<RootPart> splitRagged(RewriterBase &rewriter, TileNest &nest) {
  SmallVector<int64_t> ranges = nest.root.getStaticLoopRanges();
  if (llvm::is_contained(ranges, 0)) // nothing is computed: one tile
    llvm::fill(nest.tileSizes, 0);
  SmallVector<RootPart> parts = {{cast<TilingInterface>(nest.root.getOperation()), nest.tileSizes}};
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    int64_t tile = nest.tileSizes[loop];
    if (tile == 0 || range % tile == 0)
      continue;
    useFreshDestination(rewriter, nest.root);
    SmallVector<RootPart> split;
    for (RootPart &part : parts) {
      rewriter.setInsertionPoint(part.op);
      auto [even, ragged] =
          linalg::splitOp(rewriter, part.op, loop, rewriter.getIndexAttr(range - range % tile));
      split.push_back({even, part.tileSizes});
      split.push_back({ragged, part.tileSizes});
      split.back().tileSizes[loop] = range % tile;
    }
    parts = std::move(split);
  }
  return parts;
}

LogicalResult tilePart(RewriterBase &rewriter, const TileNest &nest, RootPart part) {
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(asSizes(rewriter, part.tileSizes));
  options.tilingOptions.setInterchange(nest.order);
  options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer,
                                 bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
    if (!nest.fused.contains(producer.getOwner()))
      return std::nullopt;
    return scf::SCFTileAndFuseOptions::ControlFnResult{};
  });
  // A part of a split root reads slices of slices; only one slice of a producer can be fused.
  RewritePatternSet patterns(rewriter.getContext());
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  options.cleanupPatterns = FrozenRewritePatternSet(std::move(patterns));

  rewriter.setInsertionPoint(part.op);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, part.op, options);
  if (failed(tiled))
    return part.op->emitError("cannot be tiled by its plan");
  for (OpResult result : part.op->getResults())
    if (Value replacement = tiled->replacements.lookup(result))
      rewriter.replaceAllUsesWith(result, replacement);
  if (part.op->use_empty())
    rewriter.eraseOp(part.op);
  return success();
}

/// Cuts a nest of which an operation reads backwards: loops over its tiles, each with the slices of what the nest reads and
/// the tiles of what it has fused. MLIR's interface takes the first and the last index of a tile for its bounds, of loops
/// that are not cut, too.
class BackwardsTiler {
public:
  BackwardsTiler(RewriterBase &rewriter, TileNest &nest)
      : rewriter(rewriter), nest(nest), root(nest.root), loc(root.getLoc()), ranges(root.getStaticLoopRanges()) {}

  void run() {
    rewriter.setInsertionPoint(root);
    Value init = root.getDpsInitOperand(0)->get();
    fill = init.getDefiningOp<linalg::FillOp>();
    if (fill && !nest.fused.contains(fill))
      fill = nullptr;
    SmallVector<OpFoldResult> first(ranges.size(), rewriter.getIndexAttr(0));
    rewriter.replaceOp(root, emit(0, first, ranges, fill ? fill.getDpsInitOperand(0)->get() : init));
  }

private:
  /// What a tile sees of an operand, and how its elements are indexed in there.
  struct Window {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    AffineMap map;
  };

  bool isCut(unsigned loop) const { return nest.tileSizes[loop] != 0 && nest.tileSizes[loop] < ranges[loop]; }

  /// The tiles along the loops of `nest.order` from number `next` on, written into `result`.
  Value emit(unsigned next, SmallVector<OpFoldResult> first, SmallVector<int64_t> sizes, Value result) {
    if (next == nest.order.size())
      return emitTile(first, sizes, result);
    const int64_t loop = nest.order[next];
    if (!isCut(loop))
      return emit(next + 1, first, sizes, result);
    const int64_t tile = nest.tileSizes[loop], even = ranges[loop] - ranges[loop] % tile;
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value).getResult(); };
    auto steps = scf::ForOp::create(rewriter, loc, index(0), index(even), index(tile), result);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(steps.getBody());
      first[loop] = steps.getInductionVar();
      sizes[loop] = tile;
      scf::YieldOp::create(rewriter, loc, emit(next + 1, first, sizes, steps.getRegionIterArg(0)));
    }
    if (even == ranges[loop])
      return steps.getResult(0);
    first[loop] = rewriter.getIndexAttr(even);
    sizes[loop] = ranges[loop] - even;
    return emit(next + 1, first, sizes, steps.getResult(0));
  }

  Value emitTile(ArrayRef<OpFoldResult> first, ArrayRef<int64_t> sizes, Value result) {
    Window window = windowOf(root, *root.getDpsInitOperand(0), first, sizes);
    Value destination = extract(result, window);
    if (fill)
      destination =
          linalg::FillOp::create(rewriter, fill.getLoc(), fill.getDpsInputOperand(0)->get(), destination).getResult(0);
    Value tile = tileOf(root, first, sizes, destination);
    return window.offsets.empty() ? tile
                                  : tensor::InsertSliceOp::create(rewriter, loc, tile, result, window.offsets, window.sizes,
                                                                  window.strides)
                                        .getResult();
  }

  static int64_t valueAt(AffineExpr index, ArrayRef<int64_t> position) {
    SmallVector<AffineExpr> at = llvm::map_to_vector(
        position, [&](int64_t value) { return getAffineConstantExpr(value, index.getContext()); });
    return cast<AffineConstantExpr>(index.replaceDims(at)).getValue();
  }

  /// An index is a sum of loops with factors: its least value is at the one or the other end of each.
  Window windowOf(linalg::LinalgOp op, OpOperand &operand, ArrayRef<OpFoldResult> first, ArrayRef<int64_t> sizes) {
    Window window;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    const unsigned loops = map.getNumDims();
    SmallVector<AffineExpr> indices;
    const SmallVector<int64_t> origin(loops, 0);
    for (AffineExpr index : map.getResults()) {
      SmallVector<int64_t> least(origin), largest(origin);
      SmallVector<AffineExpr> leastExprs;
      for (unsigned loop = 0; loop < loops; ++loop) {
        SmallVector<int64_t> step(origin);
        step[loop] = 1;
        const bool falls = valueAt(index, step) < valueAt(index, origin);
        (falls ? least : largest)[loop] = sizes[loop] - 1;
        leastExprs.push_back(rewriter.getAffineDimExpr(loop) + least[loop]);
      }
      AffineExpr offset = simplifyAffineExpr(index.replaceDims(leastExprs), loops, 0);
      window.offsets.push_back(affine::makeComposedFoldedAffineApply(rewriter, loc, offset, first));
      window.sizes.push_back(rewriter.getIndexAttr(valueAt(index, largest) - valueAt(index, least) + 1));
      window.strides.push_back(rewriter.getIndexAttr(1));
      indices.push_back(simplifyAffineExpr(index - valueAt(index, least), loops, 0));
    }
    window.map = AffineMap::get(loops, 0, indices, rewriter.getContext());
    return window;
  }

  Value extract(Value whole, const Window &window) {
    return window.offsets.empty()
               ? whole
               : tensor::ExtractSliceOp::create(rewriter, loc, whole, window.offsets, window.sizes, window.strides).getResult();
  }

  /// A slice of what is there, or the tile of what the nest has fused.
  Value sliceOf(Value whole, const Window &window) {
    auto producer = whole.getDefiningOp<linalg::LinalgOp>();
    if (!producer || !nest.fused.contains(producer))
      return extract(whole, window);
    OpOperand *init = producer.getDpsInitOperand(0);
    AffineMap definition = producer.getMatchingIndexingMap(init);
    SmallVector<int64_t> sizes = producer.getStaticLoopRanges();
    SmallVector<OpFoldResult> first(sizes.size(), rewriter.getIndexAttr(0));
    for (auto [dim, offset, size] : llvm::enumerate(window.offsets, window.sizes)) {
      first[definition.getDimPosition(dim)] = offset;
      sizes[definition.getDimPosition(dim)] = *getConstantIntValue(size);
    }
    return tileOf(producer, first, sizes, sliceOf(init->get(), window));
  }

  Value tileOf(linalg::LinalgOp op, ArrayRef<OpFoldResult> first, ArrayRef<int64_t> sizes, Value destination) {
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands()) {
      Window window = windowOf(op, operand, first, sizes);
      maps.push_back(window.map);
      operands.push_back(op.isDpsInit(&operand) ? destination : sliceOf(operand.get(), window));
    }
    auto part = cast<linalg::LinalgOp>(mlir::clone(rewriter, op, destination.getType(), operands));
    if (auto generic = dyn_cast<linalg::GenericOp>(part.getOperation()))
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    linalg::offsetIndices(rewriter, part, first);
    rewriter.setInsertionPointAfter(part);
    return part->getResult(0);
  }

  RewriterBase &rewriter;
  TileNest &nest;
  linalg::LinalgOp root;
  Location loc;
  linalg::FillOp fill; ///< with which the results of each tile begin
  SmallVector<int64_t> ranges;
};

bool hasBackwards(TileNest &nest) {
  return readsBackwards(nest.root) || llvm::any_of(nest.fused, [](Operation *op) {
           return readsBackwards(cast<linalg::LinalgOp>(op));
         });
}

/// Runs `op` one step at a time in the loops that `sizes` tiles.
LogicalResult tileSteps(RewriterBase &rewriter, linalg::LinalgOp op, ArrayRef<int64_t> sizes) {
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return success();
  scf::SCFTilingOptions options;
  options.setTileSizes(asSizes(rewriter, sizes));
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return op.emitError("cannot be tiled into single steps");
  rewriter.replaceOp(op, tiled->replacements);
  return success();
}

/// The loads from HBM that only `op` reads, beside it.
SmallVector<OpOperand *> ownLoads(linalg::LinalgOp op) {
  SmallVector<OpOperand *> loads;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Operation *load = operand->get().getDefiningOp();
    if (load && classify(load) == StructuredKind::Copy && load->hasOneUse() && load->getBlock() == op->getBlock() &&
        isInHbm(load->getOperand(0)))
      loads.push_back(operand);
  }
  return loads;
}

/// Loads the operands of a contraction over many chunks part by part, inside a loop over the chunks, each part of at most
/// `limit` bytes per partition, when all of them are more than two. Returns the contraction of one part.
FailureOr<linalg::LinalgOp> streamOperands(RewriterBase &rewriter, linalg::LinalgOp op, int64_t limit) {
  auto roles = contractionRoles(op);
  SmallVector<OpOperand *> loads = ownLoads(op);
  auto indexes = [&](unsigned loop, OpOperand *operand) {
    return llvm::is_contained(op.getMatchingIndexingMap(operand).getResults(),
                              getAffineDimExpr(loop, op->getContext()));
  };
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes(ranges.size(), 0);
  auto loadedBytes = [&] {
    int64_t bytes = 0;
    for (OpOperand *operand : loads) {
      int64_t part = freeBytes(cast<ShapedType>(operand->get().getType()));
      for (unsigned loop : roles->reductions)
        if (sizes[loop] != 0 && indexes(loop, operand))
          part = part / ranges[loop] * sizes[loop];
      bytes += part;
    }
    return bytes;
  };
  if (!roles || loadedBytes() <= 2 * limit)
    return op;
  for (unsigned loop : roles->reductions)
    for (int64_t size = ranges[loop]; size > 1 && loadedBytes() > limit;) {
      if (llvm::none_of(loads, [&](OpOperand *operand) { return indexes(loop, operand); }))
        break;
      // An exact divisor: every part is the same operation.
      do
        --size;
      while (ranges[loop] % size != 0);
      sizes[loop] = size;
    }
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return op;
  llvm::SmallPtrSet<Operation *, 2> fused;
  for (OpOperand *operand : loads)
    fused.insert(operand->get().getDefiningOp());
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(asSizes(rewriter, sizes));
  options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer,
                                 bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
    if (!fused.contains(producer.getOwner()))
      return std::nullopt;
    return scf::SCFTileAndFuseOptions::ControlFnResult{};
  });
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return op.emitError("cannot be tiled into parts of its chunks");
  rewriter.replaceOp(op, tiled->replacements.lookup(op->getResult(0)));
  return cast<linalg::LinalgOp>(tiled->tiledAndFusedOps.front());
}

/// What the PE does per instruction: one block, chunk and tap of a contraction (the accumulator is carried by the loops),
/// one pair of dimensions of a transpose.
LogicalResult tileForPE(RewriterBase &rewriter, linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes(ranges.size(), 0);
  auto step = [&](unsigned loop) { sizes[loop] = ranges[loop] > 1 ? 1 : 0; };
  if (auto roles = contractionRoles(op)) {
    llvm::for_each(roles->blocks, step);
    llvm::for_each(roles->reductions, step);
  } else {
    ArrayRef<int64_t> permutation = cast<linalg::TransposeOp>(op.getOperation()).getPermutation();
    for (unsigned dim = 1; dim < permutation.size(); ++dim)
      if (permutation[dim] != 0)
        step(dim);
  }
  return tileSteps(rewriter, op, sizes);
}

/// The operands that are constants as parts of the slice; nothing where there are none.
struct StaticSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  static std::optional<StaticSlice> get(OffsetSizeAndStrideOpInterface slice) {
    StaticSlice folded{slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides()};
    bool changed = succeeded(foldDynamicIndexList(folded.offsets));
    changed |= succeeded(foldDynamicIndexList(folded.sizes));
    changed |= succeeded(foldDynamicIndexList(folded.strides));
    return changed ? std::optional(folded) : std::nullopt;
  }
};

/// Constant offsets become static, and types stay. Upstream's patterns infer the type again, and may drop other dimensions
/// of one element than the slice does.
struct MakeExtractionStatic : OpRewritePattern<tensor::ExtractSliceOp> {
  MakeExtractionStatic(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    std::optional<StaticSlice> slice = StaticSlice::get(op);
    if (!slice)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, op.getType(), op.getSource(), slice->offsets, slice->sizes,
                                                        slice->strides);
    return success();
  }
};

struct MakeInsertionStatic : OpRewritePattern<tensor::InsertSliceOp> {
  MakeInsertionStatic(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op, PatternRewriter &rewriter) const override {
    std::optional<StaticSlice> slice = StaticSlice::get(op);
    if (!slice)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getSource(), op.getDest(), slice->offsets, slice->sizes,
                                                       slice->strides);
    return success();
  }
};

/// Canonical forms, slices merged, destinations of slices made small.
LogicalResult simplify(Operation *function) {
  MLIRContext *context = function->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, context);
  patterns.add<MakeExtractionStatic, MakeInsertionStatic>(context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

void hoistInvariants(Operation *function) {
  function->walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
}

struct ApplySchedulePass : impl::ApplySchedulePassBase<ApplySchedulePass> {
  using ApplySchedulePassBase::ApplySchedulePassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    const isa::DeviceInfo *device = findDevice(function, target);
    if (!device)
      return signalPassFailure();
    TilePlan plan = getAnalysis<TilePlanAnalysis>().planFor(*device);
    IRRewriter rewriter(&getContext());
    for (TileNest &nest : plan.nests) {
      if (hasBackwards(nest)) {
        BackwardsTiler(rewriter, nest).run();
        continue;
      }
      for (RootPart &part : splitRagged(rewriter, nest))
        if (failed(tilePart(rewriter, nest, part)))
          return signalPassFailure();
    }
    if (failed(simplify(function)))
      return signalPassFailure();
    hoistInvariants(function);

    SmallVector<linalg::LinalgOp> byPE;
    function.walk([&](linalg::LinalgOp op) {
      if (isWrittenByPE(op))
        byPE.push_back(op);
    });
    for (linalg::LinalgOp op : byPE) {
      FailureOr<linalg::LinalgOp> part = streamOperands(rewriter, op, TileLimits(*device).partBytes);
      if (failed(part) || failed(tileForPE(rewriter, *part)))
        return signalPassFailure();
    }
    if (failed(simplify(function)))
      return signalPassFailure();
    hoistInvariants(function);
  }
};
} // namespace
} // namespace trn
