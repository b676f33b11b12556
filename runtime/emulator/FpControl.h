//===- FpControl.h - the host's floating-point control register ----------------===//
//
// Owns saving, setting and restoring MXCSR. The embedder's threads may have any rounding mode or trap set, and kernels
// differ in what they want: the pair contract of the PE flushes denormals, all else keeps them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <xmmintrin.h>

namespace trn::rt {

/// Round to nearest even, denormals kept, all exceptions masked.
constexpr unsigned kFpDefault = 0x1f80;
/// The same with denormal operands (DAZ) and results (FTZ) flushed to zero.
constexpr unsigned kFpFlush = kFpDefault | 0x8040;

class ScopedFpControl {
public:
  explicit ScopedFpControl(unsigned control) : saved(_mm_getcsr()) { _mm_setcsr(control); }
  ~ScopedFpControl() { _mm_setcsr(saved); }
  ScopedFpControl(const ScopedFpControl &) = delete;
  ScopedFpControl &operator=(const ScopedFpControl &) = delete;

private:
  unsigned saved;
};

} // namespace trn::rt
