//===- TilePlan.cpp - tiles and loop order of a group ------------------===//
// Owns the planning rules. A nest is either a *bank nest* (its tile is one PSUM bank: contractions or partition
// transposes with the chain of maps that empties the bank) or a *row nest* (maps and reductions over SBUF, tiled over the
// loops that all of them share, so that nothing is computed twice). Where the rows of a reduction are too long for SBUF,
// it is the root of a nest of its own that runs over parts of its row, the partial result carried from one to the next.
#include "passes/Tile/TilePlan.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "passes/Tile/Taps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trn {

bool TileNest::isTiled() const {
  return llvm::any_of(tileSizes, [](int64_t size) { return size != 0; });
}

void TileNest::print(llvm::raw_ostream &os) const {
  os << "nest of " << trn::name(classify(root)) << ": tile [";
  llvm::interleaveComma(tileSizes, os);
  os << "], order [";
  llvm::interleaveComma(order, os);
  os << "], fused: ";
  if (fused.empty())
    os << "nothing";
  llvm::interleaveComma(fused, os, [&](Operation *op) { os << trn::name(classify(op)); });
  os << " (" << reason << ")";
}

void TilePlan::print(llvm::raw_ostream &os) const {
  for (const TileNest &nest : nests) {
    nest.print(os);
    os << "\n";
  }
}

namespace {

/// For each loop of a fused producer, the loop of the root that it runs with; -1 when the root has no such loop.
using LoopMap = SmallVector<int64_t>;

struct NestBuilder {
  linalg::LinalgOp root;
  llvm::DenseMap<Operation *, LoopMap> loopsOf;
  llvm::SetVector<Operation *> members; // the root first

  explicit NestBuilder(linalg::LinalgOp root) : root(root) {
    LoopMap identity;
    for (int64_t i = 0, e = root.getNumLoops(); i != e; ++i)
      identity.push_back(i);
    loopsOf[root] = identity;
    members.insert(root);
  }

  /// True when every use of `op` is an operand of a member.
  bool isUsedHereOnly(Operation *op) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) { return members.contains(user); });
  }

  /// Adds the producer of `operand` (an input of member `consumer`) when its tile follows from the consumer's.
  bool tryAdd(linalg::LinalgOp consumer, OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || producer->getBlock() != root->getBlock() || producer.getNumDpsInits() != 1)
      return false;
    AffineMap use = consumer.getMatchingIndexingMap(&operand);
    AffineMap definition = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    if (!use.isProjectedPermutation() || !definition.isProjectedPermutation())
      return false;
    LoopMap loops(producer.getNumLoops(), -1);
    for (unsigned dim = 0, e = definition.getNumResults(); dim != e; ++dim)
      loops[definition.getDimPosition(dim)] = loopsOf.lookup(consumer)[use.getDimPosition(dim)];
    loopsOf[producer] = loops;
    members.insert(producer);
    return true;
  }

  void remove(Operation *op) {
    members.remove(op);
    loopsOf.erase(op);
  }

  /// Grows the set with producers that `accept` allows, to a fixpoint. A producer with a use outside stays out.
  void grow(llvm::function_ref<bool(linalg::LinalgOp)> accept) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (unsigned i = 0; i < members.size(); ++i) {
        auto consumer = cast<linalg::LinalgOp>(members[i]);
        // What the PE reads serves many tiles: computed inside, it would be computed for each. What it accumulates onto is
        // the same tile.
        SmallVector<OpOperand *> operands = isWrittenByPE(consumer)
                                                ? SmallVector<OpOperand *>{consumer.getDpsInitOperand(0)}
                                                : consumer.getDpsInputOperands();
        for (OpOperand *operand : operands) {
          auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
          if (!producer || members.contains(producer) || !accept(producer) || !isUsedHereOnly(producer))
            continue;
          changed |= tryAdd(consumer, *operand);
        }
      }
    }
    // A member that two members index differently would be computed twice: it becomes a nest of its own.
    for (bool dropped = true; dropped;) {
      dropped = false;
      for (unsigned i = 1; i < members.size(); ++i)
        if (!isConsistent(cast<linalg::LinalgOp>(members[i]))) {
          remove(members[i]);
          dropped = true;
          break;
        }
    }
  }

  bool isConsistent(linalg::LinalgOp producer) const {
    AffineMap definition = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    for (OpOperand &use : producer->getResult(0).getUses()) {
      if (!members.contains(use.getOwner()))
        return false;
      auto consumer = cast<linalg::LinalgOp>(use.getOwner());
      AffineMap map = consumer.getMatchingIndexingMap(&use);
      if (!map.isProjectedPermutation() || map.getNumResults() != definition.getNumResults())
        return false;
      // A consumer that reduces a loop (-1) needs it whole; such a loop is not tiled (isShared).
      for (unsigned dim = 0, e = map.getNumResults(); dim != e; ++dim) {
        int64_t wanted = loopsOf.lookup(consumer)[map.getDimPosition(dim)];
        int64_t own = loopsOf.lookup(producer)[definition.getDimPosition(dim)];
        if (wanted != own && wanted >= 0 && own >= 0)
          return false;
      }
    }
    return true;
  }
};

