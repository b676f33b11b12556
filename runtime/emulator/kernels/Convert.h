//===- Convert.h - element types to and from fp32 ----------------------------===//
//
// Owns the conversions of device.md 4.2: everything is computed in fp32, converted on access; RNE on the way out,
// integers saturate, floats overflow to infinity where the type has one (fp8 e4m3fn: to NaN), NaNs become the canonical
// quiet NaN, NaN to an integer gives 0 (ours). One definition per format, on vectors of any width.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Vec.h"

namespace trn::rt::TRN_KERNELS {
namespace {

/// How a small float format differs from another: exponent and mantissa bits, bias, and what its top codes mean.
struct FormatF16 {
  static constexpr int kExponent = 5, kMantissa = 10, kBias = 15;
  static constexpr bool kIeee = true;
  using Storage = uint16_t;
  using Vector = U16;
};
struct FormatF8E5 {
  static constexpr int kExponent = 5, kMantissa = 2, kBias = 15;
  static constexpr bool kIeee = true;
  using Storage = uint8_t;
  using Vector = U8;
};
struct FormatF8E4 {
  static constexpr int kExponent = 4, kMantissa = 3, kBias = 7;
  static constexpr bool kIeee = true;
  using Storage = uint8_t;
  using Vector = U8;
};
/// Range not published; bias 3 and IEEE specials are inferred (device.md 4.1).
struct FormatF8E3 {
  static constexpr int kExponent = 3, kMantissa = 4, kBias = 3;
  static constexpr bool kIeee = true;
  using Storage = uint8_t;
  using Vector = U8;
};
/// OCP e4m3: no infinity, NaN is S.1111.111, largest 448.
struct FormatF8E4FN {
  static constexpr int kExponent = 4, kMantissa = 3, kBias = 7;
  static constexpr bool kIeee = false;
  using Storage = uint8_t;
  using Vector = U8;
};

template <typename Format> inline F widen(U x) {
  constexpr int kWidthBits = Format::kExponent + Format::kMantissa;
  constexpr uint32_t kMagnitude = (1u << kWidthBits) - 1;
  U magnitude = x & kMagnitude;
  U sign = (x >> kWidthBits) << 31;
  // The exponent moved into place, then rescaled: exact for denormals too.
  F value = fromBits(magnitude << (23 - Format::kMantissa)) *
            __builtin_bit_cast(float, uint32_t(127 + 127 - Format::kBias) << 23);
  U r = bits(value);
  if (Format::kIeee) {
    constexpr uint32_t kInfinityCode = ((1u << Format::kExponent) - 1) << Format::kMantissa;
    r = select(magnitude >= kInfinityCode, (magnitude << (23 - Format::kMantissa)) | 0x7f800000u, r);
  } else {
    r = select(magnitude == kMagnitude, U(0x7fc00000u), r);
  }
  return fromBits(r | sign);
}

template <typename Format> inline U narrow(F x) {
  constexpr int kWidthBits = Format::kExponent + Format::kMantissa;
  constexpr int kShift = 23 - Format::kMantissa;
  constexpr uint32_t kInfinityCode =
      Format::kIeee ? ((1u << Format::kExponent) - 1) << Format::kMantissa : (1u << kWidthBits) - 1;
  // IEEE: any non-zero mantissa under the top exponent; quiet bit set.
  constexpr uint32_t kNanCode = Format::kIeee ? kInfinityCode | (1u << (Format::kMantissa - 1)) : kInfinityCode;
  U magnitude = bits(x) & 0x7fffffffu;
  U sign = (bits(x) >> 31) << kWidthBits;
  // Normal: rebias, round to nearest even by adding just under half an ulp plus the lowest kept bit.
  U rebiased = magnitude - (uint32_t(127 - Format::kBias) << 23);
  U rounded = (rebiased + (uint32_t(1) << (kShift - 1)) - 1 + ((rebiased >> kShift) & 1u)) >> kShift;
  // Denormal: adding a power of two whose ulp is the format's smallest denormal lets the adder round.
  constexpr uint32_t kMagic = uint32_t(127 + 24 - Format::kBias - Format::kMantissa) << 23;
  U denormal = bits(fromBits(magnitude) + __builtin_bit_cast(float, kMagic)) - kMagic;
  constexpr uint32_t kSmallestNormal = uint32_t(127 + 1 - Format::kBias) << 23;
  U r = select(magnitude < kSmallestNormal, denormal, rounded);
  // rebiased wraps for huge inputs only below kSmallestNormal, which the line above replaced.
  r = select((magnitude >= kSmallestNormal) & (r > kInfinityCode), U(kInfinityCode), r);
  r = select(magnitude >= 0x7f800000u, U(kInfinityCode), r);
  r = select(magnitude > 0x7f800000u, U(kNanCode), r);
  U keptSign = select(magnitude > 0x7f800000u, U(0u), sign);
  return r | keptSign;
}

inline U narrowBf16(F x) {
  U u = bits(x);
  U rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return select(isNan(x), U(0x7fc0u), rounded);
}
inline F widenBf16(U x) { return fromBits(x << 16); }

/// tf32: the low 13 mantissa bits rounded away.
inline F roundTf32(F x) {
  U u = bits(x);
  U rounded = (u + 0xfffu + ((u >> 13) & 1u)) & ~0x1fffu;
  return select(isNan(x), splat(__builtin_nanf("")), fromBits(rounded));
}

inline F canonical(F x) { return select(isNan(x), splat(__builtin_nanf("")), x); }

/// Clamps to [low, high] and rounds to nearest even; NaN gives 0.
inline F saturate(F x, float low, float high) {
  x = select(isNan(x), splat(0.0f), __builtin_elementwise_roundeven(x));
  return select(x < low, low, select(x > high, high, x));
}
inline I toSmallInt(F x, float low, float high) { return __builtin_convertvector(saturate(x, low, high), I); }

/// The largest fp32 below 2^31 and 2^32; anything larger becomes the largest integer.
inline U toInt32(F x) {
  U r = __builtin_bit_cast(U, __builtin_convertvector(saturate(x, -2147483648.0f, 2147483520.0f), I));
  return select(x >= 2147483648.0f, U(0x7fffffffu), r);
}
inline U toUnsigned32(F x) {
  U r = __builtin_convertvector(saturate(x, 0.0f, 4294967040.0f), U);
  return select(x >= 4294967296.0f, U(0xffffffffu), r);
}
inline int64_t toInt64(float x) {
  if (x != x)
    return 0;
  x = __builtin_roundevenf(x);
  if (x >= 0x1p63f)
    return INT64_MAX;
  return x < -0x1p63f ? INT64_MIN : int64_t(x);
}
inline uint64_t toUnsigned64(float x) {
  if (!(x > 0.0f))
    return 0;
  x = __builtin_roundevenf(x);
  return x >= 0x1p64f ? UINT64_MAX : uint64_t(x);
}

/// e8m0: a power of two; 2^-127 is a denormal of fp32.
inline F widenE8(U x) {
  U r = select(x == 0u, U(0x00400000u), x << 23);
  return fromBits(select(x == 255u, U(0x7fc00000u), r));
}
/// The nearest power of two (mantissa rounded to even); what has no logarithm becomes NaN.
inline U narrowE8(F x) {
  U u = bits(x);
  U r = (u + 0x3fffffu + ((u >> 23) & 1u)) >> 23;
  return select((x > 0.0f) & (x < __builtin_inff()), r, U(255u));
}

} // namespace
} // namespace trn::rt::TRN_KERNELS
