//===- OnnxToLinalg.cpp - from the onnx dialect to linalg -----------------===//
// Owns the walk: each operation in order, replaced by what its lowering builds. Reports every operation without a
// lowering before failing. Refuses tensors without elements and element types that no later stage knows.
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
    if (failed(checkSizes(operations)) || failed(checkTypes(operations)))
      return signalPassFailure();
    bool complete = true;
    for (Operation *op : operations)
      complete &= succeeded(replace(op));
    if (!complete)
      signalPassFailure();
  }

  static bool hasNoElements(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  }

  /// Reports the inputs and operations that hold tensors without elements. Empty constants are optional operands (the
  /// region of a Resize) or pieces of a Concat, which its lowering leaves out.
  LogicalResult checkSizes(ArrayRef<Operation *> operations) {
    LogicalResult result = success();
    for (BlockArgument argument : getOperation().getArguments()) {
      if (!hasNoElements(argument.getType()))
        continue;
      auto name = getOperation().getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name");
      result = emitError(argument.getLoc())
               << "input '" << (name ? name.getValue() : "") << "': expected elements but got " << argument.getType()
               << "; tensors of size 0 are not supported yet";
    }
    for (Value value : getOperation().front().getTerminator()->getOperands())
      if (value.getDefiningOp<onnx::WeightOp>() && hasNoElements(value.getType()))
        result = emitError(value.getLoc()) << "expected elements in the output but got " << value.getType()
                                           << "; tensors of size 0 are not supported yet";
    for (Operation *op : operations)
      for (Type type : op->getResultTypes())
        if (hasNoElements(type))
          result = emitError(op->getLoc())
                   << "expected elements in the result but got " << type << "; tensors of size 0 are not supported yet";
    return result;
  }

  /// Reports what holds 64-bit floats: the engines compute in 32 bits, and nothing is narrowed silently.
  LogicalResult checkTypes(ArrayRef<Operation *> operations) {
    LogicalResult result = success();
    auto check = [&](Location loc, Type type, const Twine &what) {
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getElementType().isF64())
        result = emitError(loc) << "expected an element type of the device " << what << " but got " << type
                                << "; 64-bit floats are not supported, export the model in float32";
    };
    for (BlockArgument argument : getOperation().getArguments())
      check(argument.getLoc(), argument.getType(), "in the input");
    for (Operation *op : operations)
      for (Type type : op->getResultTypes())
        check(op->getLoc(), type, "in the result");
    return result;
  }

  static LogicalResult replace(Operation *op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = lowerOnnxOp(op, builder);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
      if (value)
        result.replaceAllUsesWith(value);
    op->erase();
    return success();
  }
};
} // namespace
} // namespace trn
