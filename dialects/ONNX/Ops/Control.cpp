//===- Control.cpp - definitions of Ops/Control.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Control.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Control.cpp.inc"

void ONNXDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Control.cpp.inc"
      >();
}
