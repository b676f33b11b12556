//===- Tensor.cpp - a typed, strided, shared array of values --------------===//
#include "compiler/Reference/Tensor.h"
#include "compiler/Weights/Constant.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
namespace trn {

std::optional<Storage> storageOf(Type elementType) {
  if (elementType.isIndex())
    return Storage::I64;
  if (auto integer = dyn_cast<IntegerType>(elementType)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return Storage::Bool;
    case 2:
    case 4:
    case 8:
      return isUnsigned ? Storage::U8 : Storage::I8;
    case 16:
      return isUnsigned ? Storage::U16 : Storage::I16;
    case 32:
      return isUnsigned ? Storage::U32 : Storage::I32;
    case 64:
      return isUnsigned ? Storage::U64 : Storage::I64;
    default:
      return std::nullopt;
    }
  }
  if (elementType.isF32())
    return Storage::F32;
  if (elementType.isF64())
    return Storage::F64;
  if (elementType.isF16())
    return Storage::F16;
  if (elementType.isBF16())
    return Storage::BF16;
  if (llvm::isa<Float8E4M3FNType>(elementType))
    return Storage::F8E4M3FN;
  if (llvm::isa<Float8E5M2Type>(elementType))
    return Storage::F8E5M2;
  if (llvm::isa<Float8E4M3Type>(elementType))
    return Storage::F8E4M3;
  if (llvm::isa<Float8E3M4Type>(elementType))
    return Storage::F8E3M4;
  if (llvm::isa<Float8E8M0FNUType>(elementType))
    return Storage::F8E8M0;
  if (isa<Float8E4M3FNUZType>(elementType))
    return Storage::F8E4M3FNUZ;
  if (isa<Float8E5M2FNUZType>(elementType))
    return Storage::F8E5M2FNUZ;
  if (isa<Float4E2M1FNType>(elementType))
    return Storage::F4E2M1FN;
  return std::nullopt;
}

unsigned byteSize(Storage storage) {
  switch (storage) {
  case Storage::Bool:
  case Storage::I8:
  case Storage::U8:
  case Storage::F8E4M3FN:
  case Storage::F8E5M2:
  case Storage::F8E4M3:
  case Storage::F8E3M4:
  case Storage::F8E8M0:
  case Storage::F8E4M3FNUZ:
  case Storage::F8E5M2FNUZ:
  case Storage::F4E2M1FN:
    return 1;
  case Storage::I16:
  case Storage::U16:
  case Storage::BF16:
  case Storage::F16:
    return 2;
  case Storage::I32:
  case Storage::U32:
  case Storage::F32:
    return 4;
  case Storage::I64:
  case Storage::U64:
  case Storage::F64:
    return 8;
  }
  llvm_unreachable("all storages handled");
}

bool isFloat(Storage storage) { return storage >= Storage::F8E4M3FN; }

static const llvm::fltSemantics &semanticsOf(Storage storage) {
  switch (storage) {
  case Storage::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case Storage::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case Storage::F8E4M3:
    return llvm::APFloat::Float8E4M3();
  case Storage::F8E3M4:
    return llvm::APFloat::Float8E3M4();
  case Storage::F8E8M0:
    return llvm::APFloat::Float8E8M0FNU();
  case Storage::F8E4M3FNUZ:
    return llvm::APFloat::Float8E4M3FNUZ();
  case Storage::F8E5M2FNUZ:
    return llvm::APFloat::Float8E5M2FNUZ();
  case Storage::F4E2M1FN:
    return llvm::APFloat::Float4E2M1FN();
  case Storage::F16:
    return llvm::APFloat::IEEEhalf();
  default:
    llvm_unreachable("converted directly");
  }
}

static float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float decodeFloat(Storage storage, uint32_t bits) {
  if (storage == Storage::BF16)
    return floatOfBits(bits << 16);
  if (storage == Storage::F16) {
    uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent == 31)
      return floatOfBits(sign | 0x7F800000u | (fraction << 13));
    if (exponent != 0)
      return floatOfBits(sign | ((exponent + 112) << 23) | (fraction << 13));
    return floatOfBits(sign | bitsOfFloat(float(fraction) * 0x1p-24f));
  }
  const llvm::fltSemantics &semantics = semanticsOf(storage);
  llvm::APFloat value(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToFloat();
}

