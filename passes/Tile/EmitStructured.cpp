//===- EmitStructured.cpp - structured operations on laid-out tensors ------===//
// Implements EmitStructured.h.
//
// The iteration space is that of the logical operation, iterators of one step dropped. An iterator on partitions (of
// the operands: `contracted`, of the result: `partition`) becomes a lane and, if its extent needs them, a chunk
// iterator. Where the split is uneven, or where another tensor has the iterator on a free dimension, the operation is
// emitted once per part, each with fixed chunks, so that every map stays a plain choice of iterators (or a sum, for
// windows).
#include "passes/Tile/EmitStructured.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace trn {

using Role = PhysicalDim::Role;
using Form = LayoutCandidate::Form;

namespace {
/// Chunks [begin, begin + count) of an iterator on partitions, `lanes` of each.
struct ChunkRange {
  int64_t begin, count, lanes;
};

/// One physical operand: where it is and, per dimension, the iterator or index expression that indexes it.
struct Operand {
  Laid region;
  bool isTensor = true;
  Value scalar;
  /// An empty tensor that gives the extents of a window; `region` is empty.
  bool isShapeOnly = false;
  /// In HBM in an order of its own: it is loaded with the partitions first.
  bool isTurnedByLoad = false;
};

class StructuredEmitter {
public:
  StructuredEmitter(const Structure &structure, const LayoutCandidate &candidate, LayoutEmitter &emitter)
      : structure(structure), candidate(candidate), emitter(emitter), builder(emitter.builder),
        loc(structure.op->getLoc()), context(structure.op->getContext()) {}

  LogicalResult run() {
    if (Laid alias; isRenaming(alias)) {
      emitter.bind(structure.op->getResult(0), candidate.result, alias);
      return success();
    }
    for (unsigned index = 0; index < structure.numInputs(); ++index) {
      FailureOr<Operand> operand = readOperand(index);
      if (failed(operand))
        return failure();
      operands.push_back(*operand);
    }
    for (OpOperand *table : gatheredTables(structure.op))
      tables.map(table->get(), emitter.extract(loc, emitter.read(table->get(), Layout::hbm())));
    Value result = structure.op->getResult(0);
    if (!emitter.isRowMajorIn(result, candidate.result))
      storage = &emitter.define(result, candidate.result);
    SmallVector<ChunkRange> kept = parts(candidate.partition), contracted = candidate.form == Form::Contraction
                                                                                ? parts(candidate.contracted)
                                                                                : SmallVector<ChunkRange>(1, whole(-1));
    for (ChunkRange outer : kept)
      if (failed(emitPart(outer, contracted)))
        return failure();
    return success();
  }

private:
  //===-- Splitting -----------------------------------------------------------===//

  PartitionSplit splitOf(int64_t iterator) const {
    return iterator < 0 ? PartitionSplit() : splitOverPartitions(structure.extents[iterator]);
  }

  ChunkRange whole(int64_t iterator) const { return {0, splitOf(iterator).chunks, splitOf(iterator).lanes}; }

  /// Whether some tensor has `iterator` on a free dimension: then chunks are emitted one by one.
  bool isFreeSomewhere(int64_t iterator) const {
    for (const Operand &operand : operands)
      if (operand.isTensor)
        for (const PhysicalDim &dim : operand.region.dims)
          if (dim.role == Role::Free && expression(operand, dim).isFunctionOfDim(iterator))
            return true;
    return false;
  }

  /// Whether this map takes an accumulator out of PSUM whose ragged chunks are made one by one: it follows them, so that
  /// nothing between the two has all chunks.
  bool emptiesRaggedChunks(const PartitionSplit &split) const {
    return candidate.form == Form::Map && split.isRagged() &&
           llvm::any_of(layoutOperands(structure.op), [&](OpOperand *operand) {
             Operation *maker = operand->get().getDefiningOp();
             const LayoutCandidate *made = maker && operand->get().hasOneUse() ? emitter.plan.of(maker) : nullptr;
             return made && made->form == Form::Contraction && made->result == candidate.result;
           });
  }

  AffineExpr expression(const Operand &operand, const PhysicalDim &dim) const {
    return structure.maps[&operand - operands.data()].getResult(dim.logical);
  }

