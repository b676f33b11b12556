//===- Convolution.cpp - convolutions and pools ---------------------------===//
// Padding becomes tensor.pad, exactly as much as the windows reach; a window's taps are reduction iterators, left out
// where there is one tap. A transposed convolution is a convolution for each output phase (sub-pixel form): with stride
// s, output q*s + r of an image is a sum over taps t of input q - t times weight t*s + r, so nothing is multiplied with
// inserted zeros. Phases with fewer taps are a product of their own.
#include "dialects/ONNX/Ops/Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

namespace {
/// One spatial dimension of a window operation.
struct WindowDim {
  int64_t input, output, kernel, stride, dilation, before, after;

  /// What the windows reach beyond the end of the input; never negative.
  int64_t reachAfter() const {
    return std::max<int64_t>(0, (output - 1) * stride + (kernel - 1) * dilation + 1 - input - before);
  }
};

/// A map under construction: one expression per dimension of an operand.
using Exprs = SmallVector<AffineExpr>;
} // namespace

template <typename Op>
static FailureOr<SmallVector<WindowDim>> windowOf(Op op, ArrayRef<int64_t> kernel, ArrayRef<int64_t> output) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  unsigned spatial = shape.size() - 2;
  auto entry = [](std::optional<ArrayRef<int64_t>> list, unsigned i, int64_t missing) {
    return list && i < list->size() ? (*list)[i] : missing;
  };
  StringRef autoPad = op.getAutoPad().value_or("NOTSET");
  if (autoPad != "NOTSET" && autoPad != "VALID")
    return op.emitOpError("expected explicit pads but got auto_pad \"") << autoPad << "\"; run onnx-infer-fold first";
  SmallVector<WindowDim> dims;
  for (unsigned i = 0; i < spatial; ++i)
    dims.push_back({shape[2 + i], output[2 + i], kernel[i], entry(op.getStrides(), i, 1),
                    entry(op.getDilations(), i, 1), entry(op.getPads(), i, 0), entry(op.getPads(), spatial + i, 0)});
  return dims;
}

/// Pads the spatial dimensions (from dimension 2 on) as far as the windows reach.
static Value padSpatial(LinalgBuilder &b, Value x, ArrayRef<WindowDim> window, Value scalar) {
  SmallVector<int64_t> low(2, 0), high(2, 0);
  for (const WindowDim &dim : window) {
    low.push_back(dim.before);
    high.push_back(dim.reachAfter());
  }
  return b.pad(x, low, high, scalar);
}

static Value addBias(LinalgBuilder &b, Value y, Value bias) {
  if (!bias)
    return y;
  SmallVector<int64_t> channels(shapeOf(y).size() - 1, 1);
  channels[0] = shapeOf(bias)[0];
  return b.map({y, b.reshape(bias, channels)}, shapeOf(y), elementTypeOf(y),
               [](Builder1 &b, ValueRange e) -> Value { return arith::AddFOp::create(b, e[0], e[1]); });
}

