//===- Transforms.cpp - lazy layout changes of weights ---------------------===//
// Implements Transforms.h.
#include "compiler/Weights/Transforms.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstring>

using namespace mlir;

namespace trn {

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

WeightTransforms::WeightTransforms(ShapedType type)
    : sourceElement(type.getElementType()), resultElement(type.getElementType()) {
  int64_t stride = product(type.getShape());
  for (int64_t extent : type.getShape()) {
    stride = extent ? stride / extent : 0;
    dims.push_back({{extent, static_cast<unsigned>(axes.size()), 1}});
    axes.push_back({extent, stride, 0});
  }
  // Dimensions of one element that a reshape adds to a scalar need an axis to belong to.
  if (axes.empty())
    axes.push_back({1, 1, 0});
}

SmallVector<int64_t> WeightTransforms::shape() const {
  return llvm::map_to_vector(dims, [](const Dim &dim) {
    int64_t extent = 1;
    for (const Factor &factor : dim)
      extent *= factor.extent;
    return extent;
  });
}

int64_t WeightTransforms::elements() const { return product(shape()); }

void WeightTransforms::append(StringRef name, ArrayRef<int64_t> values) {
  history.push_back({name.str(), SmallVector<int64_t>(values)});
}

/// Makes one factor of two, if they advance along one axis without a gap, or along axes that are contiguous in the
/// source, the inner one covered exactly and nobody else's.
bool WeightTransforms::mergeFactors(const Factor &outer, Factor &inner) {
  if (outer.axis == inner.axis) {
    if (outer.step != inner.step * inner.extent)
      return false;
    inner.extent *= outer.extent;
    return true;
  }
  const Axis outerAxis = axes[outer.axis], innerAxis = axes[inner.axis];
  if (inner.step != 1 || inner.extent != innerAxis.extent || innerAxis.offset != 0 || outer.step != 1 ||
      outerAxis.stride != innerAxis.stride * innerAxis.extent)
    return false;
  // Elements are counted along the joined axis from now on, so no other factor may use the two.
  int64_t users = 0;
  for (const Dim &dim : dims)
    users += llvm::count_if(dim, [&](const Factor &factor) {
      return factor.extent != 1 && (factor.axis == outer.axis || factor.axis == inner.axis);
    });
  if (users > 2)
    return false;
  axes[outer.axis].offset = 0;
  inner = {outer.extent * inner.extent, static_cast<unsigned>(axes.size()), 1};
  axes.push_back({outerAxis.extent * innerAxis.extent, innerAxis.stride, outerAxis.offset * innerAxis.extent});
  return true;
}

/// Drops factors of one step and merges neighbours.
void WeightTransforms::simplify(Dim &dim) {
  Dim result;
  for (const Factor &factor : llvm::reverse(dim)) {
    if (factor.extent == 1)
      continue;
    if (result.empty() || !mergeFactors(factor, result.back()))
      result.push_back(factor);
  }
  std::reverse(result.begin(), result.end());
  dim = result;
}

LogicalResult WeightTransforms::reshape(ArrayRef<int64_t> newShape) {
  if (product(newShape) != elements() || llvm::any_of(newShape, [](int64_t extent) { return extent <= 0; }))
    return failure();
  // All factors in row-major order; neighbours merge across the old dimensions before the new ones cut them.
  Dim flat;
  for (const Dim &dim : dims)
    flat.append(dim.begin(), dim.end());
  simplify(flat);
  SmallVector<Dim> result;
  std::reverse(flat.begin(), flat.end());
  for (int64_t extent : newShape) {
    Dim dim;
    while (extent > 1) {
      Factor factor = flat.pop_back_val();
      int64_t taken = std::min(extent, factor.extent);
      if (factor.extent % taken != 0 || extent % taken != 0)
        return failure();
      // The slowest `taken` steps of the factor; the rest goes to the dimensions behind.
      int64_t rest = factor.extent / taken;
      dim.push_back({taken, factor.axis, factor.step * rest});
      if (rest > 1)
        flat.push_back({rest, factor.axis, factor.step});
      extent /= taken;
    }
    result.push_back(dim);
  }
  dims = result;
  append("reshape", newShape);
  return success();
}

LogicalResult WeightTransforms::transpose(ArrayRef<int64_t> permutation) {
  if (permutation.size() != dims.size())
    return failure();
  SmallVector<Dim> result;
  SmallVector<bool> seen(dims.size());
  for (int64_t from : permutation) {
    if (from < 0 || from >= static_cast<int64_t>(dims.size()) || seen[from])
      return failure();
    seen[from] = true;
    result.push_back(dims[from]);
  }
  dims = result;
  append("transpose", permutation);
  return success();
}

LogicalResult WeightTransforms::pad(ArrayRef<int64_t> high) {
  if (high.size() != dims.size())
    return failure();
  for (auto [dim, zeros] : llvm::zip_equal(dims, high)) {
    if (zeros < 0 || (zeros > 0 && dim.size() != 1))
      return failure();
    if (zeros == 0)
      continue;
    // The elements behind the last one must be behind the last one of the axis, too, or they are data.
    Factor &factor = dim[0];
    const Axis &axis = axes[factor.axis];
    if (axis.offset + factor.extent * factor.step < axis.extent)
      return failure();
    factor.extent += zeros;
  }
  append("pad", high);
  return success();
}

LogicalResult WeightTransforms::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (offsets.size() != dims.size() || sizes.size() != dims.size() || strides.size() != dims.size())
    return failure();
  SmallVector<int64_t> extents = shape();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (offsets[i] < 0 || sizes[i] < 1 || strides[i] < 1 || offsets[i] + (sizes[i] - 1) * strides[i] >= extents[i])
      return failure();
    bool whole = sizes[i] == extents[i];
    if (!whole && dims[i].size() != 1)
      return failure();
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (sizes[i] == extents[i])
      continue;
    Factor &factor = dims[i][0];
    Axis &axis = axes[factor.axis];
    axis.offset += offsets[i] * factor.step;
    factor.extent = sizes[i];
    factor.step *= strides[i];
    // What the slice cut off is gone: zeros may follow its last element.
    int64_t users = 0;
    for (const Dim &dim : dims)
      users += llvm::count_if(dim, [&](const Factor &other) { return other.axis == factor.axis; });
    if (users == 1)
      axis.extent = std::min(axis.extent, axis.offset + (sizes[i] - 1) * factor.step + 1);
  }
  history.push_back({"slice_offsets", SmallVector<int64_t>(offsets)});
  history.push_back({"slice_sizes", SmallVector<int64_t>(sizes)});
  history.push_back({"slice_strides", SmallVector<int64_t>(strides)});
  return success();
}

