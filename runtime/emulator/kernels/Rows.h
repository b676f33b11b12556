//===- Rows.h - the row kernels: load, store, ALU, activation, reduction -----===//
//
// Owns the loops over rows of elements. The loops are written once; each kernel translation unit instantiates them for
// its vector width.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Convert.h"
#include "Math.h"
#include "runtime/emulator/kernels/Kernels.h"
// libm, for the two operations that are computed in double: pow and fmod. Declared by hand, see Kernels.h.
extern "C" double pow(double, double);
extern "C" double fmod(double, double);

namespace trn::rt::TRN_KERNELS {
namespace {

using isa::ActivationFunc;
using isa::AluOp;
using isa::DType;

//===----------------------------------------------------------------------===//
// Load and store
//===----------------------------------------------------------------------===//

/// A row of elements that lie `stride` bytes apart is copied here first, so that every format has one conversion.
constexpr size_t kStagedElements = 256;

template <typename T> inline void gatherRow(const uint8_t *src, int64_t stride, size_t n, T *dst) {
  if (stride == 2 * int64_t(sizeof(T))) { // Strided convolutions and pools; a known stride is vectorised.
    for (size_t i = 0; i < n; ++i)
      __builtin_memcpy(dst + i, src + i * 2 * sizeof(T), sizeof(T));
    return;
  }
  for (size_t i = 0; i < n; ++i, src += stride)
    __builtin_memcpy(dst + i, src, sizeof(T));
}
template <typename T> inline void scatterRow(const T *src, uint8_t *dst, int64_t stride, size_t n) {
  for (size_t i = 0; i < n; ++i, dst += stride)
    __builtin_memcpy(dst, src + i, sizeof(T));
}

/// Row load: T is the storage type, V its vector, convert: V -> F.
template <typename T, typename V, typename Convert>
inline void loadRow(const uint8_t *src, int64_t stride, size_t n, float *dst, Convert convert) {
  if (stride == int64_t(sizeof(T))) {
    forSteps(n, [&](size_t i, size_t lanes) {
      storeLanes(dst + i, convert(loadLanes<V>(reinterpret_cast<const T *>(src) + i, lanes)), lanes);
    });
    return;
  }
  if (stride == 0) {
    T value;
    __builtin_memcpy(&value, src, sizeof(T));
    F f = convert(V(value));
    forSteps(n, [&](size_t i, size_t lanes) { storeLanes(dst + i, f, lanes); });
    return;
  }
  T staged[kStagedElements];
  for (size_t done = 0; done < n; done += kStagedElements) {
    size_t count = n - done < kStagedElements ? n - done : kStagedElements;
    gatherRow(src + int64_t(done) * stride, stride, count, staged);
    forSteps(count, [&](size_t i, size_t lanes) {
      storeLanes(dst + done + i, convert(loadLanes<V>(staged + i, lanes)), lanes);
    });
  }
}

/// Row store: convert: F -> V. A zero stride leaves the last element, as the device's last write would.
template <typename T, typename V, typename Convert>
inline void storeRow(const float *src, uint8_t *dst, int64_t stride, size_t n, Convert convert) {
  if (stride == int64_t(sizeof(T))) {
    forSteps(n, [&](size_t i, size_t lanes) {
      storeLanes(reinterpret_cast<T *>(dst) + i, convert(loadLanes<F>(src + i, lanes)), lanes);
    });
    return;
  }
  T staged[kStagedElements];
  for (size_t done = 0; done < n; done += kStagedElements) {
    size_t count = n - done < kStagedElements ? n - done : kStagedElements;
    forSteps(count, [&](size_t i, size_t lanes) {
      storeLanes(staged + i, convert(loadLanes<F>(src + done + i, lanes)), lanes);
    });
    scatterRow(staged, dst + int64_t(done) * stride, stride, count);
  }
}

template <typename Format> inline void loadFormat(const uint8_t *src, int64_t stride, size_t n, float *dst) {
  loadRow<typename Format::Storage, typename Format::Vector>(
      src, stride, n, dst, [](typename Format::Vector v) { return widen<Format>(__builtin_convertvector(v, U)); });
}
template <typename Format> inline void storeFormat(const float *src, uint8_t *dst, int64_t stride, size_t n) {
  storeRow<typename Format::Storage, typename Format::Vector>(
      src, dst, stride, n, [](F v) { return __builtin_convertvector(narrow<Format>(v), typename Format::Vector); });
}

using I8 = int8_t __attribute__((ext_vector_type(kWidth)));
using I16 = int16_t __attribute__((ext_vector_type(kWidth)));

void load(DType type, const uint8_t *src, int64_t stride, size_t n, float *dst) {
  switch (type) {
  case DType::F32:
  case DType::F32R:
    return loadRow<float, F>(src, stride, n, dst, [](F v) { return v; });
  case DType::TF32:
    return loadRow<float, F>(src, stride, n, dst, [](F v) { return roundTf32(v); });
  case DType::BF16:
    return loadRow<uint16_t, U16>(src, stride, n, dst,
                                  [](U16 v) { return widenBf16(__builtin_convertvector(v, U)); });
  case DType::F16:
    return loadFormat<FormatF16>(src, stride, n, dst);
  case DType::F8E5:
    return loadFormat<FormatF8E5>(src, stride, n, dst);
  case DType::F8E4:
    return loadFormat<FormatF8E4>(src, stride, n, dst);
  case DType::F8E3:
    return loadFormat<FormatF8E3>(src, stride, n, dst);
  case DType::F8E4FN:
    return loadFormat<FormatF8E4FN>(src, stride, n, dst);
  case DType::F8E8:
    return loadRow<uint8_t, U8>(src, stride, n, dst, [](U8 v) { return widenE8(__builtin_convertvector(v, U)); });
  case DType::I8:
    return loadRow<int8_t, I8>(src, stride, n, dst, [](I8 v) { return __builtin_convertvector(v, F); });
  case DType::U8:
    return loadRow<uint8_t, U8>(src, stride, n, dst, [](U8 v) { return __builtin_convertvector(v, F); });
  case DType::BOOL:
    return loadRow<uint8_t, U8>(src, stride, n, dst, [](U8 v) {
      return select(__builtin_convertvector(v, I) != 0, splat(1.0f), splat(0.0f));
    });
  case DType::I16:
    return loadRow<int16_t, I16>(src, stride, n, dst, [](I16 v) { return __builtin_convertvector(v, F); });
  case DType::U16:
    return loadRow<uint16_t, U16>(src, stride, n, dst, [](U16 v) { return __builtin_convertvector(v, F); });
  case DType::I32:
    return loadRow<int32_t, I>(src, stride, n, dst, [](I v) { return __builtin_convertvector(v, F); });
  case DType::U32:
    return loadRow<uint32_t, U>(src, stride, n, dst, [](U v) { return __builtin_convertvector(v, F); });
  case DType::I64:
    for (size_t i = 0; i < n; ++i, src += stride) {
      int64_t value;
      __builtin_memcpy(&value, src, sizeof(value));
      dst[i] = float(value);
    }
    return;
  case DType::U64:
    for (size_t i = 0; i < n; ++i, src += stride) {
      uint64_t value;
      __builtin_memcpy(&value, src, sizeof(value));
      dst[i] = float(value);
    }
    return;
#define TRN_DTYPE(id, code, bytes, kind, name)
#define TRN_LIBRARY_DTYPE(id, code, bytes, kind, name) case DType::id:
#define TRN_HOST_DTYPE(id, code, bytes, kind, name) case DType::id:
#include "dialects/Trn/ISA/DTypes.def"
    return; // no instruction that converts passes validation with one
  }
}

void store(DType type, const float *src, uint8_t *dst, int64_t stride, size_t n) {
  switch (type) {
  case DType::F32:
  case DType::F32R:
    return storeRow<float, F>(src, dst, stride, n, [](F v) { return canonical(v); });
  case DType::TF32:
    return storeRow<float, F>(src, dst, stride, n, [](F v) { return roundTf32(v); });
  case DType::BF16:
    return storeRow<uint16_t, U16>(src, dst, stride, n,
                                   [](F v) { return __builtin_convertvector(narrowBf16(v), U16); });
  case DType::F16:
    return storeFormat<FormatF16>(src, dst, stride, n);
  case DType::F8E5:
    return storeFormat<FormatF8E5>(src, dst, stride, n);
  case DType::F8E4:
    return storeFormat<FormatF8E4>(src, dst, stride, n);
  case DType::F8E3:
    return storeFormat<FormatF8E3>(src, dst, stride, n);
  case DType::F8E4FN:
    return storeFormat<FormatF8E4FN>(src, dst, stride, n);
  case DType::F8E8:
    return storeRow<uint8_t, U8>(src, dst, stride, n, [](F v) { return __builtin_convertvector(narrowE8(v), U8); });
  case DType::I8:
    return storeRow<int8_t, I8>(src, dst, stride, n,
                                [](F v) { return __builtin_convertvector(toSmallInt(v, -128.0f, 127.0f), I8); });
  case DType::U8:
    return storeRow<uint8_t, U8>(src, dst, stride, n,
                                 [](F v) { return __builtin_convertvector(toSmallInt(v, 0.0f, 255.0f), U8); });
  case DType::BOOL:
    return storeRow<uint8_t, U8>(src, dst, stride, n,
                                 [](F v) { return __builtin_convertvector(mask(v != 0.0f) & 1u, U8); });
  case DType::I16:
    return storeRow<int16_t, I16>(src, dst, stride, n, [](F v) {
      return __builtin_convertvector(toSmallInt(v, -32768.0f, 32767.0f), I16);
    });
  case DType::U16:
    return storeRow<uint16_t, U16>(src, dst, stride, n, [](F v) {
      return __builtin_convertvector(toSmallInt(v, 0.0f, 65535.0f), U16);
    });
  case DType::I32:
    return storeRow<uint32_t, U>(src, dst, stride, n, [](F v) { return toInt32(v); });
  case DType::U32:
    return storeRow<uint32_t, U>(src, dst, stride, n, [](F v) { return toUnsigned32(v); });
  case DType::I64:
    for (size_t i = 0; i < n; ++i, dst += stride) {
      int64_t value = toInt64(src[i]);
      __builtin_memcpy(dst, &value, sizeof(value));
    }
    return;
  case DType::U64:
    for (size_t i = 0; i < n; ++i, dst += stride) {
      uint64_t value = toUnsigned64(src[i]);
      __builtin_memcpy(dst, &value, sizeof(value));
    }
    return;
#define TRN_DTYPE(id, code, bytes, kind, name)
#define TRN_LIBRARY_DTYPE(id, code, bytes, kind, name) case DType::id:
#define TRN_HOST_DTYPE(id, code, bytes, kind, name) case DType::id:
#include "dialects/Trn/ISA/DTypes.def"
    return; // no instruction that converts passes validation with one
  }
}

//===----------------------------------------------------------------------===//
// ALU
//===----------------------------------------------------------------------===//

inline F truth(I m) { return fromBits(mask(m) & 0x3f800000u); }

/// pow in double, rounded once: within half an ulp and a little of the correctly rounded result.
inline F power(F a, F b) {
  F r;
  for (int i = 0; i < kWidth; ++i)
    r[i] = float(::pow(double(a[i]), double(b[i])));
  return r;
}

/// a - b * floor(a / b): the remainder with the sign of b. fmod is exact; the one sum is rounded once.
inline F modulo(F a, F b) {
  F r;
  for (int i = 0; i < kWidth; ++i) {
    double m = ::fmod(double(a[i]), double(b[i]));
    if (m != 0.0 && (m < 0.0) != (b[i] < 0.0f))
      m += double(b[i]);
    r[i] = float(m);
  }
  return r;
}

/// Calls `use` with the function object of an arithmetic operator; false for the operators on raw integers.
template <typename Use> inline bool withOperator(AluOp op, Use use) {
  switch (op) {
  case AluOp::Add:
    return use([](F a, F b) { return a + b; }), true;
  case AluOp::Subtract:
    return use([](F a, F b) { return a - b; }), true;
  case AluOp::Multiply:
    return use([](F a, F b) { return a * b; }), true;
  case AluOp::Max:
    return use([](F a, F b) { return maximum(a, b); }), true;
  case AluOp::Min:
    return use([](F a, F b) { return minimum(a, b); }), true;
  case AluOp::Divide:
    return use([](F a, F b) { return a / b; }), true;
  case AluOp::Power:
    return use([](F a, F b) { return power(a, b); }), true;
  case AluOp::Mod:
    return use([](F a, F b) { return modulo(a, b); }), true;
  case AluOp::AbsMax:
    return use([](F a, F b) { return maximum(abs(a), abs(b)); }), true;
  case AluOp::Average:
    return use([](F a, F b) { return (a + b) * 0.5f; }), true;
  case AluOp::Bypass:
    return use([](F a, F) { return a; }), true;
  case AluOp::IsEq:
    return use([](F a, F b) { return truth(a == b); }), true;
  case AluOp::IsNe:
    return use([](F a, F b) { return truth(a != b); }), true;
  case AluOp::IsGt:
    return use([](F a, F b) { return truth(a > b); }), true;
  case AluOp::IsGe:
    return use([](F a, F b) { return truth(a >= b); }), true;
  case AluOp::IsLt:
    return use([](F a, F b) { return truth(a < b); }), true;
  case AluOp::IsLe:
    return use([](F a, F b) { return truth(a <= b); }), true;
  case AluOp::LogicalAnd:
    return use([](F a, F b) { return truth((a != 0.0f) & (b != 0.0f)); }), true;
  case AluOp::LogicalOr:
    return use([](F a, F b) { return truth((a != 0.0f) | (b != 0.0f)); }), true;
  case AluOp::LogicalXor:
    return use([](F a, F b) { return truth((a != 0.0f) ^ (b != 0.0f)); }), true;
  case AluOp::BitwiseAnd:
  case AluOp::BitwiseOr:
  case AluOp::BitwiseXor:
  case AluOp::ShiftLeft:
  case AluOp::ShiftRight:
  case AluOp::ShiftRightArith:
    return false;
  }
  return false;
}

void binary(AluOp op, const float *a, const float *b, float *dst, size_t n) {
  withOperator(op, [&](auto f) {
    forSteps(n, [&](size_t i, size_t lanes) {
      storeLanes(dst + i, canonical(f(loadLanes<F>(a + i, lanes), loadLanes<F>(b + i, lanes))), lanes);
    });
  });
}

void binaryScalar(AluOp op, const float *a, float s, bool reverse, float *dst, size_t n) {
  withOperator(op, [&](auto f) {
    F scalar = splat(s);
    if (reverse)
      forSteps(n, [&](size_t i, size_t lanes) {
        storeLanes(dst + i, canonical(f(scalar, loadLanes<F>(a + i, lanes))), lanes);
      });
    else
      forSteps(n, [&](size_t i, size_t lanes) {
        storeLanes(dst + i, canonical(f(loadLanes<F>(a + i, lanes), scalar)), lanes);
      });
  });
}

/// The lanes are an array, so that vectors narrower than the array give the same sums.
void reduce(AluOp op, const float *src, size_t n, float *lanes) {
  static_assert(kReduceLanes % kWidth == 0, "a vector is a part of the lanes");
  withOperator(op, [&](auto f) {
    constexpr int kParts = kReduceLanes / kWidth;
    F sum[kParts];
    for (int p = 0; p < kParts; ++p)
      sum[p] = loadVector<F>(lanes + p * kWidth);
    size_t i = 0;
    for (; i + kReduceLanes <= n; i += kReduceLanes)
      for (int p = 0; p < kParts; ++p)
        sum[p] = f(sum[p], loadVector<F>(src + i + p * kWidth));
    for (int p = 0; p < kParts; ++p)
      storeVector(lanes + p * kWidth, sum[p]);
    for (unsigned lane = 0; i < n; ++i, ++lane)
      lanes[lane] = f(splat(lanes[lane]), splat(src[i]))[0];
  });
}

//===----------------------------------------------------------------------===//
// Activation functions
//===----------------------------------------------------------------------===//

template <typename Func>
inline void activationRow(const float *src, float scale, float bias, float *dst, size_t n, Func func) {
  F s = splat(scale), b = splat(bias);
  forSteps(n, [&](size_t i, size_t lanes) {
    storeLanes(dst + i, canonical(func(fma(loadLanes<F>(src + i, lanes), s, b))), lanes);
  });
}

void activation(ActivationFunc func, const float *src, float scale, float bias, float *dst, size_t n) {
  switch (func) {
  case ActivationFunc::Copy:
    return activationRow(src, scale, bias, dst, n, [](F x) { return x; });
  case ActivationFunc::Square:
    return activationRow(src, scale, bias, dst, n, [](F x) { return x * x; });
  case ActivationFunc::Relu:
    return activationRow(src, scale, bias, dst, n, [](F x) { return relu(x); });
  case ActivationFunc::Sign:
    return activationRow(src, scale, bias, dst, n, [](F x) { return sign(x); });
  case ActivationFunc::Abs:
    return activationRow(src, scale, bias, dst, n, [](F x) { return abs(x); });
  case ActivationFunc::Exp:
    return activationRow(src, scale, bias, dst, n, [](F x) { return exp(x); });
  case ActivationFunc::Log:
    return activationRow(src, scale, bias, dst, n, [](F x) { return log(x); });
  case ActivationFunc::Sigmoid:
    return activationRow(src, scale, bias, dst, n, [](F x) { return sigmoid(x); });
  case ActivationFunc::Tanh:
    return activationRow(src, scale, bias, dst, n, [](F x) { return tanh(x); });
  case ActivationFunc::Silu:
    return activationRow(src, scale, bias, dst, n, [](F x) { return silu(x); });
  case ActivationFunc::GeluTanh:
    return activationRow(src, scale, bias, dst, n, [](F x) { return geluTanh(x); });
  case ActivationFunc::GeluSigmoid:
    return activationRow(src, scale, bias, dst, n, [](F x) { return geluSigmoid(x); });
  case ActivationFunc::Mish:
    return activationRow(src, scale, bias, dst, n, [](F x) { return mish(x); });
  case ActivationFunc::Softplus:
    return activationRow(src, scale, bias, dst, n, [](F x) { return softplus(x); });
  case ActivationFunc::Gelu:
    return activationRow(src, scale, bias, dst, n, [](F x) { return gelu(x); });
  case ActivationFunc::Erf:
    return activationRow(src, scale, bias, dst, n, [](F x) { return erf(x); });
  case ActivationFunc::Sqrt:
    return activationRow(src, scale, bias, dst, n, [](F x) { return sqrtChecked(x); });
  case ActivationFunc::Rsqrt:
    return activationRow(src, scale, bias, dst, n, [](F x) { return rsqrtChecked(x); });
  case ActivationFunc::Reciprocal:
    return activationRow(src, scale, bias, dst, n, [](F x) { return reciprocalChecked(x); });
  case ActivationFunc::Sin:
    return activationRow(src, scale, bias, dst, n, [](F x) { return sin(x); });
  case ActivationFunc::Arctan:
    return activationRow(src, scale, bias, dst, n, [](F x) { return arctan(x); });
  }
}

} // namespace
} // namespace trn::rt::TRN_KERNELS
