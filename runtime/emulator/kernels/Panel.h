//===- Panel.h - the matrix kernels --------------------------------------------===//
//
// Owns the arithmetic contract of the PE (performance.md 5.5.6) as blocked kernels on packed operands:
//   pairs (bf16, fp8): per 32 contraction elements an even and an odd fp32 FMA chain from +0, their sum added to the
//     accumulator; a group restarts at every instruction and may be short. The caller sets flush-to-zero.
//   chain (fp32, tf32, fp16): one FMA chain over the contraction, continuing in the accumulator.
// Both are vectorised over the columns, so every column sees the same operations in the same order on every host path.
// NaN results are written as 0x7FC00000.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Vec.h"
#include "runtime/emulator/kernels/Kernels.h"

namespace trn::rt::TRN_KERNELS {
namespace {

/// Two vectors wide (three lanes on the scalar path): the accumulators of a block fill the register file, and each
/// loaded vector of `b` is used once per row.
constexpr int kPanelVectors = kWidth == 1 ? 3 : 2;
constexpr int kPanelCols = kPanelVectors * kWidth;

inline F canonicalNan(F x) { return select(isNan(x), splat(__builtin_nanf("")), x); }

/// A block of the result in memory, full width.
struct Tile {
  float *c;
  ptrdiff_t stride;
  inline F get(int row, int v) const { return loadVector<F>(c + row * stride + v * kWidth); }
  inline void set(int row, int v, F x) const { storeVector(c + row * stride + v * kWidth, x); }
};

template <int R> inline void chainBlock(const float *a, int aRows, const float *b, unsigned k, Tile c, bool accumulate) {
  F x[R][kPanelVectors];
  for (int i = 0; i < R; ++i)
    for (int v = 0; v < kPanelVectors; ++v)
      x[i][v] = accumulate ? c.get(i, v) : splat(0.0f);
  for (unsigned step = 0; step < k; ++step, a += aRows, b += kPanelCols) {
    F y[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v)
      y[v] = loadVector<F>(b + v * kWidth);
    for (int i = 0; i < R; ++i)
      for (int v = 0; v < kPanelVectors; ++v)
        x[i][v] = fma(splat(a[i]), y[v], x[i][v]);
  }
  for (int i = 0; i < R; ++i)
    for (int v = 0; v < kPanelVectors; ++v)
      c.set(i, v, canonicalNan(x[i][v]));
}

template <int R> inline void pairsBlock(const float *a, int aRows, const float *b, unsigned k, Tile c, bool accumulate) {
  for (unsigned group = 0; group < k; group += kPairGroup) {
    F even[R][kPanelVectors], odd[R][kPanelVectors];
    for (int i = 0; i < R; ++i)
      for (int v = 0; v < kPanelVectors; ++v)
        even[i][v] = odd[i][v] = splat(0.0f);
    auto step = [&](F(&x)[R][kPanelVectors]) {
      F y[kPanelVectors];
      for (int v = 0; v < kPanelVectors; ++v)
        y[v] = loadVector<F>(b + v * kWidth);
      for (int i = 0; i < R; ++i)
        for (int v = 0; v < kPanelVectors; ++v)
          x[i][v] = fma(splat(a[i]), y[v], x[i][v]);
      a += aRows;
      b += kPanelCols;
    };
    unsigned steps = k - group < kPairGroup ? k - group : kPairGroup;
    for (unsigned pair = 0; pair + 1 < steps; pair += 2) {
      step(even);
      step(odd);
    }
    if (steps & 1)
      step(even);
    bool add = accumulate || group > 0;
    bool last = group + kPairGroup >= k;
    for (int i = 0; i < R; ++i)
      for (int v = 0; v < kPanelVectors; ++v) {
        F sum = (add ? c.get(i, v) : splat(0.0f)) + (even[i][v] + odd[i][v]);
        c.set(i, v, last ? canonicalNan(sum) : sum);
      }
  }
}

template <bool Pairs, int R>
inline void runBlock(const float *a, int aRows, const float *b, unsigned k, Tile c, bool accumulate) {
  if constexpr (Pairs)
    pairsBlock<R>(a, aRows, b, k, c, accumulate);
  else
    chainBlock<R>(a, aRows, b, k, c, accumulate);
}

/// Picks the block with `rows` <= R rows.
template <bool Pairs, int R>
inline void runRows(int rows, const float *a, int aRows, const float *b, unsigned k, Tile c, bool accumulate) {
  if constexpr (R == 1) {
    runBlock<Pairs, 1>(a, aRows, b, k, c, accumulate);
  } else {
    if (rows >= R)
      return runBlock<Pairs, R>(a, aRows, b, k, c, accumulate);
    runRows<Pairs, R - 1>(rows, a, aRows, b, k, c, accumulate);
  }
}

/// One panel: all rows of the packed stationary operand against kPanelCols columns.
template <bool Pairs, int R>
void runPanel(const float *a, const float *b, unsigned k, unsigned rows, unsigned cols, float *c, ptrdiff_t cStride,
              bool accumulate) {
  for (unsigned m = 0; m < rows; m += R, a += size_t(k) * R) {
    int count = rows - m < unsigned(R) ? int(rows - m) : R;
    float *block = c + ptrdiff_t(m) * cStride;
    if (cols == unsigned(kPanelCols)) {
      runRows<Pairs, R>(count, a, R, b, k, Tile{block, cStride}, accumulate);
      continue;
    }
    // A ragged panel goes through a full-width copy; the extra columns compute with zeros and are dropped.
    float copy[R * kPanelCols];
    for (int i = 0; i < R * kPanelCols; ++i)
      copy[i] = 0.0f;
    if (accumulate)
      for (int i = 0; i < count; ++i)
        __builtin_memcpy(copy + i * kPanelCols, block + i * cStride, cols * sizeof(float));
    runRows<Pairs, R>(count, a, R, b, k, Tile{copy, kPanelCols}, accumulate);
    for (int i = 0; i < count; ++i)
      __builtin_memcpy(block + i * cStride, copy + i * kPanelCols, cols * sizeof(float));
  }
}

} // namespace
} // namespace trn::rt::TRN_KERNELS
