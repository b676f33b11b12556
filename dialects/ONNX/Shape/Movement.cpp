//===- Movement.cpp - shape rules of operators that move data -------------===//
//
// Owns reshaping, cutting, padding and resizing. Each rule turns its attribute list into the full, normalised form as
// soon as the operand's sizes allow it; while a list is still an operand, the result stays dynamic.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace trn::onnx;

/// 0 … count - 1.
static Sizes firstAxes(int64_t count) {
  Sizes axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// The axes that are given, in range and each once, or else all.
static FailureOr<Sizes> axesOrAll(Inference &in, std::optional<ArrayRef<int64_t>> given, int64_t rank) {
  return given ? in.axes(*given, rank, /*sort=*/false) : FailureOr<Sizes>(firstAxes(rank));
}

/// An unknown list as an operand: its length gives the rank when its own size is static.
static std::optional<Sizes> unknownOfLength(Inference &in, Value list) {
  std::optional<Sizes> sizes = list ? in.sizes(list) : std::nullopt;
  if (!sizes || sizes->size() != 1 || !allStatic(*sizes) || (*sizes)[0] > 64)
    return std::nullopt;
  return Sizes((*sizes)[0], kDynamic);
}

LogicalResult shape::reshape(Inference &in) {
  auto op = cast<ReshapeOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!op.getShape())
    return in.result(op.getY(), element, unknownOfLength(in, op.getShapeOperand()));
  Sizes result(*op.getShape());
  std::optional<size_t> free;
  for (auto [i, size] : llvm::enumerate(result)) {
    if (size == 0 && !op.getAllowzero()) {
      if (x && i >= x->size())
        return in.fail("expected a dimension " + Twine(i) + " to copy into 'shape' but the operand is " +
                       printSizes(*x));
      size = x ? (*x)[i] : kDynamic;
    } else if (size == -1) {
      if (free)
        return in.fail("expected at most one -1 in 'shape' but got two");
      free = i;
    } else if (size < 0) {
      return in.fail("expected sizes of at least -1 in 'shape' but got " + Twine(size));
    }
  }
  std::optional<int64_t> count = x ? elementCount(*x) : std::nullopt;
  if (free) {
    Sizes others(result);
    others.erase(others.begin() + *free);
    std::optional<int64_t> product = elementCount(others);
    if (allStatic(others) && !product)
      return in.fail("expected fewer elements in 'shape' but got " + printSizes(others));
    if (count && product) {
      if (*product == 0 ? *count != 0 : *count % *product != 0)
        return in.fail("expected 'shape' to divide " + Twine(*count) + " elements but got " + printSizes(others));
      result[*free] = *product == 0 ? 0 : *count / *product;
    } else {
      result[*free] = kDynamic;
    }
  }
  if (count && allStatic(result)) {
    std::optional<int64_t> product = elementCount(result);
    if (!product || *product != *count)
      return in.fail("expected a shape of " + Twine(*count) + " elements but got " + printSizes(result));
    // An open size of what is counted is for the run to decide, and stays open.
    if (!op.getX().getDefiningOp<CountedOp>()) {
      in.set("shape", ArrayRef<int64_t>(result));
      // A zero in the final shape is a size, not "copy".
      if (llvm::is_contained(result, 0))
        in.set("allowzero", BoolAttr::get(op.getContext(), true));
    }
  }
  return in.result(op.getY(), element, result);
}

LogicalResult shape::transpose(Inference &in) {
  auto op = cast<TransposeOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  int64_t rank = x->size();
  Sizes perm;
  if (op.getPerm() && (!op.getPerm()->empty() || rank == 0)) {
    FailureOr<Sizes> axes = in.axes(*op.getPerm(), rank, /*sort=*/false);
    if (failed(axes))
      return failure();
    perm = *axes;
  } else {
    perm = firstAxes(rank);
    std::reverse(perm.begin(), perm.end());
  }
  if (int64_t(perm.size()) != rank)
    return in.fail("expected " + Twine(rank) + " entries in 'perm' but got " + Twine(perm.size()));
  in.set("perm", ArrayRef<int64_t>(perm));
  Sizes result;
  for (int64_t axis : perm)
    result.push_back((*x)[axis]);
  return in.result(op.getY(), in.element(op.getX()), result);
}

