//===- ModelOps.cpp - weights, globals and ONNX operations ----------------===//
// An ONNX operation means what its lowering computes: it is lowered once, into a scratch function, which is then
// called.
#include "compiler/Reference/Interpreter.h"
#include "compiler/Weights/Transforms.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
namespace trn {

static LogicalResult evaluateWeight(Interpreter &interpreter, onnx::WeightOp op) {
  FailureOr<Tensor> values = Tensor::view(op.getValue());
  if (failed(values))
    return op.emitError("the values of this weight are not available");
  interpreter.set(op.getResult(), std::move(*values));
  return success();
}

/// A function that computes the results of `op` that have users, from its operands.
static FailureOr<Interpreter::Scratch> lowerToScratch(Operation *op) {
  Interpreter::Scratch scratch;
  scratch.module = ModuleOp::create(op->getLoc());
  OpBuilder builder(scratch.module->getBodyRegion());
  scratch.function =
      func::FuncOp::create(builder, op->getLoc(), "main", builder.getFunctionType(op->getOperandTypes(), TypeRange()));
  builder.setInsertionPointToStart(scratch.function.addEntryBlock());
  IRMapping mapping;
  mapping.map(op->getOperands(), scratch.function.getArguments());
  Operation *clone = builder.clone(*op, mapping);
  // Constant operands are visible to lowerings as constants.
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (auto weight = operand.getDefiningOp<onnx::WeightOp>()) {
      builder.setInsertionPoint(clone);
      clone->setOperand(number, builder.clone(*weight)->getResult(0));
    }
  builder.setInsertionPoint(clone);
  FailureOr<SmallVector<Value>> lowered = lowerOnnxOp(clone, builder);
  if (failed(lowered))
    return failure();
  SmallVector<Value> returned;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *lowered)) {
    if (!value)
      continue;
    scratch.results.push_back(result);
    returned.push_back(value);
  }
  builder.setInsertionPointAfter(clone);
  func::ReturnOp::create(builder, op->getLoc(), returned);
  clone->erase();
  scratch.function.setFunctionType(builder.getFunctionType(op->getOperandTypes(), TypeRange(ValueRange(returned))));
  return scratch;
}

FailureOr<SmallVector<Tensor>> evaluateLowered(Operation *op, ArrayRef<Tensor> operands) {
  FailureOr<Interpreter::Scratch> scratch = lowerToScratch(op);
  if (failed(scratch))
    return failure();
  EvaluateOptions options;
  Interpreter interpreter(options);
  SmallVector<Value> returned;
  if (failed(interpreter.callFunction(scratch->function, operands, {}, scratch->function, returned)))
    return failure();
  SmallVector<Tensor> results(op->getNumResults());
  for (auto [result, value] : llvm::zip_equal(scratch->results, returned))
    results[cast<OpResult>(result).getResultNumber()] = interpreter.tensor(value);
  return results;
}

static LogicalResult evaluateOnnx(Interpreter &interpreter, Operation *op) {
  auto known = interpreter.scratches.find(op);
  if (known == interpreter.scratches.end()) {
    FailureOr<Interpreter::Scratch> scratch = lowerToScratch(op);
    if (failed(scratch))
      return failure();
    known = interpreter.scratches.try_emplace(op, std::move(*scratch)).first;
  }
  func::FuncOp function = known->second.function;
  SmallVector<Value> results = known->second.results, returned;
  SmallVector<Tensor> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(interpreter.take(op, operand));
  llvm::SaveAndRestore quiet(interpreter.observing, false);
  if (failed(interpreter.callFunction(function, arguments, {}, op, returned)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(results, returned))
    interpreter.set(result, Tensor(interpreter.tensor(value)));
  interpreter.drop(returned);
  return success();
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

LogicalResult bindGlobals(Interpreter &interpreter, ModuleOp module, ArrayRef<Tensor> arguments,
                          SmallVectorImpl<StringRef> &outputs) {
  unsigned next = 0;
  for (ir::GlobalOp global : module.getOps<ir::GlobalOp>()) {
    MemRefType type = global.getMemRefType();
    if (global.getKind() == ir::GlobalKind::Input) {
      if (next == arguments.size())
        return global.emitError("expected a value for each input but got ") << arguments.size();
      const Tensor &argument = arguments[next++];
      if (argument.shape() != type.getShape() || argument.elementType() != type.getElementType())
        return global.emitError("expected ") << type << " but got " << argument.tensorType();
      Tensor memory = argument.dense();
      interpreter.machine.know(type, memory, /*writable=*/false);
      interpreter.globals[global.getSymName()] = memory;
      continue;
    }
    if (global.getKind() == ir::GlobalKind::Output) {
      Tensor memory = Tensor::unset(type.getElementType(), type.getShape());
      memory.makeUnique();
      interpreter.machine.know(type, memory, /*writable=*/true);
      interpreter.globals[global.getSymName()] = memory;
      outputs.push_back(global.getSymName());
    }
  }
  if (next != arguments.size())
    return module.emitError("the module has ") << next << " inputs but got " << arguments.size() << " arguments";
  return success();
}

/// The weight in the layout that the transforms of `global` give it.
static FailureOr<Tensor> layOut(const Tensor &values, ir::GlobalOp global) {
  FailureOr<WeightTransforms> transforms = WeightTransforms::get(
      global.getValue()->getShapedType(), *global.getTransforms(), [&] { return global.emitError(); });
  if (failed(transforms))
    return failure();
  Tensor source = values.dense();
  Tensor result = Tensor::allocate(transforms->elementType(), transforms->shape());
  ArrayRef<char> bytes(source.bytes(), source.elements() * byteSize(source.storage()));
  if (failed(transforms->materialize(bytes, 0, result.elements(), result.bytes())))
    return global.emitError("expected ") << transforms->elements() << " elements behind the transforms";
  return result;
}

static LogicalResult evaluateGetGlobal(Interpreter &interpreter, ir::GetGlobalOp op) {
  auto known = interpreter.globals.find(op.getName());
  if (known != interpreter.globals.end()) {
    interpreter.set(op.getMemref(), known->second);
    return success();
  }
  auto global = SymbolTable::lookupNearestSymbolFrom<ir::GlobalOp>(op, op.getNameAttr());
  if (!global || !global.getValue())
    return op.emitError("'") << op.getName() << "' has no value";
  FailureOr<Tensor> values = Tensor::view(*global.getValue());
  if (failed(values))
    return op.emitError("the values of '") << op.getName() << "' are not available";
  if (global.getTransforms()) {
    FailureOr<Tensor> laidOut = layOut(*values, global);
    if (failed(laidOut))
      return failure();
    values = std::move(laidOut);
  }
  // Views of memory count on its strides, which equal elements do not have.
  Tensor memory = values->dense();
  interpreter.machine.know(global.getMemRefType(), memory, /*writable=*/false);
  interpreter.globals[op.getName()] = memory;
  interpreter.set(op.getMemref(), std::move(memory));
  return success();
}

std::optional<LogicalResult> evaluateModelOp(Interpreter &interpreter, Operation *op) {
  if (auto weight = dyn_cast<onnx::WeightOp>(op))
    return evaluateWeight(interpreter, weight);
  if (auto global = dyn_cast<ir::GetGlobalOp>(op))
    return evaluateGetGlobal(interpreter, global);
  if (llvm::isa<onnx::ONNXDialect>(op->getDialect())) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
        return op->emitOpError("expected static shapes but got ") << type << "; evaluate from stage 'graph' on";
    return evaluateOnnx(interpreter, op);
  }
  return std::nullopt;
}

} // namespace trn
