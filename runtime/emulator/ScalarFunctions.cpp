//===- ScalarFunctions.cpp - block kernels of the scalar operations -------===//
#include "runtime/emulator/ScalarFunctions.h"
#include "dialects/Trn/ISA/ScalarFormulas.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trn::rt {

namespace {
using isa::softplus;
using isa::vanishing;

int64_t floorDivide(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

int64_t bitsOf(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
int64_t bitsOf(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
double doubleOf(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
float realOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Out of range values go to the nearest end, NaN to 0: MLIR leaves both undefined, the evaluator must not be.
int64_t saturateSigned(double x, unsigned w) {
  double high = std::ldexp(1.0, w - 1);
  if (!(x == x))
    return 0;
  if (x >= high)
    return w == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (w - 1)) - 1;
  return x <= -high ? std::numeric_limits<int64_t>::min() >> (64 - w) : int64_t(x);
}

/// Lanes of signless integers are sign-extended, so the result is.
int64_t saturateUnsigned(double x, unsigned w) {
  double high = std::ldexp(1.0, w);
  uint64_t value = !(x > 0) ? 0 : x >= high ? ~0ull >> (64 - w) : uint64_t(x);
  return w == 1 ? int64_t(value) : int64_t(value << (64 - w)) >> (64 - w);
}

template <typename T> using Unaligned [[gnu::aligned(1), gnu::may_alias]] = T;

/// What a function sees of one instruction.
struct Operands {
  int n;
  unsigned width;
  char *target;
  const char *a, *b, *c;
};
} // namespace

/// int64 lanes of a signless integer of `w` bits: sign-extended, a bool is 0 or 1.
[[gnu::always_inline]] static inline int64_t wrap(uint64_t value, unsigned w) {
  return w == 64 ? int64_t(value) : w == 1 ? int64_t(value & 1) : int64_t(value << (64 - w)) >> (64 - w);
}

#define LANES(type, pointer) reinterpret_cast<const Unaligned<type> *>(operands.pointer)
#define BOTH(name, body)                                                                                               \
  namespace {                                                                                                          \
  struct name##_kernel {                                                                                               \
    template <typename T> static void run(const Operands &operands) {                                                  \
      auto *out = reinterpret_cast<Unaligned<T> *>(operands.target);                                                   \
      auto *a = LANES(T, a);                                                                                           \
      [[maybe_unused]] auto *b = LANES(T, b);                                                                          \
      [[maybe_unused]] auto *c = LANES(T, c);                                                                          \
      for (int i = 0, n = operands.n; i < n; ++i) {                                                                    \
        [[maybe_unused]] T x = a[i];                                                                                   \
        body;                                                                                                          \
      }                                                                                                                \
    }                                                                                                                  \
  };                                                                                                                   \
  }
#define REAL1(number, name, op, formula) BOTH(name, out[i] = formula)
#define REAL2(number, name, op, formula) BOTH(name, T y = b[i]; out[i] = formula)
#define REAL3(number, name, op, formula) BOTH(name, T y = b[i]; T z = c[i]; out[i] = formula)
#define TEST1(number, name, op, formula)                                                                                       \
  BOTH(name, reinterpret_cast<Unaligned<int64_t> *>(operands.target)[i] = formula; (void)out)
#include "dialects/Trn/ISA/ScalarFunctions.def"

void runScalarFunction(isa::ScalarFunction function, char laneClass, unsigned width, int n, char *target, const char *a,
                       const char *b, const char *c) {
  Operands operands{n, width, target, a, b, c};
  const unsigned w = width;
  auto u = [w](int64_t v) { return w == 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << w) - 1); };
  switch (function) {
#define REAL1(number, name, op, formula)                                                                                       \
  case isa::ScalarFunction::name:                                                                                           \
    return laneClass == 'd' ? name##_kernel::run<double>(operands) : name##_kernel::run<float>(operands);
#define REAL2(number, name, op, formula) REAL1(number, name, op, formula)
#define REAL3(number, name, op, formula) REAL1(number, name, op, formula)
#define TEST1(number, name, op, formula) REAL1(number, name, op, formula)
#define INT1(number, name, op, formula)                                                                                        \
  case isa::ScalarFunction::name: {                                                                                         \
    auto *out = reinterpret_cast<Unaligned<int64_t> *>(target);                                                        \
    auto *lanes = LANES(int64_t, a);                                                                                   \
    for (int i = 0; i < n; ++i) {                                                                                      \
      int64_t x = lanes[i];                                                                                            \
      out[i] = wrap(uint64_t(formula), w);                                                                             \
    }                                                                                                                  \
    return;                                                                                                            \
  }
#define INT2(number, name, op, formula)                                                                                        \
  case isa::ScalarFunction::name: {                                                                                         \
    auto *out = reinterpret_cast<Unaligned<int64_t> *>(target);                                                        \
    auto *left = LANES(int64_t, a);                                                                                    \
    auto *right = LANES(int64_t, b);                                                                                   \
    for (int i = 0; i < n; ++i) {                                                                                      \
      int64_t x = left[i], y = right[i];                                                                               \
      out[i] = wrap(uint64_t(formula), w);                                                                             \
    }                                                                                                                  \
    return;                                                                                                            \
  }
#define CONVERT(number, name, op, from, to, formula)                                                                           \
  case isa::ScalarFunction::name: {                                                                                         \
    auto *out = reinterpret_cast<Unaligned<to> *>(target);                                                             \
    auto *lanes = LANES(from, a);                                                                                      \
    for (int i = 0; i < n; ++i) {                                                                                      \
      from x = lanes[i];                                                                                               \
      out[i] = to(formula);                                                                                            \
    }                                                                                                                  \
    return;                                                                                                            \
  }
#include "dialects/Trn/ISA/ScalarFunctions.def"
  }
}

} // namespace trn::rt
