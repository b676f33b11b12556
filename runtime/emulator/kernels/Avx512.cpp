//===- Avx512.cpp - the AVX-512 host path ---------------------------------------------===//
//
// Owns the kernel table of the AVX-512 path: the common kernels with vectors of 16 lanes.
//
//===----------------------------------------------------------------------===//
#define TRN_KERNELS avx512_kernels
static constexpr int kWidth = 16;
#include "Panel.h"
#include "Rows.h"

const trn::rt::Kernels &trn::rt::avx512Kernels() {
  using namespace TRN_KERNELS;
  // Rows per block: as many accumulators as the register file holds beside the operands; the pair contract needs two.
  static const Kernels table = {"avx512",
                                load,
                                store,
                                binary,
                                binaryScalar,
                                activation,
                                reduce,
                                {6, kPanelCols, runPanel<true, 6>, /*tiles=*/false},
                                {12, kPanelCols, runPanel<false, 12>, /*tiles=*/false}};
  return table;
}
