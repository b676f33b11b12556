//===- Microsoft.cpp - definitions of Ops/Microsoft.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Microsoft.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Microsoft.cpp.inc"

void ONNXDialect::registerMicrosoftOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Microsoft.cpp.inc"
      >();
}
