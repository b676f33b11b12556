//===- DVE.cpp - operations of DVE, generated from ISA/DVE.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/DVE.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/DVE.cpp.inc"

#include "dialects/Trn/DVEImpl.cpp.inc"

void trn::ir::addDVEOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/DVE.cpp.inc"
      >();
}
