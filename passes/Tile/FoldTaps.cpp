//===- FoldTaps.cpp - kernel taps beside few channels ----------------------===//
// Owns tile-fold-taps. Taps of an input are loaded beside each other; taps of a tensor made on chip are copied from
// partition to partition. Refuses what would cost more than PE gains: convolutions of inputs whose channels fill a quarter
// of the array already, of others whose channels fill more than a half.
#include "passes/Tile/FoldTaps.h"
#include "dialects/Trn/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/LayoutCandidates.h"
#include "passes/Tile/LayoutCost.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/Structure.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_FOLDTAPSPASS
#include "passes/Tile/LayoutPasses.h.inc"

namespace {
/// A kernel dimension: element `iterator * stride + tap * dilation` of dimension `dim` of the padded operand.
struct KernelWindow {
  unsigned dim;
  int64_t iterator, tap;
  int64_t stride, dilation;
};

/// A convolution and the kernel dimensions that may join its channels.
struct Taps {
  unsigned data;        ///< the operand that is not a weight
  int64_t channel;      ///< dimension of the data
  int64_t channelIterator;
  KernelWindow rows;                   ///< all of its taps join
  std::optional<KernelWindow> columns; ///< `folded` taps in a row join; absent: one
  Value source;      ///< the data before padding
  tensor::PadOp pad; ///< null: none
};

/// How taps join: how many of the columns in a row do, and whether every lane reads one run of memory, from an operand
/// whose strides have been taken apart.
struct Fold {
  int64_t columns = 0; ///< 0: no fold
  bool planes = false;
};

/// One dimension of an operand whose stride has been taken apart: element i * stride + r of the source is element
/// low + i of plane r. `high` elements of padding follow.
struct Plane {
  int64_t stride, count, low, high;
  int64_t extent() const { return low + count + high; }
};

/// What one piece of the folded operand takes from a dimension of the source: `size` elements from `offset` on, behind
/// `front` and before `back` elements of padding.
struct Piece {
  int64_t offset, size, stride, front, back;
};
} // namespace

/// A map that only converts the elements of its one operand.
static bool isConversion(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumParallelLoops() != generic.getNumLoops())
    return false;
  return llvm::all_of(generic.getBody()->without_terminator(), llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
}

/// Whether `value` is cheap to have in HBM row by row: an input of the program, a reshape or a part of one, or one that
/// was converted (and stored once).
static bool isInput(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (!isConversion(producer) &&
        !llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(producer))
      return false;
    value = producer->getOperand(0);
  }
  return true;
}

/// Reads `a * factor + b * other` (each factor possibly 1) with `b` the reduction iterator.
static std::optional<KernelWindow> matchWindow(unsigned dim, AffineExpr expr, const Structure &structure) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  KernelWindow window{dim, -1, -1, 1, 1};
  for (AffineExpr term : {sum.getLHS(), sum.getRHS()}) {
    int64_t factor = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(term)) {
      if (product.getKind() != AffineExprKind::Mul || !llvm::isa<AffineConstantExpr>(product.getRHS()))
        return std::nullopt;
      factor = cast<AffineConstantExpr>(product.getRHS()).getValue();
      term = product.getLHS();
    }
    auto iterator = dyn_cast<AffineDimExpr>(term);
    if (!iterator || factor < 1)
      return std::nullopt;
    bool tap = structure.isReduction(iterator.getPosition());
    (tap ? window.tap : window.iterator) = iterator.getPosition();
    (tap ? window.dilation : window.stride) = factor;
  }
  if (window.tap < 0 || window.iterator < 0)
    return std::nullopt;
  return window;
}

/// The dimension of `operand` that `iterator` alone indexes; unlike Structure::dimOf also for a single channel.
static std::optional<int64_t> dimAlong(const Structure &structure, unsigned operand, int64_t iterator) {
  linalg::LinalgOp op = structure.op;
  return dimAlong(op.getIndexingMapsArray()[operand], iterator);
}

/// A convolution whose weights are constant, without the kernel dimensions that join its channels.
static std::optional<Taps> findConvolution(const Structure &structure) {
  if (structure.kind != Structure::Kind::Contraction)
    return std::nullopt;
  Taps taps;
  if (isConstantTensor(structure.valueOf(1)) && !isConstantTensor(structure.valueOf(0)))
    taps.data = 0;
  else if (isConstantTensor(structure.valueOf(0)) && !isConstantTensor(structure.valueOf(1)))
    taps.data = 1;
  else
    return std::nullopt;
  taps.source = structure.valueOf(taps.data);
  taps.pad = taps.source.getDefiningOp<tensor::PadOp>();
  if (taps.pad) {
    if (!taps.pad.getConstantPaddingValue() || !taps.pad->hasOneUse())
      return std::nullopt;
    taps.source = taps.pad.getSource();
  }
  std::optional<int64_t> channel;
  for (int64_t iterator = 0; iterator < static_cast<int64_t>(structure.extents.size()); ++iterator)
    if (structure.isReduction(iterator) && dimAlong(structure, 0, iterator) && dimAlong(structure, 1, iterator)) {
      channel = dimAlong(structure, taps.data, iterator);
      taps.channelIterator = iterator;
    }
  if (!channel)
    return std::nullopt;
  taps.channel = *channel;
  return taps;
}

