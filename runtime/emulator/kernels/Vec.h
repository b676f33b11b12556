//===- Vec.h - vectors of fp32 and int32 of any width ------------------------===//
//
// Owns the one small vector abstraction of the kernels: clang's extended vectors, whose operators mean the same for
// every width, so a function written once gives the same bits with 1, 8 and 16 lanes. Included only by the kernel
// translation units, inside their own namespace (TRN_KERNELS), so that no code compiled for a wide instruction set can
// be picked by the linker for another path.
//
//===----------------------------------------------------------------------===//
#pragma once
#ifndef TRN_KERNELS
#error "Vec.h is included by a kernel translation unit after it defined TRN_KERNELS and kWidth"
#endif
#include <cstddef>
#include <cstdint>

namespace trn::rt::TRN_KERNELS {
namespace {

using F = float __attribute__((ext_vector_type(kWidth)));
using I = int32_t __attribute__((ext_vector_type(kWidth)));
using U = uint32_t __attribute__((ext_vector_type(kWidth)));
using U16 = uint16_t __attribute__((ext_vector_type(kWidth)));
using U8 = uint8_t __attribute__((ext_vector_type(kWidth)));

inline F splat(float x) { return F(x); }
inline U bits(F x) { return __builtin_bit_cast(U, x); }
inline F fromBits(U x) { return __builtin_bit_cast(F, x); }
inline U mask(I x) { return __builtin_bit_cast(U, x); }

/// a * b + c with one rounding.
inline F fma(F a, F b, F c) { return __builtin_elementwise_fma(a, b, c); }
inline F fma(F a, float b, F c) { return fma(a, splat(b), c); }
inline F fma(F a, float b, float c) { return fma(a, splat(b), splat(c)); }
inline F fma(F a, F b, float c) { return fma(a, b, splat(c)); }
inline F sqrt(F a) { return __builtin_elementwise_sqrt(a); }

/// m is all ones or all zeros per lane.
inline U select(I m, U a, U b) { return (a & mask(m)) | (b & ~mask(m)); }
inline F select(I m, F a, F b) { return fromBits(select(m, bits(a), bits(b))); }
inline F select(I m, float a, F b) { return select(m, splat(a), b); }
inline F select(I m, F a, float b) { return select(m, a, splat(b)); }

inline F abs(F x) { return fromBits(bits(x) & 0x7fffffffu); }
inline U signBit(F x) { return bits(x) & 0x80000000u; }
/// The magnitude of `x` with the sign of `s`.
inline F copySign(F x, F s) { return fromBits((bits(x) & 0x7fffffffu) | signBit(s)); }
inline I isNan(F x) { return x != x; }

/// Rounds to the nearest integer, ties to even, for |x| < 2^22.
inline F roundSmall(F x) { return (x + 12582912.0f) - 12582912.0f; }
/// The integer value of roundSmall(x).
inline I roundSmallToInt(F x) { return __builtin_bit_cast(I, bits(x + 12582912.0f) - bits(splat(12582912.0f))); }
/// 2^n for -126 <= n <= 127.
inline F powerOfTwo(I n) { return fromBits(__builtin_bit_cast(U, n + 127) << 23); }

/// IEEE 754-2019 maximum: a NaN operand gives NaN, +0 is larger than -0.
inline F maximum(F a, F b) {
  F larger = select(a > b, a, b);
  larger = select(a == b, fromBits(bits(a) & bits(b)), larger);
  return select(isNan(a) | isNan(b), a + b, larger);
}
inline F minimum(F a, F b) {
  F smaller = select(a < b, a, b);
  smaller = select(a == b, fromBits(bits(a) | bits(b)), smaller);
  return select(isNan(a) | isNan(b), a + b, smaller);
}

/// Evaluates c[0] + c[1] x + ... by Horner's rule, one rounding a step.
template <size_t N> inline F polynomial(F x, const float (&c)[N]) {
  F sum = splat(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;)
    sum = fma(sum, x, c[i]);
  return sum;
}

template <typename V> inline V loadVector(const void *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(V));
  return v;
}
template <typename V> inline void storeVector(void *p, V v) { __builtin_memcpy(p, &v, sizeof(V)); }

/// Calls body(i, lanes) for steps of kWidth elements; the last call may have fewer lanes.
template <typename Body> inline void forSteps(size_t n, Body body) {
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth)
    body(i, size_t(kWidth));
  if (i < n)
    body(i, n - i);
}

/// Vector access that never touches memory beyond `lanes` elements.
template <typename V, typename T> inline V loadLanes(const T *p, size_t lanes) {
  if (lanes == size_t(kWidth))
    return loadVector<V>(p);
  V v{};
  __builtin_memcpy(&v, p, lanes * sizeof(T));
  return v;
}
template <typename V, typename T> inline void storeLanes(T *p, V v, size_t lanes) {
  if (lanes == size_t(kWidth))
    return storeVector(p, v);
  __builtin_memcpy(p, &v, lanes * sizeof(T));
}

} // namespace
} // namespace trn::rt::TRN_KERNELS
