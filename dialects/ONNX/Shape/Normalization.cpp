//===- Normalization.cpp - shape rules of normalisations ------------------===//
//
// Owns the rules that keep the operand's shape and check channels or axes, and those of the recurrent layers.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Normalization.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Microsoft.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

LogicalResult shape::batchNormalization(Inference &in) {
  auto op = cast<BatchNormalizationOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  int64_t channels = !x ? kDynamic : x->size() > 1 ? (*x)[1] : 1;
  for (Value vector : {op.getScale(), op.getB(), op.getMean(), op.getVar()}) {
    std::optional<Sizes> sizes = in.sizes(vector);
    if (sizes && (sizes->size() != 1 || (isStatic(channels) && allStatic(*sizes) && (*sizes)[0] != channels)))
      return in.fail("expected one value for each of " + Twine(channels) + " channels but got " + printSizes(*sizes));
  }
  for (auto [running, statistic] : {std::pair(op.getRunningMean(), op.getMean()), {op.getRunningVar(), op.getVar()}}) {
    if (running && !op.getTrainingMode())
      return in.fail("expected one result in inference but got running statistics too");
    if (failed(in.result(running, in.element(statistic), Sizes{channels})))
      return failure();
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

/// The first normalised axis of `x`, whose scale broadcasts to it.
static FailureOr<int64_t> normalizedAxis(Inference &in, int64_t axis, const Sizes &x, Value scaleOperand) {
  std::optional<Sizes> scale = in.sizes(scaleOperand);
  FailureOr<Sizes> both = scale ? broadcastSizes(x, *scale) : FailureOr<Sizes>(x);
  if (failed(both) || both->size() != x.size())
    return in.fail("expected a scale that broadcasts to " + printSizes(x) + " but got " + printSizes(*scale));
  return in.setAxis(axis, x.size());
}

LogicalResult shape::layerNormalization(Inference &in) {
  auto op = cast<LayerNormalizationOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), statistics = x;
  if (x) {
    FailureOr<int64_t> axis = normalizedAxis(in, op.getAxis(), *x, op.getScale());
    if (failed(axis))
      return failure();
    std::fill(statistics->begin() + *axis, statistics->end(), 1);
  }
  Type f32 = Float32Type::get(op.getContext());
  if (failed(in.result(op.getMean(), f32, statistics)) || failed(in.result(op.getInvStdDev(), f32, statistics)))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::rmsNormalization(Inference &in) {
  auto op = cast<RMSNormalizationOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x && failed(normalizedAxis(in, op.getAxis(), *x, op.getScale())))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), x);
}

/// Instance and group normalisation: one scale and one bias for each channel, and whole groups of channels.
LogicalResult shape::channelNormalization(Inference &in) {
  Operation *op = in.operation();
  std::optional<Sizes> x = in.sizes(op->getOperand(0));
  int64_t channels = kDynamic;
  if (x) {
    if (x->size() < 2)
      return in.fail("expected a batch and channels but got " + printSizes(*x));
    channels = (*x)[1];
  }
  for (Value vector : op->getOperands().drop_front()) {
    std::optional<Sizes> sizes = in.sizes(vector);
    if (sizes && (sizes->size() != 1 || (isStatic(channels) && allStatic(*sizes) && (*sizes)[0] != channels)))
      return in.fail("expected one value for each of " + Twine(channels) + " channels but got " + printSizes(*sizes));
  }
  if (auto group = dyn_cast<GroupNormalizationOp>(op)) {
    int64_t groups = group.getNumGroups();
    if (groups < 1 || (isStatic(channels) && channels % groups))
      return in.fail("expected 'num_groups' to divide " + Twine(channels) + " channels but got " + Twine(groups));
  }
  return in.result(op->getResult(0), in.element(op->getOperand(0)), x);
}

LogicalResult shape::localResponse(Inference &in) {
  auto op = cast<LRNOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x && x->size() < 2)
    return in.fail("expected a batch and channels but got " + printSizes(*x));
  if (op.getSize() < 1 || op.getSize() > INT32_MAX)
    return in.fail("expected 'size' of at least 1 and below 2^31 but got " + Twine(op.getSize()));
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::alongAxis(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0);
  std::optional<Sizes> sizes = in.sizes(x);
  if (sizes) {
    // A scalar has one axis for this purpose.
    if (failed(in.setAxis(cast<IntegerAttr>(op->getAttr("axis")).getInt(), std::max<int64_t>(1, sizes->size()))))
      return failure();
  }
  return in.result(op->getResult(0), in.element(x), sizes);
}

