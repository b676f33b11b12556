//===- AmxModel.cpp - the matrix unit by definition -------------------------------===//
//
// Owns plain loops for the tile operations that Amx.cpp uses, on the scalar path's kernels. Not chosen for speed ever: it
// lets packing and blocking be tested on hosts without the unit.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/kernels/Tiles.h"

namespace trn::rt {
namespace {

struct ModelTiles {
  alignas(64) uint8_t tiles[8][kTileRows][64];

  template <int T> void zero() { __builtin_memset(tiles[T], 0, sizeof(tiles[T])); }
  template <int T> void load(const void *p, size_t stride) {
    for (unsigned row = 0; row < kTileRows; ++row)
      __builtin_memcpy(tiles[T][row], static_cast<const uint8_t *>(p) + row * stride, 64);
  }
  template <int T> void store(void *p, size_t stride) {
    for (unsigned row = 0; row < kTileRows; ++row)
      __builtin_memcpy(static_cast<uint8_t *>(p) + row * stride, tiles[T][row], 64);
  }
  float bf16(const uint8_t *row, unsigned i) const {
    uint16_t half;
    __builtin_memcpy(&half, row + 2 * i, 2);
    return __builtin_bit_cast(float, uint32_t(half) << 16);
  }
  /// Each result: two chains over the pairs of one group, then their sum. The caller's MXCSR flushes denormals.
  template <int C, int A, int B> void multiply() {
    for (unsigned m = 0; m < kTileRows; ++m)
      for (unsigned n = 0; n < kTileRows; ++n) {
        float even = 0, odd = 0, sum;
        for (unsigned pair = 0; pair < kTileDepth / 2; ++pair) {
          even = __builtin_fmaf(bf16(tiles[A][m], 2 * pair), bf16(tiles[B][pair], 2 * n), even);
          odd = __builtin_fmaf(bf16(tiles[A][m], 2 * pair + 1), bf16(tiles[B][pair], 2 * n + 1), odd);
        }
        __builtin_memcpy(&sum, tiles[C][m] + 4 * n, 4);
        sum += even + odd;
        __builtin_memcpy(tiles[C][m] + 4 * n, &sum, 4);
      }
  }
};

} // namespace

const Kernels &amxModelKernels() {
  static const Kernels table = [] {
    Kernels kernels = scalarKernels();
    kernels.name = "amx_model";
    kernels.pairs = {kTileBlock, kTileBlock, runTilePanel<ModelTiles>, /*tiles=*/true};
    return kernels;
  }();
  return table;
}

} // namespace trn::rt