/// True for a copy or broadcast out of HBM.
bool isLoad(Operation *op) {
  StructuredKind kind = classify(op);
  return (kind == StructuredKind::Copy || kind == StructuredKind::Broadcast) && isInHbm(op->getOperand(0));
}

bool isStore(Operation *op) { return classify(op) == StructuredKind::Copy && isInHbm(op->getOperand(1)); }

/// True for a map or copy that empties PSUM.
bool isDrain(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && isWrittenByPE(producer);
  });
}

/// True for a sum of products over a window: it is accumulated tap by tap and has no temporary of all taps.
bool accumulatesTaps(linalg::LinalgOp op) {
  if (classify(op) != StructuredKind::Reduction || op.getNumDpsInputs() != 2)
    return false;
  Operation *sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!llvm::isa_and_nonnull<arith::AddFOp>(sum))
    return false;
  // A square is no weighted tap: it is computed for all taps, then reduced.
  bool weighs = llvm::any_of(sum->getOperands(), [](Value value) {
    auto product = value.getDefiningOp<arith::MulFOp>();
    return product && product.getLhs() != product.getRhs();
  });
  int64_t taps = 1;
  auto types = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, range] : llvm::enumerate(ranges))
    taps *= types[loop] == utils::IteratorType::reduction ? range : 1;
  // Elements that share a weight, for the operand that is one.
  return weighs && taps <= kMostTaps && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *weight) {
           int64_t row = 1;
           for (auto [loop, range] : llvm::enumerate(ranges))
             row *= types[loop] == utils::IteratorType::reduction || isIndexedBy(op, weight, loop) ? 1 : range;
           return row >= kShortestTap;
         });
}

bool isMapLike(Operation *op) {
  StructuredKind kind = classify(op);
  return kind == StructuredKind::Map || (kind == StructuredKind::Copy && !isLoad(op));
}

/// The largest tile ≤ `limit` of a loop of `size`: an exact divisor when one of at least 3/4 of the balanced size
/// exists, because a ragged edge costs a second nest; else the balanced size.
int64_t balancedTile(int64_t size, int64_t limit) {
  if (size <= limit)
    return size;
  limit = std::max<int64_t>(1, limit);
  int64_t balanced = llvm::divideCeil(size, llvm::divideCeil(size, limit));
  for (int64_t divisor = balanced; divisor * 4 >= balanced * 3; --divisor)
    if (size % divisor == 0)
      return divisor;
  return balanced;
}

class Planner {
public:
  explicit Planner(const TileLimits &limits) : limits(limits) {}

  TileNest plan(linalg::LinalgOp root, const llvm::DenseSet<Operation *> &taken) {
    TileNest nest = planNest(root, taken);
    if (isStore(root) && nest.isTiled() && storeTileBytes(nest) < limits.efficientRowBytes &&
        freeBytes(cast<ShapedType>(root->getResult(0).getType())) <= limits.residentStoreBytes) {
      // Short rows waste DMA bandwidth: the store waits for the whole tensor, if that leaves room for others.
      NestBuilder alone(root);
      nest = start(alone);
      nest.reason = "one transfer";
    }
    return nest;
  }

  /// A load or an initial value that no nest takes: one instruction, or as few as its elements allow.
  TileNest planTransfer(linalg::LinalgOp root) {
    NestBuilder builder(root);
    TileNest nest = start(builder);
    nest.reason = "elements of one instruction";
    if (!isStreamed(root))
      cutParallelLoops(nest, limits.instructionElements);
    return nest;
  }