static FailureOr<Value> lowerConv(onnx::ConvOp op, LinalgBuilder &b) {
  Value x = op.getX(), w = op.getW(), y = op.getY();
  Type element = elementTypeOf(y);
  int64_t groups = op.getGroup(), batch = shapeOf(x)[0], channels = shapeOf(x)[1], filters = shapeOf(w)[0];
  ArrayRef<int64_t> kernel = shapeOf(w).drop_front(2);
  FailureOr<SmallVector<WindowDim>> window = windowOf(op, kernel, shapeOf(y));
  if (failed(window))
    return failure();
  x = padSpatial(b, x, *window, scalarConstant(b, element, 0));
  int64_t depth = channels / groups, perGroup = filters / groups;
  bool hasGroups = groups > 1, hasDepth = !hasGroups || depth > 1, hasFilters = !hasGroups || perGroup > 1;

  // Operands without the dimensions that the iteration space leaves out.
  SmallVector<int64_t> xShape = {batch}, wShape, yShape = {batch};
  if (hasGroups)
    xShape.push_back(groups), wShape.push_back(groups), yShape.push_back(groups);
  if (hasDepth)
    xShape.push_back(depth);
  if (hasFilters)
    wShape.push_back(perGroup), yShape.push_back(perGroup);
  if (hasDepth)
    wShape.push_back(depth);
  for (auto [i, dim] : llvm::enumerate(*window)) {
    xShape.push_back(shapeOf(x)[2 + i]);
    yShape.push_back(dim.output);
    if (dim.kernel > 1)
      wShape.push_back(dim.kernel);
  }
  x = b.reshape(x, xShape);
  w = b.reshape(w, wShape);

  // Iterators: batch, group, filter, outputs; depth, taps.
  unsigned next = 0;
  auto iterator = [&] { return b.getAffineDimExpr(next++); };
  AffineExpr n = iterator(), g = hasGroups ? iterator() : AffineExpr(), f = hasFilters ? iterator() : AffineExpr();
  Exprs outputs, xExprs = {n}, wExprs;
  for (size_t i = 0; i < window->size(); ++i)
    outputs.push_back(iterator());
  AffineExpr c = hasDepth ? iterator() : AffineExpr();
  if (hasGroups)
    xExprs.push_back(g), wExprs.push_back(g);
  if (hasFilters)
    wExprs.push_back(f);
  if (hasDepth)
    xExprs.push_back(c), wExprs.push_back(c);
  for (auto [dim, output] : llvm::zip_equal(*window, outputs)) {
    if (dim.kernel == 1) {
      xExprs.push_back(output * dim.stride);
      continue;
    }
    AffineExpr tap = iterator();
    xExprs.push_back(output * dim.stride + tap * dim.dilation);
    wExprs.push_back(tap);
  }
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, yShape.size()));
  Value product = b.contract(x, AffineMap::get(next, 0, xExprs, b.getContext()), w,
                             AffineMap::get(next, 0, wExprs, b.getContext()), b.dims(next, result), yShape, element);
  return addBias(b, b.reshape(product, shapeOf(y)), op.getB());
}

/// A kernel with `dilation - 1` zeros between its taps where steps are larger than 1: each tap gets them behind it, and the
/// last ones are cut off.
static Value dilateKernel(LinalgBuilder &b, Value w, MutableArrayRef<WindowDim> window) {
  Value zero = scalarConstant(b, elementTypeOf(w), 0);
  for (auto [i, dim] : llvm::enumerate(window)) {
    int64_t at = 2 + static_cast<int64_t>(i);
    if (dim.kernel == 1 || dim.stride == 1 || dim.dilation == 1)
      continue;
    Value apart = b.addUnitDims(w, {at + 1});
    SmallVector<int64_t> low(shapeOf(apart).size(), 0), high(low), shape(shapeOf(w));
    high[at + 1] = dim.dilation - 1;
    shape[at] *= dim.dilation;
    w = b.sliceDim(b.reshape(b.pad(apart, low, high, zero), shape), at, 0, (dim.kernel - 1) * dim.dilation + 1);
    dim.dilation = 1;
  }
  return w;
}

namespace {
/// Phases of one dimension of a transposed convolution that have equally many taps, and those.
struct PhaseRange {
  int64_t first, count, taps;
};

/// A transposed convolution in sub-pixel form: what is the same for all phases.
struct SubPixel {
  SmallVector<WindowDim> window;
  SmallVector<int64_t> taps, positions; ///< in each dimension, of the phase that has most; how many positions there are
  int64_t groups, batch, depth, perGroup;
  Value x; ///< [batch, channels, spatial…], padded by taps - 1 in front
  Value w; ///< [channels, filters / group, (taps, phases)…], the taps reversed

  /// The outputs of some phases: [batch, channels, (positions, phases)…].
  Value product(LinalgBuilder &b, ArrayRef<PhaseRange> phases, Type element) const;
};
} // namespace

