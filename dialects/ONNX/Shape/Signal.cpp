//===- Signal.cpp - shape rules of signals and sampled pictures -----------===//
//
// Owns the rules of the operators of Ops/Signal.td.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Signal.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

LogicalResult shape::dft(Inference &in) {
  auto op = cast<DFTOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x || op.getAxisOperand())
    return in.result(op.getY(), element, std::nullopt);
  if (x->size() < 2)
    return in.fail("expected rank 2 or more but got " + printSizes(*x));
  if (isStatic(x->back()) && x->back() != 1 && x->back() != 2)
    return in.fail("expected a last dimension of 1 or 2 but got " + printSizes(*x));
  FailureOr<int64_t> axis = in.setAxis(op.getAxis().value_or(-2), x->size());
  if (failed(axis))
    return failure();
  if (*axis + 1 == int64_t(x->size()))
    return in.fail("expected an axis before the last dimension, which holds the parts of numbers");
  bool real = op.getInverse() && op.getOnesided();
  int64_t length = (*x)[*axis];
  if (op.getDftLength())
    length = *op.getDftLength();
  else if (op.getDftLengthOperand())
    length = kDynamic;
  else if (real && isStatic(length))
    length = 2 * (length - 1);
  if (isStatic(length) && length < 1)
    return in.fail("expected a length of at least 1 but got " + Twine(length));
  (*x)[*axis] = op.getOnesided() && !real && isStatic(length) ? length / 2 + 1 : length;
  x->back() = real ? 1 : 2;
  return in.result(op.getY(), element, x);
}

LogicalResult shape::stft(Inference &in) {
  auto op = cast<STFTOp>(in.operation());
  Type element = in.element(op.getSignal());
  std::optional<Sizes> x = in.sizes(op.getSignal()), window = op.getWindow() ? in.sizes(op.getWindow()) : std::nullopt;
  if (!x || op.getFrameStepOperand() || op.getFrameLengthOperand() || (op.getWindow() && !window))
    return in.result(op.getY(), element, std::nullopt);
  if (x->size() < 2 || x->size() > 3)
    return in.fail("expected a signal of rank 2 or 3 but got " + printSizes(*x));
  int64_t step = op.getFrameStep().value_or(0), length = kDynamic;
  if (op.getFrameLength())
    length = *op.getFrameLength();
  else if (window && window->size() == 1)
    length = window->front();
  else if (!op.getWindow())
    return in.fail("expected a window or a frame length but got neither");
  if (step < 1 || (isStatic(length) && length < 1))
    return in.fail("expected a step and a length of at least 1 but got " + Twine(step) + " and " + Twine(length));
  int64_t size = (*x)[1], frames = kDynamic;
  if (isStatic(size) && isStatic(length)) {
    if (size < length)
      return in.fail("expected a signal of at least " + Twine(length) + " elements but got " + printSizes(*x));
    frames = (size - length) / step + 1;
  }
  int64_t bins = isStatic(length) ? op.getOnesided() ? length / 2 + 1 : length : kDynamic;
  return in.result(op.getY(), element, Sizes{(*x)[0], frames, bins, 2});
}

LogicalResult shape::gridSample(Inference &in) {
  auto op = cast<GridSampleOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX()), grid = in.sizes(op.getGrid());
  if (!x || !grid)
    return in.result(op.getY(), element, std::nullopt);
  int64_t spatial = int64_t(x->size()) - 2;
  if (spatial < 1 || grid->size() != x->size() || (isStatic(grid->back()) && grid->back() != spatial))
    return in.fail("expected a grid of rank " + Twine(x->size()) + " with " + Twine(spatial) +
                   " coordinates in its last dimension but got " + printSizes(*grid));
  Sizes result = {(*x)[0], (*x)[1]};
  result.append(grid->begin() + 1, grid->end() - 1);
  return in.result(op.getY(), element, result);
}

LogicalResult shape::roiAlign(Inference &in) {
  auto op = cast<RoiAlignOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX()), rois = in.sizes(op.getRois());
  if (!x || !rois)
    return in.result(op.getY(), element, std::nullopt);
  if (x->size() != 4 || rois->size() != 2)
    return in.fail("expected pictures of rank 4 and regions of rank 2 but got " + printSizes(*x) + " and " +
                   printSizes(*rois));
  return in.result(op.getY(), element,
                   Sizes{(*rois)[0], (*x)[1], int64_t(op.getOutputHeight()), int64_t(op.getOutputWidth())});
}

LogicalResult shape::col2im(Inference &in) {
  auto op = cast<Col2ImOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x || !op.getImageShape() || !op.getBlockShape())
    return in.result(op.getY(), element, std::nullopt);
  std::optional<int64_t> block = elementCount(*op.getBlockShape());
  if (x->size() != 3 || !block || *block < 1 || op.getImageShape()->size() != op.getBlockShape()->size())
    return in.fail("expected rank 3 and blocks of the image's rank but got " + printSizes(*x));
  if (isStatic((*x)[1]) && (*x)[1] % *block != 0)
    return in.fail("expected whole blocks of " + Twine(*block) + " in " + Twine((*x)[1]));
  Sizes result = {(*x)[0], isStatic((*x)[1]) ? (*x)[1] / *block : kDynamic};
  result.append(op.getImageShape()->begin(), op.getImageShape()->end());
  return in.result(op.getY(), element, result);
}

LogicalResult shape::melWeightMatrix(Inference &in) {
  auto op = cast<MelWeightMatrixOp>(in.operation());
  Type element = op.getOutputDatatype().value_or(Float32Type::get(op.getContext()));
  return in.result(op.getY(), element, Sizes{kDynamic, kDynamic});
}