LogicalResult shape::concat(Inference &in) {
  auto op = cast<ConcatOp>(in.operation());
  if (op.getInputs().empty())
    return in.fail("expected at least one operand but got none");
  Value first = op.getInputs().front();
  std::optional<Sizes> result;
  bool known = true;
  for (Value input : op.getInputs()) {
    if (failed(in.sameElement(first, input)))
      return failure();
    std::optional<Sizes> sizes = in.sizes(input);
    if (!sizes) {
      known = false;
      continue;
    }
    FailureOr<int64_t> axis = in.axis(op.getAxis(), sizes->size());
    if (failed(axis))
      return failure();
    if (!result) {
      result = sizes;
      in.set("axis", *axis);
      continue;
    }
    if (result->size() != sizes->size())
      return in.fail("expected operands of one rank but got " + printSizes(*result) + " and " + printSizes(*sizes));
    for (auto [dim, size] : llvm::enumerate(*sizes)) {
      int64_t &total = (*result)[dim];
      if (int64_t(dim) == *axis)
        total = isStatic(total) && isStatic(size) ? total + size : kDynamic;
      else if (!isStatic(total))
        total = size;
      else if (isStatic(size) && size != total)
        return in.fail("expected operands equal outside axis " + Twine(*axis) + " but got " + printSizes(*result) +
                       " and " + printSizes(*sizes));
    }
  }
  if (!known)
    result.reset();
  return in.result(op.getY(), in.element(first), result);
}

LogicalResult shape::split(Inference &in) {
  auto op = cast<SplitOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  int64_t count = op.getParts().size();
  if (count == 0)
    return in.fail("expected at least one result but got none");
  if (!x) {
    for (Value part : op.getParts())
      if (failed(in.result(part, element, std::nullopt)))
        return failure();
    return success();
  }
  FailureOr<int64_t> axis = in.setAxis(op.getAxis(), x->size());
  if (failed(axis))
    return failure();
  int64_t size = (*x)[*axis];
  Sizes parts(count, kDynamic);
  if (op.getSplit() && !op.getSplit()->empty()) {
    parts = Sizes(*op.getSplit());
    int64_t sum = 0;
    for (int64_t part : parts)
      if (part < 0 || __builtin_add_overflow(sum, part, &sum))
        return in.fail("expected sizes of at least 0 in 'split' but got " + printSizes(parts));
    if (int64_t(parts.size()) != count || (isStatic(size) && sum != size))
      return in.fail("expected " + Twine(count) + " sizes in 'split' that add up to " + Twine(size) + " but got " +
                     printSizes(parts));
  } else if (isStatic(size) && !op.getSplitOperand()) {
    if (op.getNumOutputs() && int64_t(*op.getNumOutputs()) != count)
      return in.fail("expected 'num_outputs' " + Twine(count) + " but got " + Twine(*op.getNumOutputs()));
    int64_t chunk = (size + count - 1) / count;
    if (!op.getNumOutputs() && size % count != 0)
      return in.fail("expected " + Twine(count) + " equal parts but the axis has " + Twine(size) + " elements");
    int64_t left = size;
    for (int64_t &part : parts) {
      part = std::min(chunk, left);
      left -= part;
    }
  }
  if (allStatic(parts)) {
    in.set("split", ArrayRef<int64_t>(parts));
    in.remove("num_outputs");
  }
  for (auto [part, partSize] : llvm::zip(op.getParts(), parts)) {
    Sizes sizes(*x);
    sizes[*axis] = partSize;
    if (failed(in.result(part, element, sizes)))
      return failure();
  }
  return success();
}

