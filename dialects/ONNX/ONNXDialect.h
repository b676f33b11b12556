//===- ONNXDialect.h - ONNX operators in one canonical form ---------------===//
//
// Owns the `onnx` dialect (namespace trn::onnx; protobuf's messages are ::onnx). The operations of each family have
// their own header, Ops/<Family>.h. Refuses nothing: what a model may contain is decided by the records in Ops/*.td.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace trn::onnx {

/// Checks that the declared result types agree with what the operation's shape rule gives.
mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);

/// Trait of every ONNX operator: `verifyInferredTypes` holds.
template <typename ConcreteType> class InferredTypes : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyInferredTypes(op); }
};

} // namespace trn::onnx

#include "dialects/ONNX/ONNXDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/ONNX/ONNXTypes.h.inc"