/// The kernel dimensions of a convolution, outermost first.
static SmallVector<KernelWindow> windowsOf(const Structure &structure, const Taps &taps) {
  SmallVector<KernelWindow> windows;
  for (auto [dim, expr] : llvm::enumerate(structure.maps[taps.data].getResults()))
    if (std::optional<KernelWindow> window = matchWindow(dim, expr, structure);
        window && structure.dimOf(1 - taps.data, window->tap) &&
        structure.dimOf(structure.resultIndex(), window->iterator))
      windows.push_back(*window);
  return windows;
}

static std::optional<Taps> findTaps(const Structure &structure) {
  std::optional<Taps> taps = findConvolution(structure);
  if (!taps || !isInput(taps->source))
    return std::nullopt;
  int64_t channels = structure.extents[taps->channelIterator];
  bool found = false;
  for (const KernelWindow &window : windowsOf(structure, *taps)) {
    if (found) {
      taps->columns = window;
      return taps;
    }
    if (channels * structure.extents[window.tap] > kPartitions || channels * 4 > kPartitions)
      continue;
    taps->rows = window;
    found = true;
  }
  return found ? taps : std::nullopt;
}

/// Bytes of the folded operand that each partition holds at a time: while one strip is multiplied the next is loaded,
/// and a large picture leaves room for what is made of it.
static constexpr double kStripBytes = 16384;

/// Kernel columns that are left to step over.
static int64_t columnSteps(const Structure &structure, const Taps &taps, const Fold &fold) {
  return taps.columns ? llvm::divideCeil(structure.extents[taps.columns->tap], fold.columns) : 1;
}

/// Columns that one piece of the folded operand has.
static int64_t columnsPerPiece(const Structure &structure, const Taps &taps, const Fold &fold) {
  const KernelWindow &columns = *taps.columns;
  int64_t steps = columnSteps(structure, taps, fold);
  return columns.stride * (structure.extents[columns.iterator] - 1) + (steps - 1) * fold.columns * columns.dilation + 1;
}

static int64_t floorDiv(int64_t value, int64_t divisor) {
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

/// How far tap `tap` of `window` is from the result's element in the source: planes, then elements of one.
static std::pair<int64_t, int64_t> planeOf(const Taps &taps, const KernelWindow &window, int64_t tap) {
  tensor::PadOp pad = taps.pad;
  int64_t offset = tap * window.dilation - (pad ? pad.getStaticLow()[window.dim] : 0);
  int64_t shift = floorDiv(offset, window.stride);
  return {offset - shift * window.stride, shift};
}

/// The planes of a kernel dimension, with room for `allTaps` taps.
static Plane planeFor(const Structure &structure, const Taps &taps, const KernelWindow &window, int64_t allTaps) {
  int64_t count = cast<RankedTensorType>(taps.source.getType()).getDimSize(window.dim) / window.stride;
  int64_t first = planeOf(taps, window, 0).second, last = planeOf(taps, window, allTaps - 1).second;
  return {window.stride, count, std::max<int64_t>(0, -first),
          std::max<int64_t>(0, structure.extents[window.iterator] + last - count)};
}

/// Rows and columns of planes for `fold`. One more row, so that a run that begins inside a row stays inside.
static std::pair<Plane, Plane> planesFor(const Structure &structure, const Taps &taps, const Fold &fold) {
  Plane rows = planeFor(structure, taps, taps.rows, structure.extents[taps.rows.tap]);
  Plane columns =
      planeFor(structure, taps, *taps.columns, columnSteps(structure, taps, fold) * fold.columns);
  ++rows.high;
  return {rows, columns};
}

/// Whether the operand of a fold can be taken apart into planes: both kernel dimensions innermost, in the batch's only
/// image, divided by their strides; the taps that are left must step over whole elements of a plane.
static bool hasPlanes(const Structure &structure, const Taps &taps, const Fold &fold) {
  if (!taps.columns)
    return false;
  auto type = cast<RankedTensorType>(taps.source.getType());
  unsigned rank = type.getRank();
  if (taps.columns->dim + 1 != rank || taps.rows.dim + 2 != rank)
    return false;
  for (const KernelWindow &window : {taps.rows, *taps.columns})
    if (type.getDimSize(window.dim) % window.stride)
      return false;
  return columnSteps(structure, taps, fold) == 1 || fold.columns * taps.columns->dilation % taps.columns->stride == 0;
}

namespace {
/// The time of a fold: of PE for the products, of the DMA engines that serve the lanes, and of the queues that issue the
/// copies.
class FoldCost {
public:
  FoldCost(const Structure &structure, const Taps &taps, const LayoutCosts &costs)
      : structure(structure), taps(taps), costs(costs), element(structure.elementTypeOf(taps.data)),
        channels(structure.extents[taps.channelIterator]), rows(structure.extents[taps.rows.tap]),
        columns(taps.columns ? structure.extents[taps.columns->tap] : 1) {
    double otherTaps = 1, kept = 1;
    for (int64_t iterator : structure.iterators()) {
      double extent = structure.extents[iterator];
      bool folds = iterator == taps.channelIterator || iterator == taps.rows.tap ||
                   (taps.columns && iterator == taps.columns->tap);
      if (structure.isReduction(iterator))
        otherTaps *= folds ? 1 : extent;
      else
        (structure.uses(taps.data, iterator) ? pixels : kept) *= extent;
    }
    blocks = otherTaps * std::ceil(kept / kPartitions);
    ArrayRef<int64_t> shape = structure.shapeOf(taps.data);
    image = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>()) / channels;
  }

  /// The cheapest way.
  Fold best() const {
    Fold choice;
    double least = time(rows * columns, channels, image, 1, image);
    for (int64_t folded = 1; folded <= columns && channels * rows * folded <= kPartitions; ++folded)
      for (bool planes : {false, true}) {
        Fold fold{folded, planes};
        double total = timeOf(fold);
        if (total < least) {
          least = total;
          choice = fold;
        }
      }
    return choice;
  }

private:
  bool isConverted() const { return taps.source.getDefiningOp() && isConversion(taps.source.getDefiningOp()); }

  double timeOf(const Fold &fold) const {
    int64_t lanes = channels * rows * fold.columns, copies = rows * fold.columns;
    double height = structure.extents[taps.rows.iterator], steps = columnSteps(structure, taps, fold);
    ArrayRef<int64_t> shape = structure.shapeOf(taps.data);
    if (fold.planes) {
      if (!hasPlanes(structure, taps, fold))
        return std::numeric_limits<double>::infinity();
      double lane = height * planesFor(structure, taps, fold).second.extent();
      // Through SBUF, back to HBM, and the sides of its padding there, one after the other; all before the first load. An
      // input that is converted goes that way in any case.
      double bytes = image * channels * storedBytes(element), run = shape.back() / taps.columns->stride;
      return (isConverted() ? 3 : 8) * costs.dma(bytes, run * storedBytes(element)) +
             time(steps, lanes, lane, copies, lane);
    }
    double run = shape.back(), lane = image / shape[taps.rows.dim] * height;
    if (taps.columns) {
      run = columnsPerPiece(structure, taps, fold);
      lane *= run / shape[taps.columns->dim];
    } else if (taps.rows.dim + 1 == shape.size()) {
      run = taps.rows.stride == 1 ? height : 1;
    }
    double total = time(steps, lanes, lane, copies, run);
    // A converted input goes to HBM first.
    if (isConverted())
      total += 2 * costs.dma(image * channels * storedBytes(element), shape.back() * storedBytes(element));
    return total;
  }

  /// Products of one strip hide the load of the next: the longer of the two, and the load of the first strip.
  double time(double steps, int64_t lanes, double laneElements, double copies, double run) const {
    double bytes = storedBytes(element), strips = std::ceil(laneElements * bytes / kStripBytes);
    double load = costs.dma(lanes * laneElements * bytes, run * bytes, lanes) - costs.dmaFixed +
                  strips * (copies - 1) * costs.dmaIssue;
    return std::max(costs.product(blocks * steps, pixels, element), load) + load / strips + costs.dmaFixed;
  }

  const Structure &structure;
  const Taps &taps;
  const LayoutCosts &costs;
  Type element;
  int64_t channels, rows, columns;
  double pixels = 1, blocks = 1, image = 1;
};
} // namespace

