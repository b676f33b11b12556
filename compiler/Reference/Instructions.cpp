//===- Instructions.cpp - trn instructions in the reference evaluator -----===//
// One instruction after the other, and the order of those that wait for semaphores. The order is one of those that the
// machine may take; that all of them give the same values is what stage `synced` proves.
#include "compiler/Reference/Interpreter.h"
#include "dialects/Trn/Control.h"
#include "dialects/Trn/PE.h"
#include <array>

using namespace mlir;
namespace trn {

/// Calls a library kernel as the instruction that it becomes. Tensors are copied into buffers of the machine.
static LogicalResult evaluateKernel(Interpreter &interpreter, ir::KernelOp op) {
  Block scratch;
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToStart(&scratch);
  SmallVector<Tensor> memory;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = cast<ShapedType>(operand.get().getType());
    auto buffer = MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
                                  ir::spaceAttr(op.getContext(), isa::Space::HBM));
    scratch.addArgument(buffer, op.getLoc());
    if (llvm::isa<MemRefType>(type)) {
      memory.push_back(interpreter.tensor(operand.get()));
      continue;
    }
    memory.push_back(interpreter.machine.allocate(buffer, {}));
    if (op.isDpsInput(&operand))
      memory.back().assign(interpreter.tensor(operand.get()));
  }
  auto instruction = cast<ir::InstructionOpInterface>(op.createInstruction(builder, scratch.getArguments()));
  auto tensorOf = [&](Value value) -> const Tensor & { return memory[cast<BlockArgument>(value).getArgNumber()]; };
  if (failed(interpreter.machine.execute(instruction, tensorOf, /*accumulate=*/false)))
    return failure();
  for (OpOperand &init : op.getDpsInitsMutable())
    if (llvm::isa<MemRefType>(init.get().getType()))
      interpreter.wrote(op, init.get());
  for (OpResult result : op->getResults()) {
    Tensor value = Tensor::allocate(cast<ShapedType>(result.getType()).getElementType(),
                                    cast<ShapedType>(result.getType()).getShape());
    value.assign(memory[op.getTiedOpOperand(result)->getOperandNumber()]);
    interpreter.set(result, std::move(value));
  }
  return success();
}

std::optional<LogicalResult> evaluateInstruction(Interpreter &interpreter, Operation *op) {
  if (auto kernel = dyn_cast<ir::KernelOp>(op))
    return evaluateKernel(interpreter, kernel);
  auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
  if (!instruction)
    return std::nullopt;
  if (llvm::isa<ir::BranchOp, ir::LoopOp>(op))
    return op->emitError("branches of queues cannot be evaluated");
  auto matmul = dyn_cast<ir::NcMatmulOp>(op);
  bool accumulate = matmul && matmul.getAccumulateIf() && interpreter.integer(matmul.getAccumulateIf());
  auto tensorOf = [&](Value value) -> const Tensor & { return interpreter.tensor(value); };
  if (failed(interpreter.machine.execute(instruction, tensorOf, accumulate)))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (const isa::OperandInfo *info = instruction.getOperandInfo(operand.getOperandNumber());
        info && isa::writes(info->role))
      interpreter.wrote(op, operand.get());
  return success();
}

namespace {

/// The instructions of a block by the engine that issues them, and the semaphores between them.
class Queues {
public:
  Queues(Block &block, const isa::DeviceInfo &device) : semaphores(device.semaphores, 0) {
    for (Operation &op : block.without_terminator())
      if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op)) {
        unsigned engine = static_cast<unsigned>(instruction.getEngine().value_or(isa::Engine::SP));
        queues[engine].push_back(instruction);
        for (Value operand : op.getOperands())
          ++usesLeft[operand];
      }
  }

  /// The next instruction that may run; null when none is left or none may.
  ir::InstructionOpInterface next() {
    for (unsigned tried = 0; tried < queues.size(); ++tried, current = (current + 1) % queues.size())
      if (heads[current] < queues[current].size() && mayRun(queues[current][heads[current]]))
        return queues[current][heads[current]++];
    return {};
  }

  LogicalResult complete(ir::InstructionOpInterface op) {
    ir::UpdateAttr update = op.getUpdateAttr();
    if (!update)
      return success();
    if (update.getSemaphore() >= semaphores.size())
      return op->emitError("expected a semaphore below ") << semaphores.size() << ", but got " << update.getSemaphore();
    semaphores[update.getSemaphore()] += update.getAdd();
    return success();
  }

  /// Tells that one use of `value` is over; true if it was the last.
  bool isLastUse(Value value) { return --usesLeft[value] == 0; }

  /// Fails with an error at the first instruction that is left.
  LogicalResult checkAllRan() {
    for (auto [queue, head] : llvm::zip_equal(queues, heads))
      if (head < queue.size()) {
        ir::WaitAttr wait = queue[head].getWaitAttr();
        return queue[head]->emitError("waits forever: no queue can continue while ") << wait << " does not hold";
      }
    return success();
  }

private:
  bool mayRun(ir::InstructionOpInterface op) const {
    ir::WaitAttr wait = op.getWaitAttr();
    return !wait || (wait.getSemaphore() < semaphores.size() && semaphores[wait.getSemaphore()] >= int64_t(wait.getValue()));
  }

  std::array<SmallVector<ir::InstructionOpInterface, 0>, isa::kNumEngines> queues;
  std::array<size_t, isa::kNumEngines> heads{};
  unsigned current = 0;
  std::vector<int64_t> semaphores;
  DenseMap<Value, unsigned> usesLeft;
};

} // namespace

LogicalResult Interpreter::runQueues(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!llvm::isa<ir::InstructionOpInterface>(op) && failed(run(&op)))
      return failure();
  Queues queues(block, *options.device);
  while (ir::InstructionOpInterface op = queues.next()) {
    if (failed(run(op)) || failed(queues.complete(op)))
      return failure();
    for (Value operand : op->getOperands())
      if (queues.isLastUse(operand))
        tensors.erase(operand);
  }
  return queues.checkAllRan();
}

} // namespace trn
