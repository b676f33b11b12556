//===- Reduction.cpp - definitions of Ops/Reduction.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Reduction.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Reduction.cpp.inc"

void ONNXDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Reduction.cpp.inc"
      >();
}