/// The part of dimension `dim` of the source that a piece of `size` elements shows whose first element is `shift`
/// elements behind the source's first; nothing when it shows padding only.
static std::optional<Piece> pieceOf(int64_t extent, int64_t shift, int64_t size, int64_t stride) {
  int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  if (extent - 1 - shift < 0)
    return std::nullopt;
  int64_t last = std::min(size - 1, (extent - 1 - shift) / stride);
  if (first > last)
    return std::nullopt;
  return Piece{first * stride + shift, last - first + 1, stride, first, size - 1 - last};
}

namespace {
/// Adjacent rows of the result.
struct Strip {
  int64_t begin, rows;
};
} // namespace

/// The rows of the result in strips whose folded operands are small.
static SmallVector<Strip> stripsOf(const Structure &structure, const Taps &taps, const Fold &fold) {
  double rowBytes = storedBytes(structure.elementTypeOf(taps.data));
  for (auto [dim, extent] : llvm::enumerate(structure.shapeOf(taps.data))) {
    if (taps.columns && dim == taps.columns->dim)
      rowBytes *= fold.planes ? planesFor(structure, taps, fold).second.extent() : columnsPerPiece(structure, taps, fold);
    else if (dim != taps.rows.dim && static_cast<int64_t>(dim) != taps.channel)
      rowBytes *= extent;
  }
  int64_t rows = structure.extents[taps.rows.iterator];
  int64_t most = std::max<int64_t>(1, static_cast<int64_t>(kStripBytes / rowBytes));
  int64_t size = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  SmallVector<Strip> strips;
  for (int64_t begin = 0; begin < rows; begin += size)
    strips.push_back({begin, std::min(size, rows - begin)});
  return strips;
}

/// What row tap `row` and column tap `column` of the fold read for the results of `strip`, padded where the operand was
/// padded.
static Value pieceAt(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps, const Fold &fold,
                     Value padding, const Strip &strip, int64_t row, int64_t column) {
  tensor::PadOp pad = taps.pad;
  auto type = cast<RankedTensorType>(taps.source.getType());
  SmallVector<OpFoldResult> offsets, strides, sizes, low, high;
  bool padded = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t front = pad ? pad.getStaticLow()[dim] : 0, back = pad ? pad.getStaticHigh()[dim] : 0;
    std::optional<Piece> piece = Piece{0, type.getDimSize(dim), 1, front, back};
    if (dim == taps.rows.dim)
      piece = pieceOf(type.getDimSize(dim), row * taps.rows.dilation - front + strip.begin * taps.rows.stride,
                      strip.rows, taps.rows.stride);
    else if (taps.columns && dim == taps.columns->dim)
      piece = pieceOf(type.getDimSize(dim), column * taps.columns->dilation - front,
                      columnsPerPiece(structure, taps, fold), 1);
    if (!piece)
      return nullptr;
    offsets.push_back(builder.getIndexAttr(piece->offset));
    sizes.push_back(builder.getIndexAttr(piece->size));
    strides.push_back(builder.getIndexAttr(piece->stride));
    low.push_back(builder.getIndexAttr(piece->front));
    high.push_back(builder.getIndexAttr(piece->back));
    padded |= piece->front + piece->back > 0;
  }
  Value slice = tensor::ExtractSliceOp::create(builder, loc, taps.source, offsets, sizes, strides);
  return padded ? tensor::PadOp::create(builder, loc, Type(), slice, low, high, padding).getResult() : slice;
}

