//===- main.cpp - trn-tblgen ----------------------------------------------===//
//
// Generates everything that is not ODS from the records of dialects/Trn/ISA. Generators register themselves.
//
//===----------------------------------------------------------------------===//
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
