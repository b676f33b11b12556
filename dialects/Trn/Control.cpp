//===- Control.cpp - operations of Control, generated from ISA/Control.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/Control.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Control.cpp.inc"

#include "dialects/Trn/ControlImpl.cpp.inc"

void trn::ir::addControlOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/Control.cpp.inc"
      >();
}
