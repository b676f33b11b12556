//===- MemRefOps.cpp - memref and bufferization in the evaluator ----------===//
// A memref is a tensor that shares its storage: stores go through every view of it. Fresh memory reads as unset (NaN).
#include "compiler/Reference/Interpreter.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace trn {

static LogicalResult evaluateAlloc(Interpreter &interpreter, Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return op->emitError("dynamic shapes cannot be evaluated");
  interpreter.allocate(op, type);
  return success();
}

static LogicalResult evaluateSubview(Interpreter &interpreter, memref::SubViewOp op) {
  const Tensor &source = interpreter.tensor(op.getSource());
  SmallVector<int64_t> offsets = interpreter.integers(op.getMixedOffsets());
  SmallVector<int64_t> sizes = interpreter.integers(op.getMixedSizes());
  SmallVector<int64_t> strides = interpreter.integers(op.getMixedStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape, steps;
  for (auto [dim, size] : llvm::enumerate(source.shape()))
    if (sizes[dim] < 0 ||
        (sizes[dim] > 0 && (offsets[dim] < 0 || offsets[dim] + (sizes[dim] - 1) * strides[dim] >= size)))
      return op.emitError("dimension ") << dim << ": [" << offsets[dim] << "][" << sizes[dim] << "][" << strides[dim]
                                        << "] leaves the extent " << size;
  Tensor slice = source.slice(offsets, sizes, strides);
  for (int64_t dim = 0; dim < slice.rank(); ++dim) {
    if (dropped[dim])
      continue;
    shape.push_back(slice.shape()[dim]);
    steps.push_back(slice.strides()[dim]);
  }
  interpreter.set(op.getResult(), slice.reshaped(shape, steps));
  return success();
}

/// expand_shape and collapse_shape: the strides are those of the result type, relative to the source's address.
static LogicalResult evaluateView(Interpreter &interpreter, Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  const Tensor &source = interpreter.tensor(op->getOperand(0));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return op->emitError("views with dynamic strides cannot be evaluated");
  interpreter.set(op->getResult(0), source.reshaped(type.getShape(), strides));
  return success();
}

static LogicalResult evaluateReinterpretCast(Interpreter &interpreter, memref::ReinterpretCastOp op) {
  auto source = op.getSource().getType();
  SmallVector<int64_t> strides;
  int64_t sourceOffset = 0;
  auto ranked = dyn_cast<MemRefType>(source);
  if (!ranked || failed(ranked.getStridesAndOffset(strides, sourceOffset)) || ShapedType::isDynamic(sourceOffset))
    return op.emitError("the source's offset must be static");
  int64_t offset = interpreter.integer(op.getMixedOffsets()[0]) - sourceOffset;
  interpreter.set(op.getResult(), interpreter.tensor(op.getSource())
                                      .reshaped(interpreter.integers(op.getMixedSizes()),
                                                interpreter.integers(op.getMixedStrides()), offset));
  return success();
}

static LogicalResult evaluateStore(Interpreter &interpreter, memref::StoreOp op) {
  const Tensor &target = interpreter.tensor(op.getMemRef());
  SmallVector<int64_t> offsets, ones(op.getIndices().size(), 1);
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    offsets.push_back(interpreter.integer(index));
    if (offsets.back() < 0 || offsets.back() >= target.shape()[dim])
      return op.emitError("index ") << offsets.back() << " leaves the extent " << target.shape()[dim];
  }
  Tensor element = scalarTensor(target.elementType(), interpreter.scalar(op.getValueToStore()));
  target.slice(offsets, ones, ones).assign(element.reshaped(ones, SmallVector<int64_t>(ones.size(), 0)));
  interpreter.wrote(op, op.getMemRef());
  return success();
}

std::optional<LogicalResult> evaluateMemRefOp(Interpreter &interpreter, Operation *op) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<memref::AllocOp, memref::AllocaOp, ir::AllocOp>([&](auto op) { return evaluateAlloc(interpreter, op); })
      .Case<memref::DeallocOp>([&](auto) { return success(); })
      .Case<memref::SubViewOp>([&](auto op) { return evaluateSubview(interpreter, op); })
      .Case<memref::ExpandShapeOp, memref::CollapseShapeOp>([&](auto op) { return evaluateView(interpreter, op); })
      .Case<memref::ReinterpretCastOp>([&](auto op) { return evaluateReinterpretCast(interpreter, op); })
      .Case<memref::CastOp, memref::MemorySpaceCastOp>([&](Operation *op) {
        interpreter.forward(op->getOperand(0), op->getResult(0));
        return success();
      })
      .Case<memref::StoreOp>([&](auto op) { return evaluateStore(interpreter, op); })
      .Case<memref::CopyOp>([&](auto op) {
        interpreter.tensor(op.getTarget()).assign(interpreter.tensor(op.getSource()));
        interpreter.wrote(op, op.getTarget());
        return success();
      })
      .Case<bufferization::ToTensorOp, bufferization::ToBufferOp, bufferization::CloneOp>([&](Operation *op) {
        interpreter.forward(op->getOperand(0), op->getResult(0));
        return success();
      })
      .Case<bufferization::MaterializeInDestinationOp>([&](auto op) {
        Tensor source = interpreter.tensor(op.getSource());
        if (llvm::isa<MemRefType>(op.getDest().getType())) {
          // The source may be a view of the destination's own memory: then it is there already, or must be read first.
          if (source.bytes() != interpreter.tensor(op.getDest()).bytes())
            interpreter.tensor(op.getDest()).assign(source.dense());
          interpreter.wrote(op, op.getDest());
          return success();
        }
        interpreter.set(op.getResult(), std::move(source));
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace trn
