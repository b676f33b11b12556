//===- ACT.h - operations of ACT, generated from ISA/ACT.td ---===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/Trn/ACT.h.inc"
