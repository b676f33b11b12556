//===- Constant.cpp - reading and making constant tensors -----------------===//
//
// Owns the conversion between attributes, bytes and numbers.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/Constant.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <cstring>

using namespace mlir;
using namespace trn;

unsigned trn::elementBytes(Type element) {
  if (!element.isIntOrFloat())
    return 0;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits < 8 ? 1 : bits % 8 == 0 && bits <= 64 ? bits / 8 : 0;
}

RankedTensorType Constant::type() const { return cast<RankedTensorType>(elements.getType()); }

std::optional<Constant> Constant::get(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  if (!type || !type.hasStaticShape() || elementBytes(type.getElementType()) == 0)
    return std::nullopt;
  Constant view;
  view.elements = attribute;
  view.count = type.getNumElements();
  view.element = type.getElementType();
  view.width = elementBytes(view.element);
  view.isF32 = view.element.isF32();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    view.splat = dense.isSplat();
    if (type.getElementType().isInteger(1)) {
      view.unpacked = std::make_shared<std::vector<char>>();
      if (view.splat)
        view.unpacked->push_back(dense.getSplatValue<bool>());
      else
        for (bool value : dense.getValues<bool>())
          view.unpacked->push_back(value);
      view.data = *view.unpacked;
    } else {
      view.data = dense.getRawData();
    }
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    view.data = blob->getData();
  } else {
    return std::nullopt;
  }
  if (view.data.size() != (view.splat ? 1 : size_t(view.count)) * view.width)
    return std::nullopt;
  return view;
}

std::optional<Constant> Constant::get(Value value) {
  ElementsAttr attribute;
  if (!value || !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  return get(attribute);
}

int64_t Constant::integer(int64_t i) const {
  return readInteger(element, data.data() + (splat ? 0 : i) * width);
}

template <typename T> static T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double Constant::real(int64_t i) const {
  const char *from = data.data() + (splat ? 0 : i) * width;
  return isF32 ? double(load<float>(from)) : readReal(element, from);
}

int64_t trn::readInteger(Type element, const char *from) {
  if (isa<FloatType>(element)) {
    double value = readReal(element, from);
    // Out of range is undefined in C++ and in ONNX; saturate.
    if (std::isnan(value))
      return 0;
    if (value >= 9223372036854775808.0)
      return INT64_MAX;
    return value <= -9223372036854775808.0 ? INT64_MIN : int64_t(value);
  }
  bool isUnsigned = element.isUnsignedInteger();
  switch (elementBytes(element)) {
  case 1:
    return element.isInteger(1) ? *from != 0 : isUnsigned ? int64_t(load<uint8_t>(from)) : int64_t(load<int8_t>(from));
  case 2:
    return isUnsigned ? int64_t(load<uint16_t>(from)) : int64_t(load<int16_t>(from));
  case 4:
    return isUnsigned ? int64_t(load<uint32_t>(from)) : int64_t(load<int32_t>(from));
  default:
    return load<int64_t>(from);
  }
}

double trn::readReal(Type element, const char *from) {
  if (element.isF32()) // before the cast to FloatType, an interface: this runs once per element of weights
    return load<float>(from);
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return element.isUnsignedInteger(64) ? double(load<uint64_t>(from)) : double(readInteger(element, from));
  if (type.isF64())
    return load<double>(from);
  uint64_t bits = type.getWidth() <= 8 ? load<uint8_t>(from) : load<uint16_t>(from);
  return llvm::APFloat(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits)).convertToDouble();
}

void trn::writeInteger(Type element, int64_t value, char *to) {
  if (isa<FloatType>(element))
    return writeReal(element, double(value), to);
  if (element.isInteger(1))
    value = value != 0;
  std::memcpy(to, &value, elementBytes(element));
}

void trn::writeReal(Type element, double value, char *to) {
  if (element.isF32()) {
    float narrow = float(value);
    std::memcpy(to, &narrow, sizeof(float));
    return;
  }
  auto type = dyn_cast<FloatType>(element);
  if (!type) {
    char bytes[sizeof(double)];
    std::memcpy(bytes, &value, sizeof(double));
    return writeInteger(element, readInteger(Float64Type::get(element.getContext()), bytes), to);
  }
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(to, &bits, elementBytes(element));
}

/// True when all elements of `bytes` are equal.
static bool allEqual(ArrayRef<char> bytes, size_t width) {
  return bytes.size() >= width && std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

static ElementsAttr makeDense(RankedTensorType type, ArrayRef<char> bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, ArrayRef<bool>(values));
}

static ElementsAttr makeResource(RankedTensorType type, StringRef name, AsmResourceBlob blob) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  return DenseResourceElementsAttr::get(type, manager.insert(name, std::move(blob)));
}

ElementsAttr trn::makeConstant(RankedTensorType type, std::vector<char> bytes, StringRef name) {
  size_t width = elementBytes(type.getElementType());
  assert(width && (bytes.size() == width || bytes.size() == width * size_t(type.getNumElements())));
  if (type.getNumElements() > 0 && allEqual(bytes, width))
    return makeDense(type, ArrayRef<char>(bytes).take_front(width));
  if (bytes.size() <= kInlineBytes)
    return makeDense(type, bytes);
  auto owner = std::make_shared<std::vector<char>>(std::move(bytes));
  return makeMappedConstant(type, *owner, owner, name);
}

ElementsAttr trn::makeMappedConstant(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> owner,
                                     StringRef name) {
  // The alignment that the address really has, up to a cache line.
  size_t align = 64;
  while (reinterpret_cast<uintptr_t>(bytes.data()) % align != 0)
    align /= 2;
  auto release = [owner = std::move(owner)](void *, size_t, size_t) mutable { owner.reset(); };
  return makeResource(type, name, AsmResourceBlob(bytes, align, std::move(release), /*dataIsMutable=*/false));
}

ElementsAttr trn::makeIntegers(RankedTensorType type, ArrayRef<int64_t> values) {
  size_t width = elementBytes(type.getElementType());
  std::vector<char> bytes(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i)
    writeInteger(type.getElementType(), values[i], bytes.data() + i * width);
  return makeConstant(type, std::move(bytes));
}

ElementsAttr trn::reshapeConstant(ElementsAttr attribute, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, attribute.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return dense.reshape(type);
  auto resource = cast<DenseResourceElementsAttr>(attribute);
  return DenseResourceElementsAttr::get(type, resource.getRawHandle());
}
