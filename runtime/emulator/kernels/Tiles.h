//===- Tiles.h - matrix kernels on 16 x 64-byte tiles --------------------------===//
//
// Owns the pair contract (Panel.h) in the shape of x86's matrix unit: operands packed as bf16 tiles, two by two result
// tiles per block. The tile operations themselves are a parameter: the hardware's intrinsics (Amx.cpp), or plain loops
// that define them (AmxModel.cpp), with which packing and blocking are tested on hosts without the unit.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/emulator/kernels/Kernels.h"

namespace trn::rt {

/// Rows of a tile; also its columns in fp32, and its pairs of bf16.
constexpr unsigned kTileRows = 16;
/// bf16 elements per row: one group of the contract.
constexpr unsigned kTileDepth = kPairGroup;
constexpr unsigned kTileElements = kTileRows * kTileDepth;
/// A block of the result is two by two tiles.
constexpr unsigned kTileBlock = 2 * kTileRows;

static inline unsigned tileGroups(unsigned k) { return (k + kTileDepth - 1) / kTileDepth; }

// Static: this header is compiled with several instruction sets, and no copy may be shared between them.

/// bf16 of an fp32 value that is one exactly (all bf16 and fp8 values are).
static inline uint16_t exactBf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return uint16_t(bits >> 16);
}

/// Packs row `k` of the stationary operand, elements [begin, begin + n): tiles [block of 32][group][half][row][depth].
/// Absent rows and depths stay as the caller zeroed them.
static inline void packTileStationary(const float *values, unsigned begin, unsigned n, unsigned k,
                                      unsigned contraction, uint16_t *packed) {
  const size_t groupStride = 2 * kTileElements, blockStride = groupStride * tileGroups(contraction);
  for (unsigned i = 0; i < n; ++i) {
    unsigned m = begin + i;
    packed[m / kTileBlock * blockStride + k / kTileDepth * groupStride + m % kTileBlock * kTileDepth + k % kTileDepth] =
        exactBf16(values[i]);
  }
}

/// Packs row `k` of the moving operand: tiles [block of 32][group][half][pair of depths][column][depth parity].
static inline void packTileMoving(const float *values, unsigned begin, unsigned n, unsigned k, unsigned contraction,
                                  uint16_t *packed) {
  const size_t groupStride = 2 * kTileElements, blockStride = groupStride * tileGroups(contraction);
  for (unsigned i = 0; i < n; ++i) {
    unsigned column = begin + i;
    packed[column / kTileBlock * blockStride + k / kTileDepth * groupStride +
           column % kTileBlock / kTileRows * kTileElements + k % kTileDepth / 2 * kTileDepth + column % kTileRows * 2 +
           k % 2] = exactBf16(values[i]);
  }
}

/// One panel of 32 columns. Tiles has numbered tiles: 0 to 3 results, 4 and 5 stationary, 6 and 7 moving.
template <typename Tiles>
inline void runTilePanel(const float *aPacked, const float *bPacked, unsigned k, unsigned rows, unsigned cols, float *c,
                         ptrdiff_t cStride, bool accumulate) {
  const unsigned groups = tileGroups(k);
  const uint16_t *a = reinterpret_cast<const uint16_t *>(aPacked);
  Tiles tiles;
  for (unsigned m = 0; m < rows; m += kTileBlock) {
    const uint16_t *b = reinterpret_cast<const uint16_t *>(bPacked);
    unsigned count = rows - m < kTileBlock ? rows - m : kTileBlock;
    float *block = c + ptrdiff_t(m) * cStride;
    // A ragged block goes through a full-size copy.
    alignas(64) float copy[kTileBlock * kTileBlock];
    bool ragged = count < kTileBlock || cols < kTileBlock;
    float *target = ragged ? copy : block;
    ptrdiff_t stride = ragged ? kTileBlock : cStride;
    if (ragged) {
      __builtin_memset(copy, 0, sizeof(copy));
      for (unsigned i = 0; accumulate && i < count; ++i)
        __builtin_memcpy(copy + i * kTileBlock, block + i * cStride, cols * sizeof(float));
    }
    auto quarter = [&](unsigned i, unsigned j) { return target + i * kTileRows * stride + j * kTileRows; };
    if (accumulate) {
      tiles.template load<0>(quarter(0, 0), stride * sizeof(float));
      tiles.template load<1>(quarter(0, 1), stride * sizeof(float));
      tiles.template load<2>(quarter(1, 0), stride * sizeof(float));
      tiles.template load<3>(quarter(1, 1), stride * sizeof(float));
    } else {
      tiles.template zero<0>();
      tiles.template zero<1>();
      tiles.template zero<2>();
      tiles.template zero<3>();
    }
    constexpr size_t kRowBytes = kTileDepth * sizeof(uint16_t);
    for (unsigned group = 0; group < groups; ++group, a += 2 * kTileElements, b += 2 * kTileElements) {
      tiles.template load<4>(a, kRowBytes);
      tiles.template load<6>(b, kRowBytes);
      tiles.template multiply<0, 4, 6>();
      tiles.template load<7>(b + kTileElements, kRowBytes);
      tiles.template multiply<1, 4, 7>();
      tiles.template load<5>(a + kTileElements, kRowBytes);
      tiles.template multiply<2, 5, 6>();
      tiles.template multiply<3, 5, 7>();
    }
    tiles.template store<0>(quarter(0, 0), stride * sizeof(float));
    tiles.template store<1>(quarter(0, 1), stride * sizeof(float));
    tiles.template store<2>(quarter(1, 0), stride * sizeof(float));
    tiles.template store<3>(quarter(1, 1), stride * sizeof(float));
    // NaN results are canonical.
    for (unsigned i = 0; i < count; ++i)
      for (unsigned j = 0; j < cols; ++j) {
        float x = target[i * stride + j];
        block[i * cStride + j] = x != x ? __builtin_nanf("") : x;
      }
  }
}

} // namespace trn::rt
