//===- Reduction.cpp - shape rules of reductions --------------------------===//
//
// Owns the Reduce family, ArgMax/ArgMin and CumSum: axes in range, kept or dropped dimensions.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Reduction.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace trn::onnx;

/// The sizes after reducing `axes`.
static Sizes reduced(ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes, bool keep) {
  Sizes result;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (!llvm::is_contained(axes, int64_t(dim)))
      result.push_back(size);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

LogicalResult shape::reduce(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0), y = op->getResult(0);
  bool keep = cast<BoolAttr>(op->getAttr("keepdims")).getValue();
  bool noop = cast<BoolAttr>(op->getAttr("noop_with_empty_axes")).getValue();
  auto given = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  std::optional<Sizes> sizes = in.sizes(x);
  bool unknownAxes = !given && op->getNumOperands() > 1;
  if (!sizes || unknownAxes) {
    if (sizes && keep)
      return in.result(y, in.element(x), Sizes(sizes->size(), kDynamic));
    return in.result(y, in.element(x), std::nullopt);
  }
  int64_t rank = sizes->size();
  Sizes axes;
  if (given && !given.empty()) {
    FailureOr<Sizes> normal = in.axes(given.asArrayRef(), rank, /*sort=*/true);
    if (failed(normal))
      return failure();
    axes = *normal;
  } else if (!noop) {
    llvm::append_range(axes, llvm::seq<int64_t>(0, rank));
  }
  in.set("axes", ArrayRef<int64_t>(axes));
  return in.result(y, in.element(x), reduced(*sizes, axes, keep));
}

LogicalResult shape::argReduce(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0), y = op->getResult(0);
  Type i64 = IntegerType::get(op->getContext(), 64);
  std::optional<Sizes> sizes = in.sizes(x);
  if (!sizes)
    return in.result(y, i64, std::nullopt);
  FailureOr<int64_t> axis = in.setAxis(cast<IntegerAttr>(op->getAttr("axis")).getInt(), sizes->size());
  if (failed(axis))
    return failure();
  if ((*sizes)[*axis] == 0)
    return in.fail("expected at least one element along axis " + Twine(*axis) + " but got none");
  return in.result(y, i64, reduced(*sizes, {*axis}, cast<BoolAttr>(op->getAttr("keepdims")).getValue()));
}

LogicalResult shape::cumulative(Inference &in) {
  Operation *op = in.operation();
  std::optional<Sizes> sizes = in.sizes(op->getOperand(0));
  auto given = op->getAttrOfType<IntegerAttr>("axis");
  if (sizes && given) {
    FailureOr<int64_t> axis = in.setAxis(given.getInt(), sizes->size());
    if (failed(axis))
      return failure();
  }
  return in.result(op->getResult(0), in.element(op->getOperand(0)), sizes);
}