/// `weight` with the folded taps joined to the channels: columns slowest, then rows. A kernel that the fold does not
/// divide gets columns of zeros.
static Value joinWeight(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps,
                        const Fold &fold) {
  unsigned operand = 1 - taps.data;
  Value weight = structure.valueOf(operand);
  auto type = cast<RankedTensorType>(weight.getType());
  Type element = type.getElementType();
  int64_t rows = *structure.dimOf(operand, taps.rows.tap), channel = *dimAlong(structure, operand, taps.channelIterator);
  int64_t columns = fold.columns > 1 ? *structure.dimOf(operand, taps.columns->tap) : -1;
  SmallVector<int64_t> shape(type.getShape()), split;
  if (columns >= 0 && shape[columns] % fold.columns) {
    SmallVector<OpFoldResult> low(shape.size(), builder.getIndexAttr(0)), high(low);
    int64_t padded = llvm::divideCeil(shape[columns], fold.columns) * fold.columns;
    high[columns] = builder.getIndexAttr(padded - shape[columns]);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    weight = tensor::PadOp::create(builder, loc, Type(), weight, low, high, zero);
    shape[columns] = padded;
  }
  // Where each dimension is once the columns have been split.
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> at;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    at.push_back(split.size());
    groups.push_back({static_cast<int64_t>(split.size())});
    if (dim == columns) {
      split.push_back(shape[dim] / fold.columns);
      groups.back().push_back(split.size());
    }
    split.push_back(dim == columns ? fold.columns : shape[dim]);
  }
  if (columns >= 0)
    weight = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(split, element), weight, groups);
  SmallVector<int64_t> permutation, turnedShape, joined;
  groups.clear();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim == rows)
      continue;
    SmallVector<int64_t> members = {at[dim]};
    if (dim == channel) {
      members.insert(members.begin(), at[rows]);
      if (columns >= 0)
        members.insert(members.begin(), at[columns] + 1);
    }
    groups.emplace_back();
    joined.push_back(1);
    for (int64_t member : members) {
      groups.back().push_back(permutation.size());
      permutation.push_back(member);
      turnedShape.push_back(split[member]);
      joined.back() *= split[member];
    }
  }
  Value empty = tensor::EmptyOp::create(builder, loc, turnedShape, element);
  Value turned = linalg::TransposeOp::create(builder, loc, weight, empty, permutation)->getResult(0);
  return tensor::CollapseShapeOp::create(builder, loc, RankedTensorType::get(joined, element), turned, groups);
}

/// The operand taken apart, `[..., channels, row stride, column stride, rows, columns]`, with its padding; what converts
/// an input converts here.
static Value takeApart(OpBuilder &builder, Location loc, const Taps &taps, const Plane &rows, const Plane &columns,
                       Value padding) {
  Value source = taps.source;
  auto type = cast<RankedTensorType>(source.getType());
  int64_t outer = type.getRank() - 2;
  // In HBM a split dimension is a view. What is not strided is not split: which of several dimensions of one element a slice
  // leaves out could not be told later.
  SmallVector<int64_t> split(type.getShape().take_front(outer)), apart(split);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < outer; ++dim)
    groups.push_back({dim});
  for (const Plane &plane : {rows, columns}) {
    groups.push_back({static_cast<int64_t>(split.size())});
    split.push_back(plane.count);
    if (plane.stride > 1) {
      groups.back().push_back(split.size());
      split.push_back(plane.stride);
    }
  }
  apart.append({rows.stride, columns.stride, rows.count, columns.count});
  Type element = type.getElementType();
  if (Operation *producer = source.getDefiningOp(); producer && isConversion(producer)) {
    source = cast<linalg::GenericOp>(producer).getInputs()[0];
    type = cast<RankedTensorType>(source.getType());
  }
  Value view = source;
  if (static_cast<int64_t>(split.size()) > type.getRank())
    view = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(split, type.getElementType()), source, groups);
  SmallVector<AffineExpr> from, to;
  for (int64_t dim = 0; dim < outer + 4; ++dim)
    to.push_back(builder.getAffineDimExpr(dim));
  from.assign(to.begin(), to.begin() + outer);
  for (auto [plane, stride, count] : {std::tuple(&rows, 0, 2), std::tuple(&columns, 1, 3)}) {
    from.push_back(to[outer + count]);
    if (plane->stride > 1)
      from.push_back(to[outer + stride]);
  }
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(outer + 4, 0, results, builder.getContext()); };
  Value empty = tensor::EmptyOp::create(builder, loc, apart, element);
  Value planes = linalg::GenericOp::create(
                     builder, loc, empty.getType(), view, empty, ArrayRef<AffineMap>{map(from), map(to)},
                     SmallVector<utils::IteratorType>(outer + 4, utils::IteratorType::parallel),
                     [&](OpBuilder &inner, Location loc, ValueRange arguments) {
                       Value value = arguments[0];
                       if (value.getType() != element)
                         value = value.getType().getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth()
                                     ? arith::TruncFOp::create(inner, loc, element, value).getResult()
                                     : arith::ExtFOp::create(inner, loc, element, value).getResult();
                       linalg::YieldOp::create(inner, loc, value);
                     })
                     .getResult(0);
  SmallVector<OpFoldResult> low(outer + 2, builder.getIndexAttr(0)), high(low);
  for (const Plane &plane : {rows, columns}) {
    low.push_back(builder.getIndexAttr(plane.low));
    high.push_back(builder.getIndexAttr(plane.high));
  }
  return tensor::PadOp::create(builder, loc, Type(), planes, low, high, padding);
}