LogicalResult WeightTransforms::cast(Type elementType) {
  if (!isa<FloatType>(elementType) || !isa<FloatType>(resultElement) || resultElement != sourceElement)
    return failure();
  resultElement = elementType;
  history.push_back({"cast", {}});
  return success();
}

ArrayAttr WeightTransforms::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> steps;
  for (size_t i = 0; i < history.size(); ++i) {
    auto entry = [&](size_t index) {
      return builder.getNamedAttr(history[index].first, builder.getDenseI64ArrayAttr(history[index].second));
    };
    if (history[i].first == "cast") {
      steps.push_back(builder.getDictionaryAttr(builder.getNamedAttr("cast", TypeAttr::get(resultElement))));
    } else if (history[i].first == "slice_offsets") {
      steps.push_back(builder.getDictionaryAttr({entry(i), entry(i + 1), entry(i + 2)}));
      i += 2;
    } else {
      steps.push_back(builder.getDictionaryAttr(entry(i)));
    }
  }
  return builder.getArrayAttr(steps);
}

FailureOr<WeightTransforms> WeightTransforms::get(ShapedType source, ArrayAttr attribute,
                                                  llvm::function_ref<InFlightDiagnostic()> emitError) {
  WeightTransforms result(source);
  ArrayRef<Attribute> steps = attribute ? attribute.getValue() : ArrayRef<Attribute>();
  for (size_t index = 0; index < steps.size(); ++index) {
    Attribute step = steps[index];
    auto fail = [&](const Twine &why) { return emitError() << "transform #" << index << " " << step << ": " << why; };
    auto dictionary = dyn_cast<DictionaryAttr>(step);
    if (!dictionary || dictionary.empty())
      return fail("expected a dictionary with 'reshape', 'transpose', 'pad', 'slice_offsets' or 'cast'");
    auto list = [&](StringRef name) {
      auto values = dictionary.getAs<DenseI64ArrayAttr>(name);
      return values ? values.asArrayRef() : ArrayRef<int64_t>();
    };
    LogicalResult applied = failure();
    if (dictionary.contains("reshape"))
      applied = result.reshape(list("reshape"));
    else if (dictionary.contains("transpose"))
      applied = result.transpose(list("transpose"));
    else if (dictionary.contains("pad"))
      applied = result.pad(list("pad"));
    else if (dictionary.contains("slice_offsets"))
      applied = result.slice(list("slice_offsets"), list("slice_sizes"), list("slice_strides"));
    else if (auto type = dictionary.getAs<TypeAttr>("cast"))
      applied = result.cast(type.getValue());
    if (failed(applied))
      return fail("expected a transform that fits the shape before it");
  }
  return result;
}

