//===- AccessPatterns.cpp - views of buffers become access patterns -------===//
//
// Owns the arithmetic of AccessPatterns.h. On chip, dimension 0 of a view is the partition and the others lie inside a
// row of the base buffer; a view that breaks this is refused here, because the machine would read other bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/AccessPatterns.h"
#include "dialects/Trn/DMA.h"
#include "dialects/Trn/DVE.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trn;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

View View::whole(Value base) {
  View view;
  view.base = base;
  ArrayRef<int64_t> shape = cast<MemRefType>(base.getType()).getShape();
  view.sizes.assign(shape.begin(), shape.end());
  view.strides.assign(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    view.strides[i] = view.strides[i + 1] * shape[i + 1];
  return view;
}

bool View::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> newSizes, ArrayRef<int64_t> steps,
                 const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t, 6> keptSizes, keptStrides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t distance, stride;
    if (llvm::MulOverflow(offsets[i], strides[i], distance) || llvm::AddOverflow(offset, distance, offset) ||
        llvm::MulOverflow(strides[i], steps[i], stride))
      return false;
    if (dropped.test(i))
      continue;
    keptSizes.push_back(newSizes[i]);
    keptStrides.push_back(stride);
  }
  sizes = std::move(keptSizes);
  strides = std::move(keptStrides);
  return true;
}

void View::reinterpret(int64_t newOffset, ArrayRef<int64_t> newSizes, ArrayRef<int64_t> newStrides) {
  offset = newOffset;
  sizes.assign(newSizes.begin(), newSizes.end());
  strides.assign(newStrides.begin(), newStrides.end());
}

bool View::collapse(ArrayRef<ReassociationIndices> groups) {
  SmallVector<int64_t, 6> newSizes, newStrides;
  for (const ReassociationIndices &group : groups) {
    int64_t size = 1, stride = 1;
    bool first = true;
    for (int64_t dim : llvm::reverse(group)) {
      if (sizes[dim] == 1)
        continue;
      if (!first && strides[dim] != stride * size)
        return false;
      if (first)
        stride = strides[dim];
      first = false;
      size *= sizes[dim];
    }
    newSizes.push_back(size);
    newStrides.push_back(stride);
  }
  sizes = std::move(newSizes);
  strides = std::move(newStrides);
  return true;
}

void View::expand(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 6> newStrides(shape.size(), 1);
  for (auto [group, stride] : llvm::zip(groups, strides)) {
    int64_t step = stride;
    for (int64_t dim : llvm::reverse(group)) {
      newStrides[dim] = step;
      step *= shape[dim];
    }
  }
  sizes.assign(shape.begin(), shape.end());
  strides = std::move(newStrides);
}

void View::permute(AffineMap permutation) {
  SmallVector<int64_t, 6> newSizes, newStrides;
  for (unsigned i = 0; i < permutation.getNumResults(); ++i) {
    newSizes.push_back(sizes[permutation.getDimPosition(i)]);
    newStrides.push_back(strides[permutation.getDimPosition(i)]);
  }
  sizes = std::move(newSizes);
  strides = std::move(newStrides);
}

//===----------------------------------------------------------------------===//
// Access patterns
//===----------------------------------------------------------------------===//

namespace {

/// Counts are 16 bits in an access pattern (device guide 2.1.5).
constexpr int64_t kMaxCount = 65535;

struct Step {
  int64_t step, count;
};
using Steps = SmallVector<Step, 6>;

/// Drops single elements and joins dimensions that continue each other.
Steps joined(ArrayRef<int64_t> strides, ArrayRef<int64_t> sizes) {
  Steps steps;
  for (auto [stride, size] : llvm::zip(strides, sizes)) {
    if (size == 1)
      continue;
    if (!steps.empty() && steps.back().step == stride * size && steps.back().count * size <= kMaxCount)
      steps.back() = {stride, steps.back().count * size};
    else
      steps.push_back({stride, size});
  }
  return steps;
}

/// Divides `steps[index]` in two when its count has too many bits.
void divideLongCounts(Steps &steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    Step whole = steps[i];
    if (whole.count <= kMaxCount)
      continue;
    for (int64_t inner = kMaxCount; inner > 1; --inner) {
      if (whole.count % inner != 0)
        continue;
      steps[i] = {whole.step * inner, whole.count / inner};
      steps.insert(steps.begin() + i + 1, {whole.step, inner});
      break;
    }
  }
}

class PatternBuilder {
public:
  PatternBuilder(ir::InstructionOpInterface op) : op(op) {}

  FailureOr<ir::APAttr> onChip(const View &view, unsigned reducedDims, int64_t &reducedLeft);
  /// `rows`: how the other side of the transfer divides the elements, or 0.
  FailureOr<ir::APAttr> inHbm(const View &view, int64_t rows);
  /// All elements in one row: operands of library kernels.
  FailureOr<ir::APAttr> flat(const View &view);
  /// Dimension 0 stays the row: indices count it.
  FailureOr<ir::APAttr> table(const View &view);

private:
  FailureOr<ir::APAttr> make(const View &view, int64_t start, int64_t count, int64_t offset, ArrayRef<Step> steps,
                             int64_t rowStep);
  InFlightDiagnostic error() { return op->emitOpError(); }
  ir::InstructionOpInterface op;
};

} // namespace

FailureOr<ir::APAttr> PatternBuilder::make(const View &view, int64_t start, int64_t count, int64_t offset,
                                           ArrayRef<Step> steps, int64_t rowStep) {
  if (steps.size() > isa::kMaxRank)
    return error() << "needs " << steps.size() << " dimensions for one operand, but an access pattern has at most "
                   << isa::kMaxRank << " (device guide 2.1.5)";
  SmallVector<int64_t, 8> dims;
  for (const Step &step : steps) {
    dims.push_back(step.step);
    dims.push_back(step.count);
  }
  return ir::APAttr::get(op->getContext(), start, count, offset, dims, rowStep, view.element);
}

