//===- ACT.cpp - operations of ACT, generated from ISA/ACT.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ACT.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/ACT.cpp.inc"

#include "dialects/Trn/ACTImpl.cpp.inc"

void trn::ir::addACTOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/ACT.cpp.inc"
      >();
}