  /// Whether tile-apply-schedule loads the operand part by part with the chunks of the contraction that reads it.
  bool isStreamed(linalg::LinalgOp load) {
    Value loaded = load->getResult(0);
    return isLoad(load) && loaded.hasOneUse() && classify(*loaded.user_begin()) == StructuredKind::Contraction &&
           freeBytes(cast<ShapedType>(loaded.getType())) > 2 * limits.partBytes;
  }

private:
  TileNest planNest(linalg::LinalgOp root, const llvm::DenseSet<Operation *> &taken) {
    NestBuilder builder(root);
    auto free = [&](linalg::LinalgOp op) { return !taken.contains(op); };
    if (!isWrittenByPE(root)) {
      builder.grow([&](linalg::LinalgOp op) {
        return free(op) && (isMapLike(op) || isWrittenByPE(op)) && !readsBackwards(op);
      });
      bool hasBank = llvm::any_of(builder.members, [](Operation *op) { return isWrittenByPE(op); });
      if (hasBank)
        return planBankNest(builder);
      builder = NestBuilder(root);
      builder.grow([&](linalg::LinalgOp op) {
        return free(op) && !isDrain(op) && (isMapLike(op) || classify(op) == StructuredKind::Reduction);
      });
    }
    TileNest nest = planRowNest(builder);
    if (!needsParts(nest, builder) || cutLoads(nest, builder))
      return nest;
    bool reduces = llvm::any_of(llvm::drop_begin(builder.members), [](Operation *member) {
      return classify(member) == StructuredKind::Reduction;
    });
    if (reduces) {
      builder = NestBuilder(root);
      builder.grow([&](linalg::LinalgOp op) { return free(op) && !isDrain(op) && isMapLike(op); });
      nest = planRowNest(builder);
    }
    if (classify(root) == StructuredKind::Reduction && needsParts(nest, builder))
      reduceInParts(nest, builder);
    return nest;
  }

  /// Elements per partition that one step of `nest` runs `member` over.
  static int64_t stepElements(const TileNest &nest, NestBuilder &builder, Operation *member) {
    auto op = cast<linalg::LinalgOp>(member);
    const LoopMap &loops = builder.loopsOf.find(member)->second;
    int64_t elements = 1;
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
      if (!isPartitionLoop(op, loop))
        elements *= loops[loop] >= 0 && nest.tileSizes[loops[loop]] != 0 ? std::min(range, nest.tileSizes[loops[loop]])
                                                                         : range;
    return elements;
  }

  /// Whether one step is more than an instruction takes, or loads and makes more than SBUF has room for.
  bool needsParts(const TileNest &nest, NestBuilder &builder) {
    int64_t bytes = 0;
    for (Operation *member : builder.members) {
      auto op = cast<linalg::LinalgOp>(member);
      int64_t elements = stepElements(nest, builder, member);
      if (elements > limits.instructionElements && classify(member) == StructuredKind::Reduction && !accumulatesTaps(op))
        return true;
      if (member != nest.root && classify(member) != StructuredKind::Reduction)
        bytes += elements * elementSizeInBytes(getElementTypeOrSelf(member->getResult(0).getType()));
      for (OpOperand *operand : op.getDpsInputOperands()) {
        Operation *load = operand->get().getDefiningOp();
        if (load && isLoad(load) && builder.isUsedHereOnly(load))
          bytes += loadTileBytes(load, nest, builder).first;
      }
    }
    return bytes > limits.streamBytes;
  }

  /// Parts of a row are added to results that stay in SBUF meanwhile. Where those are large, the nest is cut further along
  /// the loops that its reductions do not reduce, innermost first, as long as the rows that it loads stay worth a transfer.
  /// True when one step then has room; else the nest is as it was.
  bool cutLoads(TileNest &nest, NestBuilder &builder) {
    int64_t carried = 0;
    for (Operation *member : builder.members)
      if (classify(member) == StructuredKind::Reduction)
        carried = std::max(carried, freeBytes(cast<ShapedType>(member->getResult(0).getType())));
    if (carried <= limits.residentStoreBytes)
      return false;
    TileNest cut = nest;
    SmallVector<int64_t> ranges = cut.root.getStaticLoopRanges();
    for (int64_t loop = cut.root.getNumLoops(); loop-- > 0 && needsParts(cut, builder);) {
      if (isPartitionLoop(cut.root, loop) || !isShared(builder, loop))
        continue;
      int64_t least = 1; // what follows in memory is whole: rows are long in any case
      if (loop + 1 == static_cast<int64_t>(cut.root.getNumLoops()))
        least = limits.leastRowBytes / elementSizeInBytes(getElementTypeOrSelf(cut.root->getResult(0).getType()));
      for (int64_t tile = cut.tileSizes[loop] == 0 ? ranges[loop] : cut.tileSizes[loop];
           tile / 2 >= least && needsParts(cut, builder);) {
        tile = balancedTile(ranges[loop], tile / 2);
        cut.tileSizes[loop] = tile;
      }
    }
    if (needsParts(cut, builder))
      return false;
    cut.reason = "what a load has room for";
    cut.fused.clear();
    finish(cut, builder);
    nest = cut;
    return true;
  }

