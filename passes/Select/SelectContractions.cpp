//===- SelectContractions.cpp - instructions of the PE -----------------------===//
// Owns matmuls with their accumulation predicates, and partition transposes. Refuses contractions that are not one device
// tile and accumulators that nothing starts.
#include "passes/Select/Access.h"
#include "passes/Select/Emitter.h"
#include "passes/Select/Passes.h"
#include "passes/Tile/Spaces.h"
#include "passes/Tile/Structured.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SELECTCONTRACTIONSPASS
#include "passes/Select/Passes.h.inc"

namespace {

/// The zero fill that starts the accumulation of `op`: the last one before it on its accumulator, or on what that is a
/// part of.
linalg::FillOp startOf(linalg::LinalgOp op) {
  for (Value accumulator = op.getDpsInits()[0];;) {
    linalg::FillOp start;
    for (Operation *user : accumulator.getUsers()) {
      auto fill = dyn_cast<linalg::FillOp>(user);
      Operation *ancestor = fill ? fill->getBlock()->findAncestorOpInBlock(*op) : nullptr;
      if (ancestor && fill->isBeforeInBlock(ancestor) && (!start || start->isBeforeInBlock(fill)))
        start = fill;
    }
    auto part = accumulator.getDefiningOp<memref::SubViewOp>();
    if (start || !part)
      return start;
    accumulator = part.getSource();
  }
}

bool isZeroFill(linalg::FillOp fill) {
  auto constant = fill.getInputs()[0].getDefiningOp<arith::ConstantOp>();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return value && value.getValue().isZero();
}

/// Whether `index` is computed from the induction variable of `loop`.
bool dependsOn(Value index, scf::ForOp loop) {
  if (index == loop.getInductionVar())
    return true;
  Operation *definition = index.getDefiningOp();
  return definition && llvm::any_of(definition->getOperands(), [&](Value operand) { return dependsOn(operand, loop); });
}

/// True except in the first iteration of the loops between the fill and `op` that all reach the elements of `result`;
/// null when there is no such loop. Loops over other elements start anew in each iteration.
Value accumulatePredicate(OpBuilder &builder, linalg::LinalgOp op, linalg::FillOp start, const Access &result) {
  Value predicate;
  for (Operation *parent = op->getParentOp(); parent && parent != start->getParentOp(); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || llvm::any_of(result.terms, [&](auto &term) { return dependsOn(term.first, loop); }))
      continue;
    Value later = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ne, loop.getInductionVar(),
                                        loop.getLowerBound());
    predicate = predicate ? arith::OrIOp::create(builder, op.getLoc(), predicate, later) : later;
  }
  return predicate;
}

/// Keeps of `access` the partition loop and the given free loops.
Access restrictTo(const Access &access, unsigned partition, ArrayRef<unsigned> loops) {
  Access kept = access;
  kept.partitionStride = access.strides[partition];
  kept.strides = llvm::map_to_vector(loops, [&](unsigned loop) { return access.strides[loop]; });
  return kept;
}

struct SelectContractionsPass : impl::SelectContractionsPassBase<SelectContractionsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> contractions;
    SmallVector<linalg::TransposeOp> transposes;
    getOperation().walk([&](linalg::LinalgOp op) {
      StructuredKind kind = classify(op);
      if (kind == StructuredKind::Contraction)
        contractions.push_back(op);
      else if (kind == StructuredKind::Transpose && isInSbuf(op->getOperand(0)))
        transposes.push_back(cast<linalg::TransposeOp>(op.getOperation()));
    });
    llvm::SetVector<Operation *> starts;
    for (linalg::LinalgOp op : contractions)
      if (succeeded(selectContraction(op, starts)))
        op->erase();
    for (Operation *start : starts)
      start->erase();
    for (linalg::TransposeOp op : transposes)
      if (succeeded(selectTranspose(op)))
        op->erase();
  }

  /// `starts` collects the fills that matmuls replace, in the order of their first matmul.
  static LogicalResult selectContraction(linalg::LinalgOp op, llvm::SetVector<Operation *> &starts) {
    ContractionRoles roles = *contractionRoles(op);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (unsigned loop : llvm::concat<const unsigned>(roles.blocks, roles.reductions))
      if (ranges[loop] != 1)
        return op.emitOpError("is not one matmul: loop ") << loop << " has " << ranges[loop] << " steps, expected 1";
    linalg::FillOp start = startOf(op);
    if (!start || !isZeroFill(start))
      return op.emitOpError("expected its accumulator to be filled with zero before its reduction loops");

    std::string reason;
    SmallVector<Access> accesses;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Access> access = accessOf(operand.get(), op.getMatchingIndexingMap(&operand), reason);
      if (failed(access))
        return op.emitOpError("cannot be a matmul: ") << reason;
      accesses.push_back(*access);
    }
    SmallVector<unsigned> columns;
    Tile tile;
    for (unsigned loop : roles.columns)
      if (ranges[loop] != 1) {
        columns.push_back(loop);
        tile.sizes.push_back(ranges[loop]);
      }
    tile.accesses = {restrictTo(accesses[roles.moving], roles.partition, columns),
                     restrictTo(accesses[2], roles.rows, columns)};
    mergeLoops(tile);
    Access stationary = restrictTo(accesses[roles.stationary], roles.partition, roles.rows);

    OpBuilder builder(op);
    // A second contraction onto the same accumulator goes on where the first ended.
    Value predicate = starts.insert(start)
                          ? accumulatePredicate(builder, op, start, accesses[2])
                          : arith::ConstantOp::create(builder, op.getLoc(), builder.getBoolAttr(true)).getResult();
    unrollOuterLoops(builder, op.getLoc(), tile);
    int64_t depth = ranges[roles.partition], rows = ranges[roles.rows];
    Emitter(builder, op.getLoc())
        .matmul(createView(builder, op.getLoc(), tile.accesses[1], rows, tile.sizes),
                createView(builder, op.getLoc(), stationary, depth, {rows}),
                createView(builder, op.getLoc(), tile.accesses[0], depth, tile.sizes), predicate);
    return success();
  }

  static LogicalResult selectTranspose(linalg::TransposeOp op) {
    ArrayRef<int64_t> permutation = op.getPermutation();
    auto type = cast<MemRefType>(op.getInput().getType());
    unsigned exchanged = permutation[0]; // the input dimension that becomes the partition
    unsigned lanes = llvm::find(permutation, 0) - permutation.begin(); // the result dimension that the partition becomes
    for (unsigned dim = 1; dim < permutation.size(); ++dim)
      if (dim != exchanged && type.getDimSize(dim) != 1)
        return op.emitOpError("is not one transpose: dimension ") << dim << " of the input has " << type.getDimSize(dim)
                                                                  << " elements, expected 1";
    std::string reason;
    OpBuilder builder(op);
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    FailureOr<Access> input = accessOf(op.getInput(), identity, reason), result = accessOf(op.getInit(), identity, reason);
    if (failed(input) || failed(result))
      return op.emitOpError("cannot be a transpose: ") << reason;
    int64_t partitions = type.getDimSize(0), columns = type.getDimSize(exchanged);
    Emitter(builder, op.getLoc())
        .transpose(createView(builder, op.getLoc(), restrictTo(*result, 0, lanes), columns, {partitions}),
                   createView(builder, op.getLoc(), restrictTo(*input, 0, exchanged), partitions, {columns}));
    return success();
  }
};
} // namespace
} // namespace trn
