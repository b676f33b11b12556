//===- Library.h - library kernels, generated from ISA/Library.td ---===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Library.h.inc"
