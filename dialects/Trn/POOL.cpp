//===- POOL.cpp - operations of POOL, generated from ISA/POOL.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/POOL.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/POOL.cpp.inc"

#include "dialects/Trn/POOLImpl.cpp.inc"

void trn::ir::addPOOLOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/POOL.cpp.inc"
      >();
}