  /// Cuts the reduction loops of the root, outermost first, until one step is an ordinary tile.
  void reduceInParts(TileNest &nest, NestBuilder &builder) {
    linalg::LinalgOp root = nest.root;
    auto iterators = root.getIteratorTypesArray();
    SmallVector<int64_t> ranges = root.getStaticLoopRanges();
    int64_t limit = builder.members.size() == 1 ? limits.loneElements : limits.mapElements;
    int64_t elements = stepElements(nest, builder, root);
    auto isCut = [&](int64_t loop) { return iterators[loop] == utils::IteratorType::reduction && ranges[loop] > 1; };
    for (int64_t loop = 0, e = root.getNumLoops(); loop != e && elements > limit; ++loop) {
      if (!isCut(loop))
        continue;
      int64_t inner = elements / ranges[loop];
      int64_t tile = inner >= limit ? 1 : balancedTile(ranges[loop], limit / inner);
      nest.tileSizes[loop] = tile;
      elements = inner * tile;
    }
    // Windows with gaps span more than they have elements.
    for (int64_t loop = 0, e = root.getNumLoops(); loop != e; ++loop)
      for (int64_t tile = nest.tileSizes[loop] == 0 ? ranges[loop] : nest.tileSizes[loop];
           isCut(loop) && tile > 1 && needsParts(nest, builder);) {
        tile = balancedTile(ranges[loop], tile / 2);
        nest.tileSizes[loop] = tile;
      }
    // The partial results of a row stay in place while its parts are read.
    SmallVector<int64_t> order;
    for (auto type : {utils::IteratorType::parallel, utils::IteratorType::reduction})
      llvm::copy_if(nest.order, std::back_inserter(order), [&](int64_t loop) { return iterators[loop] == type; });
    nest.order = order;
    nest.reason = "parts of a row";
    nest.fused.clear();
    finish(nest, builder);
  }

  /// Bytes per partition that one tile of a stored root writes.
  static int64_t storeTileBytes(TileNest &nest) {
    int64_t elements = 1;
    for (auto [loop, range] : llvm::enumerate(nest.root.getStaticLoopRanges()))
      if (!isPartitionLoop(nest.root, loop))
        elements *= nest.tileSizes[loop] == 0 ? range : nest.tileSizes[loop];
    return elements * elementSizeInBytes(cast<ShapedType>(nest.root->getResult(0).getType()).getElementType());
  }

  /// Everything that the tiles of a nest are cut from.
  TileNest start(NestBuilder &builder) {
    TileNest nest;
    nest.root = builder.root;
    nest.tileSizes.assign(builder.root.getNumLoops(), 0);
    for (int64_t i = 0, e = builder.root.getNumLoops(); i != e; ++i)
      nest.order.push_back(i);
    return nest;
  }

