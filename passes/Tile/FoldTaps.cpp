//===- FoldTaps.cpp - kernel rows beside few channels ----------------------===//
// Owns tile-fold-taps. Refuses convolutions of tensors made on chip (their rows would move from partition to partition)
// and those whose channels fill a quarter of the array already.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/LayoutCost.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Structure.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_FOLDTAPSPASS
#include "passes/Tile/LayoutPasses.h.inc"

namespace {
/// A convolution and the kernel dimension that joins its channels. Row y of the result reads row y * stride + tap *
/// dilation of the padded operand.
struct Taps {
  unsigned data;        ///< the operand that is not a weight
  int64_t channel, row; ///< dimensions of the data
  int64_t channelIterator, rowIterator, tapIterator;
  int64_t stride, dilation;
  Value source;      ///< the data before padding
  tensor::PadOp pad; ///< null: none
};
} // namespace

/// Whether `value` lies in HBM row by row: an input of the program, or a reshape of one.
static bool isInput(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (!llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer))
      return false;
    value = producer->getOperand(0);
  }
  return true;
}

/// Reads `a * factor + b * other` (each factor possibly 1) with `b` the reduction iterator.
static bool matchRow(AffineExpr expr, const Structure &structure, Taps &taps) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  bool foundRow = false, foundTap = false;
  for (AffineExpr term : {sum.getLHS(), sum.getRHS()}) {
    int64_t factor = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(term)) {
      if (product.getKind() != AffineExprKind::Mul || !llvm::isa<AffineConstantExpr>(product.getRHS()))
        return false;
      factor = cast<AffineConstantExpr>(product.getRHS()).getValue();
      term = product.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(term);
    if (!dim || factor < 1)
      return false;
    if (structure.isReduction(dim.getPosition())) {
      foundTap = true;
      taps.tapIterator = dim.getPosition();
      taps.dilation = factor;
    } else {
      foundRow = true;
      taps.rowIterator = dim.getPosition();
      taps.stride = factor;
    }
  }
  return foundRow && foundTap;
}

/// The dimension of `operand` that `iterator` alone indexes; unlike Structure::dimOf also for a single channel.
static std::optional<int64_t> dimAlong(const Structure &structure, unsigned operand, int64_t iterator) {
  linalg::LinalgOp op = structure.op;
  AffineMap map = op.getIndexingMapsArray()[operand];
  std::optional<int64_t> found;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(iterator))
      continue;
    if (found || !llvm::isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = dim;
  }
  return found;
}

static std::optional<Taps> findTaps(const Structure &structure) {
  if (structure.kind != Structure::Kind::Contraction)
    return std::nullopt;
  Taps taps;
  if (isConstantTensor(structure.valueOf(1)) && !isConstantTensor(structure.valueOf(0)))
    taps.data = 0;
  else if (isConstantTensor(structure.valueOf(0)) && !isConstantTensor(structure.valueOf(1)))
    taps.data = 1;
  else
    return std::nullopt;
  unsigned weight = 1 - taps.data;
  taps.source = structure.valueOf(taps.data);
  taps.pad = taps.source.getDefiningOp<tensor::PadOp>();
  if (taps.pad) {
    if (!taps.pad.getConstantPaddingValue() || !taps.pad->hasOneUse())
      return std::nullopt;
    taps.source = taps.pad.getSource();
  }
  if (!isInput(taps.source))
    return std::nullopt;

  std::optional<int64_t> channel;
  for (int64_t iterator = 0; iterator < static_cast<int64_t>(structure.extents.size()); ++iterator)
    if (structure.isReduction(iterator) && dimAlong(structure, 0, iterator) && dimAlong(structure, 1, iterator)) {
      channel = dimAlong(structure, taps.data, iterator);
      taps.channelIterator = iterator;
    }
  if (!channel)
    return std::nullopt;
  taps.channel = *channel;
  for (auto [dim, expr] : llvm::enumerate(structure.maps[taps.data].getResults())) {
    if (!matchRow(expr, structure, taps))
      continue;
    taps.row = dim;
    int64_t lanes = structure.extents[taps.channelIterator] * structure.extents[taps.tapIterator];
    if (lanes > kPartitions || structure.extents[taps.channelIterator] * 4 > kPartitions ||
        !structure.dimOf(weight, taps.tapIterator) || !structure.dimOf(structure.resultIndex(), taps.rowIterator))
      continue;
    return taps;
  }
  return std::nullopt;
}

/// Whether the PE time that the fold saves is worth the DMA time it costs.
static bool pays(const Structure &structure, const Taps &taps) {
  LayoutCosts costs;
  Type element = structure.elementTypeOf(taps.data);
  double columns = 1, otherTaps = 1, kept = 1;
  for (int64_t iterator : structure.iterators()) {
    double extent = structure.extents[iterator];
    if (structure.isReduction(iterator))
      otherTaps *= iterator == taps.channelIterator || iterator == taps.tapIterator ? 1 : extent;
    else if (structure.uses(taps.data, iterator))
      columns *= extent;
    else
      kept *= extent;
  }
  // Measured: while all columns of the result fit PSUM (8 banks of 512) the fold wins as the costs below say. A larger
  // picture then gets its rows on the partitions, which no cost here sees: SqueezeNet's first layer became 5 times slower.
  constexpr double kPsumBanks = 8;
  if (columns > kPsumBanks * costs.movingColumns)
    return false;
  double blocks = otherTaps * std::ceil(kept / kPartitions), count = structure.extents[taps.tapIterator];
  double saved =
      costs.contraction(blocks * count, columns, 0, element) - costs.contraction(blocks, columns, 0, element);
  ArrayRef<int64_t> shape = structure.shapeOf(taps.data);
  double bytes = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>()) / shape[taps.row] *
                 structure.extents[taps.rowIterator] * storedBytes(element);
  // Further copies move at the sustained rate; their latencies overlap.
  double spent = (count - 1) * (costs.dma(bytes, shape.back() * storedBytes(element)) - costs.dmaFixed);
  return saved > spent;
}

