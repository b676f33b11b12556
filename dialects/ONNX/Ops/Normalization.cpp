//===- Normalization.cpp - definitions of Ops/Normalization.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Normalization.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Normalization.cpp.inc"

void ONNXDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Normalization.cpp.inc"
      >();
}
