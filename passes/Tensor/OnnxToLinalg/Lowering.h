//===- Lowering.h - from one ONNX operation to the tensor stage -----------===//
// Owns the table from ONNX operations to the functions that build their linalg form. Elementwise operations whose record
// has a scalar operation or a formula are not in it. A lowering sees static shapes and normalised
// attributes (after onnx-infer-fold) and emits an error, with the reason, for what it does not support.
#pragma once
#include "mlir/IR/PatternMatch.h"
#include "passes/Tensor/OnnxToLinalg/LinalgBuilder.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace trn {

/// Builds the operations that compute `op` at the builder's insertion point, with `op`'s location, and returns its
/// results. `op` itself stays. Fails after an error at `op`.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> lowerOnnxOp(mlir::Operation *op, mlir::OpBuilder &builder);
/// True if an operation of the onnx dialect has a lowering (`onnx.weight` has none: it stays).
bool hasLowering(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// For the families
//===----------------------------------------------------------------------===//

class LoweringTable {
public:
  using Results = llvm::SmallVector<mlir::Value>;
  using Function = std::function<mlir::LogicalResult(mlir::Operation *, LinalgBuilder &, Results &)>;

  /// An operation with one result.
  template <typename Op> void add(mlir::FailureOr<mlir::Value> (*lower)(Op, LinalgBuilder &)) {
    functions[Op::getOperationName()] = [lower](mlir::Operation *op, LinalgBuilder &b, Results &results) {
      mlir::FailureOr<mlir::Value> value = lower(mlir::cast<Op>(op), b);
      if (failed(value))
        return mlir::failure();
      results.push_back(*value);
      return mlir::success();
    };
  }
  /// An operation with several or optional results, one value per result.
  template <typename Op> void add(mlir::LogicalResult (*lower)(Op, LinalgBuilder &, Results &)) {
    functions[Op::getOperationName()] = [lower](mlir::Operation *op, LinalgBuilder &b, Results &results) {
      return lower(mlir::cast<Op>(op), b, results);
    };
  }
  const Function *find(llvm::StringRef operation) const {
    auto entry = functions.find(operation);
    return entry == functions.end() ? nullptr : &entry->second;
  }

private:
  llvm::StringMap<Function> functions;
};

void addElementwiseLowerings(LoweringTable &table);
void addReductionLowerings(LoweringTable &table);
void addContractionLowerings(LoweringTable &table);
void addConvolutionLowerings(LoweringTable &table);
void addNormalizationLowerings(LoweringTable &table);
void addMovementLowerings(LoweringTable &table);
void addResizeLowerings(LoweringTable &table);
void addIndexingLowerings(LoweringTable &table);
void addCountedLowerings(LoweringTable &table);
void addQuantizationLowerings(LoweringTable &table);
void addPackedLowerings(LoweringTable &table);

/// Lowers an operation by the scalar operation or the formula of its record for its element type; null if it has neither.
std::optional<LoweringTable::Function> recordLowering(mlir::Operation *op);

} // namespace trn
