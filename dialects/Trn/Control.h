//===- Control.h - operations of Control, generated from ISA/Control.td ---===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/Trn/Control.h.inc"
