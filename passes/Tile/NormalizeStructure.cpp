//===- NormalizeStructure.cpp - few forms for the choice of layouts --------===//
// Owns tile-normalize-structure. Refuses nothing: what it does not know it leaves for the planner to report.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/Gather.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_NORMALIZESTRUCTUREPASS
#include "passes/Tile/LayoutPasses.h.inc"

/// Named operations become generics; a copy is its source.
static void generalize(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) { named.push_back(op); });
  for (linalg::LinalgOp op : named) {
    if (llvm::isa<linalg::GenericOp, linalg::FillOp>(op) || op->getNumResults() != 1 ||
        isConstantTensor(op->getResult(0)))
      continue;
    rewriter.setInsertionPoint(op);
    if (auto copy = dyn_cast<linalg::CopyOp>(*op)) {
      if (copy.getInputs()[0].getType() == copy.getResult(0).getType())
        rewriter.replaceOp(copy, copy.getInputs()[0]);
      continue;
    }
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// The permutation that a generic applies to its only operand, if that is all it does: result dimension i is operand
/// dimension permutation[i].
static std::optional<SmallVector<int64_t>> transposition(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op->getNumResults() != 1 || op.getNumLoops() != op.getNumParallelLoops() ||
      op.getBlock()->getTerminator()->getOperand(0) != op.getBlock()->getArgument(0))
    return std::nullopt;
  AffineMap from = op.getIndexingMapsArray()[0], to = op.getIndexingMapsArray()[1];
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  SmallVector<int64_t> permutation;
  for (AffineExpr expr : to.getResults())
    permutation.push_back(llvm::find(from.getResults(), expr) - from.getResults().begin());
  return permutation;
}

/// Readers of a transposed tensor read the tensor.
static void composeTransposes(func::FuncOp function, IRRewriter &rewriter) {
  function.walk([&](linalg::GenericOp reader) {
    for (OpOperand *operand : reader.getDpsInputOperands()) {
      for (;;) {
        auto writer = operand->get().getDefiningOp<linalg::GenericOp>();
        std::optional<SmallVector<int64_t>> permutation =
            writer ? transposition(writer) : std::optional<SmallVector<int64_t>>();
        if (!permutation)
          break;
        SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
        AffineMap &map = maps[operand->getOperandNumber()];
        SmallVector<AffineExpr> results(map.getNumResults());
        for (auto [to, from] : llvm::enumerate(*permutation))
          results[from] = map.getResult(to);
        map = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
        operand->set(writer.getDpsInputs()[0]);
        reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      }
    }
  });
  SmallVector<linalg::GenericOp> generics;
  function.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp op : llvm::reverse(generics))
    if (op->use_empty() && transposition(op))
      rewriter.eraseOp(op);
}

/// The neutral element of the combination by which `op` accumulates: 0 for sums, 1 for products, the least or greatest
/// value for maxima and minima. Null if the body does anything else.
static TypedAttr neutralElement(linalg::GenericOp op, Operation *&combiner) {
  Value out = op.getBlock()->getArguments().back();
  combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !llvm::is_contained(combiner->getOperands(), out) ||
      !out.hasOneUse())
    return nullptr;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  return neutral ? *neutral : nullptr;
}

