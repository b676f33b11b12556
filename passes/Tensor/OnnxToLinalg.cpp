//===- OnnxToLinalg.cpp - from the onnx dialect to linalg -----------------===//
// Owns the walk: each operation in order, replaced by what its lowering builds. Reports every operation without a
// lowering before failing. Tensors without elements become constants: no later stage computes with them.
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include "passes/Tensor/Passes.h"

namespace trn {
#define GEN_PASS_DEF_ONNXTOLINALGPASS
#include "passes/Tensor/Passes.h.inc"

using namespace mlir;

namespace {
class OnnxToLinalg : public impl::OnnxToLinalgPassBase<OnnxToLinalg> {
  void runOnOperation() override {
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) {
      if (llvm::isa_and_nonnull<onnx::ONNXDialect>(op->getDialect()) && !llvm::isa<onnx::WeightOp>(op))
        operations.push_back(op);
    });
    bool complete = true;
    for (Operation *op : operations)
      if (!foldEmpty(op))
        complete &= succeeded(replace(op));
    if (!complete)
      signalPassFailure();
  }

  static bool hasNoElements(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  }

  /// An operation without elements in its results computes nothing: constants take their place. Operators that make
  /// something of nothing (a reduction over no elements is its identity) see that in their operands.
  static bool foldEmpty(Operation *op) {
    if (op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), hasNoElements))
      return false;
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    for (Value result : op->getResults())
      result.replaceAllUsesWith(
          onnx::WeightOp::create(builder, makeConstant(cast<RankedTensorType>(result.getType()), {})));
    op->erase();
    return true;
  }

  static LogicalResult replace(Operation *op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = lowerOnnxOp(op, builder);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      if (value)
        result.replaceAllUsesWith(value);
      else if (!result.use_empty())
        return op->emitOpError("has no lowering of its result ") << result.getResultNumber() << ", which is read";
    }
    op->erase();
    return success();
  }
};
} // namespace
} // namespace trn