Value SubPixel::product(LinalgBuilder &b, ArrayRef<PhaseRange> phases, Type element) const {
  Value input = x, weight = w;
  SmallVector<int64_t> joined = {batch, groups * perGroup};
  bool isEmpty = false;
  for (auto [i, range] : llvm::enumerate(phases)) {
    joined.append({positions[i], range.count});
    isEmpty |= range.taps == 0;
    // Taps that these phases lack are the first ones, as they are reversed.
    int64_t lacks = taps[i] - range.taps, skipped = lacks * window[i].dilation;
    int64_t read = positions[i] + (range.taps - 1) * window[i].dilation;
    if (range.taps == 0)
      continue;
    input = b.sliceDim(input, 2 + i, skipped, read);
    weight = b.sliceDim(weight, 2 + 2 * i, lacks, range.taps);
    weight = b.sliceDim(weight, 3 + 2 * i, range.first, range.count);
  }
  if (isEmpty)
    return b.filled(joined, scalarConstant(b, element, 0));

  // Operands without the dimensions that the iteration space leaves out.
  bool hasGroups = groups > 1;
  SmallVector<int64_t> xShape = {batch}, wShape, yShape = {batch};
  if (hasGroups)
    xShape.push_back(groups), wShape.push_back(groups), yShape.push_back(groups);
  xShape.push_back(depth), wShape.push_back(depth);
  wShape.push_back(perGroup), yShape.push_back(perGroup);
  for (auto [i, range] : llvm::enumerate(phases)) {
    xShape.push_back(shapeOf(input)[2 + i]);
    if (range.taps > 1)
      wShape.push_back(range.taps);
    yShape.push_back(positions[i]);
    if (range.count > 1)
      wShape.push_back(range.count), yShape.push_back(range.count);
  }
  input = b.reshape(input, xShape);
  weight = b.reshape(weight, wShape);

  // Iterators: batch, group, filter, position and phase of every dimension; depth, taps.
  unsigned next = 0;
  auto iterator = [&] { return b.getAffineDimExpr(next++); };
  AffineExpr n = iterator(), g = hasGroups ? iterator() : AffineExpr(), f = iterator();
  Exprs qs, rs, xExprs = {n}, wExprs;
  for (const PhaseRange &range : phases) {
    qs.push_back(iterator());
    rs.push_back(range.count > 1 ? iterator() : AffineExpr());
  }
  AffineExpr c = iterator();
  if (hasGroups)
    xExprs.push_back(g), wExprs.push_back(g);
  xExprs.push_back(c);
  wExprs.push_back(c), wExprs.push_back(f);
  for (auto [i, range] : llvm::enumerate(phases)) {
    AffineExpr tap = range.taps > 1 ? iterator() : AffineExpr();
    xExprs.push_back(tap ? qs[i] + tap * window[i].dilation : qs[i]);
    if (tap)
      wExprs.push_back(tap);
    if (rs[i])
      wExprs.push_back(rs[i]);
  }
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, yShape.size()));
  Value product = b.contract(input, AffineMap::get(next, 0, xExprs, b.getContext()), weight,
                             AffineMap::get(next, 0, wExprs, b.getContext()), b.dims(next, result), yShape, element);
  return b.reshape(product, joined);
}

/// The outputs of all phases from dimension `dim` on, those before it being chosen. Phases with different taps are products
/// of their own: a tap that is not there must not be a factor 0, which makes NaN of an infinity.
static Value joinPhases(LinalgBuilder &b, const SubPixel &form, SmallVector<PhaseRange> chosen, Type element) {
  unsigned dim = chosen.size();
  if (dim == form.window.size())
    return form.product(b, chosen, element);
  const WindowDim &window = form.window[dim];
  // A tap t · stride + r of the kernel is one of phase r.
  int64_t extent = window.kernel, full = window.stride == 1 ? 1 : extent % window.stride;
  SmallVector<PhaseRange> ranges = {{0, full == 0 ? window.stride : full, form.taps[dim]}};
  if (ranges[0].count < window.stride)
    ranges.push_back({ranges[0].count, window.stride - ranges[0].count, form.taps[dim] - 1});
  SmallVector<Value> parts;
  for (const PhaseRange &range : ranges) {
    chosen.push_back(range);
    parts.push_back(joinPhases(b, form, chosen, element));
    chosen.pop_back();
  }
  return parts.size() == 1 ? parts[0] : b.concat(parts, 3 + 2 * dim);
}

