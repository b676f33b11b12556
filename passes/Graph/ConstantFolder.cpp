//===- ConstantFolder.cpp - the value of an operation on constants --------===//
//
// Owns the kernels of constant folding. They are written for clarity: constants are small, or folded once.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/ConstantFolder.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"
#include "dialects/ONNX/Ops/Reduction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace trn;
using namespace trn::onnx;

namespace {
using Sizes = SmallVector<int64_t, 6>;

/// A function of up to three reals, and of as many integers (false: undefined, do not fold).
struct ScalarFunction {
  double (*real)(const double *) = nullptr;
  bool (*integer)(const int64_t *, int64_t &) = nullptr;
  bool signedOnly = false; ///< the integer form is wrong for 64-bit unsigned values
};

int64_t wrap(uint64_t value) { return int64_t(value); }

const ScalarFunction *scalarFunction(StringRef name) {
  using D = const double *;
  using I = const int64_t *;
  static const llvm::StringMap<ScalarFunction> table = {
      {"Add", {[](D x) { return x[0] + x[1]; }, [](I x, int64_t &y) { return y = wrap(uint64_t(x[0]) + x[1]), true; }}},
      {"Sub", {[](D x) { return x[0] - x[1]; }, [](I x, int64_t &y) { return y = wrap(uint64_t(x[0]) - x[1]), true; }}},
      {"Mul", {[](D x) { return x[0] * x[1]; }, [](I x, int64_t &y) { return y = wrap(uint64_t(x[0]) * x[1]), true; }}},
      {"Div",
       {[](D x) { return x[0] / x[1]; },
        [](I x, int64_t &y) {
          if (x[1] == 0 || (x[0] == INT64_MIN && x[1] == -1))
            return false;
          return y = x[0] / x[1], true;
        },
        true}},
      {"Pow", {[](D x) { return std::pow(x[0], x[1]); }, nullptr}},
      {"Min",
       {[](D x) { return std::isnan(x[0]) || x[0] < x[1] ? x[0] : x[1]; },
        [](I x, int64_t &y) { return y = std::min(x[0], x[1]), true; }, true}},
      {"Max",
       {[](D x) { return std::isnan(x[0]) || x[0] > x[1] ? x[0] : x[1]; },
        [](I x, int64_t &y) { return y = std::max(x[0], x[1]), true; }, true}},
      {"Equal", {[](D x) { return double(x[0] == x[1]); }, [](I x, int64_t &y) { return y = x[0] == x[1], true; }}},
      {"Less", {[](D x) { return double(x[0] < x[1]); }, [](I x, int64_t &y) { return y = x[0] < x[1], true; }, true}},
      {"Greater",
       {[](D x) { return double(x[0] > x[1]); }, [](I x, int64_t &y) { return y = x[0] > x[1], true; }, true}},
      {"LessOrEqual",
       {[](D x) { return double(x[0] <= x[1]); }, [](I x, int64_t &y) { return y = x[0] <= x[1], true; }, true}},
      {"GreaterOrEqual",
       {[](D x) { return double(x[0] >= x[1]); }, [](I x, int64_t &y) { return y = x[0] >= x[1], true; }, true}},
      {"And", {nullptr, [](I x, int64_t &y) { return y = x[0] && x[1], true; }}},
      {"Or", {nullptr, [](I x, int64_t &y) { return y = x[0] || x[1], true; }}},
      {"Xor", {nullptr, [](I x, int64_t &y) { return y = x[0] != x[1], true; }}},
      {"Not", {nullptr, [](I x, int64_t &y) { return y = !x[0], true; }}},
      {"Where",
       {[](D x) { return x[0] != 0 ? x[1] : x[2]; }, [](I x, int64_t &y) { return y = x[0] ? x[1] : x[2], true; }}},
      {"Neg", {[](D x) { return -x[0]; }, [](I x, int64_t &y) { return y = wrap(0 - uint64_t(x[0])), true; }}},
      {"Abs",
       {[](D x) { return std::fabs(x[0]); },
        [](I x, int64_t &y) { return y = x[0] < 0 ? wrap(0 - uint64_t(x[0])) : x[0], true; }, true}},
      {"Sign",
       {[](D x) { return double((x[0] > 0) - (x[0] < 0)); },
        [](I x, int64_t &y) { return y = (x[0] > 0) - (x[0] < 0), true; }, true}},
      {"Relu",
       {[](D x) { return x[0] < 0 ? 0.0 : x[0]; }, [](I x, int64_t &y) { return y = std::max<int64_t>(x[0], 0), true; },
        true}},
      {"Sqrt", {[](D x) { return std::sqrt(x[0]); }, nullptr}},
      {"Reciprocal", {[](D x) { return 1.0 / x[0]; }, nullptr}},
      {"Exp", {[](D x) { return std::exp(x[0]); }, nullptr}},
      {"Log", {[](D x) { return std::log(x[0]); }, nullptr}},
      {"Floor", {[](D x) { return std::floor(x[0]); }, nullptr}},
      {"Ceil", {[](D x) { return std::ceil(x[0]); }, nullptr}},
      {"Round", {[](D x) { return std::nearbyint(x[0]); }, nullptr}},
      {"Erf", {[](D x) { return std::erf(x[0]); }, nullptr}},
      {"Tanh", {[](D x) { return std::tanh(x[0]); }, nullptr}},
      {"Sigmoid", {[](D x) { return 1.0 / (1.0 + std::exp(-x[0])); }, nullptr}},
      {"Sin", {[](D x) { return std::sin(x[0]); }, nullptr}},
      {"Cos", {[](D x) { return std::cos(x[0]); }, nullptr}},
  };
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

/// Calls `visit` with each index of `shape`, in order.
void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> visit) {
  Sizes index(shape.size(), 0);
  if (llvm::is_contained(shape, 0))
    return;
  while (true) {
    visit(index);
    int64_t dim = int64_t(shape.size()) - 1;
    for (; dim >= 0; --dim) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

Sizes stridesOf(ArrayRef<int64_t> shape) {
  Sizes strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

int64_t linear(ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
  int64_t sum = 0;
  for (auto [i, stride] : llvm::zip(index, strides))
    sum += i * stride;
  return sum;
}

class Folder {
public:
  Folder(Operation *op, int64_t maxElements) : op(op), maxElements(maxElements) {}

  SmallVector<ElementsAttr> run() {
    if (auto shape = dyn_cast<ShapeOp>(op))
      return one(foldShape(shape));
    if (auto size = dyn_cast<SizeOp>(op))
      return one(foldSize(size));
    if (auto constant = dyn_cast<ConstantOfShapeOp>(op))
      return one(foldConstantOfShape(constant));
    if (auto eye = dyn_cast<EyeLikeOp>(op))
      return one(foldEye(eye));
    for (Value operand : op->getOperands()) {
      std::optional<Constant> constant = Constant::get(operand);
      if (!constant)
        return {};
      operands.push_back(*constant);
    }
    if (operands.empty())
      return {};
    if (auto range = dyn_cast<RangeOp>(op))
      return one(foldRange(range));
    if (!allowed())
      return {};
    if (auto split = dyn_cast<SplitOp>(op))
      return foldSplit(split);
    return one(foldSingle());
  }

private:
  static SmallVector<ElementsAttr> one(ElementsAttr value) {
    return value ? SmallVector<ElementsAttr>{value} : SmallVector<ElementsAttr>{};
  }

  RankedTensorType type(unsigned result = 0) const {
    auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
    return type && type.hasStaticShape() ? type : RankedTensorType();
  }

  /// Static results that do not grow the module.
  bool allowed() const {
    int64_t limit = maxElements;
    bool splats = true;
    for (const Constant &operand : operands) {
      limit = std::max(limit, operand.isSplat() ? 1 : operand.size());
      splats &= operand.isSplat();
    }
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (!type(i) || elementBytes(type(i).getElementType()) == 0 || (!splats && type(i).getNumElements() > limit))
        return false;
    return true;
  }

  ElementsAttr foldSingle() {
    StringRef name = op->getName().stripDialect();
    if (scalarFunction(name) || name == "Sum")
      return foldElementwise(name);
    return llvm::TypeSwitch<Operation *, ElementsAttr>(op)
        .Case<ReshapeOp, SqueezeOp, UnsqueezeOp, FlattenOp, IdentityOp>(
            [&](Operation *) { return reshapeConstant(operands[0].attribute(), type().getShape()); })
        .Case([&](CastOp cast) { return foldCast(cast); })
        .Case([&](ClipOp clip) { return foldClip(clip); })
        .Case([&](TransposeOp transpose) { return foldTranspose(transpose); })
        .Case([&](SliceOp slice) { return foldSlice(slice); })
        .Case([&](GatherOp gather) { return foldGather(gather); })
        .Case([&](ConcatOp concat) { return foldConcat(concat); })
        .Case([&](PadOp pad) { return foldPad(pad); })
        .Case<ExpandOp, TileOp>([&](Operation *) { return foldRepeat(); })
        .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
            [&](Operation *) { return foldReduce(); })
        .Default([](Operation *) { return ElementsAttr(); });
  }

  //===--------------------------------------------------------------------===//
  // Elementwise
  //===--------------------------------------------------------------------===//

  ElementsAttr foldElementwise(StringRef name) {
    const ScalarFunction *function = scalarFunction(name == "Sum" ? "Add" : name);
    // Where decides by its second operand whether values are real.
    Type in = operands[name == "Where" ? 1 : 0].elementType(), out = type().getElementType();
    bool real = isa<FloatType>(in);
    if (real ? !function->real : !function->integer)
      return {};
    if (!real && function->signedOnly && in.isUnsignedInteger(64))
      return {};
    bool chain = name == "Sum" || name == "Min" || name == "Max"; // variadic: fold from the left
    unsigned width = elementBytes(out);
    bool good = true;
    return compute([&](ArrayRef<int64_t> at, char *to) {
      double reals[3] = {0, 0, 0};
      int64_t integers[3] = {0, 0, 0}, result = 0;
      size_t count = operands.size();
      for (size_t i = 0; i < count && i < (chain ? 1 : 3); ++i)
        real ? void(reals[i] = operands[i].real(at[i])) : void(integers[i] = operands[i].integer(at[i]));
      if (!chain) {
        if (real)
          return writeReal(out, function->real(reals), to), true;
        good = function->integer(integers, result);
        return writeInteger(out, result, to), good;
      }
      for (size_t i = 1; i < count; ++i) {
        if (real) {
          reals[1] = operands[i].real(at[i]);
          reals[0] = function->real(reals);
          // Round as a chain of operations would.
          char rounded[8];
          writeReal(out, reals[0], rounded);
          reals[0] = readReal(out, rounded);
        } else {
          integers[1] = operands[i].integer(at[i]);
          if (!function->integer(integers, integers[0]))
            return false;
        }
      }
      real ? writeReal(out, reals[0], to) : writeInteger(out, integers[0], to);
      (void)width;
      return true;
    });
  }

  /// Runs `element` for each element of the result (once when all operands are splats), with each operand's position.
  ElementsAttr compute(function_ref<bool(ArrayRef<int64_t>, char *)> element) {
    RankedTensorType result = type();
    size_t width = elementBytes(result.getElementType());
    if (result.getNumElements() == 0)
      return {};
    if (llvm::all_of(operands, [](const Constant &operand) { return operand.isSplat() || operand.size() == 1; })) {
      std::vector<char> bytes(width);
      return element(Sizes(operands.size(), 0), bytes.data()) ? makeConstant(result, std::move(bytes)) : ElementsAttr();
    }
    SmallVector<Sizes> strides;
    for (const Constant &operand : operands) {
      ArrayRef<int64_t> shape = operand.type().getShape();
      Sizes own = stridesOf(shape), aligned(result.getRank() - shape.size(), 0);
      for (auto [size, stride] : llvm::zip(shape, own))
        aligned.push_back(size == 1 ? 0 : stride);
      strides.push_back(aligned);
    }
    std::vector<char> bytes(size_t(result.getNumElements()) * width);
    char *to = bytes.data();
    bool good = true;
    Sizes at(operands.size());
    forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
      for (auto [position, stride] : llvm::zip(at, strides))
        position = linear(index, stride);
      good = good && element(at, to);
      to += width;
    });
    return good ? makeConstant(result, std::move(bytes)) : ElementsAttr();
  }

  ElementsAttr foldCast(CastOp cast) {
    Type in = operands[0].elementType(), out = cast.getTo();
    // Rounding and saturation of eight-bit floats have modes of their own.
    if (elementBytes(out) == 0 || (isa<FloatType>(out) && out.getIntOrFloatBitWidth() < 16))
      return {};
    return compute([&](ArrayRef<int64_t> at, char *to) {
      if (out.isInteger(1))
        writeInteger(out, isa<FloatType>(in) ? operands[0].real(at[0]) != 0 : operands[0].integer(at[0]) != 0, to);
      else if (isa<FloatType>(in) || (in.isUnsignedInteger(64) && isa<FloatType>(out)))
        writeReal(out, operands[0].real(at[0]), to);
      else
        writeInteger(out, operands[0].integer(at[0]), to);
      return true;
    });
  }

  ElementsAttr foldClip(ClipOp clip) {
    Type element = type().getElementType();
    if (operands.size() != 1 || !isa<FloatType>(element))
      return {};
    auto bound = [](std::optional<TypedAttr> attribute, double open) {
      return attribute ? cast<FloatAttr>(*attribute).getValueAsDouble() : open;
    };
    double low = bound(clip.getMin(), -HUGE_VAL), high = bound(clip.getMax(), HUGE_VAL);
    return compute([&](ArrayRef<int64_t> at, char *to) {
      double value = operands[0].real(at[0]);
      value = value < low ? low : value;
      writeReal(element, value > high ? high : value, to);
      return true;
    });
  }

  //===--------------------------------------------------------------------===//
  // Movement
  //===--------------------------------------------------------------------===//

  /// The result whose element at an index is the first operand's at `source(index)`.
  ElementsAttr move(RankedTensorType result, function_ref<int64_t(ArrayRef<int64_t>)> source) {
    const Constant &from = operands[0];
    size_t width = elementBytes(result.getElementType());
    if (from.isSplat() && result.getNumElements() > 0)
      return makeConstant(result, std::vector<char>(from.bytes().begin(), from.bytes().end()));
    std::vector<char> bytes;
    bytes.reserve(size_t(result.getNumElements()) * width);
    bool good = true;
    forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
      int64_t at = source(index);
      good &= at >= 0 && at < from.size();
      ArrayRef<char> element = good ? from.bytes().slice(at * width, width) : from.bytes().take_front(width);
      bytes.insert(bytes.end(), element.begin(), element.end());
    });
    return good ? makeConstant(result, std::move(bytes)) : ElementsAttr();
  }

  Sizes sourceStrides() const { return stridesOf(operands[0].type().getShape()); }

  ElementsAttr foldTranspose(TransposeOp transpose) {
    Sizes strides = sourceStrides(), permuted;
    ArrayRef<int64_t> perm = *transpose.getPerm();
    for (int64_t axis : perm)
      permuted.push_back(strides[axis]);
    return move(type(), [&](ArrayRef<int64_t> index) { return linear(index, permuted); });
  }

  ElementsAttr foldSlice(SliceOp slice) {
    if (operands.size() != 1)
      return {};
    Sizes strides = sourceStrides();
    int64_t base = 0;
    for (auto [axis, start, step] : llvm::zip(*slice.getAxes(), *slice.getStarts(), *slice.getSteps())) {
      base += start * strides[axis];
      strides[axis] *= step;
    }
    return move(type(), [&](ArrayRef<int64_t> index) { return base + linear(index, strides); });
  }

  ElementsAttr foldGather(GatherOp gather) {
    int64_t axis = gather.getAxis(), size = operands[0].type().getDimSize(axis);
    int64_t indexRank = operands[1].type().getRank();
    Sizes strides = sourceStrides(), indexStrides = stridesOf(operands[1].type().getShape());
    return move(type(), [&](ArrayRef<int64_t> index) -> int64_t {
      int64_t chosen = operands[1].integer(linear(index.slice(axis, indexRank), indexStrides));
      chosen = chosen < 0 ? chosen + size : chosen;
      if (chosen < 0 || chosen >= size)
        return -1;
      Sizes source(index.take_front(axis));
      source.push_back(chosen);
      source.append(index.begin() + axis + indexRank, index.end());
      return linear(source, strides);
    });
  }

  ElementsAttr foldConcat(ConcatOp concat) {
    RankedTensorType result = type();
    int64_t axis = concat.getAxis();
    size_t width = elementBytes(result.getElementType());
    Sizes strides = stridesOf(result.getShape());
    std::vector<char> bytes(size_t(result.getNumElements()) * width);
    int64_t offset = 0;
    for (const Constant &operand : operands) {
      int64_t i = 0;
      forEachIndex(operand.type().getShape(), [&](ArrayRef<int64_t> index) {
        const char *from = operand.bytes().data() + (operand.isSplat() ? 0 : i++ * width);
        std::memcpy(bytes.data() + (linear(index, strides) + offset * strides[axis]) * width, from, width);
      });
      offset += operand.type().getDimSize(axis);
    }
    return makeConstant(result, std::move(bytes));
  }

  SmallVector<ElementsAttr> foldSplit(SplitOp split) {
    SmallVector<ElementsAttr> results;
    if (operands.size() != 1 || !split.getSplit())
      return {};
    Sizes strides = sourceStrides();
    int64_t offset = 0;
    for (auto [i, size] : llvm::enumerate(*split.getSplit())) {
      int64_t base = offset * strides[split.getAxis()];
      results.push_back(move(type(i), [&](ArrayRef<int64_t> index) { return base + linear(index, strides); }));
      offset += size;
    }
    return results;
  }

  ElementsAttr foldPad(PadOp pad) {
    if (operands.size() != 1 || pad.getMode() != "constant" || !pad.getPads())
      return {};
    RankedTensorType result = type();
    Type element = result.getElementType();
    size_t width = elementBytes(element);
    std::vector<char> fill(width);
    if (auto value = dyn_cast_or_null<FloatAttr>(pad.getValueAttr()))
      writeReal(element, value.getValueAsDouble(), fill.data());
    else if (auto value = dyn_cast_or_null<IntegerAttr>(pad.getValueAttr()))
      writeInteger(element, value.getValue().getSExtValue(), fill.data());
    ArrayRef<int64_t> pads = *pad.getPads(), shape = operands[0].type().getShape();
    Sizes strides = sourceStrides();
    std::vector<char> bytes;
    forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
      int64_t at = 0;
      bool inside = true;
      for (size_t i = 0; i < index.size(); ++i) {
        int64_t source = index[i] - pads[i];
        inside &= source >= 0 && source < shape[i];
        at += source * strides[i];
      }
      const char *from = inside ? operands[0].bytes().data() + (operands[0].isSplat() ? 0 : at * width) : fill.data();
      bytes.insert(bytes.end(), from, from + width);
    });
    return makeConstant(result, std::move(bytes));
  }

  /// Expand and Tile: the source index is the result's, modulo the source's size.
  ElementsAttr foldRepeat() {
    ArrayRef<int64_t> shape = operands[0].type().getShape();
    if (operands.size() != 1)
      return {};
    Sizes strides = sourceStrides();
    size_t lead = type().getRank() - shape.size();
    return move(type(), [&](ArrayRef<int64_t> index) {
      int64_t at = 0;
      for (auto [i, size, stride] : llvm::zip(index.drop_front(lead), shape, strides))
        at += i % size * stride;
      return at;
    });
  }

  //===--------------------------------------------------------------------===//
  // From shapes
  //===--------------------------------------------------------------------===//

  ElementsAttr foldShape(ShapeOp shape) {
    auto x = dyn_cast<RankedTensorType>(shape.getX().getType());
    if (!x || !shape.getEnd())
      return {};
    int64_t start = shape.getStart(), end = *shape.getEnd();
    ArrayRef<int64_t> sizes = start < end ? x.getShape().slice(start, end - start) : ArrayRef<int64_t>();
    if (llvm::is_contained(sizes, ShapedType::kDynamic))
      return {};
    return makeIntegers(RankedTensorType::get({int64_t(sizes.size())}, IntegerType::get(op->getContext(), 64)), sizes);
  }

  ElementsAttr foldSize(SizeOp size) {
    auto x = dyn_cast<RankedTensorType>(size.getX().getType());
    if (!x || !x.hasStaticShape())
      return {};
    return makeIntegers(RankedTensorType::get({}, IntegerType::get(op->getContext(), 64)), {x.getNumElements()});
  }

  ElementsAttr foldConstantOfShape(ConstantOfShapeOp constant) {
    if (!type() || type().getNumElements() == 0)
      return type() ? makeConstant(type(), {}) : ElementsAttr();
    std::vector<char> bytes(elementBytes(type().getElementType()));
    if (constant.getValue()) {
      std::optional<Constant> value = Constant::get(*constant.getValue());
      if (!value)
        return {};
      bytes.assign(value->bytes().begin(), value->bytes().end());
    }
    return makeConstant(type(), std::move(bytes));
  }

  ElementsAttr foldEye(EyeLikeOp eye) {
    if (!type() || type().getNumElements() > maxElements)
      return {};
    Type element = type().getElementType();
    int64_t width = elementBytes(element), columns = type().getDimSize(1);
    std::vector<char> bytes(size_t(type().getNumElements()) * width);
    for (int64_t row = 0; row < type().getDimSize(0); ++row) {
      int64_t column = row + int64_t(eye.getK());
      if (column >= 0 && column < columns)
        writeInteger(element, 1, bytes.data() + (row * columns + column) * width);
    }
    return makeConstant(type(), std::move(bytes));
  }

  ElementsAttr foldRange(RangeOp range) {
    Type element = operands[0].elementType();
    size_t width = elementBytes(element);
    bool real = isa<FloatType>(element);
    if (llvm::any_of(operands, [](const Constant &operand) { return operand.size() != 1; }))
      return {};
    double start = operands[0].real(0), limit = operands[1].real(0), delta = operands[2].real(0);
    double count = std::max(0.0, std::ceil((limit - start) / delta));
    if (!(count <= double(maxElements)))
      return {};
    std::vector<char> bytes(size_t(count) * width);
    for (int64_t i = 0; i < int64_t(count); ++i) {
      if (real)
        writeReal(element, start + double(i) * delta, bytes.data() + i * width);
      else
        writeInteger(element, wrap(uint64_t(operands[0].integer(0)) + uint64_t(i) * operands[2].integer(0)),
                     bytes.data() + i * width);
    }
    return makeConstant(RankedTensorType::get({int64_t(count)}, element), std::move(bytes));
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  ElementsAttr foldReduce() {
    if (operands.size() != 1 || operands[0].size() == 0)
      return {};
    RankedTensorType result = type();
    Type element = result.getElementType();
    StringRef name = op->getName().stripDialect();
    bool real = isa<FloatType>(element), mean = name == "ReduceMean";
    const ScalarFunction *combine = scalarFunction(name == "ReduceProd"  ? "Mul"
                                                   : name == "ReduceMax" ? "Max"
                                                   : name == "ReduceMin" ? "Min"
                                                                         : "Add");
    if ((!real && (mean || (combine->signedOnly && element.isUnsignedInteger(64)))))
      return {};
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
    ArrayRef<int64_t> shape = operands[0].type().getShape();
    // Reduced dimensions do not move the position in the result.
    Sizes kept;
    for (auto [i, size] : llvm::enumerate(shape))
      kept.push_back(llvm::is_contained(axes, int64_t(i)) ? 1 : size);
    Sizes strides = stridesOf(kept);
    for (int64_t axis : axes)
      strides[axis] = 0;
    int64_t count = result.getNumElements();
    std::vector<double> reals(real ? count : 0);
    std::vector<int64_t> integers(real ? 0 : count);
    std::vector<bool> seen(count);
    int64_t next = 0;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      int64_t at = linear(index, strides), i = next++;
      if (real) {
        double pair[2] = {seen[at] ? reals[at] : 0, operands[0].real(i)};
        reals[at] = seen[at] ? combine->real(pair) : pair[1];
      } else {
        int64_t pair[2] = {seen[at] ? integers[at] : 0, operands[0].integer(i)};
        integers[at] = pair[1];
        if (seen[at])
          (void)combine->integer(pair, integers[at]);
      }
      seen[at] = true;
    });
    size_t width = elementBytes(element);
    std::vector<char> bytes(size_t(count) * width);
    for (int64_t i = 0; i < count; ++i) {
      if (real)
        writeReal(element, mean ? reals[i] / double(operands[0].size() / count) : reals[i], bytes.data() + i * width);
      else
        writeInteger(element, integers[i], bytes.data() + i * width);
    }
    return makeConstant(result, std::move(bytes));
  }

  Operation *op;
  int64_t maxElements;
  SmallVector<Constant> operands;
};
} // namespace

SmallVector<ElementsAttr> trn::foldConstants(Operation *op, int64_t maxElements) {
  SmallVector<ElementsAttr> results = Folder(op, maxElements).run();
  return llvm::is_contained(results, ElementsAttr()) ? SmallVector<ElementsAttr>{} : results;
}