LogicalResult shape::slice(Inference &in) {
  auto op = cast<SliceOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), element, std::nullopt);
  bool waits = !op.getStarts() || !op.getEnds() || (op.getAxesOperand() && !op.getAxes()) ||
               (op.getStepsOperand() && !op.getSteps());
  if (waits)
    return in.result(op.getY(), element, Sizes(x->size(), kDynamic));
  size_t count = op.getStarts()->size();
  Sizes starts(*op.getStarts()), ends(*op.getEnds());
  Sizes steps = op.getSteps() ? Sizes(*op.getSteps()) : Sizes(count, 1);
  Sizes axes = op.getAxes() ? Sizes(*op.getAxes()) : firstAxes(count);
  if (ends.size() != count || steps.size() != count || axes.size() != count)
    return in.fail("expected lists of one length but got " + Twine(count) + " starts, " + Twine(ends.size()) +
                   " ends, " + Twine(axes.size()) + " axes and " + Twine(steps.size()) + " steps");
  FailureOr<Sizes> normal = in.axes(axes, x->size(), /*sort=*/false);
  if (failed(normal))
    return failure();
  Sizes result(*x);
  bool resolved = true;
  for (auto [i, axis] : llvm::enumerate(*normal)) {
    int64_t size = (*x)[axis], step = steps[i];
    if (step == 0)
      return in.fail("expected steps other than 0");
    if (!isStatic(size)) {
      resolved = false;
      result[axis] = kDynamic;
      continue;
    }
    // INT64_MIN has no opposite; no dimension is that long.
    step = std::clamp<int64_t>(step, -(int64_t(1) << 62), int64_t(1) << 62);
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i], end = ends[i] < 0 ? ends[i] + size : ends[i];
    int64_t length = 0;
    if (step > 0) {
      start = std::clamp<int64_t>(start, 0, size);
      end = std::clamp<int64_t>(end, 0, size);
      length = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
      start = std::clamp<int64_t>(start, 0, std::max<int64_t>(0, size - 1));
      end = std::clamp<int64_t>(end, -1, std::max<int64_t>(0, size - 1));
      length = size > 0 && start > end ? (start - end - 1) / -step + 1 : 0;
      if (end < 0)
        end = -size - 1;
    }
    starts[i] = start;
    ends[i] = end;
    steps[i] = step;
    result[axis] = length;
  }
  in.set("axes", ArrayRef<int64_t>(*normal));
  in.set("steps", ArrayRef<int64_t>(steps));
  if (resolved) {
    in.set("starts", ArrayRef<int64_t>(starts));
    in.set("ends", ArrayRef<int64_t>(ends));
  }
  return in.result(op.getY(), element, result);
}

LogicalResult shape::pad(Inference &in) {
  auto op = cast<PadOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  StringRef mode = op.getMode();
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return in.fail("expected 'mode' to be constant, reflect, edge or wrap but got '" + mode + "'");
  if (!x)
    return in.result(op.getY(), element, std::nullopt);
  int64_t rank = x->size();
  if (!op.getPads() || (op.getAxesOperand() && !op.getAxes()))
    return in.result(op.getY(), element, Sizes(rank, kDynamic));
  ArrayRef<int64_t> given = *op.getPads();
  FailureOr<Sizes> normal = axesOrAll(in, op.getAxes(), rank);
  if (failed(normal))
    return failure();
  const Sizes &axes = *normal;
  if (given.size() != 2 * axes.size())
    return in.fail("expected " + Twine(2 * axes.size()) + " entries in 'pads' but got " + Twine(given.size()));
  Sizes pads(2 * rank, 0), result(*x);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t begin = given[i], end = given[axes.size() + i];
    if (std::max(std::abs(begin), std::abs(end)) > (int64_t(1) << 40))
      return in.fail("expected pads below 2^40 but got " + Twine(begin) + " and " + Twine(end));
    pads[axis] = begin;
    pads[rank + axis] = end;
    if (isStatic(result[axis]))
      result[axis] = std::max<int64_t>(0, result[axis] + begin + end);
  }
  in.set("pads", ArrayRef<int64_t>(pads));
  in.remove("axes");
  return in.result(op.getY(), element, result);
}

LogicalResult shape::squeeze(Inference &in) {
  auto op = cast<SqueezeOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x || (op.getAxesOperand() && !op.getAxes()))
    return in.result(op.getY(), element, std::nullopt);
  Sizes axes, result;
  if (op.getAxes()) {
    FailureOr<Sizes> normal = in.axes(*op.getAxes(), x->size(), /*sort=*/true);
    if (failed(normal))
      return failure();
    axes = *normal;
  } else {
    if (!allStatic(*x))
      return in.result(op.getY(), element, std::nullopt);
    for (auto [i, size] : llvm::enumerate(*x))
      if (size == 1)
        axes.push_back(i);
  }
  for (auto [i, size] : llvm::enumerate(*x)) {
    if (!llvm::is_contained(axes, int64_t(i)))
      result.push_back(size);
    else if (isStatic(size) && size != 1)
      return in.fail("expected size 1 at axis " + Twine(i) + " but got " + printSizes(*x));
  }
  in.set("axes", ArrayRef<int64_t>(axes));
  return in.result(op.getY(), element, result);
}

