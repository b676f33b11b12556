//===- Program.cpp - programs of several parts ----------------------------===//
#include "dialects/Trn/Program.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Program.cpp.inc"

using namespace mlir;

void trn::ir::addProgramOps(TrnDialect &dialect) {
  dialect.addOps<
#define GET_OP_LIST
#include "dialects/Trn/Program.cpp.inc"
      >();
}

trn::ir::ProgramOp trn::ir::findProgram(ModuleOp module) {
  auto programs = module.getOps<ProgramOp>();
  return programs.empty() ? ProgramOp() : *programs.begin();
}

llvm::SmallVector<ModuleOp> trn::ir::partsOf(ModuleOp module) {
  if (!findProgram(module))
    return {module};
  return llvm::to_vector(module.getOps<ModuleOp>());
}
