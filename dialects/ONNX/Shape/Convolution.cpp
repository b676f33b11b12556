//===- Convolution.cpp - shape rules of convolutions and pools ------------===//
//
// Owns the window arithmetic: kernel, strides, dilations and pads made explicit, `auto_pad` and `output_shape`
// resolved. Sizes that cannot be right (negative strides, groups that do not divide) are refused.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Quantization.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

namespace {
/// The attributes that all window operators share, filled in.
struct Window {
  Sizes kernel, strides, dilations, pads; // pads: begins, then ends
  bool resolved = true;                   // false: `auto_pad` waits for static sizes
};

/// An attribute's list of `count` entries, or `fill` in all of them.
FailureOr<Sizes> listOr(Inference &in, StringRef name, size_t count, int64_t fill, int64_t least) {
  auto attribute = in.operation()->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attribute || attribute.empty())
    return Sizes(count, fill);
  if (size_t(attribute.size()) != count)
    return in.fail("expected " + Twine(count) + " entries in '" + name + "' but got " + Twine(attribute.size()));
  for (int64_t value : attribute.asArrayRef())
    if (value < least || value > (int64_t(1) << 31))
      return in.fail("expected '" + name + "' of at least " + Twine(least) + " but got " + Twine(value));
  return Sizes(attribute.asArrayRef());
}

/// Reads the window for `spatial` sizes and resolves `auto_pad` (SAME pads to ceil(size / stride) windows).
FailureOr<Window> readWindow(Inference &in, ArrayRef<int64_t> spatial, ArrayRef<int64_t> kernel) {
  size_t rank = spatial.size();
  Window window;
  FailureOr<Sizes> strides = listOr(in, "strides", rank, 1, 1), dilations = listOr(in, "dilations", rank, 1, 1),
                   pads = listOr(in, "pads", 2 * rank, 0, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  window = {Sizes(kernel), *strides, *dilations, *pads, true};
  auto mode = in.operation()->getAttrOfType<StringAttr>("auto_pad");
  StringRef name = mode ? mode.getValue() : "NOTSET";
  if (name == "VALID") {
    window.pads.assign(2 * rank, 0);
  } else if (name == "SAME_UPPER" || name == "SAME_LOWER") {
    for (size_t i = 0; i < rank; ++i) {
      if (!isStatic(spatial[i]) || !isStatic(kernel[i])) {
        window.resolved = false;
        continue;
      }
      int64_t windows = (spatial[i] + window.strides[i] - 1) / window.strides[i];
      int64_t extent = (kernel[i] - 1) * window.dilations[i] + 1;
      int64_t total = std::max<int64_t>(0, (windows - 1) * window.strides[i] + extent - spatial[i]);
      int64_t small = total / 2;
      window.pads[i] = name == "SAME_UPPER" ? small : total - small;
      window.pads[rank + i] = total - window.pads[i];
    }
  } else if (name != "NOTSET") {
    return in.fail("expected 'auto_pad' to be NOTSET, VALID, SAME_UPPER or SAME_LOWER but got '" + name + "'");
  }
  return window;
}

void writeWindow(Inference &in, const Window &window) {
  in.set("kernel_shape", ArrayRef<int64_t>(window.kernel));
  in.set("strides", ArrayRef<int64_t>(window.strides));
  in.set("dilations", ArrayRef<int64_t>(window.dilations));
  if (!window.resolved)
    return;
  in.set("pads", ArrayRef<int64_t>(window.pads));
  in.remove("auto_pad");
}

/// The number of windows along one dimension.
FailureOr<int64_t> windowCount(Inference &in, const Window &window, size_t i, int64_t size, bool ceilMode) {
  if (!isStatic(size) || !isStatic(window.kernel[i]) || !window.resolved)
    return kDynamic;
  int64_t begin = window.pads[i], end = window.pads[window.kernel.size() + i], stride = window.strides[i];
  int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1, room = size + begin + end - extent;
  if (room < 0)
    return in.fail("expected a window of at most " + Twine(size + begin + end) + " elements but got " + Twine(extent));
  int64_t count = room / stride + 1;
  // A last, partial window counts only when it starts inside the data or the leading pad.
  if (ceilMode && room % stride != 0 && count * stride < size + begin)
    ++count;
  return count;
}

/// Result sizes: `lead` then the window counts.
LogicalResult windowResult(Inference &in, Value result, Type element, Sizes lead, const Window &window,
                           ArrayRef<int64_t> spatial, bool ceilMode) {
  for (auto [i, size] : llvm::enumerate(spatial)) {
    FailureOr<int64_t> count = windowCount(in, window, i, size, ceilMode);
    if (failed(count))
      return failure();
    lead.push_back(*count);
  }
  return in.result(result, element, lead);
}

/// The kernel from the attribute, else from the weight; fails when both are there and differ.
FailureOr<Sizes> kernelOf(Inference &in, ArrayRef<int64_t> weight) {
  FailureOr<Sizes> kernel = listOr(in, "kernel_shape", weight.size(), kDynamic, 1);
  if (failed(kernel))
    return failure();
  for (auto [own, given] : llvm::zip(*kernel, weight)) {
    if (!isStatic(own))
      own = given;
    else if (isStatic(given) && own != given)
      return in.fail("expected 'kernel_shape' to be the weight's " + printSizes(weight) + " but got " +
                     printSizes(*kernel));
    if (own == 0)
      return in.fail("expected a kernel of at least one element but got " + printSizes(weight));
  }
  return kernel;
}

/// Checks the bias of a convolution against its channels.
LogicalResult checkBias(Inference &in, Value bias, int64_t channels) {
  if (!bias)
    return success();
  std::optional<Sizes> sizes = in.sizes(bias);
  if (sizes && (sizes->size() != 1 || (allStatic(*sizes) && isStatic(channels) && (*sizes)[0] != channels)))
    return in.fail("expected a bias of " + Twine(channels) + " elements but got " + printSizes(*sizes));
  return in.sameElement(in.operation()->getOperand(0), bias);
}
} // namespace

