//===- Program.h - programs of several parts ------------------------------===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Program.h.inc"

namespace trn::ir {
/// The program of a module that has parts; null for others.
ProgramOp findProgram(mlir::ModuleOp module);
/// The modules that go through the stages by themselves: the parts of a program, or the module.
llvm::SmallVector<mlir::ModuleOp> partsOf(mlir::ModuleOp module);
} // namespace trn::ir
