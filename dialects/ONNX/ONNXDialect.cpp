//===- ONNXDialect.cpp - the `onnx` dialect -------------------------------===//
//
// Owns the dialect's registration and the materialisation of constants as `onnx.weight`.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/ONNXDialect.h"

#include "dialects/ONNX/Ops/Weight.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn::onnx;

#include "dialects/ONNX/ONNXDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/ONNX/ONNXTypes.cpp.inc"

void ONNXDialect::initialize() {
  registerWeightOps();
  registerElementwiseOps();
  registerActivationOps();
  registerReductionOps();
  registerContractionOps();
  registerConvolutionOps();
  registerNormalizationOps();
  registerMovementOps();
  registerIndexingOps();
  registerQuantizationOps();
  registerRecurrentOps();
  registerCompositeOps();
  registerControlOps();
  registerSequenceOps();
  registerMicrosoftOps();
  registerSignalOps();
  registerLearningOps();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/ONNX/ONNXTypes.cpp.inc"
      >();
}

Operation *ONNXDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return WeightOp::create(builder, loc, elements);
}
