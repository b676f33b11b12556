//===- Lanes.h - elements as library kernels compute with them -------------------===//
//
// Owns the way between elements in memory and lanes of 8 bytes: float, double or int64_t (isa::laneClassOf).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/LoopNest.h"
#include "runtime/emulator/Rows.h"

namespace trn::rt {

namespace detail {
template <typename From, typename To> void widen(const uint8_t *from, int64_t stride, size_t n, char *to) {
  for (size_t i = 0; i < n; ++i, from += stride) {
    From value;
    std::memcpy(&value, from, sizeof value);
    reinterpret_cast<To *>(to)[i] = static_cast<To>(value);
  }
}

template <typename To, typename From> void narrow(const char *from, uint8_t *to, int64_t stride, size_t n) {
  for (size_t i = 0; i < n; ++i, to += stride) {
    To value = static_cast<To>(reinterpret_cast<const From *>(from)[i]);
    std::memcpy(to, &value, sizeof value);
  }
}
} // namespace detail

/// Reads `n` elements, `stride` bytes apart, into lanes.
inline void loadLanes(const Kernels &kernels, isa::DType type, const uint8_t *from, int64_t stride, size_t n, char *lanes) {
  switch (type) {
  case isa::DType::F64:
    return detail::widen<double, double>(from, stride, n, lanes);
  case isa::DType::I64:
  case isa::DType::U64:
    return detail::widen<int64_t, int64_t>(from, stride, n, lanes);
  case isa::DType::I32:
    return detail::widen<int32_t, int64_t>(from, stride, n, lanes);
  case isa::DType::U32:
    return detail::widen<uint32_t, int64_t>(from, stride, n, lanes);
  case isa::DType::I16:
    return detail::widen<int16_t, int64_t>(from, stride, n, lanes);
  case isa::DType::U16:
    return detail::widen<uint16_t, int64_t>(from, stride, n, lanes);
  case isa::DType::I8:
    return detail::widen<int8_t, int64_t>(from, stride, n, lanes);
  case isa::DType::U8:
  case isa::DType::BOOL:
    return detail::widen<uint8_t, int64_t>(from, stride, n, lanes);
  default:
    return kernels.load(type, from, stride, n, reinterpret_cast<float *>(lanes));
  }
}

inline void storeLanes(const Kernels &kernels, isa::DType type, const char *lanes, uint8_t *to, int64_t stride, size_t n) {
  switch (isa::laneClassOf(type)) {
  case 'd':
    return detail::narrow<double, double>(lanes, to, stride, n);
  case 'f':
    return kernels.store(type, reinterpret_cast<const float *>(lanes), to, stride, n);
  default:
    break;
  }
  switch (isa::byteSize(type)) {
  case 1:
    return detail::narrow<int8_t, int64_t>(lanes, to, stride, n);
  case 2:
    return detail::narrow<int16_t, int64_t>(lanes, to, stride, n);
  case 4:
    return detail::narrow<int32_t, int64_t>(lanes, to, stride, n);
  default:
    return detail::narrow<int64_t, int64_t>(lanes, to, stride, n);
  }
}

} // namespace trn::rt