/// The rule of every convolution; the result's element type is the operator's own.
template <typename OpTy> static LogicalResult convResult(Inference &in, OpTy op, Type element) {
  std::optional<Sizes> x = in.sizes(op.getX()), w = in.sizes(op.getW());
  if (!x || !w)
    return in.result(op.getY(), element, std::nullopt);
  if (x->size() < 3 || x->size() != w->size())
    return in.fail("expected input and weight of one rank, 3 or more, but got " + printSizes(*x) + " and " +
                   printSizes(*w));
  int64_t group = op.getGroup(), channels = (*x)[1], outputs = (*w)[0];
  if (group < 1 || (isStatic(outputs) && outputs % group != 0))
    return in.fail("expected 'group' to divide " + Twine(outputs) + " output channels but got " + Twine(group));
  if (isStatic(channels) && isStatic((*w)[1]) && channels / group != (*w)[1])
    return in.fail("expected " + Twine((*w)[1]) + " input channels in each of " + Twine(group) + " groups but got " +
                   Twine(channels) + " in all");
  if (isStatic(channels) && channels % group != 0)
    return in.fail("expected 'group' to divide " + Twine(channels) + " input channels but got " + Twine(group));
  ArrayRef<int64_t> spatial = ArrayRef<int64_t>(*x).drop_front(2);
  FailureOr<Sizes> kernel = kernelOf(in, ArrayRef<int64_t>(*w).drop_front(2));
  if (failed(kernel))
    return failure();
  FailureOr<Window> window = readWindow(in, spatial, *kernel);
  if (failed(window))
    return failure();
  if (allStatic(*kernel))
    writeWindow(in, *window);
  return windowResult(in, op.getY(), element, {(*x)[0], outputs}, *window, spatial, false);
}

LogicalResult shape::conv(Inference &in) {
  auto op = cast<ConvOp>(in.operation());
  std::optional<Sizes> w = in.sizes(op.getW());
  if (failed(in.sameElement(op.getX(), op.getW())) ||
      (w && !w->empty() && failed(checkBias(in, op.getB(), w->front()))))
    return failure();
  return convResult(in, op, in.element(op.getX()));
}

