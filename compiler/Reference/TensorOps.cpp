//===- TensorOps.cpp - tensor and arith constants in the evaluator --------===//
// Slices, reshapes and casts are views; inserting copies only what is inserted when the destination is not needed any
// more.
#include "compiler/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
namespace trn {

/// The shape of a result: static sizes, or dynamic ones from operands.
static SmallVector<int64_t> shapeOf(Interpreter &interpreter, ShapedType type, ValueRange dynamicSizes) {
  SmallVector<int64_t> shape(type.getShape());
  unsigned next = 0;
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = interpreter.integer(dynamicSizes[next++]);
  return shape;
}

/// Checks a window against a shape, so that a wrong pass is an error and not a wild read.
template <typename SliceOp> static FailureOr<Tensor> window(Interpreter &interpreter, SliceOp op, const Tensor &whole) {
  SmallVector<int64_t> offsets = interpreter.integers(op.getMixedOffsets());
  SmallVector<int64_t> sizes = interpreter.integers(op.getMixedSizes());
  SmallVector<int64_t> strides = interpreter.integers(op.getMixedStrides());
  for (auto [dim, size] : llvm::enumerate(whole.shape()))
    if (sizes[dim] < 0 ||
        (sizes[dim] > 0 && (offsets[dim] < 0 || offsets[dim] + (sizes[dim] - 1) * strides[dim] >= size)))
      return op.emitError("dimension ") << dim << ": [" << offsets[dim] << "][" << sizes[dim] << "][" << strides[dim]
                                        << "] leaves the extent " << size;
  return whole.slice(offsets, sizes, strides);
}

static LogicalResult evaluateExtractSlice(Interpreter &interpreter, tensor::ExtractSliceOp op) {
  FailureOr<Tensor> slice = window(interpreter, op, interpreter.tensor(op.getSource()));
  if (failed(slice))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape, strides;
  for (int64_t dim = 0; dim < slice->rank(); ++dim) {
    if (dropped[dim])
      continue;
    shape.push_back(slice->shape()[dim]);
    strides.push_back(slice->strides()[dim]);
  }
  interpreter.set(op.getResult(), slice->reshaped(shape, strides));
  return success();
}

static LogicalResult evaluateInsertSlice(Interpreter &interpreter, tensor::InsertSliceOp op) {
  Tensor source = interpreter.tensor(op.getSource());
  Tensor target = interpreter.take(op, op.getDest());
  target.makeUnique();
  FailureOr<Tensor> slot = window(interpreter, op, target);
  if (failed(slot))
    return failure();
  slot->reshapeLike(source.shape()).assign(source);
  *slot = Tensor();
  interpreter.set(op.getResult(), std::move(target));
  return success();
}

/// A reshape to a static type.
static LogicalResult evaluateReshape(Interpreter &interpreter, Operation *op) {
  auto type = cast<ShapedType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return op->emitError("dynamic shapes cannot be evaluated");
  interpreter.set(op->getResult(0), interpreter.tensor(op->getOperand(0)).reshape(type.getShape()));
  return success();
}

static LogicalResult evaluatePad(Interpreter &interpreter, tensor::PadOp op) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return op.emitError("padding with a computed value cannot be evaluated");
  Tensor source = interpreter.tensor(op.getSource());
  SmallVector<int64_t> low = interpreter.integers(op.getMixedLowPad());
  SmallVector<int64_t> high = interpreter.integers(op.getMixedHighPad());
  // A constant inside of the body has not run; one outside has.
  if (padding.getParentBlock() == &op.getRegion().front() && failed(interpreter.runScalar(padding.getDefiningOp())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(source.shape()))
    shape.push_back(low[dim] + size + high[dim]);
  Tensor result = scalarTensor(source.elementType(), interpreter.scalar(padding))
                      .reshaped(shape, SmallVector<int64_t>(shape.size(), 0));
  result.makeUnique();
  SmallVector<int64_t> ones(shape.size(), 1);
  // Negative padding crops: only what stays is copied.
  SmallVector<int64_t> from, to, sizes;
  for (auto [dim, size] : llvm::enumerate(source.shape())) {
    from.push_back(std::max<int64_t>(0, -low[dim]));
    to.push_back(std::max<int64_t>(0, low[dim]));
    sizes.push_back(std::max<int64_t>(0, size - from.back() - std::max<int64_t>(0, -high[dim])));
  }
  result.slice(to, sizes, ones).assign(source.slice(from, sizes, ones));
  interpreter.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evaluateConcat(Interpreter &interpreter, tensor::ConcatOp op) {
  auto type = op.getResultType();
  if (!type.hasStaticShape())
    return op.emitError("dynamic shapes cannot be evaluated");
  Tensor result = Tensor::allocate(type.getElementType(), type.getShape());
  SmallVector<int64_t> offsets(type.getRank(), 0), ones(type.getRank(), 1);
  for (Value input : op.getInputs()) {
    const Tensor &part = interpreter.tensor(input);
    result.slice(offsets, part.shape(), ones).assign(part);
    offsets[op.getDim()] += part.shape()[op.getDim()];
  }
  interpreter.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evaluateInsert(Interpreter &interpreter, tensor::InsertOp op) {
  Tensor target = interpreter.take(op, op.getDest());
  target.makeUnique();
  SmallVector<int64_t> offsets, ones(op.getIndices().size(), 1);
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    offsets.push_back(interpreter.integer(index));
    if (offsets.back() < 0 || offsets.back() >= target.shape()[dim])
      return op.emitError("index ") << offsets.back() << " leaves the extent " << target.shape()[dim];
  }
  Tensor element = scalarTensor(target.elementType(), interpreter.scalar(op.getScalar()));
  target.slice(offsets, ones, ones).assign(element.reshaped(ones, SmallVector<int64_t>(ones.size(), 0)));
  interpreter.set(op.getResult(), std::move(target));
  return success();
}

static LogicalResult evaluateFromElements(Interpreter &interpreter, tensor::FromElementsOp op) {
  auto type = op.getType();
  Tensor result = Tensor::allocate(type.getElementType(), type.getShape());
  unsigned size = byteSize(result.storage());
  for (auto [number, element] : llvm::enumerate(op.getElements())) {
    Tensor value = scalarTensor(type.getElementType(), interpreter.scalar(element));
    std::memcpy(result.bytes() + number * size, value.bytes(), size);
  }
  interpreter.set(op.getResult(), std::move(result));
  return success();
}

/// tensor.dim and memref.dim.
static LogicalResult evaluateDim(Interpreter &interpreter, Operation *op) {
  const Tensor &source = interpreter.tensor(op->getOperand(0));
  int64_t dim = interpreter.integer(op->getOperand(1));
  if (dim < 0 || dim >= source.rank())
    return op->emitError("dimension ") << dim << " of a tensor of rank " << source.rank();
  interpreter.setInteger(op->getResult(0), source.shape()[dim]);
  return success();
}

static LogicalResult evaluateConstant(Interpreter &interpreter, arith::ConstantOp op) {
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  if (!elements)
    return interpreter.runScalar(op);
  FailureOr<Tensor> values = Tensor::view(elements);
  if (failed(values))
    return op.emitError("constant cannot be evaluated");
  interpreter.set(op.getResult(), std::move(*values));
  return success();
}

std::optional<LogicalResult> evaluateTensorOp(Interpreter &interpreter, Operation *op) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::ConstantOp>([&](auto op) { return evaluateConstant(interpreter, op); })
      .Case<tensor::EmptyOp>([&](auto op) {
        auto type = op.getType();
        interpreter.set(op.getResult(),
                        Tensor::unset(type.getElementType(), shapeOf(interpreter, type, op.getDynamicSizes())));
        return success();
      })
      .Case<bufferization::AllocTensorOp>([&](auto op) {
        auto type = op.getType();
        interpreter.set(op.getResult(), op.getCopy() ? interpreter.tensor(op.getCopy())
                                                     : Tensor::unset(type.getElementType(),
                                                                     shapeOf(interpreter, type, op.getDynamicSizes())));
        return success();
      })
      .Case<tensor::ExtractSliceOp>([&](auto op) { return evaluateExtractSlice(interpreter, op); })
      .Case<tensor::InsertSliceOp>([&](auto op) { return evaluateInsertSlice(interpreter, op); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(
          [&](auto op) { return evaluateReshape(interpreter, op); })
      .Case<tensor::PadOp>([&](auto op) { return evaluatePad(interpreter, op); })
      .Case<tensor::ConcatOp>([&](auto op) { return evaluateConcat(interpreter, op); })
      .Case<tensor::InsertOp>([&](auto op) { return evaluateInsert(interpreter, op); })
      .Case<tensor::FromElementsOp>([&](auto op) { return evaluateFromElements(interpreter, op); })
      .Case<tensor::SplatOp>([&](auto op) {
        SmallVector<int64_t> shape = shapeOf(interpreter, op.getType(), op.getDynamicSizes());
        interpreter.set(op.getResult(), scalarTensor(op.getType().getElementType(), interpreter.scalar(op.getInput()))
                                            .reshaped(shape, SmallVector<int64_t>(shape.size(), 0)));
        return success();
      })
      .Case<tensor::DimOp>([&](auto op) { return evaluateDim(interpreter, op); })
      .Case<tensor::CastOp>([&](auto op) {
        interpreter.forward(op.getSource(), op.getResult());
        return success();
      })
      .Case<tensor::BitcastOp>([&](auto op) {
        interpreter.set(op.getResult(), interpreter.tensor(op.getSource()).bitcast(op.getType().getElementType()));
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace trn
