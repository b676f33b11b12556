//===- LayoutCandidates.cpp - the layouts an operation can work in ---------===//
// Implements LayoutCandidates.h, one function per family of operations.
#include "passes/Tile/LayoutCandidates.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tile/Gather.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace trn {

using Form = LayoutCandidate::Form;

StringRef name(Form form) {
  switch (form) {
  case Form::Contraction:
    return "contraction";
  case Form::Map:
    return "map";
  case Form::Reduction:
    return "reduction";
  case Form::Gather:
    return "gather";
  case Form::View:
    return "view";
  case Form::Place:
    return "place";
  case Form::Source:
    return "source";
  case Form::Library:
    return "library kernel";
  }
  llvm_unreachable("unknown form");
}

SmallVector<OpOperand *> layoutOperands(Operation *op) {
  SmallVector<OpOperand *> operands;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand *operand : linalgOp.getDpsInputOperands())
      if (llvm::isa<RankedTensorType>(operand->get().getType()) && !isShapeOnly(linalgOp, operand->getOperandNumber()))
        operands.push_back(operand);
    llvm::append_range(operands, gatheredTables(linalgOp));
    return operands;
  }
  if (auto kernel = dyn_cast<ir::KernelOp>(op)) {
    for (OpOperand &operand : kernel.getInputsMutable())
      operands.push_back(&operand);
    return operands;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (llvm::isa<RankedTensorType>(operand.get().getType()))
      operands.push_back(&operand);
  return operands;
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static Type elementTypeOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
static int64_t elementsOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Every layout of a tensor of `shape` on chip.
static SmallVector<Layout> onChipLayouts(ArrayRef<int64_t> shape) {
  SmallVector<Layout> layouts;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      layouts.push_back(Layout::onChip(dim));
  layouts.push_back(Layout::onChip(Layout::kOneLane));
  return layouts;
}

//===-- Structured operations -----------------------------------------------===//

/// Steps of all `iterators` of `structure` that `select` takes.
template <typename Predicate> static double steps(const Structure &structure, Predicate select) {
  double product = 1;
  for (int64_t iterator : structure.iterators())
    if (select(iterator))
      product *= structure.extents[iterator];
  return product;
}

/// The layout of operand `index` with `iterator` on its partitions (-1: one lane). Nothing if that iterator does not
/// index a dimension by itself.
static std::optional<Layout> layoutWith(const Structure &structure, unsigned index, int64_t iterator) {
  if (iterator < 0)
    return Layout::onChip(Layout::kOneLane);
  if (std::optional<int64_t> dim = structure.dimOf(index, iterator))
    return Layout::onChip(*dim);
  return std::nullopt;
}

/// Contractions on PE: iterator k on the partitions of both operands, iterator m, which only the stationary operand
/// has, on those of the result.
static void addContractions(const Structure &structure, const LayoutCosts &costs,
                            SmallVectorImpl<LayoutCandidate> &candidates) {
  SmallVector<int64_t> contracted = {-1};
  SmallVector<std::pair<int64_t, unsigned>> kept; // (iterator, stationary operand)
  unsigned result = structure.resultIndex();
  for (int64_t iterator : structure.iterators()) {
    if (structure.isReduction(iterator)) {
      if (structure.dimOf(0, iterator) && structure.dimOf(1, iterator))
        contracted.push_back(iterator);
      continue;
    }
    for (unsigned operand : {0u, 1u})
      if (structure.dimOf(operand, iterator) && !structure.uses(1 - operand, iterator) &&
          structure.dimOf(result, iterator))
        kept.push_back({iterator, operand});
  }
  // One lane of results: the stationary operand is one without iterators of its own.
  for (unsigned operand : {0u, 1u})
    if (llvm::none_of(structure.iterators(), [&](int64_t iterator) {
          return !structure.isReduction(iterator) && structure.uses(operand, iterator) &&
                 !structure.uses(1 - operand, iterator);
        }))
      kept.push_back({-1, operand});

  auto steps = [&](auto select) { return trn::steps(structure, select); };
  for (int64_t k : contracted)
    for (auto [m, stationary] : kept) {
      std::optional<Layout> lhs = layoutWith(structure, 0, k), rhs = layoutWith(structure, 1, k),
                            out = layoutWith(structure, result, m);
      if (!lhs || !rhs || !out)
        continue;
      unsigned held = stationary;
      int64_t keptIterator = m, contractedIterator = k;
      double columns = steps([&](int64_t i) {
        return structure.uses(1 - held, i) && !structure.uses(held, i) && !structure.isReduction(i);
      });
      // Iterators of both operands that are not on partitions repeat the product, as do further ones of the
      // stationary operand.
      double repeats = steps([&](int64_t i) {
        return i != keptIterator && i != contractedIterator && !structure.isReduction(i) && structure.uses(held, i);
      });
      double taps = steps([&](int64_t i) { return structure.isReduction(i) && i != contractedIterator; });
      // Windows: an iterator that indexes the moving operand together with a tap is a column.
      double blocks = (k < 0 ? 1 : splitOverPartitions(structure.extents[k]).chunks) * taps;
      double outputBlocks = (m < 0 ? 1 : splitOverPartitions(structure.extents[m]).chunks) * repeats;
      LayoutCandidate candidate;
      candidate.form = Form::Contraction;
      candidate.operands = {*lhs, *rhs};
      candidate.result = *out;
      candidate.stationary = stationary;
      candidate.contracted = k;
      candidate.partition = m;
      candidate.drain = costs.drain(outputBlocks * columns);
      candidate.nanoseconds =
          costs.product(blocks * outputBlocks, columns, structure.elementTypeOf(0)) + candidate.drain;
      candidates.push_back(candidate);
    }
}

/// Instructions that the body of `op` takes: reading and writing converts for nothing, and an operator whose other side
/// is the same for all elements of a partition shares an instruction with another one.
static double bodyInstructions(const Structure &structure, int64_t partition) {
  auto varies = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return value.getDefiningOp()->getNumOperands() != 0;
    AffineMap map = structure.maps[argument.getArgNumber()];
    return llvm::any_of(structure.iterators(),
                        [&](int64_t iterator) { return iterator != partition && map.isFunctionOfDim(iterator); });
  };
  double instructions = 0;
  for (Operation &op : structure.body()->without_terminator()) {
    if (op.getNumOperands() == 0 || llvm::isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
                                              arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
      continue;
    bool shares = op.getNumOperands() == 2 && !(varies(op.getOperand(0)) && varies(op.getOperand(1)));
    instructions += shares ? 0.5 : 1;
  }
  return std::max(1.0, std::ceil(instructions));
}

/// Maps and reductions: one parallel iterator on the partitions of the result and of every operand that has it.
static void addLanewise(const Structure &structure, const LayoutCosts &costs,
                        SmallVectorImpl<LayoutCandidate> &candidates) {
  unsigned result = structure.resultIndex();
  SmallVector<int64_t> partitions = {-1};
  for (int64_t iterator : structure.iterators())
    if (!structure.isReduction(iterator) && structure.dimOf(result, iterator))
      partitions.push_back(iterator);
  for (int64_t partition : partitions) {
    LayoutCandidate candidate;
    candidate.form = structure.kind == Structure::Kind::Map ? Form::Map : Form::Reduction;
    candidate.partition = partition;
    candidate.result = *layoutWith(structure, result, partition);
    bool possible = true;
    double loads = 0;
    for (unsigned index = 0; index < structure.numInputs() && possible; ++index) {
      Value operand = structure.valueOf(index);
      if (!llvm::isa<RankedTensorType>(operand.getType()) || isShapeOnly(structure.op, index))
        continue;
      if (partition < 0 || elementsOf(shapeOf(operand)) == 1) {
        candidate.operands.push_back(Layout::onChip(Layout::kOneLane));
      } else if (!structure.uses(index, partition)) {
        // The same values in every lane: read from HBM with a partition step of 0.
        candidate.operands.push_back(Layout::hbm());
        if (!isConstantTensor(operand))
          loads += costs.dma(elementsOf(shapeOf(operand)) * storedBytes(elementTypeOf(operand)) * kPartitions, costs.dmaPacketBytes);
      } else if (std::optional<Layout> layout = layoutWith(structure, index, partition)) {
        candidate.operands.push_back(*layout);
      } else {
        possible = false;
      }
    }
    if (!possible)
      continue;
    double elements = steps(structure, [&](int64_t iterator) { return iterator != partition; });
    if (partition >= 0)
      elements *= splitOverPartitions(structure.extents[partition]).chunks;
    candidate.nanoseconds = costs.vector(elements, bodyInstructions(structure, partition)) + loads;
    candidates.push_back(candidate);
  }
}

/// Gathers by DMA: an iterator of the indices on the partitions, the table in HBM. Every other iterator of the indices
/// repeats the transfer.
static void addGathers(const Structure &structure, const LayoutCosts &costs,
                       SmallVectorImpl<LayoutCandidate> &candidates) {
  unsigned result = structure.resultIndex();
  SmallVector<int64_t> partitions = {-1};
  for (int64_t iterator : structure.iterators())
    if (structure.uses(0, iterator) && structure.dimOf(0, iterator) && structure.dimOf(result, iterator))
      partitions.push_back(iterator);
  double rowBytes = steps(structure, [&](int64_t iterator) { return !structure.uses(0, iterator); }) *
                    storedBytes(structure.elementTypeOf(result));
  for (int64_t partition : partitions) {
    LayoutCandidate candidate;
    candidate.form = Form::Gather;
    candidate.partition = partition;
    candidate.operands = {*layoutWith(structure, 0, partition), Layout::hbm()};
    candidate.result = *layoutWith(structure, result, partition);
    double transfers =
        steps(structure, [&](int64_t iterator) { return iterator != partition && structure.uses(0, iterator); });
    int64_t lanes = 1;
    if (partition >= 0) {
      PartitionSplit split = splitOverPartitions(structure.extents[partition]);
      transfers *= split.chunks;
      lanes = split.lanes;
    }
    candidate.nanoseconds = transfers * costs.dma(lanes * rowBytes, rowBytes);
    candidates.push_back(candidate);
  }
}

static SmallVector<LayoutCandidate> structuredCandidates(linalg::LinalgOp op, const LayoutCosts &costs,
                                                         std::string &reason) {
  SmallVector<LayoutCandidate> candidates;
  std::optional<Structure> structure = Structure::get(op, &reason);
  if (!structure)
    return candidates;
  if (readsTable(op)) {
    if (rowGather(op))
      addGathers(*structure, costs, candidates);
    else
      reason = "it gathers single elements, each by an index of its own; the device gathers whole rows along one dimension";
    return candidates;
  }
  if (structure->kind == Structure::Kind::Contraction)
    addContractions(*structure, costs, candidates);
  addLanewise(*structure, costs, candidates);
  return candidates;
}

//===-- Movement -------------------------------------------------------------===//

/// Images of the dimensions of a reshape: both sides of a group with one dimension of more than one element.
static void imagesOfReshape(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> collapsed,
                            ArrayRef<int64_t> expanded, bool expands, SmallVectorImpl<int64_t> &images) {
  for (auto [dim, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> large;
    for (int64_t member : group)
      if (expanded[member] != 1)
        large.push_back(member);
    if (large.size() != 1 || expanded[large[0]] != collapsed[dim])
      continue;
    if (expands)
      images[dim] = large[0];
    else
      images[large[0]] = dim;
  }
}

SmallVector<int64_t> dimensionImages(Operation *viewOp) {
  ArrayRef<int64_t> source = shapeOf(viewOp->getOperand(0)), target = shapeOf(viewOp->getResult(0));
  SmallVector<int64_t> images(source.size(), -1);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(viewOp)) {
    imagesOfReshape(expand.getReassociationIndices(), source, target, /*expands=*/true, images);
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(viewOp)) {
    imagesOfReshape(collapse.getReassociationIndices(), target, source, /*expands=*/false, images);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(viewOp)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t image = 0;
    for (auto [dim, size] : llvm::enumerate(slice.getStaticSizes())) {
      if (dropped.test(dim))
        continue;
      bool aligned =
          slice.getStaticStrides()[dim] == 1 &&
          (size == source[dim] || (splitOverPartitions(source[dim]).chunks > 1 &&
                                   splitOverPartitions(size).lanes == splitOverPartitions(source[dim]).lanes &&
                                   !splitOverPartitions(size).isRagged() &&
                                   slice.getStaticOffsets()[dim] % splitOverPartitions(source[dim]).lanes == 0));
      images[dim] = aligned ? image : -1;
      ++image;
    }
  }
  return images;
}

/// Reshapes and slices: views in HBM, in one lane, and where the partition dimension survives whole.
static SmallVector<LayoutCandidate> viewCandidates(Operation *op) {
  SmallVector<LayoutCandidate> candidates;
  auto add = [&](Layout source, Layout result) {
    LayoutCandidate candidate;
    candidate.form = Form::View;
    candidate.operands = {source};
    candidate.result = result;
    candidates.push_back(candidate);
  };
  add(Layout::hbm(), Layout::hbm());
  add(Layout::onChip(Layout::kOneLane), Layout::onChip(Layout::kOneLane));
  ArrayRef<int64_t> source = shapeOf(op->getOperand(0));
  for (auto [dim, image] : llvm::enumerate(dimensionImages(op)))
    if (source[dim] > 1 && image >= 0)
      add(Layout::onChip(dim), Layout::onChip(image));
  return candidates;
}

/// Operations that put their operands side by side into the result: possible in every layout whose partition dimension
/// is `whole`, or in HBM.
template <typename Whole>
static SmallVector<LayoutCandidate> placeCandidates(Operation *op, const LayoutCosts &costs, Whole whole) {
  SmallVector<LayoutCandidate> candidates;
  Value result = op->getResult(0);
  size_t count = layoutOperands(op).size();
  double bytes = elementsOf(shapeOf(result)) * storedBytes(elementTypeOf(result));
  for (Layout layout : onChipLayouts(shapeOf(result)))
    if (layout.isOneLane() || whole(layout.dim)) {
      LayoutCandidate candidate;
      candidate.form = Form::Place;
      candidate.operands.assign(count, layout);
      candidate.result = layout;
      candidate.nanoseconds = costs.vector(elementsPerLane(shapeOf(result), layout));
      candidates.push_back(candidate);
    }
  LayoutCandidate candidate;
  candidate.form = Form::Place;
  candidate.operands.assign(count, Layout::hbm());
  candidate.result = Layout::hbm();
  if (!isPlacedByConcats(op))
    candidate.nanoseconds = costs.dma(bytes, shapeOf(result).empty() ? 1 : shapeOf(result).back() * 4) +
                            (count - 1) * costs.dmaIssue;
  candidates.push_back(candidate);
  return candidates;
}

/// Tensors that are made from nothing: any layout.
static SmallVector<LayoutCandidate> sourceCandidates(Operation *op, const LayoutCosts &costs) {
  SmallVector<LayoutCandidate> candidates;
  for (Layout layout : onChipLayouts(shapeOf(op->getResult(0)))) {
    LayoutCandidate candidate;
    candidate.form = Form::Source;
    candidate.result = layout;
    if (llvm::isa<linalg::FillOp>(op))
      candidate.nanoseconds = costs.vector(elementsPerLane(shapeOf(op->getResult(0)), layout));
    candidates.push_back(candidate);
  }
  return candidates;
}

bool isPlacedByConcats(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  return pad && pad.getConstantPaddingValue() && llvm::all_of(pad->getUsers(), llvm::IsaPred<tensor::ConcatOp>);
}

/// Concatenation along the partitions of pieces in HBM: each goes to its lanes by a DMA of its own.
static void addLoadingConcat(tensor::ConcatOp op, const LayoutCosts &costs,
                             SmallVectorImpl<LayoutCandidate> &candidates) {
  int64_t dim = op.getDim();
  int64_t extent = op.getResultType().getDimSize(dim);
  if (extent == 1 || splitOverPartitions(extent).chunks > 1)
    return;
  LayoutCandidate candidate;
  candidate.form = Form::Place;
  candidate.operands.assign(op.getInputs().size(), Layout::hbm());
  candidate.result = Layout::onChip(dim);
  // The transfers go to different lanes: they move at the same time, and are issued one after the other.
  candidate.nanoseconds = costs.move(op.getResultType().getShape(), op.getResultType().getElementType(), Layout::hbm(),
                                     candidate.result) +
                          (op.getInputs().size() - 1) * costs.dmaIssue;
  candidates.push_back(candidate);
}

double joinLanesCost(ArrayRef<SmallVector<int64_t>> shapes, int64_t dim, Type elementType, const LayoutCosts &costs) {
  Layout layout = Layout::onChip(dim);
  SmallVector<int64_t> joined(shapes.front());
  joined[dim] = 0;
  for (ArrayRef<int64_t> shape : shapes)
    joined[dim] += shape[dim];
  PartitionSplit whole = partitionSplit(joined, layout);
  int64_t offset = 0;
  double copies = 0, transfers = 0;
  for (ArrayRef<int64_t> shape : shapes) {
    PartitionSplit part = partitionSplit(shape, layout);
    double elements = elementsPerLane(shape, layout) / part.chunks, bytes = elements * storedBytes(elementType);
    for (const LaneRun &run : laneRuns(part, offset, whole))
      if (run.byDma)
        transfers += costs.dma(bytes * run.lanes, bytes, run.lanes) - costs.dmaFixed * 0.75;
      else
        copies += costs.copy(elements, elementType);
    offset += part.extent;
  }
  // Latencies of transfers overlap but for the issue of each.
  return copies + (transfers > 0 ? transfers + costs.dmaFixed * 0.75 : 0);
}

/// Concatenation along the partitions of pieces on chip that do not cover whole chunks.
static void addMovingConcat(tensor::ConcatOp op, const LayoutCosts &costs,
                            SmallVectorImpl<LayoutCandidate> &candidates) {
  int64_t dim = op.getDim();
  if (llvm::any_of(op.getInputs(), [&](Value input) { return shapeOf(input)[dim] == 1; }))
    return;
  LayoutCandidate candidate;
  candidate.form = Form::Place;
  candidate.result = Layout::onChip(dim);
  candidate.operands.assign(op.getInputs().size(), candidate.result);
  SmallVector<SmallVector<int64_t>> shapes;
  for (Value input : op.getInputs())
    shapes.emplace_back(shapeOf(input));
  candidate.nanoseconds = joinLanesCost(shapes, dim, elementTypeOf(op.getResult()), costs);
  candidates.push_back(candidate);
}

/// Whether every piece of a concatenation along partition dimension `dim` covers whole chunks of the result.
static bool concatenatesChunks(tensor::ConcatOp op, int64_t dim) {
  PartitionSplit whole = splitOverPartitions(op.getResultType().getDimSize(dim));
  return llvm::all_of(op.getInputs(), [&](Value input) {
    PartitionSplit part = splitOverPartitions(shapeOf(input)[dim]);
    return part.lanes == whole.lanes && !part.isRagged();
  });
}

SmallVector<LayoutCandidate> layoutCandidates(Operation *op, const LayoutCosts &costs, std::string &reason) {
  return TypeSwitch<Operation *, SmallVector<LayoutCandidate>>(op)
      .Case<linalg::FillOp, tensor::EmptyOp>([&](Operation *) { return sourceCandidates(op, costs); })
      .Case<linalg::LinalgOp>([&](linalg::LinalgOp linalgOp) { return structuredCandidates(linalgOp, costs, reason); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
          [&](Operation *) { return viewCandidates(op); })
      .Case<tensor::PadOp>([&](tensor::PadOp pad) {
        return placeCandidates(
            op, costs, [&](int64_t dim) { return pad.getStaticLow()[dim] == 0 && pad.getStaticHigh()[dim] == 0; });
      })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) {
        SmallVector<LayoutCandidate> candidates = placeCandidates(op, costs, [&](int64_t dim) {
          return dim != static_cast<int64_t>(concat.getDim()) || concatenatesChunks(concat, dim);
        });
        if (concat.getResultType().getDimSize(concat.getDim()) > 1 && !concatenatesChunks(concat, concat.getDim()))
          addMovingConcat(concat, costs, candidates);
        addLoadingConcat(concat, costs, candidates);
        return candidates;
      })
      .Case<ir::KernelOp>([&](ir::KernelOp kernel) {
        LayoutCandidate candidate;
        candidate.form = Form::Library;
        candidate.operands.assign(kernel.getInputs().size(), Layout::hbm());
        return SmallVector<LayoutCandidate>{candidate};
      })
      .Default([&](Operation *) {
        reason = "no layout is known for this operation";
        return SmallVector<LayoutCandidate>();
      });
}

} // namespace trn