LogicalResult shape::deformConv(Inference &in) {
  auto op = cast<DeformConvOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX()), w = in.sizes(op.getW());
  if (w && !w->empty() && failed(checkBias(in, op.getB(), w->front())))
    return failure();
  int64_t groups = op.getOffsetGroup();
  if (groups < 1 || (x && x->size() > 1 && isStatic((*x)[1]) && (*x)[1] % groups != 0))
    return in.fail("expected 'offset_group' to divide the input channels but got " + Twine(groups));
  std::optional<int64_t> taps = w && w->size() > 2 ? elementCount(ArrayRef<int64_t>(*w).drop_front(2)) : std::nullopt;
  for (auto [operand, perTap] : {std::pair(op.getOffset(), w ? int64_t(w->size()) - 2 : 0), {op.getMask(), int64_t(1)}}) {
    std::optional<Sizes> sizes = operand ? in.sizes(operand) : std::nullopt;
    if (!sizes || !taps)
      continue;
    if (sizes->size() != w->size() || (isStatic((*sizes)[1]) && (*sizes)[1] != groups * *taps * perTap))
      return in.fail("expected " + Twine(perTap) + " values for each of " + Twine(groups) + " x " + Twine(*taps) +
                     " taps in dimension 1 but got " + printSizes(*sizes));
  }
  return convResult(in, op, in.element(op.getX()));
}

LogicalResult shape::convInteger(Inference &in) {
  auto op = cast<ConvIntegerOp>(in.operation());
  return convResult(in, op, IntegerType::get(op.getContext(), 32));
}

LogicalResult shape::qlinearConv(Inference &in) {
  auto op = cast<QLinearConvOp>(in.operation());
  return convResult(in, op, in.element(op.getYZeroPoint()));
}

