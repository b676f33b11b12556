//===- Scalar.cpp - the scalar host path ---------------------------------------------===//
//
// Owns the kernel table of the scalar path: the common kernels with vectors of 1 lane.
//
//===----------------------------------------------------------------------===//
#define TRN_KERNELS scalar_kernels
static constexpr int kWidth = 1;
#include "Panel.h"
#include "Rows.h"

const trn::rt::Kernels &trn::rt::scalarKernels() {
  using namespace TRN_KERNELS;
  // Rows per block: as many accumulators as the register file holds beside the operands; the pair contract needs two.
  static const Kernels table = {"scalar",
                                load,
                                store,
                                binary,
                                binaryScalar,
                                activation,
                                reduce,
                                {2, kPanelCols, runPanel<true, 2>, /*tiles=*/false},
                                {4, kPanelCols, runPanel<false, 4>, /*tiles=*/false}};
  return table;
}
