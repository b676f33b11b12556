//===- Formula.h - formulas of records as IR ------------------------------===//
//
// Owns the way from a formula (dialects/Trn/ISA/Formula.h) to scalar operations in the body of a structured operation, and
// the keys by which records name scalar operations.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Formula.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <string>

namespace trn::ir {

/// The name of a scalar operation in records: that of the operation, with the predicate of a comparison or the function of
/// trn.scalar behind it (arith.addf, arith.cmpf.olt, trn.scalar.sigmoid).
std::string scalarKey(mlir::Operation *op);

/// Builds the scalar operation of that key. Its result has the type of the first operand, of a comparison i1.
mlir::Value buildScalar(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef key, mlir::ValueRange operands);

struct FormulaHooks {
  /// The value of a parameter; must be given for formulas that have one.
  llvm::function_ref<double(llvm::StringRef)> parameter = nullptr;
  /// Builds an operation of the formula, or returns null for the operation of that key.
  llvm::function_ref<mlir::Value(llvm::StringRef, mlir::ValueRange)> operation = nullptr;
};
/// Writes the formula with these operands at the builder's insertion point. Numbers have the type of the first operand.
mlir::Value buildFormula(mlir::ImplicitLocOpBuilder &builder, const Formula &formula, mlir::ValueRange operands,
                         FormulaHooks hooks = {});

} // namespace trn::ir
