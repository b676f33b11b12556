//===- SelectMovement.cpp - instructions that move data ----------------------===//
// Owns copies, broadcasts, gathers, fills and free transposes. Refuses to exchange partitions and free elements on chip:
// layout goes through the PE or through HBM for that.
#include "dialects/Trn/ISA/Partitions.h"
#include "passes/Select/Access.h"
#include "passes/Select/Emitter.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Gather.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structure.h"
#include "passes/Tile/Structured.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SELECTMOVEMENTPASS
#include "passes/Select/Passes.h.inc"

namespace {

struct SelectMovementPass : impl::SelectMovementPassBase<SelectMovementPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> moves;
    getOperation().walk([&](linalg::LinalgOp op) {
      StructuredKind kind = classify(op);
      if (kind == StructuredKind::Copy || kind == StructuredKind::Broadcast || kind == StructuredKind::Fill ||
          kind == StructuredKind::Gather || llvm::isa<linalg::TransposeOp>(op))
        moves.push_back(op);
    });
    for (linalg::LinalgOp op : moves)
      if (succeeded(select(op)))
        op->erase();
  }

  static LogicalResult select(linalg::LinalgOp op) {
    if (llvm::isa<linalg::FillOp>(op))
      return selectFill(op);
    return classify(op) == StructuredKind::Gather ? selectGather(op) : selectMove(op);
  }

  /// The tile of a movement: the partition loop is the one on dimension 0 of the on-chip side, or of the result.
  static FailureOr<Tile> tileOfMove(linalg::LinalgOp op) {
    OpOperand *result = op.getDpsInitOperand(0);
    OpOperand *partitioned = result;
    if (isInHbm(result->get()) && op.getNumDpsInputs() == 1 && !isInHbm(op.getDpsInputs()[0]))
      partitioned = op.getDpsInputOperand(0);
    auto partition = iteratorOfDim(op, partitioned, 0);
    if (!partition && op.getNumLoops() > 0) // a scalar has no dimension: it is one partition
      return op.emitOpError("cannot move: expected dimension 0 to be indexed by one loop");
    SmallVector<unsigned> loops;
    for (AffineExpr expr : op.getMatchingIndexingMap(result).getResults())
      if (auto iterator = dyn_cast<AffineDimExpr>(expr); iterator && iterator.getPosition() != partition)
        loops.push_back(iterator.getPosition());
    std::string reason;
    FailureOr<Tile> tile = tileOf(op, partition, loops, reason);
    if (failed(tile))
      return op.emitOpError("cannot move: ") << reason;
    return tile;
  }

  /// Whether an instruction of an engine may begin at the first partition of an on-chip access.
  static bool beginsWhereEnginesDo(const Access &access, int64_t partitions) {
    if (spaceOf(access.root) == isa::Space::HBM)
      return true;
    int64_t row = freeElements(cast<MemRefType>(access.root.getType()));
    return access.offset / row % isa::startPartitionStep(partitions) == 0;
  }

  static LogicalResult selectMove(linalg::LinalgOp op) {
    FailureOr<Tile> tile = tileOfMove(op);
    if (failed(tile))
      return failure();
    Value from = op.getDpsInputs()[0], to = op.getDpsInits()[0];
    // Between partitions at which no engine's operands may begin, as the layout plan says, DMA moves from SBUF to SBUF.
    bool byDma = isInHbm(from) || isInHbm(to) || !beginsWhereEnginesDo(tile->accesses[0], tile->partitions) ||
                 !beginsWhereEnginesDo(tile->accesses[1], tile->partitions);
    if (byDma && (isInPsum(from) || isInPsum(to)))
      return op.emitOpError("cannot move: DMA does not reach PSUM");
    mergeLoops(*tile);
    OpBuilder builder(op);
    unrollOuterLoops(builder, op.getLoc(), *tile);
    Value dst = createView(builder, op.getLoc(), tile->accesses[1], tile->partitions, tile->sizes);
    Value src = createView(builder, op.getLoc(), tile->accesses[0], tile->partitions, tile->sizes);
    Emitter emitter(builder, op.getLoc());
    if (byDma)
      emitter.dma(dst, src);
    else
      emitter.copy(dst, src);
    return success();
  }

  /// One transfer per column of indices: a row of the table to each partition.
  static LogicalResult selectGather(linalg::LinalgOp op) {
    std::optional<RowGather> gather = rowGather(op);
    auto partition = iteratorOfDim(op, op.getDpsInitOperand(0), 0);
    AffineMap indexMap = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    if (!partition || gather->tableMap.isFunctionOfDim(*partition))
      return op.emitOpError("cannot gather: expected a loop of the indices on the partitions of the result");
    if (!isInHbm(gather->table))
      return op.emitOpError("cannot gather: expected the table in hbm but got ") << spaceName(spaceOf(gather->table));
    SmallVector<unsigned> outer, row;
    for (unsigned loop = 0, e = op.getNumLoops(); loop != e; ++loop)
      if (loop != *partition)
        (indexMap.isFunctionOfDim(loop) ? outer : row).push_back(loop);
    SmallVector<unsigned> loops(outer);
    loops.append(row);
    std::string reason;
    FailureOr<Tile> tile = tileOf(op, *partition, loops, reason);
    FailureOr<Access> table = accessOf(gather->table, gather->tableMap, reason);
    SmallVector<int64_t> strides, ranges = op.getStaticLoopRanges();
    int64_t offset;
    if (failed(tile) || failed(table))
      return op.emitOpError("cannot gather: ") << reason;
    (void)cast<MemRefType>(gather->table.getType()).getStridesAndOffset(strides, offset);
    table->partitionStride = strides[gather->rowDim];
    llvm::erase_if(loops, [&](unsigned loop) { return ranges[loop] == 1; });
    table->strides = llvm::map_to_vector(loops, [&](unsigned loop) { return table->strides[loop]; });
    tile->accesses.push_back(*table);
    mergeLoops(*tile);
    unsigned rowRank = llvm::count(tile->accesses[0].strides, 0);
    OpBuilder builder(op);
    unrollOuterLoops(builder, op.getLoc(), *tile, std::min(rowRank, kMaxFreeRank));
    auto view = [&](unsigned operand, int64_t partitions, ArrayRef<int64_t> sizes) {
      return createView(builder, op.getLoc(), tile->accesses[operand], partitions, sizes);
    };
    tile->accesses[0].strides.clear();
    Value indices = view(0, tile->partitions, {});
    Emitter(builder, op.getLoc())
        .gather(view(1, tile->partitions, tile->sizes), view(2, gather->rows(), tile->sizes), indices);
    return success();
  }

  static void fillTile(Emitter &emitter, Value dst, TypedAttr constant) {
    if (auto number = dyn_cast<FloatAttr>(constant))
      return emitter.fill(dst, static_cast<float>(number.getValueAsDouble()));
    auto number = cast<IntegerAttr>(constant);
    bool isUnsigned = number.getType().isUnsignedInteger();
    emitter.fillInteger(dst, isUnsigned ? static_cast<int64_t>(number.getValue().getZExtValue()) : number.getValue().getSExtValue());
  }

  static LogicalResult selectFill(linalg::LinalgOp op) {
    TypedAttr constant = scalarConstant(op.getDpsInputs()[0]);
    if (!constant)
      return op.emitOpError("cannot fill: expected a constant");
    Value to = op.getDpsInits()[0];
    std::string reason;
    auto type = cast<MemRefType>(to.getType());
    OpBuilder builder(op);
    FailureOr<Access> access = accessOf(to, builder.getMultiDimIdentityMap(type.getRank()), reason);
    if (failed(access))
      return op.emitOpError("cannot fill: ") << reason;
    Tile tile;
    tile.partitions = type.getDimSize(0);
    access->partitionStride = access->strides.front();
    SmallVector<int64_t> strides;
    for (unsigned dim = 1; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) != 1) {
        tile.sizes.push_back(type.getDimSize(dim));
        strides.push_back(access->strides[dim]);
      }
    access->strides = strides;
    tile.accesses.push_back(*access);
    Emitter emitter(builder, op.getLoc());
    if (isInHbm(to)) {
      fillHbm(emitter, tile, constant, type.getElementType());
      return success();
    }
    mergeLoops(tile);
    unrollOuterLoops(builder, op.getLoc(), tile);
    fillTile(emitter, createView(builder, op.getLoc(), tile.accesses[0], tile.partitions, tile.sizes), constant);
    return success();
  }

  /// DMA only copies: a constant tile in SBUF is written to HBM, as often as the region takes.
  static void fillHbm(Emitter &emitter, Tile &tile, TypedAttr value, Type element) {
    // In HBM dimension 0 is a loop like any other. The innermost loops that fit are the tile; the last of them that has
    // a divisor of at most the number of partitions is spread over them.
    OpBuilder &builder = emitter.builder;
    Location loc = emitter.loc;
    Access &access = tile.accesses[0];
    tile.sizes.insert(tile.sizes.begin(), tile.partitions);
    access.strides.insert(access.strides.begin(), access.partitionStride);
    mergeLoops(tile);
    // The largest divisor of the outermost loop that partitions can take.
    unrollOuterLoops(builder, loc, tile, kMaxFreeRank);
    int64_t outer = tile.sizes.front(), stride = access.strides.front(), rows = 1;
    for (int64_t divisor = 1; divisor <= isa::widestDevice().partitions && divisor <= outer; ++divisor)
      if (outer % divisor == 0)
        rows = divisor;
    tile.partitions = rows;
    access.partitionStride = stride * (outer / rows);
    tile.sizes.front() = outer / rows;
    // One tile of at most 16 KiB per partition serves every step.
    constexpr int64_t kTileElements = 4096;
    while (tile.elements() > kTileElements) {
      if (tile.sizes.size() > 1) {
        unrollOuterLoops(builder, loc, tile, tile.sizes.size() - 1);
        continue;
      }
      int64_t inner = kTileElements;
      while (tile.sizes.front() % inner != 0)
        --inner;
      tile.sizes = {tile.sizes.front() / inner, inner};
      access.strides = {access.strides.front() * inner, access.strides.front()};
    }
    Value constant = createTemporary(builder, loc, tile.partitions, tile.sizes, element);
    fillTile(emitter, constant, value);
    emitter.dma(createView(builder, loc, access, tile.partitions, tile.sizes), constant);
  }
};
} // namespace
} // namespace trn
