//===- Avx2.cpp - the AVX2 host path ---------------------------------------------===//
//
// Owns the kernel table of the AVX2 path: the common kernels with vectors of 8 lanes.
//
//===----------------------------------------------------------------------===//
#define TRN_KERNELS avx2_kernels
static constexpr int kWidth = 8;
#include "Panel.h"
#include "Rows.h"

const trn::rt::Kernels &trn::rt::avx2Kernels() {
  using namespace TRN_KERNELS;
  // Rows per block: as many accumulators as the register file holds beside the operands; the pair contract needs two.
  static const Kernels table = {"avx2",
                                load,
                                store,
                                binary,
                                binaryScalar,
                                activation,
                                reduce,
                                {3, kPanelCols, runPanel<true, 3>, /*tiles=*/false},
                                {6, kPanelCols, runPanel<false, 6>, /*tiles=*/false}};
  return table;
}
