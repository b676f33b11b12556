//===- PE.cpp - operations of PE, generated from ISA/PE.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/PE.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/PE.cpp.inc"

#include "dialects/Trn/PEImpl.cpp.inc"

void trn::ir::addPEOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/PE.cpp.inc"
      >();
}
