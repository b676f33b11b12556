//===- Bands.cpp - a region of operations, computed band by band -----------===//
// Implements Bands.h: boxes go from results to operands, tiles from operands to results.
#include "passes/Tile/Bands.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/Structure.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace trn {

//===-- Boxes -----------------------------------------------------------------===//

Box Box::all(ArrayRef<int64_t> shape) {
  return {SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape)};
}

bool Box::covers(ArrayRef<int64_t> shape) const { return *this == all(shape); }

void Box::join(const Box &other) {
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t last = std::max(end(dim), other.end(dim));
    offsets[dim] = std::min(offsets[dim], other.offsets[dim]);
    sizes[dim] = last - offsets[dim];
  }
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// `box` without what is outside of `shape`.
static Box clipped(Box box, ArrayRef<int64_t> shape) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t last = std::min(box.end(dim), shape[dim]);
    box.offsets[dim] = std::max<int64_t>(box.offsets[dim], 0);
    box.sizes[dim] = last - box.offsets[dim];
  }
  return box;
}

static bool isEmpty(const Box &box) {
  return llvm::any_of(box.sizes, [](int64_t size) { return size <= 0; });
}

/// The values of an affine expression while its iterators run over a box: sums of iterators and of their products with
/// positive constants.
static LogicalResult rangeOf(AffineExpr expr, const Box &iterations, int64_t &low, int64_t &high) {
  if (auto iterator = dyn_cast<AffineDimExpr>(expr)) {
    low = iterations.offsets[iterator.getPosition()];
    high = iterations.end(iterator.getPosition()) - 1;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    low = high = constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  int64_t otherLow, otherHigh;
  if (!binary || failed(rangeOf(binary.getLHS(), iterations, low, high)) ||
      failed(rangeOf(binary.getRHS(), iterations, otherLow, otherHigh)))
    return failure();
  if (binary.getKind() == AffineExprKind::Add) {
    low += otherLow;
    high += otherHigh;
    return success();
  }
  if (binary.getKind() != AffineExprKind::Mul || otherLow != otherHigh || otherLow < 0)
    return failure();
  low *= otherLow;
  high *= otherLow;
  return success();
}

//===-- Dimensions -------------------------------------------------------------===//

/// Whether structured operations start from `value` without computing it.
static bool isStart(Value value) {
  return value.getDefiningOp<linalg::FillOp>() || value.getDefiningOp<tensor::EmptyOp>() || isConstantTensor(value);
}

bool canBeCut(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<linalg::GenericOp>([](linalg::GenericOp generic) {
        return generic.getNumDpsInits() == 1 && generic->getNumResults() == 1 && gatheredTables(generic).empty() &&
               isStart(generic.getDpsInits()[0]);
      })
      .Case<tensor::PadOp>([](tensor::PadOp pad) { return static_cast<bool>(pad.getConstantPaddingValue()); })
      .Case<tensor::ExtractSliceOp>([](tensor::ExtractSliceOp slice) {
        return llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride >= 1; });
      })
      .Case<tensor::ConcatOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>([](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

/// Among the dimensions `members` that a reshape merges, the outermost with more than one element: cutting the merged
/// dimension cuts this one.
static int64_t outermost(ArrayRef<int64_t> members, ArrayRef<int64_t> shape) {
  for (int64_t member : members)
    if (shape[member] > 1)
      return member;
  return members.front();
}

/// The groups of a reshape, and the shapes of its sides.
struct Reshape {
  SmallVector<ReassociationIndices> groups;
  ArrayRef<int64_t> expanded, collapsed;
  bool expands;

  static Reshape of(Operation *op) {
    ArrayRef<int64_t> source = shapeOf(op->getOperand(0)), result = shapeOf(op->getResult(0));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return {expand.getReassociationIndices(), result, source, true};
    return {cast<tensor::CollapseShapeOp>(op).getReassociationIndices(), source, result, false};
  }

  /// The collapsed dimension that `dim` of the expanded side is in, if it is the one that cutting it cuts.
  std::optional<int64_t> toCollapsed(int64_t dim) const {
    for (auto [merged, members] : llvm::enumerate(groups))
      if (llvm::is_contained(members, dim))
        return outermost(members, expanded) == dim ? std::optional<int64_t>(merged) : std::nullopt;
    return std::nullopt;
  }
  std::optional<int64_t> toExpanded(int64_t dim) const {
    return groups.empty() ? std::nullopt : std::optional<int64_t>(outermost(groups[dim], expanded));
  }
};

/// The dimension of a slice's result that is `dim` of its source; nothing if it is dropped.
static std::optional<int64_t> keptDim(tensor::ExtractSliceOp slice, int64_t dim) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.test(dim))
    return std::nullopt;
  int64_t kept = 0;
  for (int64_t before = 0; before < dim; ++before)
    kept += !dropped.test(before);
  return kept;
}

