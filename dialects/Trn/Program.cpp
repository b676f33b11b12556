//===- Program.cpp - programs of several parts ----------------------------===//
#include "dialects/Trn/Program.h"
#include "dialects/Trn/Registration.h"
#include "mlir/IR/Builders.h"
#include <limits>

#define GET_OP_CLASSES
#include "dialects/Trn/Program.cpp.inc"

using namespace mlir;

LogicalResult trn::ir::RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<ModuleOp>((*this)->getParentOfType<ProgramOp>(), getPartAttr()))
    return emitOpError("expected a module '") << getPart() << "' beside the program";
  return success();
}

LogicalResult trn::ir::RepeatOp::verify() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const int64_t limit = getLimitAttr().getInt();
  if (limit < 0 || limit > most)
    return emitOpError("expected a limit from 0 to ") << most << " but got " << limit;
  if (getCount() && limit != most)
    return emitOpError("expected a limit of ") << most << " beside a count but got " << limit
                                               << "; bound the count where it is computed";
  return success();
}

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