LogicalResult shape::unsqueeze(Inference &in) {
  auto op = cast<UnsqueezeOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!op.getAxes() && !op.getAxesOperand())
    return in.fail("expected 'axes' but got none");
  if (!x || !op.getAxes())
    return in.result(op.getY(), element, std::nullopt);
  int64_t rank = x->size() + op.getAxes()->size();
  FailureOr<Sizes> axes = in.axes(*op.getAxes(), rank, /*sort=*/true);
  if (failed(axes))
    return failure();
  in.set("axes", ArrayRef<int64_t>(*axes));
  Sizes result;
  auto next = x->begin();
  for (int64_t i = 0; i < rank; ++i)
    result.push_back(llvm::is_contained(*axes, i) ? 1 : *next++);
  return in.result(op.getY(), element, result);
}

LogicalResult shape::flatten(Inference &in) {
  auto op = cast<FlattenOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), Sizes(2, kDynamic));
  int64_t rank = x->size(), axis = op.getAxis();
  if (axis < -rank || axis > rank)
    return in.fail("expected an axis in [" + Twine(-rank) + ", " + Twine(rank) + "] but got " + Twine(axis));
  axis = axis < 0 ? axis + rank : axis;
  in.set("axis", axis);
  auto product = [](ArrayRef<int64_t> sizes) { return elementCount(sizes).value_or(kDynamic); };
  ArrayRef<int64_t> sizes(*x);
  return in.result(op.getY(), in.element(op.getX()),
                   Sizes{product(sizes.take_front(axis)), product(sizes.drop_front(axis))});
}

LogicalResult shape::expand(Inference &in) {
  auto op = cast<ExpandOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!op.getShape() || !x)
    return in.result(op.getY(), element, std::nullopt);
  ArrayRef<int64_t> shape = *op.getShape();
  for (int64_t size : shape)
    if (size < 0)
      return in.fail("expected sizes of at least 0 in 'shape' but got " + Twine(size));
  FailureOr<Sizes> result = broadcastSizes(*x, shape);
  if (failed(result))
    return in.fail("expected a shape that broadcasts with " + printSizes(*x) + " but got " + printSizes(shape));
  if (allStatic(*result))
    in.set("shape", ArrayRef<int64_t>(*result));
  return in.result(op.getY(), element, *result);
}

LogicalResult shape::tile(Inference &in) {
  auto op = cast<TileOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), element, std::nullopt);
  if (!op.getRepeats())
    return in.result(op.getY(), element, Sizes(x->size(), kDynamic));
  if (op.getRepeats()->size() != x->size())
    return in.fail("expected " + Twine(x->size()) + " entries in 'repeats' but got " + Twine(op.getRepeats()->size()));
  Sizes result;
  for (auto [size, repeat] : llvm::zip(*x, *op.getRepeats())) {
    int64_t product = kDynamic;
    if (repeat < 0 || (isStatic(size) && __builtin_mul_overflow(size, repeat, &product)))
      return in.fail("expected a sensible 'repeats' but got " + Twine(repeat));
    result.push_back(product);
  }
  return in.result(op.getY(), element, result);
}

LogicalResult shape::shapeOf(Inference &in) {
  auto op = cast<ShapeOp>(in.operation());
  Type i64 = IntegerType::get(op.getContext(), 64);
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), i64, Sizes{kDynamic});
  int64_t rank = x->size();
  auto clamp = [&](int64_t value) { return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank); };
  int64_t start = clamp(op.getStart()), end = clamp(op.getEnd().value_or(rank));
  in.set("start", start);
  in.set("end", end);
  return in.result(op.getY(), i64, Sizes{std::max<int64_t>(0, end - start)});
}

LogicalResult shape::sizeOf(Inference &in) {
  auto op = cast<SizeOp>(in.operation());
  return in.result(op.getY(), IntegerType::get(op.getContext(), 64), Sizes());
}