/// Sums into a tensor become sums into zeros and an addition of the tensor.
static void separateInits(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::GenericOp> reductions;
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() > 0 && op->getNumResults() == 1 && !splatOf(op.getDpsInits()[0]))
      reductions.push_back(op);
  });
  for (linalg::GenericOp op : reductions) {
    Operation *combiner;
    TypedAttr neutral = neutralElement(op, combiner);
    if (!neutral)
      continue;
    Location loc = op.getLoc();
    Value init = op.getDpsInits()[0];
    auto type = cast<RankedTensorType>(init.getType());
    rewriter.setInsertionPoint(op);
    Value zero = arith::ConstantOp::create(rewriter, loc, neutral);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    Value filled = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    rewriter.setInsertionPointAfter(op);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    Operation *combinerOp = combiner;
    auto sum = linalg::GenericOp::create(rewriter, loc, TypeRange(type), ValueRange{op->getResult(0), init},
                                         ValueRange(empty), SmallVector<AffineMap>(3, identity), parallel,
                                         [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
                                           Operation *copy = nested.clone(*combinerOp);
                                           copy->setOperands(arguments.take_front(2));
                                           linalg::YieldOp::create(nested, nestedLoc, copy->getResult(0));
                                         });
    op->getResult(0).replaceAllUsesExcept(sum->getResult(0), sum);
    op.getDpsInitsMutable()[0].set(filled);
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static bool isScalarTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

namespace {
/// Gives tensors of rank 0 one dimension of one element, so that later passes know no scalars. What comes from outside
/// (arguments, constants) is expanded once; what is returned is collapsed.
class ScalarRaiser {
public:
  ScalarRaiser(func::FuncOp function, IRRewriter &rewriter) : function(function), rewriter(rewriter) {}

  void run() {
    SmallVector<Operation *> operations;
    for (Operation &op : function.front())
      operations.push_back(&op);
    for (Operation *op : operations)
      raise(op);
    // All readers have the raised values now.
    for (Operation *op : llvm::reverse(operations))
      if (replaced.contains(op) && op->use_empty())
        rewriter.eraseOp(op);
  }

private:
  /// The value with one dimension.
  Value raised(Value scalar) {
    Value &known = units[scalar];
    if (known)
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(scalar);
    return known = tensor::ExpandShapeOp::create(rewriter, scalar.getLoc(), unitType(scalar), scalar,
                                                 ArrayRef<ReassociationIndices>());
  }
  static RankedTensorType unitType(Value scalar) {
    return RankedTensorType::get({1}, cast<RankedTensorType>(scalar.getType()).getElementType());
  }
  static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
    return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  }
  void replace(Operation *op, Value with) {
    units[op->getResult(0)] = with;
    replaced.insert(op);
  }

  void raise(Operation *op) {
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    bool makesScalar = op->getNumResults() == 1 && isScalarTensor(op->getResult(0));
    if (auto empty = dyn_cast<tensor::EmptyOp>(op); empty && makesScalar) {
      Value unit = tensor::EmptyOp::create(rewriter, loc, {1}, empty.getType().getElementType());
      return replace(op, unit);
    }
    if (auto fill = dyn_cast<linalg::FillOp>(op); fill && makesScalar)
      return replace(op,
                     linalg::FillOp::create(rewriter, loc, fill.getInputs(), raised(fill.getOutputs()[0])).result());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op); collapse && makesScalar) {
      Value source = collapse.getSrc();
      int64_t rank = collapse.getSrcType().getRank();
      return replace(
          op, rank == 1 ? source : tensor::CollapseShapeOp::create(rewriter, loc, source, oneGroup(rank)).getResult());
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && makesScalar)
      return replace(op, tensor::ExtractSliceOp::create(rewriter, loc, unitType(op->getResult(0)), slice.getSource(),
                                                        slice.getMixedOffsets(), slice.getMixedSizes(),
                                                        slice.getMixedStrides()));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op); expand && isScalarTensor(expand.getSrc())) {
      Value source = raised(expand.getSrc());
      int64_t rank = expand.getResultType().getRank();
      Value result = rank == 1
                         ? source
                         : tensor::ExpandShapeOp::create(rewriter, loc, expand.getResultType(), source, oneGroup(rank))
                               .getResult();
      rewriter.replaceAllUsesWith(expand.getResult(), result);
      replaced.insert(op);
      return;
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return raiseGeneric(generic);
    if (llvm::isa<func::ReturnOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (Value unit = units.lookup(operand.get()); unit && replaced.contains(operand.get().getDefiningOp())) {
          auto type = cast<RankedTensorType>(operand.get().getType());
          operand.set(tensor::CollapseShapeOp::create(rewriter, operand.get().getLoc(), type, unit,
                                                      ArrayRef<ReassociationIndices>()));
        }
  }

  /// Adds a loop of one round behind the others, so that their numbers stay; it indexes what was a scalar.
  void raiseGeneric(linalg::GenericOp op) {
    if (op->getNumResults() != 1 || llvm::none_of(op->getOperands(), isScalarTensor))
      return;
    unsigned loops = op.getNumLoops();
    SmallVector<AffineMap> maps;
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool isScalar = isScalarTensor(operand.get());
      operands.push_back(isScalar ? raised(operand.get()) : operand.get());
      SmallVector<AffineExpr> results(map.getResults());
      if (isScalar)
        results.push_back(rewriter.getAffineDimExpr(loops));
      maps.push_back(AffineMap::get(loops + 1, 0, results, op.getContext()));
    }
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    iterators.push_back(utils::IteratorType::parallel);
    Value init = operands.back();
    auto raisedOp = linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(init.getType()),
                                              ArrayRef(operands).drop_back(), ValueRange(init), maps, iterators);
    rewriter.inlineRegionBefore(op.getRegion(), raisedOp.getRegion(), raisedOp.getRegion().begin());
    if (isScalarTensor(op->getResult(0)))
      return replace(op, raisedOp->getResult(0));
    rewriter.replaceAllUsesWith(op->getResult(0), raisedOp->getResult(0));
    replaced.insert(op);
  }

  func::FuncOp function;
  IRRewriter &rewriter;
  DenseMap<Value, Value> units;
  DenseSet<Operation *> replaced;
};

