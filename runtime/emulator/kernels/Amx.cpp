//===- Amx.cpp - the AMX host path ---------------------------------------------===//
//
// Owns the pair contract on the matrix unit; all rows kernels and the chain contract are AVX-512's. The unit flushes
// denormals whatever MXCSR says, and adds the even and odd chains of a pair group as the contract does: the contract was
// read off it (performance.md 5.5.6).
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/kernels/Tiles.h"
#include <immintrin.h>

namespace trn::rt {
namespace {

/// Palette 1: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// The registers are configured for one panel and released, so that the embedder's threads keep no tile state.
struct HardwareTiles {
  HardwareTiles() {
    const TileConfig config;
    _tile_loadconfig(&config);
  }
  ~HardwareTiles() { _tile_release(); }
  template <int T> void zero() { _tile_zero(T); }
  template <int T> void load(const void *p, size_t stride) { _tile_loadd(T, p, stride); }
  template <int T> void store(void *p, size_t stride) { _tile_stored(T, p, stride); }
  template <int C, int A, int B> void multiply() { _tile_dpbf16ps(C, A, B); }
};

} // namespace

const Kernels &amxKernels() {
  static const Kernels table = [] {
    Kernels kernels = avx512Kernels();
    kernels.name = "amx";
    kernels.pairs = {kTileBlock, kTileBlock, runTilePanel<HardwareTiles>, /*tiles=*/true};
    return kernels;
  }();
  return table;
}

} // namespace trn::rt