/// Rounds one element of `from` to `to`.
static void castElement(const char *source, FloatType from, FloatType to, char *out) {
  unsigned bits = from.getWidth();
  uint64_t raw = 0;
  std::memcpy(&raw, source, bits / 8);
  llvm::APFloat value(from.getFloatSemantics(), llvm::APInt(bits, raw));
  bool losesInfo;
  value.convert(to.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t result = value.bitcastToAPInt().getZExtValue();
  std::memcpy(out, &result, to.getWidth() / 8);
}

LogicalResult WeightTransforms::materialize(ArrayRef<char> source, int64_t begin, int64_t count, char *out) const {
  auto bytesOf = [](Type type) -> int64_t { return (type.getIntOrFloatBitWidth() + 7) / 8; };
  int64_t sourceBytes = bytesOf(sourceElement), resultBytes = bytesOf(resultElement);
  if (begin < 0 || count < 0 || begin + count > elements())
    return failure();
  bool casts = sourceElement != resultElement;
  // Row-major order of the result is row-major order of all factors.
  Dim factors;
  for (const Dim &dim : dims)
    factors.append(dim.begin(), dim.end());
  if (factors.empty())
    factors.push_back({1, 0, 0});
  const Factor &innermost = factors.back();
  SmallVector<int64_t> position(axes.size()), index(factors.size());
  for (int64_t at = begin, end = begin + count; at < end;) {
    int64_t rest = at;
    for (size_t i = factors.size(); i-- > 0; rest /= factors[i].extent)
      index[i] = rest % factors[i].extent;
    // Everything but the innermost factor is fixed for the rest of its run.
    for (size_t axis = 0; axis < axes.size(); ++axis)
      position[axis] = axes[axis].offset;
    for (size_t i = 0; i < factors.size(); ++i)
      position[factors[i].axis] += index[i] * factors[i].step;
    int64_t length = std::min(end - at, innermost.extent - index.back());
    bool padding = false;
    int64_t offset = 0;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      padding |= axis != innermost.axis && position[axis] >= axes[axis].extent;
      offset += position[axis] * axes[axis].stride;
    }
    const Axis &innerAxis = axes[innermost.axis];
    int64_t step = innermost.step, valid = length;
    if (padding)
      valid = 0;
    else if (step > 0)
      valid = std::clamp<int64_t>((innerAxis.extent - position[innermost.axis] + step - 1) / step, 0, length);
    int64_t stride = step * innerAxis.stride;
    if (valid > 0 && (offset + (valid - 1) * stride + 1) * sourceBytes > static_cast<int64_t>(source.size()))
      return failure();
    const char *from = source.data() + offset * sourceBytes;
    if (!casts && stride == 1) {
      std::memcpy(out, from, valid * sourceBytes);
    } else {
      for (int64_t i = 0; i < valid; ++i) {
        const char *element = from + i * stride * sourceBytes;
        if (casts)
          castElement(element, llvm::cast<FloatType>(sourceElement), llvm::cast<FloatType>(resultElement),
                      out + i * resultBytes);
        else
          std::memcpy(out + i * resultBytes, element, sourceBytes);
      }
    }
    std::memset(out + valid * resultBytes, 0, (length - valid) * resultBytes);
    out += length * resultBytes;
    at += length;
  }
  return success();
}

} // namespace trn