  SmallVector<ChunkRange> parts(int64_t iterator) const {
    PartitionSplit split = splitOf(iterator);
    SmallVector<ChunkRange> result;
    if (iterator >= 0 && split.chunks > 1 && (isFreeSomewhere(iterator) || emptiesRaggedChunks(split))) {
      for (int64_t chunk = 0; chunk < split.chunks; ++chunk)
        result.push_back({chunk, 1, chunk + 1 == split.chunks ? split.lastLanes() : split.lanes});
      return result;
    }
    if (!split.isRagged())
      return {whole(iterator)};
    return {{0, split.chunks - 1, split.lanes}, {split.chunks - 1, 1, split.lastLanes()}};
  }

  //===-- Operands ------------------------------------------------------------===//

  FailureOr<Operand> readOperand(unsigned index) {
    Operand operand;
    Value value = structure.valueOf(index);
    if (!llvm::isa<RankedTensorType>(value.getType())) {
      operand.isTensor = false;
      operand.scalar = value;
      return operand;
    }
    if (isShapeOnly(structure.op, index)) {
      operand.isTensor = false;
      operand.isShapeOnly = true;
      return operand;
    }
    unsigned position = 0;
    for (OpOperand *layoutOperand : layoutOperands(structure.op)) {
      if (layoutOperand->getOperandNumber() == index)
        break;
      ++position;
    }
    if (candidate.form == Form::Contraction && isConstantTensor(value)) {
      operand.region = readWeight(index, value);
    } else {
      const Layout &layout = candidate.operands[position];
      operand.isTurnedByLoad = emitter.isRowMajorIn(value, layout);
      operand.region =
          operand.isTurnedByLoad ? emitter.splitRowMajor(value, layout) : emitter.read(value, layout);
      if (candidate.form == Form::Contraction && index == candidate.stationary) {
        if (candidate.partition < 0)
          addLaneOfOne(operand.region);
        else
          splitKeptDim(index, operand.region);
      }
    }
    if (!operand.region.tensor)
      return failure();
    return operand;
  }

