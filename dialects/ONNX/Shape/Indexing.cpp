//===- Indexing.cpp - shape rules of gathers, scatters and quantisation ---===//
//
// Owns the rules of operators that address elements by index, and of the quantisation pair.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Quantization.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

LogicalResult shape::gather(Inference &in) {
  auto op = cast<GatherOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), indices = in.sizes(op.getIndices());
  if (!x || !indices)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  FailureOr<int64_t> axis = in.setAxis(op.getAxis(), x->size());
  if (failed(axis))
    return failure();
  Sizes result(x->begin(), x->begin() + *axis);
  result.append(*indices);
  result.append(x->begin() + *axis + 1, x->end());
  return in.result(op.getY(), in.element(op.getX()), result);
}

/// The axis of an operator that has one index for each element: `indices` has the rank of `x`.
static FailureOr<int64_t> elementAxis(Inference &in, int64_t axis, const Sizes &x, const std::optional<Sizes> &indices) {
  if (indices && indices->size() != x.size())
    return in.fail("expected indices of rank " + Twine(x.size()) + " but got " + printSizes(*indices));
  return in.setAxis(axis, x.size());
}

LogicalResult shape::gatherElements(Inference &in) {
  auto op = cast<GatherElementsOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), indices = in.sizes(op.getIndices());
  if (x && failed(elementAxis(in, op.getAxis(), *x, indices)))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), indices);
}

LogicalResult shape::scatterElements(Inference &in) {
  auto op = cast<ScatterElementsOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), indices = in.sizes(op.getIndices()), updates = in.sizes(op.getUpdates());
  if (x) {
    FailureOr<int64_t> axis = elementAxis(in, op.getAxis(), *x, indices);
    if (failed(axis))
      return failure();
    for (size_t d = 0; indices && d < x->size(); ++d)
      if (int64_t(d) != *axis && isStatic((*x)[d]) && isStatic((*indices)[d]) && (*indices)[d] > (*x)[d])
        return in.fail("expected indices inside " + printSizes(*x) + " but got " + printSizes(*indices));
  }
  if (indices && updates && allStatic(*indices) && allStatic(*updates) && *indices != *updates)
    return in.fail("expected updates of the indices' shape " + printSizes(*indices) + " but got " + printSizes(*updates));
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::scatterND(Inference &in) {
  auto op = cast<ScatterNDOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), indices = in.sizes(op.getIndices()), updates = in.sizes(op.getUpdates());
  if (indices && indices->empty())
    return in.fail("expected indices of at least one dimension but got a scalar");
  if (x && indices && isStatic(indices->back())) {
    int64_t depth = indices->back();
    if (depth < 1 || depth > int64_t(x->size()))
      return in.fail("expected indices of 1 to " + Twine(x->size()) + " numbers each but got " + printSizes(*indices));
    Sizes expected(indices->begin(), indices->end() - 1);
    expected.append(x->begin() + depth, x->end());
    if (updates && (updates->size() != expected.size() ||
                    (allStatic(expected) && allStatic(*updates) && *updates != expected)))
      return in.fail("expected updates of shape " + printSizes(expected) + " but got " + printSizes(*updates));
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::gatherND(Inference &in) {
  auto op = cast<GatherNDOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), indices = in.sizes(op.getIndices());
  if (!x || !indices)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  int64_t batch = op.getBatchDims();
  if (indices->empty() || x->empty() || batch < 0 || batch >= int64_t(std::min(x->size(), indices->size())))
    return in.fail("expected 'batch_dims' below both ranks but got " + Twine(batch));
  int64_t depth = indices->back();
  if (!isStatic(depth))
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  if (depth < 1 || batch + depth > int64_t(x->size()))
    return in.fail("expected index tuples of 1 to " + Twine(x->size() - batch) + " entries but got " + Twine(depth));
  Sizes result(indices->begin(), indices->end() - 1);
  result.append(x->begin() + batch + depth, x->end());
  return in.result(op.getY(), in.element(op.getX()), result);
}

