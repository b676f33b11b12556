//===- HostTypes.cpp - element types of the host and of the device --------===//
#include "runtime/src/HostTypes.h"
#include "absl/strings/str_cat.h"
#include <cstring>
#include <limits>

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
  case DType::F16:
    return DataType::Float16;
  case DType::BF16:
    return DataType::BFloat16;
  case DType::F8E4FN:
    return DataType::Float8E4M3FN;
  case DType::F8E5:
    return DataType::Float8E5M2;
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
  if (host == device) {
    std::memcpy(to, from, elements * isa::byteSize(host));
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
  if (host == device) {
    std::memcpy(to, from, elements * isa::byteSize(host));
    return absl::OkStatus();
  }
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