LogicalResult shape::constantOfShape(Inference &in) {
  auto op = cast<ConstantOfShapeOp>(in.operation());
  Type element = Float32Type::get(op.getContext());
  if (std::optional<ElementsAttr> value = op.getValue()) {
    element = value->getElementType();
    if (value->getNumElements() != 1)
      return in.fail("expected one element in 'value' but got " + Twine(value->getNumElements()));
  }
  if (op.getShape())
    return in.result(op.getY(), element, Sizes(*op.getShape()));
  return in.result(op.getY(), element, unknownOfLength(in, op.getShapeOperand()));
}

LogicalResult shape::range(Inference &in) {
  auto op = cast<RangeOp>(in.operation());
  if (failed(in.sameElement(op.getStart(), op.getLimit())) || failed(in.sameElement(op.getStart(), op.getDelta())))
    return failure();
  return in.result(op.getY(), in.element(op.getStart()), Sizes{kDynamic});
}

/// The one factor of a resize that keeps the aspect ratio, the smallest or the largest of its axes, and the sizes that
/// follow from it.
static double keepAspectRatio(StringRef policy, ArrayRef<int64_t> axes, ArrayRef<int64_t> x, Sizes &sizes) {
  double factor = policy == "not_larger" ? HUGE_VAL : 0;
  for (int64_t axis : axes) {
    double own = double(sizes[axis]) / double(x[axis]);
    factor = policy == "not_larger" ? std::min(factor, own) : std::max(factor, own);
  }
  for (int64_t axis : axes)
    sizes[axis] = int64_t(std::floor(factor * double(x[axis]) + 0.5));
  return factor;
}

LogicalResult shape::resize(Inference &in) {
  auto op = cast<ResizeOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  StringRef policy = op.getKeepAspectRatioPolicy();
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return in.fail("expected 'keep_aspect_ratio_policy' to be stretch, not_larger or not_smaller but got '" + policy +
                   "'");
  if (op.getMode() != "nearest" && op.getMode() != "linear" && op.getMode() != "cubic")
    return in.fail("expected 'mode' to be nearest, linear or cubic but got '" + op.getMode() + "'");
  if (!x)
    return in.result(op.getY(), element, std::nullopt);
  int64_t rank = x->size();
  bool hasSizes = op.getSizes() && !op.getSizes()->empty(), hasScales = op.getScales() && !op.getScales()->empty();
  if (!hasSizes && !hasScales) {
    if (!op.getScalesOperand() && !op.getSizesOperand())
      return in.fail("expected 'scales' or 'sizes' but got neither");
    return in.result(op.getY(), element, Sizes(rank, kDynamic));
  }
  if (!allStatic(*x))
    return in.result(op.getY(), element, Sizes(rank, kDynamic));
  FailureOr<Sizes> normal = axesOrAll(in, op.getAxes(), rank);
  if (failed(normal))
    return failure();
  const Sizes &axes = *normal;
  size_t given = hasSizes ? op.getSizes()->size() : op.getScales()->size();
  if (given != axes.size() || (hasSizes && hasScales && op.getScales()->size() != axes.size()))
    return in.fail("expected " + Twine(axes.size()) + " scales or sizes but got " + Twine(given));
  Sizes sizes(*x);
  SmallVector<float> scales(rank, 1.0f);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (hasScales) {
      scales[axis] = (*op.getScales())[i];
      // In f32, as the standard's own rule does: 70 × 0.7 is 49, though the nearest f32 to 0.7 is smaller.
      double size = std::floor(float((*x)[axis]) * scales[axis]);
      if (!(scales[axis] > 0) || !(size < double(int64_t(1) << 40)))
        return in.fail("expected positive, sensible scales but got " + std::to_string(scales[axis]));
      sizes[axis] = int64_t(size);
    }
    if (hasSizes) {
      sizes[axis] = (*op.getSizes())[i];
      if (sizes[axis] < 0 || ((*x)[axis] == 0 && sizes[axis] != 0))
        return in.fail("expected sizes of at least 0 but got " + Twine(sizes[axis]));
    }
  }
  if (hasSizes && !hasScales) {
    if (policy != "stretch" && llvm::is_contained(*x, 0))
      return in.fail("expected an operand with elements but got " + printSizes(*x));
    for (int64_t axis : axes)
      scales[axis] = (*x)[axis] == 0 ? 1.0f : float(double(sizes[axis]) / double((*x)[axis]));
    // The standard goes on with the factor, not with what a rounded size is of the operand's.
    if (policy != "stretch") {
      float factor = float(keepAspectRatio(policy, axes, *x, sizes));
      for (int64_t axis : axes)
        scales[axis] = factor;
    }
  }
  in.set("sizes", ArrayRef<int64_t>(sizes));
  in.set("scales", DenseF32ArrayAttr::get(op.getContext(), scales));
  // `roi` follows the axes too: spread it to all dimensions (start 0, end 1 elsewhere).
  bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  if (crops && op.getRoi()) {
    if (op.getRoi()->size() != 2 * axes.size())
      return in.fail("expected " + Twine(2 * axes.size()) + " entries in 'roi' but got " + Twine(op.getRoi()->size()));
    SmallVector<float> roi(2 * rank, 0.0f);
    std::fill(roi.begin() + rank, roi.end(), 1.0f);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      roi[axis] = (*op.getRoi())[i];
      roi[rank + axis] = (*op.getRoi())[axes.size() + i];
    }
    in.set("roi", DenseF32ArrayAttr::get(op.getContext(), roi));
  } else if (!crops) {
    in.remove("roi");
  }
  in.remove("axes");
  in.set("keep_aspect_ratio_policy", StringAttr::get(op.getContext(), "stretch"));
  return in.result(op.getY(), element, sizes);
}