std::optional<int64_t> operandDim(Operation *op, unsigned index, int64_t dim) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<linalg::GenericOp>([&](linalg::GenericOp generic) -> std::optional<int64_t> {
        auto iterator = dyn_cast<AffineDimExpr>(generic.getIndexingMapsArray().back().getResult(dim));
        std::optional<int64_t> found;
        if (iterator)
          for (auto [operandDim, expr] : llvm::enumerate(generic.getIndexingMapsArray()[index].getResults()))
            if (expr.isFunctionOfDim(iterator.getPosition())) {
              if (found)
                return std::nullopt;
              found = operandDim;
            }
        return found;
      })
      .Case<tensor::ExpandShapeOp>([&](Operation *) { return Reshape::of(op).toCollapsed(dim); })
      .Case<tensor::CollapseShapeOp>([&](Operation *) { return Reshape::of(op).toExpanded(dim); })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) -> std::optional<int64_t> {
        for (int64_t source = 0; source < slice.getSourceType().getRank(); ++source)
          if (keptDim(slice, source) == dim)
            return source;
        return std::nullopt;
      })
      .Default([&](Operation *) { return dim; });
}

std::optional<int64_t> resultDim(Operation *op, unsigned index, int64_t dim) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<linalg::GenericOp>([&](linalg::GenericOp generic) -> std::optional<int64_t> {
        AffineExpr read = generic.getIndexingMapsArray()[index].getResult(dim);
        AffineMap result = generic.getIndexingMapsArray().back();
        for (auto [resultDim, expr] : llvm::enumerate(result.getResults()))
          if (auto iterator = dyn_cast<AffineDimExpr>(expr);
              iterator && read.isFunctionOfDim(iterator.getPosition()) && operandDim(op, index, resultDim) == dim)
            return resultDim;
        return std::nullopt;
      })
      .Case<tensor::ExpandShapeOp>([&](Operation *) { return Reshape::of(op).toExpanded(dim); })
      .Case<tensor::CollapseShapeOp>([&](Operation *) { return Reshape::of(op).toCollapsed(dim); })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) { return keptDim(slice, dim); })
      .Default([&](Operation *) { return dim; });
}

//===-- What a part of a result needs --------------------------------------------===//

/// The steps that a structured operation takes for `box` of its result.
static FailureOr<Box> iterationsFor(linalg::GenericOp op, const Box &box) {
  Box iterations = Box::all(op.getStaticLoopRanges());
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  for (auto [dim, expr] : llvm::enumerate(op.getIndexingMapsArray().back().getResults())) {
    if (auto iterator = dyn_cast<AffineDimExpr>(expr)) {
      iterations.offsets[iterator.getPosition()] = box.offsets[dim];
      iterations.sizes[iterator.getPosition()] = box.sizes[dim];
    } else if (box.sizes[dim] != shape[dim]) {
      return failure();
    }
  }
  return iterations;
}

/// The part of an operand with `map` and `shape` that `iterations` read.
static FailureOr<Box> readBy(AffineMap map, ArrayRef<int64_t> shape, const Box &iterations, ArrayRef<int64_t> ranges) {
  Box box = Box::all(shape);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    bool cut = false;
    for (unsigned iterator = 0; iterator < map.getNumDims(); ++iterator)
      cut |= expr.isFunctionOfDim(iterator) && iterations.sizes[iterator] != ranges[iterator];
    int64_t low, high;
    if (!cut)
      continue;
    if (failed(rangeOf(expr, iterations, low, high)))
      return failure();
    box.offsets[dim] = low;
    box.sizes[dim] = high - low + 1;
  }
  return box;
}