uint32_t encodeFloat(Storage storage, float value) {
  uint32_t bits = bitsOfFloat(value);
  if (storage == Storage::BF16) {
    if (std::isnan(value))
      return (bits >> 16) | 0x40;
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  }
  if (storage == Storage::F16) {
    uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
      return sign | 0x7E00u;
    if (magnitude >= 0x477FF000u) // 65520 rounds to infinity.
      return sign | 0x7C00u;
    if (magnitude < 0x38800000u) // Below 2^-14: a multiple of 2^-24, rounded by the addition of 0.5 (ulp 2^-24).
      return sign | (bitsOfFloat(floatOfBits(magnitude) + 0.5f) - 0x3F000000u);
    return sign | ((magnitude - 0x38000000u + 0xFFF + ((magnitude >> 13) & 1)) >> 13);
  }
  llvm::APFloat converted(value);
  bool losesInfo;
  converted.convert(semanticsOf(storage), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return uint32_t(converted.bitcastToAPInt().getZExtValue());
}

float roundTo(Storage storage, float value) {
  return storage == Storage::F32 ? value : decodeFloat(storage, encodeFloat(storage, value));
}

ElementsAttr constantOf(RankedTensorType type, const Tensor &tensor) {
  Tensor values = tensor.isSplat() && tensor.elements() > 0 ? tensor.reshaped({1}, {1}) : tensor.dense();
  size_t bytes = size_t(values.elements()) * byteSize(values.storage());
  return makeConstant(type, std::vector<char>(values.bytes(), values.bytes() + bytes));
}

llvm::SmallVector<int64_t, 6> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 6> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  return strides;
}

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

Tensor Tensor::allocate(Type elementType, ArrayRef<int64_t> shape) {
  Tensor result;
  result.type = elementType;
  result.kind = *storageOf(elementType);
  result.dims.assign(shape.begin(), shape.end());
  result.steps = denseStrides(shape);
  // 64 bytes: a cache line, and the widest vector.
  size_t bytes = (std::max<int64_t>(product(shape), 1) * byteSize(result.kind) + 63) / 64 * 64;
  result.memory = std::shared_ptr<char>(static_cast<char *>(std::aligned_alloc(64, bytes)), std::free);
  return result;
}

Tensor Tensor::splat(Type elementType, ArrayRef<int64_t> shape, const void *element) {
  Tensor result = allocate(elementType, {});
  std::memcpy(result.bytes(), element, byteSize(result.kind));
  result.dims.assign(shape.begin(), shape.end());
  result.steps.assign(shape.size(), 0);
  return result;
}

Tensor Tensor::unset(Type elementType, ArrayRef<int64_t> shape) {
  uint64_t bits = 0;
  Storage kind = *storageOf(elementType);
  if (kind == Storage::F64) {
    double nan = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(&bits, &nan, sizeof(nan));
  } else if (kind == Storage::F32) {
    bits = bitsOfFloat(std::numeric_limits<float>::quiet_NaN());
  } else if (isFloat(kind)) {
    bits = encodeFloat(kind, std::numeric_limits<float>::quiet_NaN());
  }
  return splat(elementType, shape, &bits);
}

Tensor Tensor::view(Type elementType, ArrayRef<int64_t> shape, std::shared_ptr<void> owner, void *data, bool writable) {
  Tensor result;
  result.type = elementType;
  result.kind = *storageOf(elementType);
  result.writable = writable;
  result.dims.assign(shape.begin(), shape.end());
  result.steps = denseStrides(shape);
  result.memory = std::shared_ptr<char>(std::move(owner), static_cast<char *>(data));
  return result;
}