LogicalResult shape::resizeOld(Inference &in) {
  return in.fail("expected the importer to build onnx.Resize in place of Upsample");
}

LogicalResult shape::depthToSpace(Inference &in) {
  auto op = cast<DepthToSpaceOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  int64_t block = op.getBlocksize();
  if (x && x->size() != 4)
    return in.fail("expected rank 4 but got " + printSizes(*x));
  if (block < 1 || block > 65536)
    return in.fail("expected 'blocksize' of at least 1 but got " + Twine(block));
  if (op.getMode() != "DCR" && op.getMode() != "CRD")
    return in.fail("expected 'mode' to be DCR or CRD but got '" + op.getMode() + "'");
  if (x) {
    if (isStatic((*x)[1])) {
      if ((*x)[1] % (block * block) != 0)
        return in.fail("expected channels divisible by " + Twine(block * block) + " but got " + Twine((*x)[1]));
      (*x)[1] /= block * block;
    }
    for (int64_t &size : MutableArrayRef<int64_t>(*x).drop_front(2))
      if (isStatic(size) && __builtin_mul_overflow(size, block, &size))
        return in.fail("expected a sensible 'blocksize' but got " + Twine(block));
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::spaceToDepth(Inference &in) {
  auto op = cast<SpaceToDepthOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  int64_t block = op.getBlocksize();
  if (x && x->size() != 4)
    return in.fail("expected rank 4 but got " + printSizes(*x));
  if (block < 1 || block > 65536)
    return in.fail("expected 'blocksize' of at least 1 but got " + Twine(block));
  if (x) {
    for (int64_t &size : MutableArrayRef<int64_t>(*x).drop_front(2)) {
      if (isStatic(size) && size % block != 0)
        return in.fail("expected sizes divisible by " + Twine(block) + " but got " + printSizes(*x));
      size = isStatic(size) ? size / block : size;
    }
    if (isStatic((*x)[1]) && __builtin_mul_overflow((*x)[1], block * block, &(*x)[1]))
      return in.fail("expected a sensible 'blocksize' but got " + Twine(block));
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::centerCropPad(Inference &in) {
  auto op = cast<CenterCropPadOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  int64_t rank = x->size();
  FailureOr<Sizes> axes = axesOrAll(in, op.getAxes(), rank);
  if (failed(axes))
    return failure();
  in.set("axes", ArrayRef<int64_t>(*axes));
  if (op.getShape() && op.getShape()->size() != axes->size())
    return in.fail("expected " + Twine(axes->size()) + " sizes but got " + Twine(op.getShape()->size()));
  for (auto [i, axis] : llvm::enumerate(*axes))
    (*x)[axis] = op.getShape() ? (*op.getShape())[i] : kDynamic;
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::trilu(Inference &in) {
  auto op = cast<TriluOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x && x->size() < 2)
    return in.fail("expected matrices but got " + printSizes(*x));
  return in.result(op.getY(), in.element(op.getX()), x);
}