FailureOr<ir::APAttr> PatternBuilder::onChip(const View &view, unsigned reducedDims, int64_t &reducedLeft) {
  auto type = cast<MemRefType>(view.base.getType());
  int64_t row = ShapedType::getNumElements(type.getShape().drop_front(type.getRank() ? 1 : 0));
  int64_t partitions = view.sizes.empty() ? 1 : view.sizes[0];
  if (row == 0)
    return error() << "expected a buffer with elements, but got " << type;
  int64_t start = llvm::divideFloorSigned(view.offset, row), inside = view.offset - start * row;
  if (partitions > 1 && view.strides[0] != row)
    return error() << "steps over partitions by " << view.strides[0] << " elements, but a row of its buffer " << type
                   << " has " << row << ": dimension 0 of an on-chip view must be the partition";
  ArrayRef<int64_t> sizes = ArrayRef(view.sizes).drop_front(view.sizes.empty() ? 0 : 1);
  ArrayRef<int64_t> strides = ArrayRef(view.strides).drop_front(view.sizes.empty() ? 0 : 1);
  int64_t first = inside, last = inside;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    int64_t reach, &end = stride > 0 ? last : first;
    if (size > 0 && (llvm::MulOverflow(size - 1, stride, reach) || llvm::AddOverflow(end, reach, end)))
      return error() << "steps " << size << " times by " << stride << " elements, beyond its buffer " << type;
  }
  if (first < 0 || last >= row || start < 0 || start + partitions > type.getShape().front())
    return error() << "reaches elements " << first << " to " << last << " of partitions " << start << " to "
                   << start + partitions - 1 << ", beyond its buffer " << type;

  // Reduced dimensions stay apart from the others: the instruction counts them.
  unsigned kept = sizes.size() - std::min<size_t>(reducedDims, sizes.size());
  Steps steps = joined(strides.take_front(kept), sizes.take_front(kept));
  Steps reduced = joined(strides.drop_front(kept), sizes.drop_front(kept));
  if (reducedDims && reduced.empty())
    reduced.push_back({1, 1});
  reducedLeft = reduced.size();
  steps.append(reduced);
  return make(view, start, partitions, inside, steps, 0);
}

FailureOr<ir::APAttr> PatternBuilder::inHbm(const View &view, int64_t rows) {
  Steps steps = joined(view.strides, view.sizes);
  Step row = {0, 1};
  if (!steps.empty()) {
    Step &outer = steps.front();
    if (rows == 0) // both sides in HBM: enough rows for all DMA engines, if the count divides
      for (rows = std::min<int64_t>(isa::widestDevice().partitions, outer.count); outer.count % rows != 0;)
        --rows;
    if (outer.count == rows) {
      row = outer;
      steps.erase(steps.begin());
    } else if (rows > 1 && outer.count % rows == 0) {
      row = {outer.step * (outer.count / rows), rows};
      outer.count /= rows;
    }
  }
  divideLongCounts(steps);
  return make(view, 0, row.count, view.offset, steps, row.count == 1 ? 0 : row.step);
}

FailureOr<ir::APAttr> PatternBuilder::flat(const View &view) {
  int64_t elements = 1;
  for (size_t dim = view.sizes.size(); dim-- > 0;) {
    if (view.sizes[dim] != 1 && view.strides[dim] != elements)
      return error() << "expected operands of adjacent elements, row major: a library kernel takes whole tensors";
    elements *= view.sizes[dim];
  }
  return make(view, 0, 1, view.offset, Step{1, elements}, 0);
}

FailureOr<ir::APAttr> PatternBuilder::table(const View &view) {
  if (view.sizes.empty())
    return error() << "expected a table with rows";
  Steps steps = joined(ArrayRef(view.strides).drop_front(), ArrayRef(view.sizes).drop_front());
  divideLongCounts(steps);
  return make(view, 0, view.sizes[0], view.offset, steps, view.strides[0]);
}

LogicalResult trn::setAccessPatterns(ir::InstructionOpInterface op, ArrayRef<View *> views) {
  PatternBuilder patterns(op);
  auto isHbm = [](const View *view) { return ir::spaceOf(cast<MemRefType>(view->base.getType())) == isa::Space::HBM; };
  int64_t rows = 0;
  for (const View *view : views)
    if (!isHbm(view))
      rows = view->sizes.empty() ? 1 : view->sizes[0];

  bool library = op.getInstInfo().isLibrary;
  bool indirect = llvm::isa<ir::DmaGatherOp, ir::DmaScatterOp>(op.getOperation());
  auto reduce = dyn_cast<ir::TensorReduceOp>(op.getOperation());
  SmallVector<Attribute> aps;
  unsigned operandNumber = 0;
  for (const View *view : views) {
    const isa::OperandInfo *info = op.getOperandInfo(operandNumber++);
    bool reducedOperand = reduce && info && info->role == isa::Role::In;
    int64_t reducedLeft = 0;
    FailureOr<ir::APAttr> ap =
        library        ? patterns.flat(*view)
        : !isHbm(view) ? patterns.onChip(*view, reducedOperand ? reduce.getAxes() : 0, reducedLeft)
        : indirect   ? patterns.table(*view)
                     : patterns.inHbm(*view, rows);
    if (failed(ap))
      return failure();
    if (reducedOperand)
      reduce.setAxes(reducedLeft);
    aps.push_back(*ap);
  }
  op.setApsAttr(ArrayAttr::get(op->getContext(), aps));
  return success();
}
