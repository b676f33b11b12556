//===- Counted.cpp - shape rules of results whose size the run decides ------===//
//
// Owns the largest sizes of such results. How much of them is valid says a count, which is made when they are lowered.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Shape/Inference.h"

using namespace mlir;
using namespace trn::onnx;

static Type i64(Inference &in) { return IntegerType::get(in.operation()->getContext(), 64); }

/// The elements of a tensor of `sizes`, dynamic when they are not known.
static int64_t elementsOf(ArrayRef<int64_t> sizes) { return elementCount(sizes).value_or(kDynamic); }

LogicalResult shape::nonZero(Inference &in) {
  auto op = cast<NonZeroOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (failed(in.result(op.getCount(), i64(in), Sizes{})))
    return failure();
  if (!x)
    return in.result(op.getY(), i64(in), std::nullopt);
  return in.result(op.getY(), i64(in), Sizes{int64_t(x->size()), elementsOf(*x)});
}

LogicalResult shape::compress(Inference &in) {
  auto op = cast<CompressOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), condition = in.sizes(op.getCondition());
  if (condition && condition->size() != 1)
    return in.fail("expected a condition of rank 1 but got " + printSizes(*condition));
  int64_t length = condition ? condition->front() : kDynamic;
  auto checkLength = [&](int64_t size) -> LogicalResult {
    if (!isStatic(size) || !isStatic(length) || length <= size)
      return success();
    return in.fail("expected a condition of at most " + Twine(size) + " elements but got " + Twine(length));
  };
  if (!op.getAxis() && x && failed(checkLength(elementsOf(*x))))
    return failure();
  if (!op.getAxis())
    return in.result(op.getY(), in.element(op.getX()), Sizes{length});
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  FailureOr<int64_t> axis = in.axis(*op.getAxis(), x->size());
  if (failed(axis))
    return failure();
  in.set("axis", *axis);
  if (failed(checkLength((*x)[*axis])))
    return failure();
  (*x)[*axis] = length;
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::unique(Inference &in) {
  auto op = cast<UniqueOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), y;
  int64_t items = kDynamic;
  if (x && op.getAxis()) {
    FailureOr<int64_t> axis = in.axis(*op.getAxis(), x->size());
    if (failed(axis))
      return failure();
    in.set("axis", *axis);
    items = (*x)[*axis];
    y = x;
  } else if (x) {
    items = elementsOf(*x);
    y = Sizes{items};
  }
  std::optional<Sizes> list = x ? std::optional<Sizes>(Sizes{items}) : std::nullopt;
  for (Value result : {op.getIndices(), op.getInverse(), op.getCounts()})
    if (failed(in.result(result, i64(in), list)))
      return failure();
  if (failed(in.result(op.getCount(), i64(in), Sizes{})))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), y);
}

LogicalResult shape::nonMaxSuppression(Inference &in) {
  auto op = cast<NonMaxSuppressionOp>(in.operation());
  std::optional<Sizes> boxes = in.sizes(op.getBoxes()), scores = in.sizes(op.getScores());
  if ((boxes && boxes->size() != 3) || (scores && scores->size() != 3))
    return in.fail("expected boxes [batches, boxes, 4] and scores [batches, classes, boxes] but got other ranks");
  if (boxes && isStatic(boxes->back()) && boxes->back() != 4)
    return in.fail("expected boxes of 4 numbers but got " + Twine(boxes->back()));
  if (op.getCenterPointBox() != 0 && op.getCenterPointBox() != 1)
    return in.fail("expected 'center_point_box' of 0 or 1 but got " + Twine(op.getCenterPointBox()));
  for (auto [ofBoxes, ofScores] : {std::pair<unsigned, unsigned>{0, 0}, {1, 2}})
    if (boxes && scores && isStatic((*boxes)[ofBoxes]) && isStatic((*scores)[ofScores]) &&
        (*boxes)[ofBoxes] != (*scores)[ofScores])
      return in.fail("expected boxes [batches, boxes, 4] and scores [batches, classes, boxes] but got " +
                     printSizes(*boxes) + " and " + printSizes(*scores));
  int64_t most = kDynamic;
  if (scores && allStatic(*scores)) {
    // Without a limit nothing is selected.
    int64_t limit = op.getLimit() ? std::max<int64_t>(0, *op.getLimit()) : op.getLimitOperand() ? (*scores)[2] : 0;
    std::optional<int64_t> product = elementCount({(*scores)[0], (*scores)[1], std::min(limit, (*scores)[2])});
    if (!product)
      return in.fail("expected at most 2^40 results but got scores " + printSizes(*scores));
    most = *product;
  }
  if (failed(in.result(op.getCount(), i64(in), Sizes{})))
    return failure();
  return in.result(op.getSelected(), i64(in), Sizes{most, 3});
}