static FailureOr<Value> lowerConvTranspose(onnx::ConvTransposeOp op, LinalgBuilder &b) {
  Value x = op.getX(), w = op.getW(), y = op.getY();
  Type element = elementTypeOf(y);
  SmallVector<int64_t> kernel(shapeOf(w).drop_front(2));
  FailureOr<SmallVector<WindowDim>> window = windowOf(op, kernel, shapeOf(y));
  if (failed(window))
    return failure();
  Value zero = scalarConstant(b, element, 0);
  w = dilateKernel(b, w, *window);
  unsigned spatial = window->size();
  SubPixel form;
  form.groups = op.getGroup(), form.batch = shapeOf(x)[0], form.depth = shapeOf(x)[1] / form.groups;
  form.perGroup = shapeOf(w)[1];
  SmallVector<int64_t> wLow(2 + spatial, 0), wHigh(2, 0), xLow(2, 0), xHigh(2, 0), joined(shapeOf(y).take_front(2));
  SmallVector<int64_t> wShape(shapeOf(w).take_front(2));
  for (auto [i, dim] : llvm::enumerate(*window)) {
    dim.kernel = shapeOf(w)[2 + i];
    int64_t taps = llvm::divideCeil(dim.kernel, dim.stride), positions = llvm::divideCeil(dim.before + dim.output, dim.stride);
    form.taps.push_back(taps);
    form.positions.push_back(positions);
    wHigh.push_back(taps * dim.stride - dim.kernel);
    xLow.push_back((taps - 1) * dim.dilation);
    xHigh.push_back(std::max<int64_t>(0, positions - dim.input));
    wShape.append({taps, dim.stride});
    joined.push_back(positions * dim.stride);
  }
  form.window = *window;
  form.w = b.reshape(b.pad(w, wLow, wHigh, zero), wShape);
  form.x = b.pad(x, xLow, xHigh, zero);
  // Input q - t counts down while padding starts at -(taps - 1): with the taps reversed both count up.
  for (unsigned i = 0; i < spatial; ++i)
    if (form.taps[i] > 1)
      form.w = b.reverse(form.w, 2 + 2 * i);
  Value product = b.reshape(joinPhases(b, form, {}, element), joined);
  SmallVector<int64_t> offsets = {0, 0}, ones(2 + spatial, 1);
  for (const WindowDim &dim : *window)
    offsets.push_back(dim.before);
  return addBias(b, b.slice(product, offsets, shapeOf(y), ones), op.getB());
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// The reduction of every window, in the type `element`.
static Value reduceWindows(LinalgBuilder &b, Value x, ArrayRef<WindowDim> window, ArrayRef<int64_t> shape, Type element,
                           Reduction kind) {
  unsigned spatial = window.size(), next = 2 + spatial;
  Exprs exprs = {b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  SmallVector<int64_t> taps;
  for (auto [i, dim] : llvm::enumerate(window)) {
    AffineExpr output = b.getAffineDimExpr(2 + i) * dim.stride;
    if (dim.kernel > 1) {
      output = output + b.getAffineDimExpr(next++) * dim.dilation;
      taps.push_back(dim.kernel);
    }
    exprs.push_back(output);
  }
  SmallVector<utils::IteratorType> iterators(next, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), 2 + spatial, utils::IteratorType::parallel);
  AffineMap xMap = AffineMap::get(next, 0, exprs, b.getContext());
  auto converted = [&](Builder1 &b, ValueRange e) { return convertScalar(b, e[0], elementTypeOf(x), element); };
  if (taps.empty())
    return b.map(x, xMap, shape, element, converted);
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, 2 + spatial));
  return b.reduce(x, {xMap, b.dims(next, result)}, iterators, shape, element, kind, converted, taps);
}