  /// The kept lane of a one-lane result as a last dimension of the stationary operand.
  void addLaneOfOne(Laid &region) {
    Value source = emitter.extract(loc, region);
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      groups.push_back({dim});
    groups.back().push_back(shape.size());
    shape.push_back(1);
    region.tensor = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), source, groups);
    region.dims.push_back({Role::Lane, Layout::kOneLane, 1});
    region.offsets.assign(region.dims.size(), 0);
  }

  /// The dimension that becomes the result's partitions, split as those are, so that one operation serves all of their
  /// chunks and its tiles can share what they load.
  void splitKeptDim(unsigned index, Laid &region) {
    PartitionSplit kept = splitOf(candidate.partition);
    std::optional<int64_t> logical = structure.dimOf(index, candidate.partition);
    const auto *dim = llvm::find_if(region.dims, [&](const PhysicalDim &dim) {
      return dim.role == Role::Free && logical && dim.logical == *logical;
    });
    if (kept.chunks == 1 || kept.isRagged() || dim == region.dims.end())
      return;
    Value source = emitter.extract(loc, region);
    auto type = cast<RankedTensorType>(source.getType());
    SmallVector<int64_t> shape;
    SmallVector<PhysicalDim> dims;
    SmallVector<ReassociationIndices> groups;
    for (const PhysicalDim &old : region.dims) {
      groups.push_back({static_cast<int64_t>(shape.size())});
      if (&old == dim) {
        dims.push_back({Role::Chunk, old.logical, kept.chunks});
        shape.push_back(kept.chunks);
        groups.back().push_back(shape.size());
        dims.push_back({Role::Lane, old.logical, kept.lanes});
      } else {
        dims.push_back(old);
      }
      shape.push_back(dims.back().extent);
    }
    region.tensor = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), source, groups);
    region.dims = dims;
    region.offsets.assign(dims.size(), 0);
  }

  /// A weight in the order in which PE and DMA want it: contracted lanes first; for the stationary operand then the
  /// chunk of the result, so that what one result tile needs is contiguous in every partition, its lanes last.
  Laid readWeight(unsigned index, Value value) {
    SmallVector<PhysicalDim> lanes, chunksOfResult, outer, chunks, taps, last;
    bool held = index == candidate.stationary;
    PartitionSplit contracted = splitOf(candidate.contracted), kept = splitOf(candidate.partition);
    lanes.push_back({Role::Lane, Layout::kOneLane, 1});
    if (held && candidate.partition < 0)
      last.push_back({Role::Lane, Layout::kOneLane, 1});
    for (auto [dim, extent] : llvm::enumerate(structure.shapeOf(index))) {
      if (extent == 1)
        continue;
      int64_t logical = dim;
      AffineExpr expr = structure.maps[index].getResult(dim);
      if (candidate.contracted >= 0 && structure.dimOf(index, candidate.contracted) == logical) {
        lanes[0] = {Role::Lane, logical, contracted.lanes};
        if (contracted.chunks > 1)
          chunks.push_back({Role::Chunk, logical, contracted.chunks});
      } else if (held && candidate.partition >= 0 && structure.dimOf(index, candidate.partition) == logical) {
        last.push_back({Role::Lane, logical, kept.lanes});
        if (kept.chunks > 1)
          chunksOfResult.push_back({Role::Chunk, logical, kept.chunks});
      } else if (held && isReductionOnly(expr)) {
        taps.push_back({Role::Free, logical, extent});
      } else {
        outer.push_back({Role::Free, logical, extent});
      }
    }
    SmallVector<PhysicalDim> dims;
    for (ArrayRef<PhysicalDim> group :
         {ArrayRef<PhysicalDim>(lanes), ArrayRef<PhysicalDim>(chunksOfResult),
          ArrayRef<PhysicalDim>(held ? outer : chunks), ArrayRef<PhysicalDim>(held ? chunks : outer),
          ArrayRef<PhysicalDim>(taps), ArrayRef<PhysicalDim>(last)})
      llvm::append_range(dims, group);
    return {emitter.layOutConstant(value, dims), dims, SmallVector<int64_t>(dims.size(), 0)};
  }

  bool isReductionOnly(AffineExpr expr) const {
    for (int64_t iterator : structure.iterators())
      if (expr.isFunctionOfDim(iterator) && !structure.isReduction(iterator))
        return false;
    return true;
  }

  //===-- One part ------------------------------------------------------------===//

  /// New iterators and how the logical ones read in terms of them.
  struct Loops {
    SmallVector<utils::IteratorType> types;
    SmallVector<AffineExpr> lane, chunk; ///< per logical iterator; `lane` is the iterator itself if it is not split
    AffineExpr keptUnit, contractedUnit; ///< lanes of one-lane tensors
    llvm::DenseMap<int64_t, ChunkRange> ranges;
  };

  AffineExpr addLoop(Loops &loops, utils::IteratorType type) {
    loops.types.push_back(type);
    return getAffineDimExpr(loops.types.size() - 1, context);
  }

  void addIterator(Loops &loops, int64_t iterator, const ChunkRange *range) {
    utils::IteratorType type =
        structure.isReduction(iterator) ? utils::IteratorType::reduction : utils::IteratorType::parallel;
    loops.lane[iterator] = addLoop(loops, type);
    if (!range)
      return;
    loops.ranges[iterator] = *range;
    if (range->count > 1)
      loops.chunk[iterator] = addLoop(loops, type);
  }

  /// Iterators in the order of the result's dimensions, then the reductions.
  Loops makeLoops(const ChunkRange &kept, const ChunkRange &contracted) {
    Loops loops;
    loops.lane.resize(structure.extents.size());
    loops.chunk.resize(structure.extents.size());
    if (candidate.partition >= 0)
      addIterator(loops, candidate.partition, &kept);
    else
      loops.keptUnit = addLoop(loops, utils::IteratorType::parallel);
    for (int64_t iterator : structure.iterators())
      if (iterator != candidate.partition && !structure.isReduction(iterator))
        addIterator(loops, iterator, nullptr);
    if (candidate.form == Form::Contraction) {
      if (candidate.contracted >= 0)
        addIterator(loops, candidate.contracted, &contracted);
      else
        loops.contractedUnit = addLoop(loops, utils::IteratorType::reduction);
    }
    for (int64_t iterator : structure.iterators())
      if (iterator != candidate.contracted && structure.isReduction(iterator))
        addIterator(loops, iterator, nullptr);
    return loops;
  }

  /// The windows of `region` that this part of the iteration space sees, and the expressions that index what is left.
  SmallVector<Window> windowsOf(const Loops &loops, unsigned mapIndex, const Laid &region, bool isResult,
                                SmallVectorImpl<AffineExpr> &results) const {
    SmallVector<Window> windows;
    bool first = true;
    for (const PhysicalDim &dim : region.dims) {
      Window window{0, dim.extent, false, 1};
      bool isPartition = std::exchange(first, false);
      if (dim.logical < 0) {
        // The lane of a one-lane tensor.
        AffineExpr unit =
            isResult || !isPartition || candidate.form != Form::Contraction ? loops.keptUnit : loops.contractedUnit;
        results.push_back(unit ? unit : getAffineConstantExpr(0, context));
        windows.push_back(window);
        continue;
      }
      AffineExpr expr = structure.maps[mapIndex].getResult(dim.logical);
      int64_t iterator = -1;
      if (auto alone = dyn_cast<AffineDimExpr>(expr))
        iterator = alone.getPosition();
      auto range = loops.ranges.find(iterator);
      if (range != loops.ranges.end()) {
        const ChunkRange &chunks = range->second;
        int64_t lanes = splitOf(iterator).lanes;
        if (dim.role == Role::Lane) {
          window.size = chunks.lanes;
          results.push_back(loops.lane[iterator]);
        } else if (dim.role == Role::Chunk) {
          window = {chunks.begin, chunks.count, chunks.count == 1, 1};
          if (chunks.count > 1)
            results.push_back(loops.chunk[iterator]);
        } else {
          assert(chunks.count == 1 && "a free dimension sees one chunk at a time");
          window = {chunks.begin * lanes, chunks.lanes, false, 1};
          results.push_back(loops.lane[iterator]);
        }
      } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
        window = {constant.getValue(), 1, true, 1};
      } else {
        // A window of which only one position is taken may leave elements unread.
        if (iterator >= 0)
          window.size = structure.extents[iterator];
        results.push_back(expr.replaceDims(loops.lane));
      }
      windows.push_back(window);
    }
    return windows;
  }

  LogicalResult emitPart(const ChunkRange &kept, ArrayRef<ChunkRange> contractedParts) {
    Value destination, accumulator;
    SmallVector<Window> resultWindows;
    Laid rowMajor;              // where the result goes when it has no storage of its own
    SmallVector<int64_t> order; // of the dimensions on chip, when it is not that of HBM
    for (const ChunkRange &contracted : contractedParts) {
      Loops loops = makeLoops(kept, contracted);
      SmallVector<AffineMap> maps;
      SmallVector<Value> inputs;
      auto addMap = [&](ArrayRef<AffineExpr> results) {
        maps.push_back(AffineMap::get(loops.types.size(), 0, results, context));
      };
      for (auto [index, operand] : llvm::enumerate(operands)) {
        SmallVector<AffineExpr> results;
        if (operand.isShapeOnly) {
          SmallVector<int64_t> shape;
          for (auto [extent, expr] : llvm::zip_equal(structure.shapeOf(index), structure.maps[index].getResults()))
            if (extent != 1) {
              shape.push_back(extent);
              results.push_back(expr.replaceDims(loops.lane));
            }
          inputs.push_back(tensor::EmptyOp::create(builder, loc, shape, structure.elementTypeOf(index)));
          addMap(results);
          continue;
        }
        if (!operand.isTensor) {
          inputs.push_back(operand.scalar);
          addMap(results);
          continue;
        }
        SmallVector<Window> windows = windowsOf(loops, index, operand.region, /*isResult=*/false, results);
        inputs.push_back(emitter.extract(loc, operand.region, windows));
        if (operand.isTurnedByLoad)
          inputs.back() = loadTurned(inputs.back(), loops, results);
        addMap(results);
      }
      SmallVector<AffineExpr> results;
      if (!storage && !destination)
        rowMajor = emitter.splitRowMajor(structure.op->getResult(0), candidate.result);
      resultWindows = windowsOf(loops, structure.resultIndex(), storage ? storage->region() : rowMajor,
                                /*isResult=*/true, results);
      if (!storage)
        order = partitionsFirst(results, loops, candidate.partition);
      addMap(results);
      if (!destination) {
        destination = emitter.extract(loc, storage ? storage->region() : rowMajor, resultWindows);
        accumulator = makeInit(order.empty() ? destination : emptyInOrder(destination, order));
      }
      accumulator = emitGeneric(loops, maps, inputs, accumulator, kept);
    }
    // What PE accumulates leaves PSUM through a copy; everything else has been computed in place, or is stored in the
    // order of HBM.
    if (!order.empty())
      accumulator = linalg::TransposeOp::create(builder, loc, accumulator, destination, invertPermutationVector(order))
                        ->getResult(0);
    else if (candidate.form == Form::Contraction)
      accumulator = linalg::CopyOp::create(builder, loc, accumulator, destination).getResult(0);
    if (storage) {
      emitter.insert(loc, accumulator, *storage, resultWindows);
      return success();
    }
    emitter.writeRowMajor(structure.op->getResult(0), emitter.insert(loc, accumulator, rowMajor, resultWindows));
    return success();
  }

  /// The permutation that brings the dimensions that `results` index into the order on chip, and `results` with them: the
  /// lane of `iterator`, its chunk, the others. Empty when they are in that order.
  static SmallVector<int64_t> partitionsFirst(SmallVectorImpl<AffineExpr> &results, const Loops &loops,
                                              int64_t iterator) {
    SmallVector<int64_t> permutation;
    for (AffineExpr first : {loops.lane[iterator], loops.chunk[iterator]})
      if (const auto *found = first ? llvm::find(results, first) : results.end(); found != results.end())
        permutation.push_back(found - results.begin());
    assert(!permutation.empty() && "what moves on or off chip has a lane");
    for (int64_t dim = 0, rank = results.size(); dim < rank; ++dim)
      if (!llvm::is_contained(permutation, dim))
        permutation.push_back(dim);
    if (isIdentityPermutation(permutation))
      return {};
    SmallVector<AffineExpr> turned = applyPermutation(ArrayRef<AffineExpr>(results), permutation);
    results.assign(turned.begin(), turned.end());
    return permutation;
  }

  /// A tensor of the group with the elements of `like`, its dimensions in `order`.
  Value emptyInOrder(Value like, ArrayRef<int64_t> order) {
    auto type = cast<RankedTensorType>(like.getType());
    return tensor::EmptyOp::create(builder, loc, applyPermutation(type.getShape(), order), type.getElementType());
  }

  /// Loads `part`, which `results` index, with the partitions in front.
  Value loadTurned(Value part, const Loops &loops, SmallVectorImpl<AffineExpr> &results) {
    int64_t iterator = candidate.form == Form::Contraction ? candidate.contracted : candidate.partition;
    SmallVector<int64_t> order = partitionsFirst(results, loops, iterator);
    return order.empty() ? part
                         : linalg::TransposeOp::create(builder, loc, part, emptyInOrder(part, order), order)->getResult(0);
  }

  /// The destination of the computation: a filled accumulator for contractions and reductions.
  Value makeInit(Value destination) {
    auto type = cast<RankedTensorType>(destination.getType());
    if (candidate.form == Form::Contraction)
      destination = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    if (candidate.form == Form::Map || candidate.form == Form::Gather)
      return destination;
    Value init = materializeScalar(builder, loc, structure.init);
    return linalg::FillOp::create(builder, loc, init, destination).getResult(0);
  }

  Value emitGeneric(const Loops &loops, ArrayRef<AffineMap> maps, ValueRange inputs, Value init,
                    const ChunkRange &kept) {
    Block *oldBody = structure.body();
    auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
      IRMapping mapping(tables);
      for (auto [oldArgument, newArgument] : llvm::zip_equal(oldBody->getArguments(), arguments))
        mapping.map(oldArgument, newArgument);
      if (candidate.form == Form::Map && structure.init)
        mapping.map(oldBody->getArguments().back(), materializeScalar(nested, nestedLoc, structure.init));
      for (Operation &op : *oldBody) {
        if (auto index = dyn_cast<linalg::IndexOp>(op))
          mapping.map(index.getResult(), emitIndex(nested, index, loops));
        else
          nested.clone(op, mapping);
      }
    };
    return linalg::GenericOp::create(builder, loc, TypeRange(init.getType()), inputs, ValueRange(init), maps,
                                     loops.types, body)
        .getResult(0);
  }

  /// The logical index: chunk * lanes + lane.
  Value emitIndex(OpBuilder &nested, linalg::IndexOp index, const Loops &loops) {
    int64_t iterator = index.getDim();
    Location nestedLoc = index.getLoc();
    if (structure.extents[iterator] == 1)
      return arith::ConstantIndexOp::create(nested, nestedLoc, 0);
    auto positionOf = [](AffineExpr expr) { return cast<AffineDimExpr>(expr).getPosition(); };
    Value lane = linalg::IndexOp::create(nested, nestedLoc, positionOf(loops.lane[iterator]));
    auto range = loops.ranges.find(iterator);
    if (range == loops.ranges.end())
      return lane;
    Value lanes = arith::ConstantIndexOp::create(nested, nestedLoc, splitOf(iterator).lanes);
    Value chunk = loops.chunk[iterator]
                      ? Value(linalg::IndexOp::create(nested, nestedLoc, positionOf(loops.chunk[iterator])))
                      : Value(arith::ConstantIndexOp::create(nested, nestedLoc, range->second.begin));
    Value base = arith::MulIOp::create(nested, nestedLoc, chunk, lanes);
    return arith::AddIOp::create(nested, nestedLoc, base, lane);
  }

  //===-- Renaming ------------------------------------------------------------===//

  /// Whether the operation only renames dimensions: a transpose whose physical order is its operand's. Then there is
  /// nothing to do.
  bool isRenaming(Laid &alias) {
    Block *body = structure.body();
    if (candidate.form != Form::Map || structure.numInputs() != 1 ||
        body->getTerminator()->getOperand(0) != body->getArgument(0) || isConstantTensor(structure.valueOf(0)) ||
        !structure.maps[0].isProjectedPermutation(/*allowZeroInResults=*/true) ||
        structure.shapeOf(0).size() != structure.maps[0].getNumResults())
      return false;
    // Readers of a result with room for padding count on storage that has it.
    const TensorForm *form = emitter.plan.form(structure.op->getResult(0), candidate.result);
    if ((form && !form->halo.empty()) || emitter.isRowMajorIn(structure.valueOf(0), candidate.operands[0]) ||
        emitter.isRowMajorIn(structure.op->getResult(0), candidate.result))
      return false;
    SmallVector<PhysicalDim> present = physicalDims(structure.shapeOf(0), candidate.operands[0]);
    SmallVector<PhysicalDim> wanted = physicalDims(structure.shapeOf(structure.resultIndex()), candidate.result);
    if (wanted.size() != present.size())
      return false;
    for (auto [from, to] : llvm::zip_equal(present, wanted)) {
      if (from.role != to.role || from.extent != to.extent)
        return false;
      if (from.logical >= 0 &&
          structure.maps[0].getResult(from.logical) != structure.maps[structure.resultIndex()].getResult(to.logical))
        return false;
    }
    alias = emitter.read(structure.valueOf(0), candidate.operands[0]);
    alias.dims = wanted;
    return true;
  }

  const Structure &structure;
  const LayoutCandidate &candidate;
  LayoutEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  MLIRContext *context;
  SmallVector<Operand> operands;
  /// Tensors that the body extracts elements from, in HBM.
  IRMapping tables;
  /// Null when the result goes straight to where HBM keeps it.
  FormStorage *storage = nullptr;
};
} // namespace

LogicalResult emitStructured(linalg::LinalgOp op, const LayoutCandidate &candidate, LayoutEmitter &emitter) {
  std::string reason;
  std::optional<Structure> structure = Structure::get(op, &reason);
  if (!structure)
    return op->emitError(reason);
  return StructuredEmitter(*structure, candidate, emitter).run();
}

} // namespace trn
