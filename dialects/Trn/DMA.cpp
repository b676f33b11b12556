//===- DMA.cpp - operations of DMA, generated from ISA/DMA.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/DMA.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/DMA.cpp.inc"

#include "dialects/Trn/DMAImpl.cpp.inc"

void trn::ir::addDMAOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/DMA.cpp.inc"
      >();
}
