//===- TrnxDialect.h - the container as IR --------------------------------===//
//
// Owns the C++ face of the trnx dialect (TrnxOps.td).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Trnx/TrnxDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Trnx/TrnxOps.h.inc"

namespace trn::trnx {

/// Decodes the hexadecimal form of one instruction; false with a reason otherwise.
bool decodeInstruction(llvm::StringRef hex, isa::Instruction &inst, std::string &error);
std::string encodeInstruction(const isa::Instruction &inst);

} // namespace trn::trnx
