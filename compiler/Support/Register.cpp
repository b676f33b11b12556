//===- Register.cpp - all dialects and passes of the project --------------===//
#include "compiler/Support/Register.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "mlir/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

namespace trn {

void registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<onnx::ONNXDialect>();
}

void registerPasses() { mlir::registerAllPasses(); }

} // namespace trn
