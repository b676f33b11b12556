//===- Library.cpp - library kernels, generated from ISA/Library.td ---===//
//
// One translation unit per engine keeps rebuilds short. Everything here is generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/Library.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Library.cpp.inc"

#include "dialects/Trn/LibraryImpl.cpp.inc"

void trn::ir::addLibraryOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/Library.cpp.inc"
      >();
}
