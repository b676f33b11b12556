//===- Lowering.cpp - from one ONNX operation to the tensor stage ---------===//
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include "dialects/ONNX/OpRecords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace trn {

static const LoweringTable &loweringTable() {
  static const LoweringTable table = [] {
    LoweringTable result;
    addElementwiseLowerings(result);
    addReductionLowerings(result);
    addContractionLowerings(result);
    addConvolutionLowerings(result);
    addNormalizationLowerings(result);
    addMovementLowerings(result);
    addResizeLowerings(result);
    addIndexingLowerings(result);
    addCountedLowerings(result);
    addQuantizationLowerings(result);
    addPackedLowerings(result);
    return result;
  }();
  return table;
}

static bool isStatic(TypeRange types) {
  return llvm::all_of(types, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
}

bool hasLowering(Operation *op) {
  return loweringTable().find(op->getName().getStringRef()) || recordLowering(op).has_value();
}

/// Turns down an operator that is supported in other forms, by what its record says of them.
static LogicalResult refuse(Operation *op) {
  const onnx::OpRecord *record = onnx::lookupRecord(op);
  StringRef limits = record ? StringRef(record->limits) : StringRef();
  return op->emitError("this form of the operator is not supported") << (limits.empty() ? "" : "; its limits: ") << limits;
}

FailureOr<SmallVector<Value>> lowerOnnxOp(Operation *op, OpBuilder &builder) {
  if (!isStatic(op->getOperandTypes()) || !isStatic(op->getResultTypes()))
    return op->emitError("expected static shapes but got a dynamic one"), failure();
  LinalgBuilder b(op->getLoc(), builder);
  LoweringTable::Results results;
  LogicalResult lowered = failure();
  if (std::optional<LoweringTable::Function> scalar = recordLowering(op))
    lowered = (*scalar)(op, b, results);
  else if (const LoweringTable::Function *function = loweringTable().find(op->getName().getStringRef()))
    lowered = (*function)(op, b, results);
  else
    return refuse(op);
  if (succeeded(lowered) && results.size() != op->getNumResults())
    return op->emitOpError("has ") << op->getNumResults() << " results, but its lowering makes " << results.size(),
           failure();
  if (failed(lowered))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) {
    (void)result;
    assert((!value || value.getType() == result.getType()) && "a lowering keeps the type");
  }
  return results;
}

} // namespace trn