/// Takes one element read out of the body of a generic: the row number becomes a tensor, the read a gather, what it
/// gives an input of the generic.
class GatherSeparator {
public:
  GatherSeparator(IRRewriter &rewriter, linalg::GenericOp op, tensor::ExtractOp read)
      : rewriter(rewriter), op(op), read(read) {}

  /// The operation that takes the place of `op`; null, with nothing changed, if the read is no gather of rows.
  Operation *run() {
    if (!findRowNumber())
      return nullptr;
    rewriter.setInsertionPoint(op);
    auto [indices, indexLoops] = makeIndices();
    llvm::SetVector<unsigned> loops(indexLoops.begin(), indexLoops.end());
    for (Value at : read.getIndices())
      if (auto loop = at.getDefiningOp<linalg::IndexOp>())
        loops.insert(loop.getDim());
    SmallVector<unsigned> gatherLoops = loops.takeVector();
    llvm::sort(gatherLoops);
    Value gathered = makeGather(indices, indexLoops, gatherLoops);
    return replace(gathered, gatherLoops);
  }

private:
  /// Finds the one position that data decides, and the part of the body that computes it.
  bool findRowNumber() {
    for (auto [dim, at] : llvm::enumerate(read.getIndices())) {
      Operation *producer = at.getDefiningOp();
      if (producer && (producer->getBlock() != op.getBlock() || llvm::isa<linalg::IndexOp>(producer)))
        continue;
      auto cast = dyn_cast_if_present<arith::IndexCastOp>(producer);
      if (!cast || rowNumber)
        return false;
      rowDim = dim;
      rowNumber = cast.getIn();
    }
    return rowNumber && collect(rowNumber) && !inputs.empty() && !changesAlongRow();
  }

  /// Whether the row number depends on a loop that also counts along the row: that picks single elements.
  bool changesAlongRow() {
    return llvm::any_of(read.getIndices(), [&](Value at) {
      auto loop = at.getDefiningOp<linalg::IndexOp>();
      return loop && llvm::any_of(inputs, [&](unsigned input) { return mapOf(input).isFunctionOfDim(loop.getDim()); });
    });
  }

