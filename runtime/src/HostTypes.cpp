//===- HostTypes.cpp - element types of the host and of the device --------===//
#include "runtime/src/HostTypes.h"
#include "absl/strings/str_cat.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace trn::rt {

using isa::DType;

namespace {

template <class Wide, class Narrow>
absl::Status narrow(const void *from, void *to, uint64_t elements, const std::string &what) {
  for (uint64_t i = 0; i < elements; ++i) {
    Wide value;
    std::memcpy(&value, static_cast<const uint8_t *>(from) + i * sizeof value, sizeof value);
    if (value < static_cast<Wide>(std::numeric_limits<Narrow>::min()) ||
        value > static_cast<Wide>(std::numeric_limits<Narrow>::max()))
      return absl::InvalidArgumentError(absl::StrCat("'", what, "': element ", i, " is ", value,
                                                     ", which does not fit the 32 bits that the device computes with"));
    Narrow result = static_cast<Narrow>(value);
    std::memcpy(static_cast<uint8_t *>(to) + i * sizeof result, &result, sizeof result);
  }
  return absl::OkStatus();
}

template <class Narrow, class Wide> void widen(const void *from, void *to, uint64_t elements) {
  for (uint64_t i = 0; i < elements; ++i) {
    Narrow value;
    std::memcpy(&value, static_cast<const uint8_t *>(from) + i * sizeof value, sizeof value);
    Wide result = value;
    std::memcpy(static_cast<uint8_t *>(to) + i * sizeof result, &result, sizeof result);
  }
}

bool isByte(DType type) { return type == DType::BOOL || type == DType::I8 || type == DType::U8; }

void toBool(const void *from, void *to, uint64_t elements) {
  for (uint64_t i = 0; i < elements; ++i)
    static_cast<uint8_t *>(to)[i] = static_cast<const uint8_t *>(from)[i] != 0;
}

/// The format of a float of at most 8 bits.
struct SmallFloat {
  DType type;
  unsigned bits, mantissa;
  int bias;
  /// What the top codes mean: IEEE's infinities and NaNs; one NaN of each sign; one NaN in the place of -0; all finite.
  enum Kind { Ieee, OneNan, UnsignedZero, Finite } kind;
};
constexpr SmallFloat kSmallFloats[] = {
    {DType::F8E4FN, 8, 3, 7, SmallFloat::OneNan},         {DType::F8E4FNUZ, 8, 3, 8, SmallFloat::UnsignedZero},
    {DType::F8E5, 8, 2, 15, SmallFloat::Ieee},            {DType::F8E5FNUZ, 8, 2, 16, SmallFloat::UnsignedZero},
    {DType::F4E2, 4, 1, 1, SmallFloat::Finite},
};

const SmallFloat *smallFloat(DType type) {
  for (const SmallFloat &format : kSmallFloats)
    if (format.type == type)
      return &format;
  return nullptr;
}

float valueOf(const SmallFloat &format, unsigned code) {
  unsigned sign = code >> (format.bits - 1) & 1, magnitude = code & ((1u << (format.bits - 1)) - 1);
  unsigned all = (1u << (format.bits - 1)) - 1, exponent = magnitude >> format.mantissa;
  unsigned fraction = magnitude & ((1u << format.mantissa) - 1);
  float nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), sign ? -1.0f : 1.0f);
  if (format.kind == SmallFloat::UnsignedZero && sign && magnitude == 0)
    return nan;
  if (format.kind == SmallFloat::OneNan && magnitude == all)
    return nan;
  if (format.kind == SmallFloat::Ieee && exponent == all >> format.mantissa)
    return fraction ? nan : sign ? -INFINITY : INFINITY;
  float value = exponent == 0
                    ? std::ldexp(float(fraction), 1 - format.bias - int(format.mantissa))
                    : std::ldexp(1.0f + std::ldexp(float(fraction), -int(format.mantissa)), int(exponent) - format.bias);
  return sign ? -value : value;
}

/// fp16 of a value that it has exactly; every small float is one.
uint16_t halfOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(value))
    return sign | 0x7E00;
  if (std::isinf(value))
    return sign | 0x7C00;
  float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14f)
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  return sign | static_cast<uint16_t>(((bits & 0x7FFFFFFF) - 0x38000000) >> 13);
}

/// The device holds floats of at most 8 bits as fp16, and powers of two of 8 bits as bf16: the same numbers.
uint16_t wideOf(DType host, unsigned code) {
  if (host == DType::F8E8) // 2^(code - 127); 2^-127 is a denormal
    return code == 255 ? 0x7FC0 : code == 0 ? 0x0040 : static_cast<uint16_t>(code << 7);
  return halfOf(valueOf(*smallFloat(host), code));
}

bool isSmallFloat(DType host, DType device) {
  return host == DType::F8E8 ? device == DType::BF16 : smallFloat(host) && device == DType::F16;
}

void widenSmallFloats(DType host, const void *from, void *to, uint64_t elements) {
  uint16_t table[256];
  unsigned codes = host == DType::F8E8 ? 256 : 1u << smallFloat(host)->bits;
  for (unsigned code = 0; code < codes; ++code)
    table[code] = wideOf(host, code);
  for (uint64_t i = 0; i < elements; ++i) {
    uint16_t value = table[static_cast<const uint8_t *>(from)[i] % codes];
    std::memcpy(static_cast<uint8_t *>(to) + 2 * i, &value, 2);
  }
}

