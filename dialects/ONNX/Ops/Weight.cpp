//===- Weight.cpp - definitions of Ops/Weight.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Weight.cpp.inc"

void ONNXDialect::registerWeightOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Weight.cpp.inc"
      >();
}

OpFoldResult WeightOp::fold(FoldAdaptor) { return getValue(); }
