//===- ISA.td - all instruction records ------------------------*- tablegen -*-===//
//
// What the MLIR-free library is generated from.
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/PE.td"
include "dialects/Trn/ISA/ACT.td"
include "dialects/Trn/ISA/DVE.td"
include "dialects/Trn/ISA/POOL.td"
include "dialects/Trn/ISA/Library.td"
include "dialects/Trn/ISA/DMA.td"
include "dialects/Trn/ISA/Control.td"
include "dialects/Trn/ISA/Compositions.td"
