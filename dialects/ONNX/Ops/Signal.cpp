//===- Signal.cpp - definitions of Ops/Signal.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Signal.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Signal.cpp.inc"

void ONNXDialect::registerSignalOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Signal.cpp.inc"
      >();
}