/// What a tap of the fold reads for the results of `strip`: one run of the plane it is in. Cut into rows as long as the
/// plane's, a row goes on in the plane's next one where the tap shifts it; no result reads that far.
static Value runAt(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps, Value flat,
                   const Plane &rows, const Plane &columns, const Strip &strip, int64_t row, int64_t column) {
  auto type = cast<RankedTensorType>(flat.getType());
  int64_t outer = type.getRank() - 3, height = strip.rows, pitch = columns.extent();
  auto [rowPlane, rowShift] = planeOf(taps, taps.rows, row);
  auto [columnPlane, columnShift] = planeOf(taps, *taps.columns, column);
  int64_t start = (strip.begin + rowShift + rows.low) * pitch + columnShift + columns.low;
  SmallVector<OpFoldResult> offsets(outer, builder.getIndexAttr(0)), sizes, strides(outer + 3, builder.getIndexAttr(1));
  SmallVector<int64_t> shape(type.getShape().take_front(outer));
  for (int64_t extent : shape)
    sizes.push_back(builder.getIndexAttr(extent));
  for (int64_t offset : {rowPlane, columnPlane, start})
    offsets.push_back(builder.getIndexAttr(offset));
  for (int64_t size : {int64_t(1), int64_t(1), height * pitch})
    sizes.push_back(builder.getIndexAttr(size));
  shape.push_back(height * pitch);
  return tensor::ExtractSliceOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), flat, offsets,
                                        sizes, strides);
}

/// The concatenation of runs as rows of `pitch` columns, of which the first `columns` are taken: without taps to step
/// over, the result has as many as it reads.
static Value runsToRows(OpBuilder &builder, Location loc, Value runs, int64_t pitch, int64_t columns) {
  auto type = cast<RankedTensorType>(runs.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim});
  groups.back().push_back(type.getRank());
  shape.back() /= pitch;
  shape.push_back(pitch);
  Value rows = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), runs,
                                             groups);
  if (columns == pitch)
    return rows;
  SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)), sizes,
      strides(shape.size(), builder.getIndexAttr(1));
  shape.back() = columns;
  for (int64_t extent : shape)
    sizes.push_back(builder.getIndexAttr(extent));
  return tensor::ExtractSliceOp::create(builder, loc, rows, offsets, sizes, strides);
}

/// The operand taken apart, the rows of each plane in one dimension.
static Value planesOf(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps, const Fold &fold,
                      Value padding) {
  auto [rows, columns] = planesFor(structure, taps, fold);
  Value apart = takeApart(builder, loc, taps, rows, columns, padding);
  SmallVector<ReassociationIndices> groups;
  int64_t rank = cast<RankedTensorType>(apart.getType()).getRank();
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return tensor::CollapseShapeOp::create(builder, loc, apart, groups);
}

/// Whether every piece of every strip has elements of the source: one that is all padding has nothing to load.
static bool readsSource(const Structure &structure, const Taps &taps, const Fold &fold, ArrayRef<Strip> strips) {
  if (fold.planes)
    return true; // the padding is in the planes
  auto type = cast<RankedTensorType>(taps.source.getType());
  tensor::PadOp pad = taps.pad;
  auto reads = [&](const KernelWindow &window, int64_t taps, int64_t first, int64_t size, int64_t stride) {
    int64_t front = pad ? pad.getStaticLow()[window.dim] : 0;
    return llvm::all_of(llvm::seq<int64_t>(0, taps), [&](int64_t tap) {
      return pieceOf(type.getDimSize(window.dim), tap * window.dilation - front + first, size, stride).has_value();
    });
  };
  if (taps.columns && !reads(*taps.columns, fold.columns, 0, columnsPerPiece(structure, taps, fold), 1))
    return false;
  return llvm::all_of(strips, [&](const Strip &strip) {
    return reads(taps.rows, structure.extents[taps.rows.tap], strip.begin * taps.rows.stride, strip.rows,
                 taps.rows.stride);
  });
}

/// The pieces of the folded operand of `strip`: columns slowest, then rows. `planes`: the operand taken apart, if it is.
static SmallVector<Value> piecesOf(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps,
                                   const Fold &fold, Value padding, Value planes, const Strip &strip) {
  SmallVector<Value> pieces;
  for (int64_t column = 0; column < fold.columns; ++column)
    for (int64_t row = 0; row < structure.extents[taps.rows.tap]; ++row) {
      if (!planes) {
        pieces.push_back(pieceAt(builder, loc, structure, taps, fold, padding, strip, row, column));
        continue;
      }
      auto [rowPlanes, columnPlanes] = planesFor(structure, taps, fold);
      pieces.push_back(runAt(builder, loc, structure, taps, planes, rowPlanes, columnPlanes, strip, row, column));
    }
  return pieces;
}

