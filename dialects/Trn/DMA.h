//===- DMA.h - operations of DMA, generated from ISA/DMA.td ---===//
#pragma once
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/Trn/DMA.h.inc"