LogicalResult shape::oneHot(Inference &in) {
  auto op = cast<OneHotOp>(in.operation());
  std::optional<Sizes> indices = in.sizes(op.getIndices());
  if (!indices)
    return in.result(op.getY(), in.element(op.getValues()), std::nullopt);
  int64_t depth = op.getDepth() ? *op.getDepth() : kDynamic;
  if (op.getDepth() && depth < 1)
    return in.fail("expected a depth of at least 1 but got " + Twine(depth));
  FailureOr<int64_t> axis = in.setAxis(op.getAxis(), indices->size() + 1);
  if (failed(axis))
    return failure();
  indices->insert(indices->begin() + *axis, depth);
  return in.result(op.getY(), in.element(op.getValues()), indices);
}

LogicalResult shape::topK(Inference &in) {
  auto op = cast<TopKOp>(in.operation());
  Type i64 = IntegerType::get(op.getContext(), 64);
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x) {
    FailureOr<int64_t> axis = in.setAxis(op.getAxis(), x->size());
    if (failed(axis))
      return failure();
    int64_t &size = (*x)[*axis], k = op.getK() ? *op.getK() : kDynamic;
    if (op.getK() && (k < 0 || (isStatic(size) && k > size)))
      return in.fail("expected 'k' of at most " + Twine(size) + " but got " + Twine(k));
    size = k;
  }
  if (failed(in.result(op.getIndices(), i64, x)))
    return failure();
  return in.result(op.getValues(), in.element(op.getX()), x);
}

LogicalResult shape::eyeLike(Inference &in) {
  auto op = cast<EyeLikeOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x && x->size() != 2)
    return in.fail("expected a matrix but got " + printSizes(*x));
  return in.result(op.getY(), op.getDtype().value_or(in.element(op.getX())), x);
}

/// Scales are a scalar, one per element of `axis`, or (blocked) one per block along it.
static LogicalResult checkScale(Inference &in, Value x, Value scale, Value zeroPoint, int64_t axis, int64_t block) {
  std::optional<Sizes> xs = in.sizes(x), ss = in.sizes(scale), zs = zeroPoint ? in.sizes(zeroPoint) : ss;
  if (block < 0)
    return in.fail("expected 'block_size' of at least 0 but got " + Twine(block));
  if (ss && zs && allStatic(*ss) && allStatic(*zs) && elementCount(*ss) != elementCount(*zs))
    return in.fail("expected a zero point for each scale but got " + printSizes(*zs) + " and " + printSizes(*ss));
  if (!xs || !ss || !allStatic(*ss) || elementCount(*ss) == 1)
    return success();
  FailureOr<int64_t> normal = in.setAxis(axis, xs->size());
  if (failed(normal))
    return failure();
  if (block == 0 && (ss->size() != 1 || (isStatic((*xs)[*normal]) && (*ss)[0] != (*xs)[*normal])))
    return in.fail("expected one scale or one for each element of axis " + Twine(*normal) + " but got " +
                   printSizes(*ss));
  if (block != 0 && ss->size() != xs->size())
    return in.fail("expected block scales of rank " + Twine(xs->size()) + " but got " + printSizes(*ss));
  return success();
}

LogicalResult shape::quantize(Inference &in) {
  auto op = cast<QuantizeLinearOp>(in.operation());
  if (failed(checkScale(in, op.getX(), op.getScale(), op.getZeroPoint(), op.getAxis(), op.getBlockSize())))
    return failure();
  Type element = op.getZeroPoint()
                     ? in.element(op.getZeroPoint())
                     : op.getOutputDtype().value_or(IntegerType::get(op.getContext(), 8, IntegerType::Unsigned));
  return in.result(op.getY(), element, in.sizes(op.getX()));
}

LogicalResult shape::dequantize(Inference &in) {
  auto op = cast<DequantizeLinearOp>(in.operation());
  if (failed(checkScale(in, op.getX(), op.getScale(), op.getZeroPoint(), op.getAxis(), op.getBlockSize())))
    return failure();
  return in.result(op.getY(), op.getOutputDtype().value_or(in.element(op.getScale())), in.sizes(op.getX()));
}

LogicalResult shape::dynamicQuantize(Inference &in) {
  auto op = cast<DynamicQuantizeLinearOp>(in.operation());
  Type ui8 = IntegerType::get(op.getContext(), 8, IntegerType::Unsigned);
  if (failed(in.result(op.getScale(), in.element(op.getX()), Sizes())) ||
      failed(in.result(op.getZeroPoint(), ui8, Sizes())))
    return failure();
  return in.result(op.getY(), ui8, in.sizes(op.getX()));
}