/// The type of `value` with `size` elements in dimension `dim`.
static RankedTensorType resized(Value value, int64_t dim, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

static Value createEmpty(OpBuilder &builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
}

/// The results of `strip`, folded; `joined` is the weight with the taps joined to the channels.
static Value foldStrip(linalg::GenericOp op, const Structure &structure, const Taps &taps, const Fold &fold, Value joined,
                       Value padding, Value planes, const Strip &strip, OpBuilder &builder) {
  Location loc = op.getLoc();
  unsigned weight = 1 - taps.data;
  SmallVector<Value> pieces = piecesOf(builder, loc, structure, taps, fold, padding, planes, strip);
  Value data = tensor::ConcatOp::create(builder, loc, taps.channel, pieces);
  if (fold.planes) {
    int64_t pitch = planesFor(structure, taps, fold).second.extent();
    bool steps = columnSteps(structure, taps, fold) > 1;
    data = runsToRows(builder, loc, data, pitch, steps ? pitch : structure.extents[taps.columns->iterator]);
  }

  // The tap iterator is gone; those behind it move up.
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> renamed;
  SmallVector<utils::IteratorType> types;
  for (int64_t iterator = 0; iterator < static_cast<int64_t>(structure.extents.size()); ++iterator) {
    if (iterator == taps.rows.tap) {
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
      if (index == weight && static_cast<int64_t>(dim) == *structure.dimOf(weight, taps.rows.tap))
        continue;
      AffineExpr plain = expr;
      if (index == taps.data && dim == taps.rows.dim)
        plain = getAffineDimExpr(taps.rows.iterator, context);
      else if (index == taps.data && taps.columns && dim == taps.columns->dim) {
        int64_t apart = fold.planes ? taps.columns->stride : 1;
        plain = getAffineDimExpr(taps.columns->iterator, context) * (taps.columns->stride / apart) +
                getAffineDimExpr(taps.columns->tap, context) * (fold.columns * taps.columns->dilation / apart);
      }
      results.push_back(plain.replaceDims(renamed));
    }
    maps.push_back(AffineMap::get(types.size(), 0, results, context));
  }
  SmallVector<Value> inputs(2);
  inputs[taps.data] = data;
  inputs[weight] = joined;
  RankedTensorType type =
      resized(op.getResult(0), *structure.dimOf(structure.resultIndex(), taps.rows.iterator), strip.rows);
  Value start = arith::ConstantOp::create(builder, loc, structure.init);
  Value init = linalg::FillOp::create(builder, loc, start, createEmpty(builder, loc, type)).getResult(0);
  auto folded = linalg::GenericOp::create(builder, loc, type, inputs, init, maps, types);
  IRMapping mapping;
  op.getRegion().cloneInto(&folded.getRegion(), mapping);
  return folded.getResult(0);
}

/// The map that alone reads `value` and treats each step of its dimension `dim` alike, and the dimension of the map's
/// result that this becomes.
static std::optional<std::pair<linalg::GenericOp, int64_t>> mapAlong(Value value, int64_t dim) {
  auto map = value.hasOneUse() ? dyn_cast<linalg::GenericOp>(*value.user_begin()) : linalg::GenericOp();
  if (!map || map.getNumReductionLoops() != 0 || map.getNumDpsInits() != 1 || map.hasIndexSemantics() ||
      !map.isDpsInput(&*value.use_begin()) || !gatheredTables(map).empty() ||
      map.payloadUsesValueFromOperand(map.getDpsInitOperand(0)))
    return std::nullopt;
  auto along = dyn_cast<AffineDimExpr>(map.getMatchingIndexingMap(&*value.use_begin()).getResult(dim));
  if (!along)
    return std::nullopt;
  for (OpOperand *other : map.getDpsInputOperands())
    if (other->get() != value && map.getMatchingIndexingMap(other).isFunctionOfDim(along.getPosition()))
      return std::nullopt;
  if (llvm::count_if(map.getMatchingIndexingMap(&*value.use_begin()).getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(along.getPosition());
      }) != 1)
    return std::nullopt;
  AffineMap result = map.getMatchingIndexingMap(map.getDpsInitOperand(0));
  if (std::optional<unsigned> found = result.getResultPosition(along))
    return std::make_pair(map, static_cast<int64_t>(*found));
  return std::nullopt;
}