LogicalResult shape::meanVariance(Inference &in) {
  auto op = cast<MeanVarianceNormalizationOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (x) {
    static const int64_t byStandard[] = {0, 2, 3};
    FailureOr<Sizes> axes = in.axes(op.getAxes().value_or(ArrayRef<int64_t>(byStandard)), x->size(), true);
    if (failed(axes))
      return failure();
    in.set("axes", ArrayRef<int64_t>(*axes));
  }
  return in.result(op.getY(), in.element(op.getX()), x);
}

LogicalResult shape::dropout(Inference &in) {
  auto op = cast<DropoutOp>(in.operation());
  double ratio = op.getRatio() ? op.getRatio()->convertToDouble() : 0;
  if (!(ratio >= 0 && ratio <= 1))
    return in.fail("expected a ratio from 0 to 1 but got " + std::to_string(ratio));
  if (failed(in.result(op.getMask(), IntegerType::get(op.getContext(), 1), in.sizes(op.getX()))))
    return failure();
  return in.result(op.getY(), in.element(op.getX()), in.sizes(op.getX()));
}

/// Whether there is one for each direction or for each of its 4 * `hidden` columns, as far as the sizes are known.
static bool isPerColumn(const Sizes &sizes, int64_t directions, int64_t hidden) {
  auto fits = [](int64_t size, int64_t expected) { return !isStatic(size) || size == expected; };
  return (sizes.size() == 1 || sizes.size() == 2) && fits(sizes[0], directions) &&
         (sizes.size() == 1 || !isStatic(hidden) || fits(sizes[1], 4 * hidden));
}

/// X is [sequence, batch, input], W [directions, gates·hidden, input], R [directions, gates·hidden, hidden]; `layout`
/// 1 puts the batch first in X, Y, Y_h and Y_c.
LogicalResult shape::recurrent(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0), r = op->getOperand(2);
  std::optional<Sizes> xSizes = in.sizes(x), rSizes = in.sizes(r);
  StringRef direction = cast<StringAttr>(op->getAttr("direction")).getValue();
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return in.fail("expected 'direction' to be forward, reverse or bidirectional but got '" + direction + "'");
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  auto layout = op->getAttrOfType<IntegerAttr>("layout");
  bool batchFirst = layout && layout.getInt() != 0;
  int64_t sequence = kDynamic, batch = kDynamic, hidden = kDynamic;
  if (xSizes) {
    if (xSizes->size() != 3)
      return in.fail("expected an input of rank 3 but got " + printSizes(*xSizes));
    sequence = (*xSizes)[batchFirst];
    batch = (*xSizes)[!batchFirst];
  }
  if (rSizes) {
    if (rSizes->size() != 3 || (isStatic((*rSizes)[0]) && (*rSizes)[0] != directions))
      return in.fail("expected recurrence weights for " + Twine(directions) + " directions but got " +
                     printSizes(*rSizes));
    hidden = (*rSizes)[isa<MicrosoftDynamicQuantizeLSTMOp>(op) ? 1 : 2];
  }
  if (auto given = op->getAttrOfType<IntegerAttr>("hidden_size")) {
    if (isStatic(hidden) && given.getInt() != hidden)
      return in.fail("expected 'hidden_size' " + Twine(hidden) + " but got " + Twine(given.getInt()));
    hidden = given.getInt();
  }
  if (isStatic(hidden) && hidden > 0)
    in.set("hidden_size", hidden);
  if (auto quantized = dyn_cast<MicrosoftDynamicQuantizeLSTMOp>(op))
    for (Value parameter :
         {quantized.getWScale(), quantized.getWZeroPoint(), quantized.getRScale(), quantized.getRZeroPoint()})
      if (std::optional<Sizes> sizes = in.sizes(parameter); sizes && !isPerColumn(*sizes, directions, hidden))
        return in.fail("expected scales and zero points of [directions] or [directions, 4 * hidden] but got " +
                       printSizes(*sizes));
  Sizes all = {sequence, directions, batch, hidden}, last = {directions, batch, hidden};
  if (batchFirst) {
    all = {batch, sequence, directions, hidden};
    last = {batch, directions, hidden};
  }
  auto counts = cast<DenseI32ArrayAttr>(*op->getInherentAttr("resultSegmentSizes")).asArrayRef();
  unsigned next = 0;
  for (auto [index, count] : llvm::enumerate(counts))
    if (count && failed(in.result(op->getResult(next++), in.element(x), index == 0 ? all : last)))
      return failure();
  return success();
}
