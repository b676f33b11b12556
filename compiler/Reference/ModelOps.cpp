//===- ModelOps.cpp - weights, globals and ONNX operations ----------------===//
#include "compiler/Reference/Interpreter.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
namespace trn {

LogicalResult bindGlobals(Interpreter &interpreter, ModuleOp module, ArrayRef<Tensor> arguments,
                          SmallVectorImpl<StringRef> &outputs) {
  if (!arguments.empty())
    return module.emitError("the module has no inputs but got ") << arguments.size() << " arguments";
  return success();
}

static LogicalResult evaluateWeight(Interpreter &interpreter, onnx::WeightOp op) {
  FailureOr<Tensor> values = Tensor::view(op.getValue());
  if (failed(values))
    return op.emitError("the values of this weight are not available");
  interpreter.set(op.getResult(), std::move(*values));
  return success();
}

std::optional<LogicalResult> evaluateModelOp(Interpreter &interpreter, Operation *op) {
  if (auto weight = dyn_cast<onnx::WeightOp>(op))
    return evaluateWeight(interpreter, weight);
  return std::nullopt;
}

} // namespace trn