FailureOr<Tensor> Tensor::view(ElementsAttr values) {
  std::optional<Constant> constant = Constant::get(values);
  if (!constant || !storageOf(constant->elementType()))
    return failure();
  // The constant may own unpacked elements; the others live as long as the context. Not writable, so the cast is safe.
  auto owner = std::make_shared<Constant>(*constant);
  RankedTensorType type = constant->type();
  char *data = const_cast<char *>(owner->bytes().data());
  bool splat = constant->isSplat();
  Tensor result = view(type.getElementType(), type.getShape(), std::move(owner), data, /*writable=*/false);
  if (splat)
    result.steps.assign(result.steps.size(), 0);
  return result;
}

int64_t Tensor::elements() const { return product(dims); }

bool Tensor::isDense() const {
  SmallVector<int64_t, 6> expected = denseStrides(dims);
  for (auto [dim, step, wanted] : llvm::zip_equal(dims, steps, expected))
    if (dim != 1 && step != wanted)
      return elements() == 0;
  return true;
}

bool Tensor::isSplat() const {
  for (auto [dim, step] : llvm::zip_equal(dims, steps))
    if (dim != 1 && step != 0)
      return false;
  return true;
}

/// Copies `source` to `target`, both strided, element size N.
template <typename T>
static void copyStrided(ArrayRef<int64_t> shape, const T *source, ArrayRef<int64_t> sourceSteps, T *target,
                        ArrayRef<int64_t> targetSteps) {
  if (shape.empty()) {
    *target = *source;
    return;
  }
  if (shape.size() == 1) {
    int64_t n = shape[0], from = sourceSteps[0], to = targetSteps[0];
    if (from == 1 && to == 1) {
      std::memcpy(target, source, n * sizeof(T));
    } else if (from == 0 && to == 1) {
      std::fill_n(target, n, *source);
    } else {
      for (int64_t i = 0; i < n; ++i)
        target[i * to] = source[i * from];
    }
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    copyStrided(shape.drop_front(), source + i * sourceSteps[0], sourceSteps.drop_front(), target + i * targetSteps[0],
                targetSteps.drop_front());
}

void Tensor::assign(const Tensor &source) const {
  assert(source.kind == kind && source.elements() == elements());
  if (elements() == 0)
    return;
  // Adjacent dimensions that both sides walk as one are one.
  SmallVector<int64_t, 6> shape, from, to;
  for (int64_t i = 0; i < rank(); ++i) {
    if (dims[i] == 1)
      continue;
    if (!shape.empty() && from.back() == source.steps[i] * dims[i] && to.back() == steps[i] * dims[i]) {
      shape.back() *= dims[i];
      from.back() = source.steps[i];
      to.back() = steps[i];
      continue;
    }
    shape.push_back(dims[i]);
    from.push_back(source.steps[i]);
    to.push_back(steps[i]);
  }
  switch (byteSize(kind)) {
  case 1:
    return copyStrided(ArrayRef(shape), source.data<uint8_t>(), from, data<uint8_t>(), to);
  case 2: {
    using T [[gnu::aligned(1)]] = uint16_t;
    return copyStrided<T>(shape, source.data<T>(), from, data<T>(), to);
  }
  case 4: {
    using T [[gnu::aligned(1)]] = uint32_t;
    return copyStrided<T>(shape, source.data<T>(), from, data<T>(), to);
  }
  default: {
    using T [[gnu::aligned(1)]] = uint64_t;
    return copyStrided<T>(shape, source.data<T>(), from, data<T>(), to);
  }
  }
}

Tensor Tensor::dense() const {
  if (isDense())
    return *this;
  Tensor result = allocate(type, dims);
  result.assign(*this);
  return result;
}

void Tensor::makeUnique(bool keepValues) {
  if (writable && memory.use_count() == 1 && isDense())
    return;
  Tensor fresh = allocate(type, dims);
  if (keepValues)
    fresh.assign(*this);
  *this = std::move(fresh);
}

Tensor Tensor::reshaped(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset) const {
  Tensor result = *this;
  result.dims.assign(shape.begin(), shape.end());
  result.steps.assign(strides.begin(), strides.end());
  result.memory = std::shared_ptr<char>(memory, memory.get() + offset * byteSize(kind));
  return result;
}

Tensor Tensor::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) const {
  int64_t offset = 0;
  SmallVector<int64_t, 6> newSteps(sizes.size());
  for (int64_t i = 0; i < rank(); ++i) {
    assert(sizes[i] == 0 || (offsets[i] >= 0 && offsets[i] + (sizes[i] - 1) * strides[i] < dims[i]));
    offset += offsets[i] * steps[i];
    newSteps[i] = strides[i] * steps[i];
  }
  return reshaped(sizes, newSteps, offset);
}