namespace {
/// One operation of the region while a band is made.
class Cutter {
public:
  /// Rounds `box`, a part of the result of `op`, up to what can be computed, and lists what it needs of each operand that
  /// is a tensor.
  static LogicalResult needs(Operation *op, Box &box, SmallVectorImpl<std::pair<unsigned, Box>> &operands) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<linalg::GenericOp>([&](linalg::GenericOp generic) -> LogicalResult {
          FailureOr<Box> iterations = iterationsFor(generic, box);
          if (failed(iterations))
            return failure();
          for (OpOperand *operand : generic.getDpsInputOperands()) {
            if (!llvm::isa<RankedTensorType>(operand->get().getType()))
              continue;
            FailureOr<Box> read = readBy(generic.getMatchingIndexingMap(operand), shapeOf(operand->get()), *iterations,
                                         generic.getStaticLoopRanges());
            if (failed(read))
              return failure();
            operands.push_back({operand->getOperandNumber(), *read});
          }
          return success();
        })
        .Case<tensor::PadOp>([&](tensor::PadOp pad) -> LogicalResult {
          Box source = box;
          for (size_t dim = 0; dim < source.offsets.size(); ++dim)
            source.offsets[dim] -= pad.getStaticLow()[dim];
          source = clipped(source, pad.getSourceType().getShape());
          operands.push_back({0, source});
          return success(!isEmpty(source)); // a part that is all padding has no source
        })
        .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) -> LogicalResult {
          int64_t begin = 0, dim = concat.getDim();
          for (auto [index, input] : llvm::enumerate(concat.getInputs())) {
            Box part = box;
            part.offsets[dim] -= begin;
            part = clipped(part, shapeOf(input));
            if (!isEmpty(part))
              operands.push_back({index, part});
            begin += shapeOf(input)[dim];
          }
          return success();
        })
        .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            [&](Operation *) { return needsOfReshape(op, box, operands); })
        .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp slice) -> LogicalResult {
          Box source = Box{SmallVector<int64_t>(slice.getStaticOffsets()), SmallVector<int64_t>(slice.getStaticSizes())};
          for (size_t dim = 0; dim < source.sizes.size(); ++dim) {
            int64_t stride = slice.getStaticStrides()[dim], size = source.sizes[dim];
            if (std::optional<int64_t> kept = keptDim(slice, dim)) {
              source.offsets[dim] += box.offsets[*kept] * stride;
              size = box.sizes[*kept];
            }
            source.sizes[dim] = (size - 1) * stride + 1;
          }
          operands.push_back({0, source});
          return success();
        })
        .Default([](Operation *) { return failure(); });
  }

  /// `op` for `box` of its result, with `operands` as `needs` lists them (null: not needed).
  static Value emit(Operation *op, const Box &box, ArrayRef<Value> operands, OpBuilder &builder) {
    return TypeSwitch<Operation *, Value>(op)
        .Case<linalg::GenericOp>([&](linalg::GenericOp generic) { return emitGeneric(generic, box, operands, builder); })
        .Case<tensor::PadOp>([&](tensor::PadOp pad) { return emitPad(pad, box, operands[0], builder); })
        .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) -> Value {
          SmallVector<Value> parts;
          llvm::copy_if(operands, std::back_inserter(parts), [](Value part) { return static_cast<bool>(part); });
          return parts.size() == 1 ? parts.front()
                                   : tensor::ConcatOp::create(builder, op->getLoc(), concat.getDim(), parts).getResult();
        })
        .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp expand) -> Value {
          return tensor::ExpandShapeOp::create(builder, op->getLoc(), typeOf(op, box), operands[0],
                                               expand.getReassociationIndices());
        })
        .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp collapse) -> Value {
          return tensor::CollapseShapeOp::create(builder, op->getLoc(), typeOf(op, box), operands[0],
                                                 collapse.getReassociationIndices());
        })
        .Case<tensor::ExtractSliceOp>(
            [&](tensor::ExtractSliceOp slice) { return emitSlice(slice, box, operands[0], builder); });
  }

  /// Part `box` of a tensor.
  static Value slice(Value value, const Box &box, OpBuilder &builder) {
    if (box.covers(shapeOf(value)))
      return value;
    SmallVector<int64_t> strides(box.sizes.size(), 1);
    auto attributes = [&](ArrayRef<int64_t> numbers) { return getAsIndexOpFoldResult(builder.getContext(), numbers); };
    return tensor::ExtractSliceOp::create(builder, value.getLoc(), value, attributes(box.offsets), attributes(box.sizes),
                                          attributes(strides));
  }

