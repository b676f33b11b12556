//===- ControlFlowOps.cpp - func and scf in the reference evaluator -------===//
#include "compiler/Reference/Interpreter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace trn {

/// Carries values, from names to names, as if all moved at once.
static void forwardAll(Interpreter &interpreter, ValueRange from, ValueRange to) {
  SmallVector<Tensor> tensors(from.size());
  SmallVector<ScalarValue> scalars(from.size());
  for (auto [number, value] : llvm::enumerate(from)) {
    if (llvm::isa<ShapedType>(value.getType()))
      tensors[number] = interpreter.tensor(value);
    else
      scalars[number] = interpreter.scalar(value);
  }
  for (auto [number, value] : llvm::enumerate(to)) {
    if (llvm::isa<ShapedType>(value.getType()))
      interpreter.set(value, std::move(tensors[number]));
    else
      interpreter.set(value, scalars[number]);
  }
}

/// The same from `op`'s operands, giving tensors away at their last use, so that loops can update them in place.
static void takeAll(Interpreter &interpreter, Operation *op, OperandRange from, ValueRange to) {
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    if (llvm::isa<ShapedType>(source.getType()))
      interpreter.set(target, interpreter.take(op, source));
    else
      interpreter.set(target, interpreter.scalar(source));
  }
}

static LogicalResult evaluateCall(Interpreter &interpreter, func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitError("callee '") << op.getCallee() << "' is not a function of this module";
  SmallVector<Tensor> tensors;
  SmallVector<ScalarValue> scalars;
  for (Value operand : op.getOperands()) {
    if (llvm::isa<ShapedType>(operand.getType()))
      tensors.push_back(interpreter.take(op, operand));
    else
      scalars.push_back(interpreter.scalar(operand));
  }
  SmallVector<Value> returned;
  if (failed(interpreter.callFunction(callee, std::move(tensors), scalars, op, returned)))
    return failure();
  forwardAll(interpreter, returned, op.getResults());
  interpreter.drop(returned);
  return success();
}

static LogicalResult evaluateFor(Interpreter &interpreter, scf::ForOp op) {
  int64_t lower = interpreter.integer(op.getLowerBound()), upper = interpreter.integer(op.getUpperBound());
  int64_t step = interpreter.integer(op.getStep());
  if (step <= 0)
    return op.emitError("expected a positive step but got ") << step;
  takeAll(interpreter, op, op.getInitArgs(), op.getRegionIterArgs());
  for (int64_t i = lower; i < upper; i += step) {
    interpreter.setInteger(op.getInductionVar(), i);
    Operation *yield = interpreter.runBlock(*op.getBody());
    if (!yield)
      return failure();
    forwardAll(interpreter, yield->getOperands(), op.getRegionIterArgs());
    interpreter.drop(yield->getOperands());
  }
  forwardAll(interpreter, op.getRegionIterArgs(), op.getResults());
  interpreter.drop(op.getRegionIterArgs());
  return success();
}

static LogicalResult evaluateIf(Interpreter &interpreter, scf::IfOp op) {
  Block *block = interpreter.integer(op.getCondition()) ? op.thenBlock() : op.elseBlock();
  if (!block)
    return success();
  Operation *yield = interpreter.runBlock(*block);
  if (!yield)
    return failure();
  forwardAll(interpreter, yield->getOperands(), op.getResults());
  return success();
}

static LogicalResult evaluateWhile(Interpreter &interpreter, scf::WhileOp op) {
  forwardAll(interpreter, op.getInits(), op.getBeforeArguments());
  while (true) {
    Operation *terminator = interpreter.runBlock(*op.getBeforeBody());
    if (!terminator)
      return failure();
    auto condition = cast<scf::ConditionOp>(terminator);
    bool goesOn = interpreter.integer(condition.getCondition());
    forwardAll(interpreter, condition.getArgs(), goesOn ? ValueRange(op.getAfterArguments()) : op.getResults());
    if (!goesOn)
      return success();
    Operation *yield = interpreter.runBlock(*op.getAfterBody());
    if (!yield)
      return failure();
    forwardAll(interpreter, yield->getOperands(), op.getBeforeArguments());
  }
}

static LogicalResult evaluateForall(Interpreter &interpreter, scf::ForallOp op) {
  SmallVector<int64_t> lower = interpreter.integers(op.getMixedLowerBound());
  SmallVector<int64_t> upper = interpreter.integers(op.getMixedUpperBound());
  SmallVector<int64_t> step = interpreter.integers(op.getMixedStep());
  takeAll(interpreter, op, op.getOutputs(), op.getRegionIterArgs());
  SmallVector<int64_t> position = lower;
  bool empty = false;
  for (auto [low, high] : llvm::zip_equal(lower, upper))
    empty |= low >= high;
  while (!empty) {
    for (auto [variable, value] : llvm::zip_equal(op.getInductionVars(), position))
      interpreter.setInteger(variable, value);
    Operation *terminator = interpreter.runBlock(*op.getBody());
    if (!terminator)
      return failure();
    for (Operation &inner : cast<scf::InParallelOp>(terminator).getRegion().front()) {
      auto insert = cast<tensor::ParallelInsertSliceOp>(inner);
      Tensor target = interpreter.tensor(insert.getDest());
      interpreter.drop(insert.getDest());
      target.makeUnique();
      Tensor window =
          target.slice(interpreter.integers(insert.getMixedOffsets()), interpreter.integers(insert.getMixedSizes()),
                       interpreter.integers(insert.getMixedStrides()));
      const Tensor &source = interpreter.tensor(insert.getSource());
      window.reshapeLike(source.shape()).assign(source);
      interpreter.set(insert.getDest(), std::move(target));
    }
    int depth = int(position.size()) - 1;
    for (; depth >= 0; --depth) {
      if ((position[depth] += step[depth]) < upper[depth])
        break;
      position[depth] = lower[depth];
    }
    if (depth < 0)
      break;
  }
  forwardAll(interpreter, op.getRegionIterArgs(), op.getResults());
  interpreter.drop(op.getRegionIterArgs());
  return success();
}

std::optional<LogicalResult> evaluateControlFlowOp(Interpreter &interpreter, Operation *op) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<func::CallOp>([&](auto op) { return evaluateCall(interpreter, op); })
      .Case<scf::ForOp>([&](auto op) { return evaluateFor(interpreter, op); })
      .Case<scf::IfOp>([&](auto op) { return evaluateIf(interpreter, op); })
      .Case<scf::WhileOp>([&](auto op) { return evaluateWhile(interpreter, op); })
      .Case<scf::ForallOp>([&](auto op) { return evaluateForall(interpreter, op); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace trn
