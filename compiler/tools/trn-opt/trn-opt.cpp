//===- trn-opt.cpp - run passes on a module of any stage ------------------===//
#include "compiler/Support/ProcessEnd.h"
#include "compiler/Support/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  trn::endProcessCleanly(/*fatalCode=*/1, /*badFileCode=*/1);
  mlir::DialectRegistry registry;
  trn::registerDialects(registry);
  trn::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "trn-mlir's pass driver\n", registry));
}