/// Folds `op`, strip by strip. The maps that read the result are repeated for every strip, so that each empties its own
/// accumulators; then the strips are put together.
static void foldTaps(linalg::GenericOp op, const Structure &structure, const Taps &taps, const Fold &fold,
                     ArrayRef<Strip> strips, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  // Columns of zeros in the kernel meet padding, which must be a number: zero where the operand has none of its own.
  tensor::PadOp pad = taps.pad;
  Value padding = pad ? pad.getConstantPaddingValue()
                      : arith::ConstantOp::create(rewriter, loc,
                                                  rewriter.getZeroAttr(structure.elementTypeOf(taps.data)))
                            .getResult();
  Value planes = fold.planes ? planesOf(rewriter, loc, structure, taps, fold, padding) : Value();
  Value joined = joinWeight(rewriter, loc, structure, taps, fold);
  SmallVector<Value> parts;
  for (const Strip &strip : strips)
    parts.push_back(foldStrip(op, structure, taps, fold, joined, padding, planes, strip, rewriter));
  SmallVector<Operation *> replaced = {op};
  int64_t dim = *structure.dimOf(structure.resultIndex(), taps.rows.iterator);
  while (parts.size() > 1) {
    Value whole = replaced.back()->getResult(0);
    auto reader = mapAlong(whole, dim);
    if (!reader)
      break;
    auto [map, resultDim] = *reader;
    rewriter.setInsertionPoint(map);
    for (auto [strip, part] : llvm::zip_equal(strips, parts)) {
      RankedTensorType type = resized(map.getResult(0), resultDim, strip.rows);
      IRMapping mapping;
      mapping.map(whole, part);
      mapping.map(map.getDpsInits()[0], createEmpty(rewriter, map.getLoc(), type));
      Operation *copy = rewriter.clone(*map, mapping);
      copy->getResult(0).setType(type);
      part = copy->getResult(0);
    }
    dim = resultDim;
    replaced.push_back(map);
  }
  Value result = parts.size() == 1 ? parts.front() : tensor::ConcatOp::create(rewriter, loc, dim, parts).getResult();
  rewriter.replaceAllUsesWith(replaced.back()->getResult(0), result);
  for (Operation *old : llvm::reverse(replaced))
    rewriter.eraseOp(old);
  if (pad && pad->use_empty())
    rewriter.eraseOp(pad);
}

//===-- Tensors made on chip ----------------------------------------------------===//

/// Bytes per partition that copies of a tensor made on chip may take: they live beside it.
static constexpr double kCopiedBytes = 16384;
/// Copies are of whole tensors: the first waits for the last element, and the products wait for the last copy. So much of
/// PE's time has to be saved for each part of the copies' time.
static constexpr double kGainOfCopies = 3;

namespace {
/// `count` taps in a row of one kernel dimension join the channels, in `steps` steps.
struct CopiedTaps {
  KernelWindow window;
  int64_t count, steps;
  SmallVector<int64_t> piece; ///< shape of what one of the taps reads
};
} // namespace

/// What one of `count` joined taps reads.
static CopiedTaps copiedTaps(const Structure &structure, const Taps &taps, const KernelWindow &window, int64_t count) {
  int64_t steps = llvm::divideCeil(structure.extents[window.tap], count);
  CopiedTaps copied{window, count, steps, SmallVector<int64_t>(structure.shapeOf(taps.data))};
  copied.piece[window.dim] = window.stride * (structure.extents[window.iterator] - 1) +
                             (copied.steps - 1) * count * window.dilation + 1;
  return copied;
}

/// The joined taps that save the most time: products that become one save PE's, against which stands that of the copies.
static std::optional<CopiedTaps> bestCopies(const Structure &structure, const Taps &taps, const LayoutCosts &costs) {
  Type element = structure.elementTypeOf(taps.data);
  double products = 1, kept = 1, pixels = 1;
  for (int64_t iterator : structure.iterators()) {
    bool inData = structure.uses(taps.data, iterator), inWeight = structure.uses(1 - taps.data, iterator);
    if (structure.isReduction(iterator))
      products *= iterator == taps.channelIterator ? 1 : structure.extents[iterator];
    else if (inData && inWeight)
      return std::nullopt; // groups have products of their own
    else
      (inData ? pixels : kept) *= structure.extents[iterator];
  }
  products *= std::ceil(kept / kPartitions);
  std::optional<CopiedTaps> best;
  double most = 0;
  int64_t channels = structure.extents[taps.channelIterator];
  for (const KernelWindow &window : windowsOf(structure, taps))
    for (int64_t count = 2; count <= structure.extents[window.tap] && count * channels <= kPartitions; ++count) {
      CopiedTaps copied = copiedTaps(structure, taps, window, count);
      if (elementsPerLane(copied.piece, Layout::onChip(taps.channel)) * storedBytes(element) > kCopiedBytes)
        continue;
      SmallVector<SmallVector<int64_t>> pieces(count, copied.piece);
      double left = products / structure.extents[window.tap] * copied.steps;
      double saved = costs.product(products, pixels, element) - costs.product(left, pixels, element) -
                     kGainOfCopies * joinLanesCost(pieces, taps.channel, element, costs);
      if (saved > most) {
        most = saved;
        best = copied;
      }
    }
  return best;
}

/// `weight` with `count` taps in a row of dimension `tap` in front of the channels; the kernel gets zeros where `count`
/// does not divide it.
static Value joinCopied(OpBuilder &builder, Location loc, Value weight, int64_t tap, int64_t channel, int64_t count) {
  auto type = cast<RankedTensorType>(weight.getType());
  Type element = type.getElementType();
  int64_t steps = llvm::divideCeil(type.getDimSize(tap), count), rank = type.getRank();
  if (int64_t zeros = steps * count - type.getDimSize(tap)) {
    SmallVector<OpFoldResult> low(rank, builder.getIndexAttr(0)), high(low);
    high[tap] = builder.getIndexAttr(zeros);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    weight = tensor::PadOp::create(builder, loc, Type(), weight, low, high, zero);
  }
  SmallVector<int64_t> split, permutation, turned, joined(type.getShape());
  SmallVector<ReassociationIndices> apart, together;
  for (int64_t dim = 0; dim < rank; ++dim) {
    apart.push_back({static_cast<int64_t>(split.size())});
    split.push_back(dim == tap ? steps : type.getDimSize(dim));
    if (dim == tap) {
      apart.back().push_back(split.size());
      split.push_back(count);
    }
  }
  weight = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(split, element), weight, apart);
  for (int64_t dim = 0; dim < rank; ++dim) {
    together.emplace_back();
    if (dim == channel) {
      together.back().push_back(permutation.size());
      permutation.push_back(apart[tap].back());
    }
    together.back().push_back(permutation.size());
    permutation.push_back(apart[dim].front());
  }
  for (int64_t dim : permutation)
    turned.push_back(split[dim]);
  joined[tap] = steps;
  joined[channel] *= count;
  Value empty = tensor::EmptyOp::create(builder, loc, turned, element);
  Value transposed = linalg::TransposeOp::create(builder, loc, weight, empty, permutation)->getResult(0);
  return tensor::CollapseShapeOp::create(builder, loc, RankedTensorType::get(joined, element), transposed, together);
}

