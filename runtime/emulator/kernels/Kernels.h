//===- Kernels.h - the table of host kernels of one host path ---------------===//
//
// Owns the border between the emulator and its inner loops: one table of functions per host path (scalar, AVX2,
// AVX-512; AMX replaces single entries). The entries of all tables compute the same bits for the same inputs; that is
// the emulator's contract and it is tested. The kernels work on rows of fp32 or on packed tiles, know nothing of the
// device's memories, and check nothing: callers have resolved and checked every address.
//
// Translation units that implement a table are compiled with extra instruction sets. They must not call inline
// functions of the standard library: the linker might pick their copy for the whole program.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <cstddef>
#include <cstdint>

namespace trn::rt {

/// Partial results that a reduction keeps: element i of the reduced sequence goes to lane i mod 16; the lanes are
/// combined pairwise at the end (0 with 8, 1 with 9, ...; then 0 with 4, ...). The order is part of the contract,
/// because it must not depend on the width of the host's vectors.
constexpr unsigned kReduceLanes = 16;

/// Contraction elements per group of the bf16/fp8 contract (performance.md 5.5.6).
constexpr unsigned kPairGroup = 32;

/// One matrix kernel: `c[rows][cols] (+)= a^T b` for one panel of columns.
struct PanelKernel {
  /// Rows of one block of packed `a`, laid out as [block][k][rows].
  unsigned rows;
  /// Columns of one packed panel of `b`, laid out as [k][cols]; absent columns are zero.
  unsigned cols;
  /// `cStride` in floats. `cols` ≤ PanelKernel::cols. Without `accumulate` the result starts from +0.
  void (*run)(const float *a, const float *b, unsigned k, unsigned rows, unsigned cols, float *c, ptrdiff_t cStride,
              bool accumulate);
  /// Operands are packed as bf16 tiles (Tiles.h) instead of fp32; `a` and `b` then point to those.
  bool tiles = false;
};

/// The kernels of one host path.
struct Kernels {
  const char *name;

  /// Reads `n` elements, `stride` bytes apart, as fp32 (exact where the type allows, else RNE).
  void (*load)(isa::DType, const uint8_t *src, int64_t stride, size_t n, float *dst);
  /// Writes `n` elements, `stride` bytes apart, with RNE; integers saturate; NaNs are written canonical.
  void (*store)(isa::DType, const float *src, uint8_t *dst, int64_t stride, size_t n);

  /// dst = a op b, element by element, in fp32. `dst` may be `a` or `b`.
  void (*binary)(isa::AluOp, const float *a, const float *b, float *dst, size_t n);
  /// dst = a op s, or s op a when `reverse`.
  void (*binaryScalar)(isa::AluOp, const float *a, float s, bool reverse, float *dst, size_t n);
  /// dst = func(x * scale + bias), product and sum rounded once.
  void (*activation)(isa::ActivationFunc, const float *src, float scale, float bias, float *dst, size_t n);
  /// lanes[i % 16] = lanes[i % 16] op src[i].
  void (*reduce)(isa::AluOp, const float *src, size_t n, float *lanes);

  /// bf16 and fp8 operands: two chains per 32 contraction elements, denormals flushed.
  PanelKernel pairs;
  /// fp32, tf32 and fp16 operands: one chain over the contraction that continues in `c`.
  PanelKernel chain;
};

/// Compiled in always; the caller asks the processor before it uses them.
const Kernels &scalarKernels();
const Kernels &avx2Kernels();
const Kernels &avx512Kernels();
const Kernels &amxKernels();
/// The AMX path with its tile operations in plain loops, for tests.
const Kernels &amxModelKernels();

} // namespace trn::rt
