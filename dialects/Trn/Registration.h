//===- Registration.h - adding the operations of each file ----------------===//
// Private to the dialect: one function per translation unit, so that no file includes all operations.
#pragma once
#include "dialects/Trn/TrnDialect.h"

namespace trn::ir {
void addTrnOps(TrnDialect &dialect);
void addPEOps(TrnDialect &dialect);
void addACTOps(TrnDialect &dialect);
void addDVEOps(TrnDialect &dialect);
void addPOOLOps(TrnDialect &dialect);
void addLibraryOps(TrnDialect &dialect);
void addDMAOps(TrnDialect &dialect);
void addControlOps(TrnDialect &dialect);
void addProgramOps(TrnDialect &dialect);
} // namespace trn::ir