Tensor Tensor::reshape(ArrayRef<int64_t> shape) const {
  assert(product(shape) == elements());
  if (isSplat())
    return reshaped(shape, SmallVector<int64_t>(shape.size(), 0));
  Tensor rowMajor = dense();
  return rowMajor.reshaped(shape, denseStrides(shape));
}

Tensor Tensor::reshapeLike(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t, 6> strides;
  int64_t next = 0;
  for (int64_t size : shape) {
    if (size == 1) {
      strides.push_back(1);
      continue;
    }
    while (next < rank() && dims[next] == 1)
      ++next;
    assert(next < rank() && dims[next] == size && "shapes differ by more than unit dimensions");
    strides.push_back(steps[next++]);
  }
  return reshaped(shape, strides);
}

Tensor Tensor::bitcast(Type elementType) const {
  Tensor result = *this;
  result.type = elementType;
  result.kind = *storageOf(elementType);
  assert(byteSize(result.kind) == byteSize(kind));
  return result;
}

int64_t Tensor::addressOf(int64_t index) const {
  int64_t address = 0;
  for (int64_t i = rank() - 1; i >= 0; --i) {
    address += index % dims[i] * steps[i];
    index /= dims[i];
  }
  return address * byteSize(kind);
}

template <typename T> static T readAs(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double Tensor::floatAt(int64_t index) const {
  const char *at = bytes() + addressOf(index);
  switch (kind) {
  case Storage::F32:
    return readAs<float>(at);
  case Storage::F64:
    return readAs<double>(at);
  case Storage::BF16:
  case Storage::F16:
    return decodeFloat(kind, readAs<uint16_t>(at));
  case Storage::U64:
    return double(readAs<uint64_t>(at));
  default:
    return isFloat(kind) ? decodeFloat(kind, readAs<uint8_t>(at)) : double(intAt(index));
  }
}

int64_t Tensor::intAt(int64_t index) const {
  const char *at = bytes() + addressOf(index);
  switch (kind) {
  case Storage::Bool:
  case Storage::U8:
    return readAs<uint8_t>(at);
  case Storage::I8:
    return readAs<int8_t>(at);
  case Storage::I16:
    return readAs<int16_t>(at);
  case Storage::U16:
    return readAs<uint16_t>(at);
  case Storage::I32:
    return readAs<int32_t>(at);
  case Storage::U32:
    return readAs<uint32_t>(at);
  case Storage::I64:
  case Storage::U64:
    return readAs<int64_t>(at);
  default:
    return int64_t(floatAt(index));
  }
}

DenseElementsAttr Tensor::toAttr() const {
  RankedTensorType resultType = tensorType();
  bool isConstant = isSplat() && elements() > 0;
  Tensor values = isConstant ? reshaped({1}, {1}) : dense();
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 8) {
    SmallVector<APInt> ints;
    for (int64_t i = 0, e = values.elements(); i < e; ++i)
      ints.emplace_back(type.getIntOrFloatBitWidth(), values.intAt(i), /*isSigned=*/false, /*implicitTrunc=*/true);
    return DenseElementsAttr::get(resultType, ints);
  }
  return DenseElementsAttr::getFromRawBuffer(
      resultType, ArrayRef<char>(values.bytes(), size_t(values.elements()) * byteSize(kind)));
}

} // namespace trn