private:
  static RankedTensorType typeOf(Operation *op, const Box &box) {
    return cast<RankedTensorType>(op->getResult(0).getType()).clone(box.sizes);
  }

  static LogicalResult needsOfReshape(Operation *op, Box &box, SmallVectorImpl<std::pair<unsigned, Box>> &operands) {
    Reshape reshape = Reshape::of(op);
    Box source = Box::all(shapeOf(op->getOperand(0)));
    for (auto [merged, members] : llvm::enumerate(reshape.groups)) {
      int64_t outer = outermost(members, reshape.expanded), inner = 1;
      for (int64_t member : members)
        inner *= member == outer ? 1 : reshape.expanded[member];
      Box &expanded = reshape.expands ? box : source, &collapsed = reshape.expands ? source : box;
      if (reshape.expands) {
        for (int64_t member : members)
          if (member != outer) {
            expanded.offsets[member] = 0;
            expanded.sizes[member] = reshape.expanded[member];
          }
      } else {
        int64_t first = collapsed.offsets[merged] / inner, last = llvm::divideCeil(collapsed.end(merged), inner);
        expanded.offsets[outer] = first;
        expanded.sizes[outer] = last - first;
      }
      collapsed.offsets[merged] = expanded.offsets[outer] * inner;
      collapsed.sizes[merged] = expanded.sizes[outer] * inner;
    }
    operands.push_back({0, source});
    return success();
  }

  static Value emitGeneric(linalg::GenericOp op, const Box &box, ArrayRef<Value> operands, OpBuilder &builder) {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op, box);
    Value init = op.getDpsInits()[0], start;
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
      Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
      start = linalg::FillOp::create(builder, fill.getLoc(), fill.getInputs()[0], empty).getResult(0);
    } else if (init.getDefiningOp<tensor::EmptyOp>()) {
      start = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    } else {
      start = slice(init, box, builder);
    }
    SmallVector<Value> inputs;
    for (OpOperand *input : op.getDpsInputOperands())
      inputs.push_back(operands[input->getOperandNumber()] ? operands[input->getOperandNumber()] : input->get());
    auto part = linalg::GenericOp::create(builder, loc, type, inputs, start, op.getIndexingMapsArray(),
                                          op.getIteratorTypesArray());
    IRMapping mapping;
    op.getRegion().cloneInto(&part.getRegion(), mapping);
    if (part.hasIndexSemantics()) {
      IRRewriter rewriter(builder.getContext());
      FailureOr<Box> iterations = iterationsFor(op, box);
      linalg::offsetIndices(rewriter, part, getAsIndexOpFoldResult(builder.getContext(), iterations->offsets));
    }
    return part.getResult(0);
  }

  static Value emitPad(tensor::PadOp pad, const Box &box, Value source, OpBuilder &builder) {
    SmallVector<OpFoldResult> low, high;
    bool padded = false;
    for (auto [dim, extent] : llvm::enumerate(pad.getSourceType().getShape())) {
      int64_t before = std::max<int64_t>(0, pad.getStaticLow()[dim] - box.offsets[dim]);
      int64_t after = std::max<int64_t>(0, box.end(dim) - pad.getStaticLow()[dim] - extent);
      low.push_back(builder.getIndexAttr(before));
      high.push_back(builder.getIndexAttr(after));
      padded |= before + after > 0;
    }
    if (!padded)
      return source;
    return tensor::PadOp::create(builder, pad.getLoc(), Type(), source, low, high, pad.getConstantPaddingValue());
  }

  static Value emitSlice(tensor::ExtractSliceOp slice, const Box &box, Value source, OpBuilder &builder) {
    RankedTensorType type = typeOf(slice, box);
    if (type == source.getType())
      return source;
    SmallVector<int64_t> offsets(slice.getSourceType().getRank(), 0), sizes(slice.getStaticSizes());
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (std::optional<int64_t> kept = keptDim(slice, dim))
        sizes[dim] = box.sizes[*kept];
    auto attributes = [&](ArrayRef<int64_t> numbers) { return getAsIndexOpFoldResult(builder.getContext(), numbers); };
    return tensor::ExtractSliceOp::create(builder, slice.getLoc(), type, source, attributes(offsets), attributes(sizes),
                                          attributes(slice.getStaticStrides()));
  }
};

/// What one band has of every value of the region.
using Parts = llvm::DenseMap<Value, Box>;
} // namespace