LogicalResult shape::convTranspose(Inference &in) {
  auto op = cast<ConvTransposeOp>(in.operation());
  Type element = in.element(op.getX());
  std::optional<Sizes> x = in.sizes(op.getX()), w = in.sizes(op.getW());
  if (!x || !w)
    return in.result(op.getY(), element, std::nullopt);
  if (failed(in.sameElement(op.getX(), op.getW())))
    return failure();
  if (x->size() < 3 || x->size() != w->size())
    return in.fail("expected input and weight of one rank, 3 or more, but got " + printSizes(*x) + " and " +
                   printSizes(*w));
  int64_t group = op.getGroup();
  if (group < 1 || (isStatic((*x)[1]) && (*x)[1] % group != 0))
    return in.fail("expected 'group' to divide the input channels but got " + Twine(group));
  if (isStatic((*x)[1]) && isStatic((*w)[0]) && (*x)[1] != (*w)[0])
    return in.fail("expected " + Twine((*w)[0]) + " input channels but got " + Twine((*x)[1]));
  int64_t outputs = kDynamic;
  if (isStatic((*w)[1]) && __builtin_mul_overflow((*w)[1], group, &outputs))
    return in.fail("expected fewer output channels");
  size_t rank = x->size() - 2;
  ArrayRef<int64_t> spatial = ArrayRef<int64_t>(*x).drop_front(2);
  FailureOr<Sizes> kernel = kernelOf(in, ArrayRef<int64_t>(*w).drop_front(2));
  if (failed(kernel) || failed(checkBias(in, op.getB(), outputs)))
    return failure();
  FailureOr<Sizes> strides = listOr(in, "strides", rank, 1, 1), dilations = listOr(in, "dilations", rank, 1, 1),
                   pads = listOr(in, "pads", 2 * rank, 0, 0), extra = listOr(in, "output_padding", rank, 0, 0);
  if (failed(strides) || failed(dilations) || failed(pads) || failed(extra))
    return failure();
  StringRef mode = op.getAutoPad().value_or("NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return in.fail("expected 'auto_pad' to be NOTSET, VALID, SAME_UPPER or SAME_LOWER but got '" + mode + "'");
  std::optional<ArrayRef<int64_t>> wanted = op.getOutputShape();
  if (wanted && wanted->size() != rank)
    return in.fail("expected " + Twine(rank) + " entries in 'output_shape' but got " + Twine(wanted->size()));
  if (mode == "VALID")
    pads->assign(2 * rank, 0);
  Sizes result = {(*x)[0], outputs};
  bool resolved = true;
  for (size_t i = 0; i < rank; ++i) {
    if (!isStatic(spatial[i]) || !isStatic((*kernel)[i])) {
      result.push_back(wanted ? (*wanted)[i] : kDynamic);
      resolved = false;
      continue;
    }
    int64_t full = (*strides)[i] * (spatial[i] - 1) + (*extra)[i] + ((*kernel)[i] - 1) * (*dilations)[i] + 1;
    bool same = mode.starts_with("SAME");
    if (wanted || same) {
      // The standard computes the pads from the wanted size; the odd one goes to the end only under SAME_UPPER.
      int64_t size = wanted ? (*wanted)[i] : spatial[i] * (*strides)[i];
      int64_t total = std::max<int64_t>(0, full - size);
      (*pads)[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      (*pads)[rank + i] = total - (*pads)[i];
      // A wanted size beyond the full one is more padding of the output.
      (*extra)[i] += std::max<int64_t>(0, size - full);
      result.push_back(size);
    } else {
      result.push_back(full - (*pads)[i] - (*pads)[rank + i]);
    }
  }
  if (resolved) {
    writeWindow(in, {*kernel, *strides, *dilations, *pads, true});
    in.set("output_padding", ArrayRef<int64_t>(*extra));
    in.remove("output_shape");
  }
  return in.result(op.getY(), element, result);
}

LogicalResult shape::pool(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0), indices = op->getNumResults() > 1 ? op->getResult(1) : Value();
  Type element = in.element(x), i64 = IntegerType::get(op->getContext(), 64);
  std::optional<Sizes> sizes = in.sizes(x);
  if (!sizes) {
    if (failed(in.result(indices, i64, std::nullopt)))
      return failure();
    return in.result(op->getResult(0), element, std::nullopt);
  }
  if (sizes->size() < 3)
    return in.fail("expected rank 3 or more but got " + printSizes(*sizes));
  ArrayRef<int64_t> spatial = ArrayRef<int64_t>(*sizes).drop_front(2);
  FailureOr<Sizes> kernel = listOr(in, "kernel_shape", spatial.size(), 1, 1);
  if (failed(kernel))
    return failure();
  FailureOr<Window> window = readWindow(in, spatial, *kernel);
  if (failed(window))
    return failure();
  writeWindow(in, *window);
  bool ceilMode = cast<BoolAttr>(op->getAttr("ceil_mode")).getValue();
  Sizes lead = {(*sizes)[0], (*sizes)[1]};
  if (indices && failed(windowResult(in, indices, i64, lead, *window, spatial, ceilMode)))
    return failure();
  return windowResult(in, op->getResult(0), element, lead, *window, spatial, ceilMode);
}

LogicalResult shape::maxUnpool(Inference &in) {
  auto op = cast<MaxUnpoolOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  size_t rank = op.getKernelShape().size();
  if (x && x->size() != rank + 2)
    return in.fail("expected an input of rank " + Twine(rank + 2) + " but got " + printSizes(*x));
  FailureOr<Sizes> strides = listOr(in, "strides", rank, 1, 1), pads = listOr(in, "pads", 2 * rank, 0, 0);
  if (failed(strides) || failed(pads))
    return failure();
  in.set("strides", ArrayRef<int64_t>(*strides));
  in.set("pads", ArrayRef<int64_t>(*pads));
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  Sizes result(*x);
  for (size_t i = 0; i < rank; ++i)
    if (isStatic(result[i + 2]))
      result[i + 2] = (result[i + 2] - 1) * (*strides)[i] + op.getKernelShape()[i] - (*pads)[i] - (*pads)[rank + i];
  if (op.getOutputShape()) {
    if (op.getOutputShape()->size() != rank + 2)
      return in.fail("expected " + Twine(rank + 2) + " entries in the output shape");
    result.assign(op.getOutputShape()->begin(), op.getOutputShape()->end());
  } else if (op.getOutputShapeOperand()) {
    result.assign(rank + 2, kDynamic);
  }
  return in.result(op.getY(), in.element(op.getX()), result);
}

LogicalResult shape::globalPool(Inference &in) {
  Value x = in.operation()->getOperand(0);
  std::optional<Sizes> sizes = in.sizes(x);
  if (sizes) {
    if (sizes->size() < 3)
      return in.fail("expected rank 3 or more but got " + printSizes(*sizes));
    std::fill(sizes->begin() + 2, sizes->end(), 1);
  }
  return in.result(in.operation()->getResult(0), in.element(x), sizes);
}