  /// Takes the members, their initial values, and the loads that are too big to be resident, into the nest.
  void finish(TileNest &nest, NestBuilder &builder) {
    for (Operation *op : llvm::drop_begin(builder.members))
      nest.fused.insert(op);
    for (Operation *member : builder.members)
      for (Value operand : member->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != builder.root->getBlock())
          continue;
        // Partial results that the root carries from step to step begin with the value of the first.
        bool isInit = llvm::isa<linalg::FillOp>(producer) && builder.isUsedHereOnly(producer) &&
                      (member != nest.root || !carriesResults(nest));
        if (isInit || (isLoad(producer) && builder.isUsedHereOnly(producer) && isLoadedPerTile(producer, nest, builder)))
          nest.fused.insert(producer);
      }
  }

  /// Whether steps of the nest add to the results of others.
  static bool carriesResults(const TileNest &nest) {
    linalg::LinalgOp root = nest.root;
    return llvm::any_of(llvm::enumerate(root.getIteratorTypesArray()), [&](auto loop) {
      return loop.value() == utils::IteratorType::reduction && nest.tileSizes[loop.index()] != 0;
    });
  }

  /// A small load is done once. A large one is cut with the loops, if its rows stay long enough for DMA.
  bool isLoadedPerTile(Operation *load, const TileNest &nest, NestBuilder &builder) {
    auto type = cast<ShapedType>(load->getResult(0).getType());
    int64_t bytes = freeBytes(type);
    if (!nest.isTiled())
      return false;
    auto [tileBytes, runBytes] = loadTileBytes(load, nest, builder);
    if (tileBytes == bytes)
      return false;
    return bytes > limits.residentLoadBytes || runBytes >= limits.efficientRowBytes;
  }

  /// Bytes per partition of the part of `load` that one tile reads, and of its runs without a gap in HBM.
  std::pair<int64_t, int64_t> loadTileBytes(Operation *load, const TileNest &nest, NestBuilder &builder) {
    OpOperand &use = *load->getResult(0).use_begin();
    auto consumer = cast<linalg::LinalgOp>(use.getOwner());
    auto type = cast<ShapedType>(load->getResult(0).getType());
    AffineMap map = consumer.getMatchingIndexingMap(&use);
    SmallVector<int64_t> ranges = consumer.getStaticLoopRanges();
    const LoopMap &loops = builder.loopsOf.find(consumer)->second;
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (loops[loop] >= 0 && nest.tileSizes[loops[loop]] != 0)
        range = std::min(range, nest.tileSizes[loops[loop]]);
    SmallVector<AffineExpr> lastIndices = llvm::map_to_vector(
        ranges, [&](int64_t range) { return getAffineConstantExpr(range - 1, load->getContext()); });
    // The dimensions in the order in which HBM has them.
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults()));
    if (auto turned = dyn_cast<linalg::TransposeOp>(load))
      order = invertPermutationVector(turned.getPermutation());
    int64_t elements = 1, run = 1;
    bool gap = false;
    for (int64_t dim : llvm::reverse(order)) {
      gap |= dim == 0; // every partition has rows of its own
      if (dim == 0)
        continue;
      // From index 0 to the last one that the tile reads: windows overlap and have steps.
      auto last = dyn_cast<AffineConstantExpr>(map.getResult(dim).replaceDims(lastIndices));
      int64_t extent = std::min(last ? last.getValue() + 1 : type.getDimSize(dim), type.getDimSize(dim));
      elements *= extent;
      run *= gap ? 1 : extent;
      gap |= extent != type.getDimSize(dim);
    }
    int64_t bytes = elementSizeInBytes(type.getElementType());
    return {elements * bytes, run * bytes};
  }

  TileNest planBankNest(NestBuilder &builder) {
    TileNest nest = start(builder);
    nest.reason = "one PSUM bank";
    SmallVector<int64_t> ranges = builder.root.getStaticLoopRanges();
    SmallVector<int64_t> tiles(ranges);
    llvm::SmallDenseSet<int64_t> blockLoops, columnLoops;
    for (Operation *member : builder.members) {
      if (!isWrittenByPE(member))
        continue;
      auto op = cast<linalg::LinalgOp>(member);
      const LoopMap &loops = builder.loopsOf.find(member)->second;
      SmallVector<int64_t> opRanges = op.getStaticLoopRanges();
      SmallVector<unsigned> blocks, columns;
      rolesOf(op, blocks, columns);
      // Whole innermost columns while they fit, then a part of the next, then one of each outer.
      int64_t bytes = elementSizeInBytes(cast<ShapedType>(op->getResult(0).getType()).getElementType());
      int64_t room = std::min(limits.matmulColumns, limits.psumBankBytes / bytes);
      if (auto transpose = dyn_cast<linalg::TransposeOp>(member))
        room /= cast<ShapedType>(transpose.getInput().getType()).getDimSize(0);
      // Blocks that alternate with columns in memory are in one tile, so that it is drained and stored in runs.
      llvm::SmallDenseSet<unsigned> alternating = alternatingBlocks(op, blocks, columns, room);
      for (unsigned block : alternating) {
        room /= opRanges[block];
        blockLoops.insert(loops[block]);
      }
      for (unsigned column : llvm::reverse(columns)) {
        int64_t tile = balancedTile(opRanges[column], room);
        tiles[loops[column]] = std::min(tiles[loops[column]], tile);
        room = std::max<int64_t>(1, room / opRanges[column]);
        columnLoops.insert(loops[column]);
      }
      // Blocks whose columns are fewer than the shortest instruction share a bank, which is then emptied at once; longer
      // ones gain nothing, and what reads them can start sooner.
      int64_t filled = 1, columnsOfTile = 1;
      for (unsigned column : columns) {
        filled *= opRanges[column];
        columnsOfTile *= tiles[loops[column]];
      }
      room = filled < limits.shortestColumns ? std::min(room, blocksOfTile(op))
             : columnsOfTile * bytes == limits.psumBankBytes ? banksOfTile(op)
                                                              : 1;
      for (unsigned block : llvm::reverse(blocks)) {
        if (alternating.contains(block))
          continue;
        int64_t tile = balancedTile(opRanges[block], room);
        tiles[loops[block]] = std::min(tiles[loops[block]], tile);
        room = std::max<int64_t>(1, room / opRanges[block]);
        blockLoops.insert(loops[block]);
      }
    }
    for (auto [loop, tile] : llvm::enumerate(tiles))
      nest.tileSizes[loop] = tile < ranges[loop] ? tile : 0;
    shrinkColumns(nest, builder, columnLoops);
    orderBankNest(nest, builder, blockLoops, columnLoops);
    finish(nest, builder);
    return nest;
  }

  /// The blocks that lie behind a column in memory, as the phases of a transposed convolution do, as long as what is left
  /// of `room` for columns is worth an instruction.
  llvm::SmallDenseSet<unsigned> alternatingBlocks(linalg::LinalgOp op, ArrayRef<unsigned> blocks,
                                                  ArrayRef<unsigned> columns, int64_t room) const {
    llvm::SmallDenseSet<unsigned> alternating;
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    auto position = [&](unsigned loop) { return result.getResultPosition(getAffineDimExpr(loop, op.getContext())); };
    std::optional<unsigned> first;
    for (unsigned column : columns)
      if (std::optional<unsigned> at = position(column); at && op.getStaticLoopRanges()[column] > 1)
        first = std::min(first.value_or(*at), *at);
    int64_t steps = 1;
    for (unsigned block : llvm::reverse(blocks)) {
      std::optional<unsigned> at = position(block);
      int64_t range = op.getStaticLoopRanges()[block];
      if (!at || !first || *at < *first || range == 1 || room / (steps * range) < limits.shortestColumns ||
          steps * range > blocksOfTile(op))
        continue;
      steps *= range;
      alternating.insert(block);
    }
    return alternating;
  }

  /// Banks that a tile of `op` takes, one for each block. When both operands are loaded per tile, what one of them costs
  /// is shared by the blocks of a tile: half of the banks, so that the next tile has the others.
  int64_t banksOfTile(linalg::LinalgOp op) const {
    auto roles = contractionRoles(op);
    bool streams = roles && llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
                     Operation *load = operand->get().getDefiningOp();
                     return load && isLoad(load) &&
                            freeBytes(cast<ShapedType>(operand->get().getType())) > limits.streamedBytes;
                   });
    return streams ? limits.psumBanks / 2 : 1;
  }

  /// Blocks of `op` that a tile may have: what PE holds for them is on chip already, or a load that is small for all.
  int64_t blocksOfTile(linalg::LinalgOp op) const {
    auto roles = contractionRoles(op);
    if (!roles)
      return 1;
    Value held = op->getOperand(roles->stationary);
    Operation *producer = held.getDefiningOp();
    if (!producer || !isLoad(producer))
      return limits.matmulColumns;
    int64_t bytes = freeBytes(cast<ShapedType>(held.getType()));
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (unsigned block : roles->blocks)
      if (isIndexedBy(op, &op->getOpOperand(roles->stationary), block))
        bytes = llvm::divideCeil(bytes, ranges[block]);
    return std::max<int64_t>(1, limits.residentLoadBytes / std::max<int64_t>(1, bytes));
  }

  /// Bytes per partition that one step of `nest` has loaded for the PE, at least: tile-apply-schedule loads an operand
  /// part by part along reductions that index a dimension of it alone.
  int64_t loadedBytes(const TileNest &nest, NestBuilder &builder) {
    int64_t bytes = 0;
    for (Operation *member : builder.members) {
      auto op = cast<linalg::LinalgOp>(member);
      auto roles = contractionRoles(op);
      for (OpOperand *operand : roles ? op.getDpsInputOperands() : SmallVector<OpOperand *>()) {
        Operation *load = operand->get().getDefiningOp();
        if (!load || !isLoad(load) || !builder.isUsedHereOnly(load))
          continue;
        int64_t part = loadTileBytes(load, nest, builder).first;
        for (unsigned loop : roles->reductions)
          if (llvm::is_contained(op.getMatchingIndexingMap(operand).getResults(),
                                 getAffineDimExpr(loop, op->getContext())))
            part /= op.getStaticLoopRanges()[loop];
        bytes += part;
      }
    }
    return bytes;
  }

  /// A window reads more columns than it makes: fewer of them at a time, outermost first, until their load fits.
  void shrinkColumns(TileNest &nest, NestBuilder &builder, const llvm::SmallDenseSet<int64_t> &columnLoops) {
    SmallVector<int64_t> ranges = builder.root.getStaticLoopRanges();
    for (int64_t loop = 0, e = ranges.size(); loop != e; ++loop)
      for (int64_t tile = nest.tileSizes[loop] == 0 ? ranges[loop] : nest.tileSizes[loop];
           columnLoops.contains(loop) && tile > 1 && loadedBytes(nest, builder) > limits.streamBytes;) {
        tile = balancedTile(ranges[loop], tile / 2);
        nest.tileSizes[loop] = tile;
        nest.reason = "what a load has room for";
      }
  }

  /// Parallel loops of a PE operation that take one step per tile, and those that fill the bank (outermost first).
  static void rolesOf(linalg::LinalgOp op, SmallVector<unsigned> &blocks, SmallVector<unsigned> &columns) {
    if (auto roles = contractionRoles(op)) {
      blocks.assign(roles->blocks);
      columns.assign(roles->columns);
      return;
    }
    // A transpose keeps the two exchanged dimensions whole; of the others, as many fill the bank as fit.
    auto transpose = cast<linalg::TransposeOp>(op.getOperation());
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    for (unsigned dim = 1; dim < permutation.size(); ++dim)
      if (permutation[dim] != 0)
        columns.push_back(dim);
  }

  /// Blocks outside keep a weight tile for all columns; columns outside keep an activation tile for all blocks. Chosen by
  /// the bytes that the loads of the nest then read (performance.md §2.1).
  void orderBankNest(TileNest &nest, NestBuilder &builder, const llvm::SmallDenseSet<int64_t> &blockLoops,
                     const llvm::SmallDenseSet<int64_t> &columnLoops) {
    SmallVector<int64_t> ranges = builder.root.getStaticLoopRanges();
    auto steps = [&](const llvm::SmallDenseSet<int64_t> &loops) {
      int64_t count = 1;
      for (int64_t loop : loops)
        if (nest.tileSizes[loop] != 0)
          count *= llvm::divideCeil(ranges[loop], nest.tileSizes[loop]);
      return count;
    };
    int64_t stationaryBytes = 0, movingBytes = 0;
    // Loops of both operands, as that over a batch, are outside of all where something is loaded: neither operand serves
    // two of their steps.
    llvm::SmallDenseSet<int64_t> shared, ownBlocks(blockLoops);
    for (Operation *member : builder.members) {
      auto op = cast<linalg::LinalgOp>(member);
      auto roles = contractionRoles(op);
      if (!roles)
        continue;
      const LoopMap &loops = builder.loopsOf.find(member)->second;
      for (unsigned block : roles->blocks)
        if (loops[block] >= 0 && isIndexedBy(op, op.getDpsInputOperand(roles->moving), block)) {
          shared.insert(loops[block]);
          ownBlocks.erase(loops[block]);
        }
      for (OpOperand *operand : op.getDpsInputOperands()) {
        Operation *load = operand->get().getDefiningOp();
        if (!load || !isLoad(load) || !isLoadedPerTile(load, nest, builder))
          continue;
        int64_t bytes = freeBytes(cast<ShapedType>(operand->get().getType()));
        (operand->getOperandNumber() == roles->stationary ? stationaryBytes : movingBytes) += bytes;
      }
    }
    if (stationaryBytes + movingBytes == 0)
      shared.clear();
    int64_t blocksOutside = stationaryBytes + movingBytes * steps(ownBlocks);
    int64_t columnsOutside = movingBytes + stationaryBytes * steps(columnLoops);
    bool columnsFirst = columnsOutside < blocksOutside;
    SmallVector<int64_t> order, outer, inner;
    for (int64_t loop : nest.order)
      (shared.contains(loop) ? order : blockLoops.contains(loop) == columnsFirst ? inner : outer).push_back(loop);
    order.append(outer);
    order.append(inner);
    nest.order = order;
  }

  /// Whether every member runs `loop` in parallel: a member without the loop would be computed once per tile.
  static bool isShared(NestBuilder &builder, int64_t loop) {
    linalg::LinalgOp root = builder.root;
    if (root.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
      return false;
    return llvm::all_of(builder.members, [&](Operation *member) {
      auto op = cast<linalg::LinalgOp>(member);
      for (auto [own, mapped] : llvm::enumerate(builder.loopsOf.find(member)->second))
        if (mapped == loop)
          return op.getIteratorTypesArray()[own] == utils::IteratorType::parallel;
      return false;
    });
  }

  TileNest planRowNest(NestBuilder &builder) {
    TileNest nest = start(builder);
    linalg::LinalgOp root = builder.root;
    StructuredKind kind = classify(root);
    // A load or repartition on its own is one transfer, a lone fill one memset.
    if (isLoad(root) || kind == StructuredKind::Broadcast || kind == StructuredKind::Fill ||
        kind == StructuredKind::Gather || kind == StructuredKind::Other || isWrittenByPE(root)) {
      nest.reason = "one transfer";
      return nest;
    }
    nest.reason = "temporaries of a chain";
    SmallVector<int64_t> ranges = root.getStaticLoopRanges();
    int64_t elements = 1;
    for (Operation *member : builder.members) {
      auto op = cast<linalg::LinalgOp>(member);
      bool byTaps = accumulatesTaps(op);
      auto types = op.getIteratorTypesArray();
      int64_t count = 1;
      for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
        if (!isPartitionLoop(op, loop) && !(byTaps && types[loop] == utils::IteratorType::reduction))
          count *= range;
      elements = std::max(elements, count);
    }
    // One operation has no temporaries to bound: larger tiles, still small enough to overlap with their neighbours.
    int64_t limit = builder.members.size() == 1 ? limits.loneElements : limits.mapElements;
    auto isShared = [&](int64_t loop) { return Planner::isShared(builder, loop); };
    // Per row of a reduction, its result is one value per partition: a scalar operand, and instructions take one pass
    // instead of two. Worth it when rows are long enough to pay for an instruction each.
    int64_t row = elements;
    for (int64_t loop = 0, e = root.getNumLoops(); loop != e; ++loop)
      if (!isPartitionLoop(root, loop) && isShared(loop))
        row /= ranges[loop];
    bool byRows = row >= limits.rowElements && llvm::any_of(builder.members, [](Operation *member) {
                    return classify(member) == StructuredKind::Reduction;
                  }) && builder.members.size() > 1;
    for (int64_t loop = 0, e = root.getNumLoops(); loop != e; ++loop) {
      if (isPartitionLoop(root, loop) || !isShared(loop))
        continue;
      if (byRows && ranges[loop] > 1) {
        nest.tileSizes[loop] = 1;
        nest.reason = "rows of a reduction";
        continue;
      }
      if (elements <= limit)
        continue;
      int64_t inner = elements / ranges[loop];
      int64_t tile = inner >= limit ? 1 : balancedTile(ranges[loop], limit / inner);
      if (tile >= ranges[loop])
        continue;
      nest.tileSizes[loop] = tile;
      elements = inner * tile;
    }
    finish(nest, builder);
    return nest;
  }

  /// Cuts the parallel loops of the root, outermost first, until one step has at most `limit` elements per partition.
  static void cutParallelLoops(TileNest &nest, int64_t limit) {
    linalg::LinalgOp root = nest.root;
    int64_t elements = 1;
    SmallVector<int64_t> ranges = root.getStaticLoopRanges();
    for (auto [loop, range] : llvm::enumerate(ranges))
      elements *= isPartitionLoop(root, loop) ? 1 : range;
    for (auto [loop, range] : llvm::enumerate(ranges)) {
      if (isPartitionLoop(root, loop) || range == 1 || elements <= limit)
        continue;
      int64_t inner = elements / range;
      nest.tileSizes[loop] = inner >= limit ? 1 : balancedTile(range, limit / inner);
      elements = inner * nest.tileSizes[loop];
    }
  }

  /// Whether `loop` is the one on the partitions: of what a store takes from SBUF, else of the result.
  static bool isPartitionLoop(linalg::LinalgOp op, int64_t loop) {
    auto partition = iteratorOfDim(op, isStore(op) ? op.getDpsInputOperand(0) : op.getDpsInitOperand(0), 0);
    return partition && *partition == loop;
  }

  TileLimits limits;
};

} // namespace