/// The rows that tap `tap` reads, one per row of the result, padded where the operand was padded.
static Value rowsOf(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps, int64_t tap) {
  tensor::PadOp pad = taps.pad;
  auto type = cast<RankedTensorType>(taps.source.getType());
  int64_t rank = type.getRank(), rows = structure.extents[taps.rowIterator], height = type.getDimSize(taps.row);
  int64_t before = pad ? pad.getStaticLow()[taps.row] : 0, shift = tap * taps.dilation - before;
  // Result rows whose operand row y * stride + shift exists.
  int64_t first = shift >= 0 ? 0 : (-shift + taps.stride - 1) / taps.stride;
  int64_t last = std::min(rows - 1, (height - 1 - shift) / taps.stride);
  if (first > last || height - 1 - shift < 0)
    return nullptr;
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), strides(rank, builder.getIndexAttr(1)), sizes, low,
      high;
  bool padded = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t extent = type.getDimSize(dim), front = pad ? pad.getStaticLow()[dim] : 0,
            back = pad ? pad.getStaticHigh()[dim] : 0;
    if (dim == taps.row) {
      offsets[dim] = builder.getIndexAttr(first * taps.stride + shift);
      strides[dim] = builder.getIndexAttr(taps.stride);
      extent = last - first + 1;
      front = first;
      back = rows - 1 - last;
    }
    sizes.push_back(builder.getIndexAttr(extent));
    low.push_back(builder.getIndexAttr(front));
    high.push_back(builder.getIndexAttr(back));
    padded |= front + back > 0;
  }
  Value slice = tensor::ExtractSliceOp::create(builder, loc, taps.source, offsets, sizes, strides);
  if (!padded)
    return slice;
  Value fill = pad.getConstantPaddingValue();
  return tensor::PadOp::create(builder, loc, Type(), slice, low, high, fill);
}

/// `weight` with the tap dimension joined to the channels, tap slower.
static Value joinWeight(OpBuilder &builder, Location loc, Value weight, int64_t tap, int64_t channel) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<int64_t> permutation, shape, joined;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim == tap)
      continue;
    if (dim == channel) {
      groups.push_back({static_cast<int64_t>(permutation.size()), static_cast<int64_t>(permutation.size()) + 1});
      permutation.push_back(tap);
      joined.push_back(type.getDimSize(tap) * type.getDimSize(channel));
    } else {
      groups.push_back({static_cast<int64_t>(permutation.size())});
      joined.push_back(type.getDimSize(dim));
    }
    permutation.push_back(dim);
  }
  for (int64_t from : permutation)
    shape.push_back(type.getDimSize(from));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value turned = linalg::TransposeOp::create(builder, loc, weight, empty, permutation)->getResult(0);
  return tensor::CollapseShapeOp::create(builder, loc, RankedTensorType::get(joined, type.getElementType()), turned,
                                         groups);
}

static void fold(linalg::GenericOp op, const Structure &structure, const Taps &taps, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> pieces;
  for (int64_t tap = 0; tap < structure.extents[taps.tapIterator]; ++tap) {
    Value rows = rowsOf(rewriter, loc, structure, taps, tap);
    if (!rows)
      return;
    pieces.push_back(rows);
  }
  unsigned weight = 1 - taps.data;
  Value data = tensor::ConcatOp::create(rewriter, loc, taps.channel, pieces);
  Value joined = joinWeight(rewriter, loc, structure.valueOf(weight), *structure.dimOf(weight, taps.tapIterator),
                            *dimAlong(structure, weight, taps.channelIterator));

  // The tap iterator is gone; those behind it move up.
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> renamed;
  SmallVector<utils::IteratorType> types;
  for (int64_t iterator = 0; iterator < static_cast<int64_t>(structure.extents.size()); ++iterator) {
    if (iterator == taps.tapIterator) {
      renamed.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    renamed.push_back(getAffineDimExpr(types.size(), context));
    types.push_back(structure.types[iterator]);
  }
  SmallVector<AffineMap> maps;
  for (auto [index, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    SmallVector<AffineExpr> results;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (index == weight && static_cast<int64_t>(dim) == *structure.dimOf(weight, taps.tapIterator))
        continue;
      bool isRow = index == taps.data && static_cast<int64_t>(dim) == taps.row;
      AffineExpr plain = isRow ? getAffineDimExpr(taps.rowIterator, context) : expr;
      results.push_back(plain.replaceDims(renamed));
    }
    maps.push_back(AffineMap::get(types.size(), 0, results, context));
  }
  SmallVector<Value> inputs(2);
  inputs[taps.data] = data;
  inputs[weight] = joined;
  auto folded = linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs, op.getDpsInits(), maps, types);
  rewriter.inlineRegionBefore(op.getRegion(), folded.getRegion(), folded.getRegion().begin());
  rewriter.replaceOp(op, folded);
  if (taps.pad && taps.pad->use_empty())
    rewriter.eraseOp(taps.pad);
}

namespace {
struct FoldTapsPass : public impl::FoldTapsPassBase<FoldTapsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generics) {
      std::optional<Structure> structure = Structure::get(op);
      if (!structure)
        continue;
      if (std::optional<Taps> taps = findTaps(*structure); taps && pays(*structure, *taps))
        fold(op, *structure, *taps, rewriter);
    }
  }
};
} // namespace

} // namespace trn