/// The operand of a convolution with `copied` taps beside each other.
static Value joinPieces(OpBuilder &builder, Location loc, const Structure &structure, const Taps &taps,
                        const CopiedTaps &copied) {
  Value data = structure.valueOf(taps.data);
  int64_t rank = cast<RankedTensorType>(data.getType()).getRank(), dim = copied.window.dim;
  int64_t missing = (copied.count - 1) * copied.window.dilation + copied.piece[dim] -
                    cast<RankedTensorType>(data.getType()).getDimSize(dim);
  if (missing > 0) {
    // Zeros of the kernel meet padding, which must be a number.
    SmallVector<OpFoldResult> low(rank, builder.getIndexAttr(0)), high(low);
    Value padding;
    if (tensor::PadOp pad = taps.pad) {
      low = pad.getMixedLowPad();
      high = pad.getMixedHighPad();
      missing += pad.getStaticHigh()[dim];
      padding = pad.getConstantPaddingValue();
    } else {
      padding = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(structure.elementTypeOf(taps.data)));
    }
    high[dim] = builder.getIndexAttr(missing);
    data = tensor::PadOp::create(builder, loc, Type(), taps.source, low, high, padding);
  }
  SmallVector<Value> pieces;
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), strides(rank, builder.getIndexAttr(1)), sizes;
  for (int64_t size : copied.piece)
    sizes.push_back(builder.getIndexAttr(size));
  for (int64_t tap = 0; tap < copied.count; ++tap) {
    offsets[dim] = builder.getIndexAttr(tap * copied.window.dilation);
    pieces.push_back(tensor::ExtractSliceOp::create(builder, loc, data, offsets, sizes, strides));
  }
  return tensor::ConcatOp::create(builder, loc, taps.channel, pieces);
}

static void foldCopies(linalg::GenericOp op, const Structure &structure, const Taps &taps, const CopiedTaps &copied,
                       IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  unsigned weight = 1 - taps.data;
  const KernelWindow &window = copied.window;
  SmallVector<Value> inputs(2);
  inputs[taps.data] = joinPieces(rewriter, op.getLoc(), structure, taps, copied);
  inputs[weight] = joinCopied(rewriter, op.getLoc(), structure.valueOf(weight), *structure.dimOf(weight, window.tap),
                              *dimAlong(structure, weight, taps.channelIterator), copied.count);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> read(maps[taps.data].getResults());
  read[window.dim] = rewriter.getAffineDimExpr(window.iterator) * window.stride +
                     rewriter.getAffineDimExpr(window.tap) * (copied.count * window.dilation);
  maps[taps.data] = AffineMap::get(op.getNumLoops(), 0, read, op.getContext());
  auto folded = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps,
                                          op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&folded.getRegion(), mapping);
  rewriter.replaceOp(op, folded.getResults());
  if (taps.pad && taps.pad->use_empty())
    rewriter.eraseOp(taps.pad);
}

void foldTaps(func::FuncOp function, const isa::DeviceInfo &device) {
  LayoutCosts costs(device);
  // Contractions only: maps that read them are replaced with them.
  SmallVector<linalg::GenericOp> contractions;
  function.walk([&](linalg::GenericOp op) {
    std::optional<Structure> structure = Structure::get(op);
    if (structure && structure->kind == Structure::Kind::Contraction)
      contractions.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (linalg::GenericOp op : contractions) {
    std::optional<Structure> structure = Structure::get(op);
    if (!structure->init)
      continue;
    std::optional<Taps> taps = findTaps(*structure);
    if (!taps) {
      std::optional<Taps> convolution = findConvolution(*structure);
      if (!convolution || isInput(convolution->source))
        continue;
      if (std::optional<CopiedTaps> copied = bestCopies(*structure, *convolution, costs))
        foldCopies(op, *structure, *convolution, *copied, rewriter);
      continue;
    }
    Fold fold = FoldCost(*structure, *taps, costs).best();
    if (fold.columns == 0)
      continue;
    SmallVector<Strip> strips = stripsOf(*structure, *taps, fold);
    if (readsSource(*structure, *taps, fold, strips))
      foldTaps(op, *structure, *taps, fold, strips, rewriter);
  }
}

namespace {
struct FoldTapsPass : public impl::FoldTapsPassBase<FoldTapsPass> {
  using FoldTapsPassBase::FoldTapsPassBase;

  void runOnOperation() override {
    if (const isa::DeviceInfo *device = findDevice(getOperation(), target))
      foldTaps(getOperation(), *device);
    else
      signalPassFailure();
  }
};
} // namespace

} // namespace trn