/// Where the maximum of each window lies in the flattened input: the first position in the window that has it.
static Value maximumPositions(LinalgBuilder &b, onnx::MaxPoolOp op, Value padded, Value maximum,
                              ArrayRef<WindowDim> window) {
  ArrayRef<int64_t> input = shapeOf(op.getX()), shape = shapeOf(op.getY());
  unsigned spatial = window.size(), loops = 2 + 2 * spatial;
  Type i32 = b.getI32Type();
  // Positions inside one picture, by dimension; column major makes the first dimension the fastest.
  SmallVector<int64_t> strides(spatial, 1);
  int64_t picture = 1;
  for (unsigned i = 0; i < spatial; ++i) {
    unsigned dim = op.getStorageOrder() ? i : spatial - 1 - i;
    strides[dim] = picture;
    picture *= window[dim].input;
  }
  SmallVector<int64_t> paddedSpatial(shapeOf(padded).drop_front(2)), taps;
  SmallVector<int32_t> places(1, 0);
  for (unsigned dim = 0; dim < spatial; ++dim) {
    SmallVector<int32_t> next;
    for (int32_t place : places)
      for (int64_t i = 0; i < paddedSpatial[dim]; ++i)
        next.push_back(place + int32_t((i - window[dim].before) * strides[dim]));
    places = std::move(next);
    taps.push_back(window[dim].kernel);
  }
  Value place = b.weight(paddedSpatial, places);
  Exprs xExprs = {b.getAffineDimExpr(0), b.getAffineDimExpr(1)}, placeExprs;
  for (unsigned i = 0; i < spatial; ++i) {
    AffineExpr at = b.getAffineDimExpr(2 + i) * window[i].stride + b.getAffineDimExpr(2 + spatial + i) * window[i].dilation;
    xExprs.push_back(at);
    placeExprs.push_back(at);
  }
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), 2 + spatial, utils::IteratorType::parallel);
  AffineMap result = b.dims(loops, llvm::to_vector(llvm::seq<int64_t>(0, 2 + spatial)));
  Value none = highestConstant(b, i32, false);
  Value inside = b.reduce({padded, maximum, place},
                          {AffineMap::get(loops, 0, xExprs, b.getContext()), result,
                           AffineMap::get(loops, 0, placeExprs, b.getContext()), result},
                          iterators, shape, i32, Reduction::Min,
                          [&](Builder1 &b, ValueRange e) -> Value {
                            return arith::SelectOp::create(b, isExtreme(b, e[0], e[1]), e[2], none);
                          },
                          taps);
  // The pictures before this one.
  SmallVector<int32_t> before;
  for (int64_t i = 0; i < input[0] * input[1]; ++i)
    before.push_back(int32_t(i * picture));
  Value first = b.weight(input.take_front(2), before);
  Value position = b.map({inside, first}, {b.identity(shape.size()), b.dims(shape.size(), {0, 1})}, shape, i32,
                         [](Builder1 &b, ValueRange e) -> Value { return arith::AddIOp::create(b, e[0], e[1]); });
  return b.convert(position, b.getI64Type());
}

static LogicalResult lowerMaxPool(onnx::MaxPoolOp op, LinalgBuilder &b, LoweringTable::Results &results) {
  Value x = op.getX(), y = op.getY();
  Type element = elementTypeOf(x);
  FailureOr<SmallVector<WindowDim>> window = windowOf(op, op.getKernelShape(), shapeOf(y));
  if (failed(window))
    return failure();
  x = padSpatial(b, x, *window, lowestConstant(b, element, element.isUnsignedInteger()));
  Value maximum = reduceWindows(b, x, *window, shapeOf(y), element, Reduction::Max);
  results.push_back(maximum);
  if (op.getIndices())
    results.push_back(op.getIndices().use_empty() ? Value() : maximumPositions(b, op, x, maximum, *window));
  return success();
}

/// How many taps of the window at `output` count: those inside the input, or inside the given padding too.
static int64_t countedTaps(const WindowDim &dim, int64_t output, bool includePad) {
  int64_t low = includePad ? -dim.before : 0, high = dim.input + (includePad ? dim.after : 0), count = 0;
  for (int64_t tap = 0; tap < dim.kernel; ++tap) {
    int64_t position = output * dim.stride + tap * dim.dilation - dim.before;
    count += position >= low && position < high;
  }
  return count;
}