/// The way back. The program has rounded: anything else is a defect of it.
absl::Status narrowSmallFloats(DType host, const void *from, void *to, uint64_t elements, const std::string &what) {
  std::vector<int> codeOf(65536, -1);
  int nan = -1;
  for (unsigned code = host == DType::F8E8 ? 256 : 1u << smallFloat(host)->bits; code-- > 0;) {
    uint16_t wide = wideOf(host, code);
    codeOf[wide] = static_cast<int>(code);
    bool isNan = host == DType::F8E8 ? code == 255 : std::isnan(valueOf(*smallFloat(host), code));
    if (isNan)
      nan = static_cast<int>(code);
  }
  uint16_t exponent = host == DType::F8E8 ? 0x7F80 : 0x7C00;
  if (codeOf[0x8000] < 0)
    codeOf[0x8000] = codeOf[0]; // there is one zero
  for (uint64_t i = 0; i < elements; ++i) {
    uint16_t value;
    std::memcpy(&value, static_cast<const uint8_t *>(from) + 2 * i, 2);
    bool isNan = (value & 0x7FFF) > exponent;
    int code = isNan && codeOf[value] < 0 ? nan : codeOf[value];
    if (code < 0)
      return absl::InternalError(absl::StrCat("'", what, "': element ", i, " is no number of type ", isa::name(host)));
    static_cast<uint8_t *>(to)[i] = static_cast<uint8_t>(code);
  }
  return absl::OkStatus();
}

/// Integers of less than a byte lie in bytes on both sides.
bool isSmallInteger(DType host, DType device) {
  return ((host == DType::I4 || host == DType::I2) && device == DType::I8) ||
         ((host == DType::U4 || host == DType::U2) && device == DType::U8);
}

absl::Status impossible(DType from, DType to, const std::string &what) {
  return absl::InternalError(
      absl::StrCat("'", what, "': no conversion from ", isa::name(from), " to ", isa::name(to), " at the host's border"));
}

} // namespace

DataType hostType(DType type) {
  switch (type) {
  case DType::F32:
  case DType::F32R:
  case DType::TF32:
    return DataType::Float32;
  case DType::F64:
    return DataType::Float64;
  case DType::F16:
    return DataType::Float16;
  case DType::BF16:
    return DataType::BFloat16;
  case DType::F8E4FN:
    return DataType::Float8E4M3FN;
  case DType::F8E5:
    return DataType::Float8E5M2;
  case DType::F8E4FNUZ:
    return DataType::Float8E4M3FNUZ;
  case DType::F8E5FNUZ:
    return DataType::Float8E5M2FNUZ;
  case DType::F4E2:
    return DataType::Float4E2M1;
  case DType::F8E8:
    return DataType::Float8E8M0;
  case DType::I4:
    return DataType::Int4;
  case DType::U4:
    return DataType::UInt4;
  case DType::I2:
    return DataType::Int2;
  case DType::U2:
    return DataType::UInt2;
  case DType::I8:
    return DataType::Int8;
  case DType::U8:
    return DataType::UInt8;
  case DType::I16:
    return DataType::Int16;
  case DType::U16:
    return DataType::UInt16;
  case DType::I32:
    return DataType::Int32;
  case DType::U32:
    return DataType::UInt32;
  case DType::I64:
    return DataType::Int64;
  case DType::U64:
    return DataType::UInt64;
  case DType::BOOL:
    return DataType::Bool;
  default:
    return DataType::Undefined;
  }
}

absl::Status toDevice(const void *from, DType host, void *to, DType device, uint64_t elements,
                      const std::string &what) {
  if (host == DType::BOOL && isByte(device)) {
    toBool(from, to, elements);
    return absl::OkStatus();
  }
  if (host == device || isSmallInteger(host, device)) {
    std::memcpy(to, from, elements * isa::byteSize(host));
    return absl::OkStatus();
  }
  if (isSmallFloat(host, device)) {
    widenSmallFloats(host, from, to, elements);
    return absl::OkStatus();
  }
  if (host == DType::I64 && device == DType::I32)
    return narrow<int64_t, int32_t>(from, to, elements, what);
  if (host == DType::U64 && device == DType::U32)
    return narrow<uint64_t, uint32_t>(from, to, elements, what);
  return impossible(host, device, what);
}

absl::Status toHost(const void *from, DType device, void *to, DType host, uint64_t elements, const std::string &what) {
  if (host == DType::BOOL && isByte(device)) {
    toBool(from, to, elements);
    return absl::OkStatus();
  }
  if (host == device || isSmallInteger(host, device)) {
    std::memcpy(to, from, elements * isa::byteSize(host));
    return absl::OkStatus();
  }
  if (isSmallFloat(host, device))
    return narrowSmallFloats(host, from, to, elements, what);
  if (device == DType::I32 && host == DType::I64) {
    widen<int32_t, int64_t>(from, to, elements);
    return absl::OkStatus();
  }
  if (device == DType::U32 && host == DType::U64) {
    widen<uint32_t, uint64_t>(from, to, elements);
    return absl::OkStatus();
  }
  return impossible(device, host, what);
}

} // namespace trn::rt
