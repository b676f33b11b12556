//===- Build.h - building ONNX operations by name -------------------------===//
//
// Owns the one way in which passes build ONNX operations: results are typed by the shape rule, so that callers give
// operands and attributes only. Callers must give what the rule accepts; anything else is a bug of theirs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Builders.h"

namespace trn::onnx {

/// Builds `onnx.<name>`. One value per operand of the record (null when absent); a variadic operand takes all values.
mlir::Operation *buildOperation(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                                mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                                unsigned results = 1);
/// The same for an operation with one result.
mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                  llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace trn::onnx
