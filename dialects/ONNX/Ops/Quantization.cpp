//===- Quantization.cpp - definitions of Ops/Quantization.td ---------------------------===//
//
// Owns the generated code of this family; what an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Quantization.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Quantization.cpp.inc"

void ONNXDialect::registerQuantizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Quantization.cpp.inc"
      >();
}