const TilePlan &TilePlanAnalysis::planFor(const isa::DeviceInfo &device) {
  if (std::exchange(plannedFor, &device) == &device)
    return result;
  result = TilePlan();
  Planner planner{TileLimits(device)};
  llvm::DenseSet<Operation *> taken;
  function->walk([&](Block *block) {
    if (llvm::isa<linalg::LinalgOp>(block->getParentOp()))
      return;
    for (Operation &op : llvm::reverse(*block)) {
      auto root = dyn_cast<linalg::LinalgOp>(op);
      if (!root || !root.hasPureTensorSemantics() || root.getNumDpsInits() != 1 || taken.contains(root))
        continue;
      // Initial values and loads follow their user, or are planned by themselves below.
      if (llvm::isa<linalg::FillOp>(root) || isLoad(root) || isWrittenByPE(root))
        continue;
      TileNest nest = planner.plan(root, taken);
      taken.insert(root);
      taken.insert(nest.fused.begin(), nest.fused.end());
      if (nest.isTiled())
        result.nests.push_back(std::move(nest));
    }
    for (Operation &op : *block) {
      bool isInit = llvm::isa<linalg::FillOp>(op) && !isInHbm(op.getOperand(1));
      if (taken.contains(&op) || !(isInit || isLoad(&op)))
        continue;
      if (TileNest nest = planner.planTransfer(cast<linalg::LinalgOp>(op)); nest.isTiled())
        result.nests.push_back(std::move(nest));
    }
  });
  return result;
}

} // namespace trn