  bool collect(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBlock())
        return true;
      inputs.insert(argument.getArgNumber());
      return argument.getArgNumber() < op.getNumDpsInputs();
    }
    Operation *producer = value.getDefiningOp();
    if (producer->getBlock() != op.getBlock())
      return true;
    if (llvm::isa<tensor::ExtractOp, linalg::IndexOp>(producer))
      return false;
    for (Value operand : producer->getOperands())
      if (!collect(operand))
        return false;
    slice.insert(producer);
    return true;
  }

  /// `map`, a function of some of `loops` only, as a function of them.
  AffineMap restrict(AffineMap map, ArrayRef<unsigned> loops) {
    SmallVector<AffineExpr> dims(map.getNumDims(), rewriter.getAffineConstantExpr(0));
    for (auto [position, loop] : llvm::enumerate(loops))
      dims[loop] = rewriter.getAffineDimExpr(position);
    return map.replaceDimsAndSymbols(dims, {}, loops.size(), 0);
  }

  AffineMap mapOf(unsigned input) { return op.getIndexingMapsArray()[input]; }

  Value makeEmpty(ArrayRef<unsigned> loops, Type element) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
    for (unsigned loop : loops)
      shape.push_back(ranges[loop]);
    return tensor::EmptyOp::create(rewriter, read.getLoc(), shape, element);
  }

  linalg::GenericOp makeMap(ValueRange operands, ArrayRef<AffineMap> operandMaps, ArrayRef<unsigned> loops,
                            Type element, llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
    Value empty = makeEmpty(loops, element);
    SmallVector<AffineMap> maps(operandMaps);
    maps.push_back(rewriter.getMultiDimIdentityMap(loops.size()));
    SmallVector<utils::IteratorType> parallel(loops.size(), utils::IteratorType::parallel);
    return linalg::GenericOp::create(rewriter, read.getLoc(), TypeRange(empty.getType()), operands, ValueRange(empty),
                                     maps, parallel, [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                       linalg::YieldOp::create(nested, loc, body(nested, arguments));
                                     });
  }

  /// The row numbers as a tensor over the loops that decide them.
  std::pair<Value, SmallVector<unsigned>> makeIndices() {
    SmallVector<unsigned> loops;
    for (unsigned loop = 0, e = op.getNumLoops(); loop != e; ++loop)
      if (llvm::any_of(inputs, [&](unsigned input) { return mapOf(input).isFunctionOfDim(loop); }))
        loops.push_back(loop);
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (unsigned input : inputs) {
      operands.push_back(op.getDpsInputs()[input]);
      maps.push_back(restrict(mapOf(input), loops));
    }
    auto map = makeMap(operands, maps, loops, rowNumber.getType(), [&](OpBuilder &nested, ValueRange arguments) {
      IRMapping mapping;
      for (auto [input, argument] : llvm::zip_first(inputs, arguments))
        mapping.map(op.getBlock()->getArgument(input), argument);
      for (Operation *part : slice)
        nested.clone(*part, mapping);
      return mapping.lookup(rowNumber);
    });
    return {map.getResult(0), loops};
  }

  Value makeGather(Value indices, ArrayRef<unsigned> indexLoops, ArrayRef<unsigned> loops) {
    SmallVector<AffineExpr> positions;
    for (unsigned loop : indexLoops)
      positions.push_back(rewriter.getAffineDimExpr(llvm::find(loops, loop) - loops.begin()));
    AffineMap map = AffineMap::get(loops.size(), 0, positions, rewriter.getContext());
    auto gather = makeMap(indices, map, loops, read.getType(), [&](OpBuilder &nested, ValueRange arguments) -> Value {
      SmallVector<Value> at(read.getIndices());
      for (auto [dim, value] : llvm::enumerate(at)) {
        if (dim == rowDim)
          value = arith::IndexCastOp::create(nested, read.getLoc(), nested.getIndexType(), arguments[0]);
        else if (auto loop = value.getDefiningOp<linalg::IndexOp>())
          value = linalg::IndexOp::create(nested, read.getLoc(), llvm::find(loops, loop.getDim()) - loops.begin());
      }
      return tensor::ExtractOp::create(nested, read.getLoc(), read.getTensor(), at);
    });
    return gather.getResult(0);
  }

  /// `op` with the gathered elements as one more input. An operation that only passed them on is the gather.
  Operation *replace(Value gathered, ArrayRef<unsigned> loops) {
    SmallVector<AffineExpr> dims;
    for (unsigned loop : loops)
      dims.push_back(rewriter.getAffineDimExpr(loop));
    AffineMap map = AffineMap::get(op.getNumLoops(), 0, dims, rewriter.getContext());
    if (op.getBlock()->getTerminator()->getOperand(0) == read.getResult() && op.getNumReductionLoops() == 0 &&
        op.getIndexingMapsArray().back() == map) {
      rewriter.replaceOp(op, gathered);
      return gathered.getDefiningOp();
    }
    SmallVector<Value> operands(op.getDpsInputs());
    operands.push_back(gathered);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.insert(maps.end() - 1, map);
    auto rest = linalg::GenericOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), operands, op.getDpsInits(), maps, op.getIteratorTypesArray(),
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          IRMapping mapping;
          unsigned inputs = op.getNumDpsInputs();
          for (unsigned input = 0; input != inputs; ++input)
            mapping.map(op.getBlock()->getArgument(input), arguments[input]);
          mapping.map(op.getBlock()->getArguments().back(), arguments.back());
          for (Operation &part : *op.getBlock())
            if (&part == read)
              mapping.map(read.getResult(), arguments[inputs]);
            else
              nested.clone(part, mapping);
        });
    for (Operation &part : llvm::make_early_inc_range(llvm::reverse(*rest.getBlock())))
      if (isOpTriviallyDead(&part))
        rewriter.eraseOp(&part);
    rewriter.replaceOp(op, rest);
    return rest;
  }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  tensor::ExtractOp read;
  unsigned rowDim = 0;
  Value rowNumber;
  llvm::SetVector<unsigned> inputs;   // of `op`, that the row number depends on
  llvm::SetVector<Operation *> slice; // of the body, that computes it
};
} // namespace

/// Every gather of rows becomes an operation of its own. What else reads elements is left for the planner to report.
static void separateGathers(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<linalg::GenericOp> readers;
  function.walk([&](linalg::GenericOp op) {
    if (op->getNumResults() == 1 && readsTable(op))
      readers.push_back(op);
  });
  for (linalg::GenericOp reader : readers)
    for (bool changed = true; changed && !rowGather(reader);) {
      changed = false;
      for (auto read : llvm::to_vector(reader.getBody()->getOps<tensor::ExtractOp>()))
        if (Operation *next = GatherSeparator(rewriter, reader, read).run()) {
          reader = cast<linalg::GenericOp>(next);
          changed = true;
          break;
        }
    }
}

namespace {
struct NormalizeStructurePass : public impl::NormalizeStructurePassBase<NormalizeStructurePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    generalize(getOperation(), rewriter);
    composeTransposes(getOperation(), rewriter);
    separateInits(getOperation(), rewriter);
    separateGathers(getOperation(), rewriter);
    ScalarRaiser(getOperation(), rewriter).run();
  }
};
} // namespace

} // namespace trn