/// Band `band` of `bands` of an output that is cut along `dim`.
static Box bandOf(Value output, int64_t dim, int64_t band, int64_t bands) {
  Box box = Box::all(shapeOf(output));
  int64_t extent = box.sizes[dim], begin = extent * band / bands;
  box.offsets[dim] = begin;
  box.sizes[dim] = extent * (band + 1) / bands - begin;
  return box;
}

/// The parts that a band needs, from the outputs backwards.
static FailureOr<Parts> partsOfBand(const BandedRegion &region, int64_t band, int64_t bands) {
  Parts parts;
  for (auto [output, dim] : region.outputs) {
    parts[output] = bandOf(output, dim, band, bands);
    if (isEmpty(parts[output]))
      return failure();
  }
  for (Operation *op : llvm::reverse(region.operations)) {
    auto needed = parts.find(op->getResult(0));
    if (needed == parts.end())
      continue;
    SmallVector<std::pair<unsigned, Box>> operands;
    Box box = needed->second;
    if (failed(Cutter::needs(op, box, operands)))
      return failure();
    parts[op->getResult(0)] = box;
    for (auto &[index, part] : operands) {
      Value operand = op->getOperand(index);
      if (!region.operations.contains(operand.getDefiningOp()))
        continue;
      if (auto [entry, isNew] = parts.insert({operand, part}); !isNew)
        entry->second.join(part);
    }
  }
  return parts;
}

/// Part `wanted` of a value of which `tile` has the part `has`.
static Value within(Value tile, const Box &has, Box wanted, OpBuilder &builder) {
  for (size_t dim = 0; dim < wanted.offsets.size(); ++dim)
    wanted.offsets[dim] -= has.offsets[dim];
  return Cutter::slice(tile, wanted, builder);
}

/// The region's operations for one band; the parts of its outputs.
static SmallVector<Value> emitBand(const BandedRegion &region, const Parts &parts, int64_t band, int64_t bands,
                                   OpBuilder &builder) {
  llvm::DenseMap<Value, Value> tiles;
  for (Operation *op : region.operations) {
    auto needed = parts.find(op->getResult(0));
    if (needed == parts.end())
      continue;
    SmallVector<std::pair<unsigned, Box>> wanted;
    Box box = needed->second;
    (void)Cutter::needs(op, box, wanted); // succeeded when the parts were found
    SmallVector<Value> operands(op->getNumOperands());
    for (auto &[index, part] : wanted) {
      Value operand = op->getOperand(index);
      auto tile = tiles.find(operand);
      operands[index] = tile == tiles.end() ? Cutter::slice(operand, part, builder)
                                            : within(tile->second, parts.lookup(operand), part, builder);
    }
    tiles[op->getResult(0)] = Cutter::emit(op, box, operands, builder);
  }
  SmallVector<Value> outputs;
  for (auto [output, dim] : region.outputs)
    outputs.push_back(
        within(tiles.lookup(output), parts.lookup(output), bandOf(output, dim, band, bands), builder));
  return outputs;
}

LogicalResult computeByBands(const BandedRegion &region, int64_t bands, IRRewriter &rewriter) {
  SmallVector<Parts> parts;
  for (int64_t band = 0; band < bands; ++band) {
    FailureOr<Parts> found = partsOfBand(region, band, bands);
    if (failed(found))
      return failure();
    parts.push_back(std::move(*found));
  }
  Operation *last = region.operations.back();
  Block *block = last->getBlock();
  rewriter.setInsertionPointAfter(last);
  SmallVector<SmallVector<Value>> pieces(region.outputs.size());
  for (int64_t band = 0; band < bands; ++band)
    for (auto [index, piece] : llvm::enumerate(emitBand(region, parts[band], band, bands, rewriter)))
      pieces[index].push_back(piece);
  for (auto [index, output] : llvm::enumerate(region.outputs)) {
    Value whole = tensor::ConcatOp::create(rewriter, output.first.getLoc(), output.second, pieces[index]);
    rewriter.replaceUsesWithIf(output.first, whole, [&](OpOperand &use) {
      return use.getOwner()->getBlock() != block || !region.operations.contains(use.getOwner());
    });
  }
  for (Operation *op : llvm::reverse(region.operations))
    rewriter.eraseOp(op);
  // Readers of an output that stood between the operations of the region.
  sortTopologically(block);
  return success();
}

} // namespace trn
