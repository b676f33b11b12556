//===- Transforms.cpp - lazy layout changes of weights ---------------------===//
// Implements Transforms.h.
#include "compiler/Weights/Transforms.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
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
    dims.push_back({extent, static_cast<unsigned>(axes.size()), 1});
    axes.push_back({extent, stride, 0});
  }
  // Dimensions of one element that a reshape adds to a scalar need an axis to belong to.
  if (axes.empty())
    axes.push_back({1, 1, 0});
}

SmallVector<int64_t> WeightTransforms::shape() const {
  return llvm::map_to_vector(dims, [](const Dim &dim) { return dim.extent; });
}

int64_t WeightTransforms::elements() const { return product(shape()); }

void WeightTransforms::append(StringRef name, ArrayRef<int64_t> values) {
  history.push_back({name.str(), SmallVector<int64_t>(values)});
}

/// One dimension for several: they advance along one axis without a gap, or along axes that are contiguous in the
/// source and covered exactly.
FailureOr<WeightTransforms::Dim> WeightTransforms::mergeDims(ArrayRef<Dim> merged) {
  Dim result = merged.back();
  for (const Dim &outer : llvm::reverse(merged.drop_back())) {
    if (outer.extent == 1)
      continue;
    if (result.extent == 1) {
      result = outer;
      continue;
    }
    Axis &inner = axes[result.axis];
    if (outer.axis == result.axis) {
      if (outer.step != result.step * result.extent)
        return failure();
      result.extent *= outer.extent;
      continue;
    }
    bool innerIsWhole = result.step == 1 && result.extent == inner.extent && inner.offset == 0;
    const Axis &outerAxis = axes[outer.axis];
    if (!innerIsWhole || outer.step != 1 || outerAxis.stride != inner.stride * inner.extent)
      return failure();
    // No other dimension may use the two axes: their elements are counted along the new one from now on.
    int64_t users = llvm::count_if(
        dims, [&](const Dim &dim) { return dim.extent != 1 && (dim.axis == outer.axis || dim.axis == result.axis); });
    if (users > static_cast<int64_t>(merged.size()))
      return failure();
    Axis joined{outerAxis.extent * inner.extent, inner.stride, outerAxis.offset * inner.extent};
    axes[outer.axis].offset = 0;
    result = {outer.extent * result.extent, static_cast<unsigned>(axes.size()), 1};
    axes.push_back(joined);
  }
  return result;
}

LogicalResult WeightTransforms::reshape(ArrayRef<int64_t> newShape) {
  SmallVector<int64_t> oldShape = shape();
  if (product(newShape) != product(oldShape) || llvm::any_of(newShape, [](int64_t extent) { return extent <= 0; }))
    return failure();
  SmallVector<Dim> result;
  size_t from = 0, to = 0;
  while (from < oldShape.size() || to < newShape.size()) {
    // The smallest groups of dimensions on both sides with the same number of elements.
    size_t fromBegin = from, toBegin = to;
    int64_t left = 1, right = 1;
    if (from < oldShape.size())
      left = oldShape[from++];
    if (to < newShape.size())
      right = newShape[to++];
    while (left != right) {
      if (left < right)
        left *= oldShape[from++];
      else
        right *= newShape[to++];
    }
    ArrayRef<Dim> group = ArrayRef<Dim>(dims).slice(fromBegin, from - fromBegin);
    ArrayRef<int64_t> target = newShape.slice(toBegin, to - toBegin);
    SmallVector<Dim> copy(group);
    if (copy.empty()) {
      for (int64_t extent : target)
        result.push_back({extent, 0, 0});
      continue;
    }
    FailureOr<Dim> merged = mergeDims(copy);
    if (failed(merged))
      return failure();
    int64_t step = merged->step * merged->extent;
    for (int64_t extent : target) {
      step /= extent;
      result.push_back({extent, merged->axis, step});
    }
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
    if (zeros < 0)
      return failure();
    if (zeros == 0)
      continue;
    // The elements behind the last one must be behind the last one of the axis, too, or they are data.
    const Axis &axis = axes[dim.axis];
    if (axis.offset + dim.extent * dim.step < axis.extent)
      return failure();
    dim.extent += zeros;
  }
  append("pad", high);
  return success();
}

LogicalResult WeightTransforms::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (offsets.size() != dims.size() || sizes.size() != dims.size() || strides.size() != dims.size())
    return failure();
  for (size_t i = 0; i < dims.size(); ++i)
    if (offsets[i] < 0 || sizes[i] < 1 || strides[i] < 1 || offsets[i] + (sizes[i] - 1) * strides[i] >= dims[i].extent)
      return failure();
  for (size_t i = 0; i < dims.size(); ++i) {
    Axis &axis = axes[dims[i].axis];
    axis.offset += offsets[i] * dims[i].step;
    dims[i].extent = sizes[i];
    dims[i].step *= strides[i];
    // What the slice cut off is gone: zeros may follow its last element.
    if (llvm::count_if(dims, [&](const Dim &dim) { return dim.axis == dims[i].axis; }) == 1)
      axis.extent = std::min(axis.extent, axis.offset + (sizes[i] - 1) * dims[i].step + 1);
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
  int64_t run = dims.empty() ? 1 : dims.back().extent;
  SmallVector<int64_t> position(axes.size()), index(dims.size());
  for (int64_t at = begin, end = begin + count; at < end;) {
    int64_t rest = at;
    for (size_t dim = dims.size(); dim-- > 0; rest /= dims[dim].extent)
      index[dim] = rest % dims[dim].extent;
    // Everything but the innermost dimension is fixed for the rest of its run.
    for (size_t axis = 0; axis < axes.size(); ++axis)
      position[axis] = axes[axis].offset;
    for (size_t dim = 0; dim < dims.size(); ++dim)
      position[dims[dim].axis] += index[dim] * dims[dim].step;
    int64_t length = std::min(end - at, dims.empty() ? 1 : run - index.back());
    bool padding = false;
    int64_t offset = 0;
    unsigned innerAxis = dims.empty() ? ~0u : dims.back().axis;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      padding |= axis != innerAxis && position[axis] >= axes[axis].extent;
      offset += position[axis] * axes[axis].stride;
    }
    int64_t step = dims.empty() ? 0 : dims.back().step;
    int64_t valid = length;
    if (padding)
      valid = 0;
    else if (!dims.empty() && step > 0)
      valid = std::clamp<int64_t>((axes[innerAxis].extent - position[innerAxis] + step - 1) / step, 0, length);
    int64_t stride = dims.empty() ? 0 : step * axes[innerAxis].stride;
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