static FailureOr<Value> lowerAveragePool(onnx::AveragePoolOp op, LinalgBuilder &b) {
  Value x = op.getX(), y = op.getY();
  Type element = elementTypeOf(x);
  FailureOr<SmallVector<WindowDim>> window = windowOf(op, op.getKernelShape(), shapeOf(y));
  if (failed(window))
    return failure();
  x = padSpatial(b, x, *window, scalarConstant(b, element, 0));
  Type wide = b.wideType(element);
  Value sum = reduceWindows(b, x, *window, shapeOf(y), wide, Reduction::Sum);
  // Every window's count, over the spatial dimensions.
  SmallVector<float> counts = {1.0f};
  for (const WindowDim &dim : *window) {
    SmallVector<float> next;
    for (float count : counts)
      for (int64_t output = 0; output < dim.output; ++output)
        next.push_back(count * float(countedTaps(dim, output, op.getCountIncludePad())));
    counts = std::move(next);
  }
  for (float &count : counts)
    count = std::max(count, 1.0f);
  if (llvm::all_equal(counts))
    return b.meanOf(sum, int64_t(counts[0]), element);
  Value divisors = b.weight(RankedTensorType::get(shapeOf(y).drop_front(2), b.getF32Type()), counts);
  return b.map({sum, b.convert(divisors, wide)}, shapeOf(y), element, [&](Builder1 &b, ValueRange e) {
    return convertScalar(b, arith::DivFOp::create(b, e[0], e[1]), wide, element);
  });
}

/// |x|^p or its inverse.
static Value power(LinalgBuilder &b, Value x, int64_t p, bool inverse) {
  return b.mapLike(x, [&](Builder1 &b, ValueRange e) -> Value {
    Value value = inverse ? e[0] : math::AbsFOp::create(b, e[0]).getResult();
    if (p == 1)
      return value;
    if (p == 2)
      return inverse ? math::SqrtOp::create(b, value).getResult() : arith::MulFOp::create(b, value, value).getResult();
    Value exponent = scalarConstant(b, value.getType(), inverse ? 1.0 / double(p) : double(p));
    return math::PowFOp::create(b, value, exponent);
  });
}

static FailureOr<Value> lowerLpPool(onnx::LpPoolOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX());
  int64_t p = op.getP();
  FailureOr<SmallVector<WindowDim>> window = windowOf(op, op.getKernelShape(), shapeOf(op.getY()));
  if (failed(window))
    return failure();
  if (p < 1)
    return op.emitOpError("expected p of at least 1 but got ") << p;
  Type wide = b.wideType(element);
  Value x = power(b, b.convert(op.getX(), wide), p, /*inverse=*/false);
  x = padSpatial(b, x, *window, scalarConstant(b, wide, 0));
  Value sum = reduceWindows(b, x, *window, shapeOf(op.getY()), wide, Reduction::Sum);
  return b.convert(power(b, sum, p, /*inverse=*/true), element);
}

static FailureOr<Value> lowerGlobalLpPool(onnx::GlobalLpPoolOp op, LinalgBuilder &b) {
  Type element = elementTypeOf(op.getX());
  int64_t p = op.getP();
  if (p < 1)
    return op.emitOpError("expected p of at least 1 but got ") << p;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, shapeOf(op.getX()).size()));
  Value x = power(b, b.convert(op.getX(), b.wideType(element)), p, /*inverse=*/false);
  Value y = power(b, b.reduce(x, axes, Reduction::Sum), p, /*inverse=*/true);
  return b.convert(b.reshape(y, shapeOf(op.getY())), element);
}

template <typename Op> static FailureOr<Value> lowerGlobalPool(Op op, LinalgBuilder &b) {
  Value x = op.getX();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, shapeOf(x).size()));
  if (std::is_same_v<Op, onnx::GlobalMaxPoolOp>)
    return b.reshape(b.reduce(x, axes, Reduction::Max), shapeOf(op.getY()));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  Value sum = b.sum(x, axes, [](Builder1 &, ValueRange e) { return e[0]; });
  return b.reshape(b.meanOf(sum, count, elementTypeOf(x)), shapeOf(op.getY()));
}

void addConvolutionLowerings(LoweringTable &table) {
  table.add(lowerConv);
  table.add(lowerConvTranspose);
  table.add(lowerMaxPool);
  table.add(lowerAveragePool);
  table.add(lowerLpPool);
  table.add(lowerGlobalLpPool);
  table.add(lowerGlobalPool<onnx::GlobalAveragePoolOp>);
  table.add(lowerGlobalPool<onnx::GlobalMaxPoolOp>);
}

} // namespace trn
