//===- Movement.cpp - ONNX operations that move or shape data -------------===//
#include "dialects/ONNX/Ops/Movement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

using namespace mlir;
namespace trn {

using Builder1 = ImplicitLocOpBuilder;

static Value itself(Builder1 &, ValueRange e) { return e[0]; }

/// The result's type says it all.
static FailureOr<Value> lowerReshape(onnx::ReshapeOp op, LinalgBuilder &b) {
  return b.reshape(op.getX(), shapeOf(op.getY()));
}

static FailureOr<Value> lowerTranspose(onnx::TransposeOp op, LinalgBuilder &b) {
  int64_t rank = shapeOf(op.getX()).size();
  SmallVector<int64_t> reversed;
  for (int64_t dim = rank - 1; dim >= 0; --dim)
    reversed.push_back(dim);
  return b.transpose(op.getX(), op.getPerm().value_or(ArrayRef<int64_t>(reversed)));
}

static FailureOr<Value> lowerConcat(onnx::ConcatOp op, LinalgBuilder &b) {
  int64_t axis = axisOf(op.getAxis(), op.getY());
  SmallVector<Value> parts;
  for (Value input : op.getInputs())
    if (shapeOf(input)[axis] > 0)
      parts.push_back(input);
  return parts.empty() ? op.getInputs().front() : b.concat(parts, axis);
}

static LogicalResult lowerSplit(onnx::SplitOp op, LinalgBuilder &b, LoweringTable::Results &results) {
  int64_t axis = axisOf(op.getAxis(), op.getX()), offset = 0;
  for (Value part : op.getParts()) {
    int64_t size = shapeOf(part)[axis];
    results.push_back(b.sliceDim(op.getX(), axis, offset, size));
    offset += size;
  }
  return success();
}

static FailureOr<Value> lowerSlice(onnx::SliceOp op, LinalgBuilder &b) {
  if (!op.getStarts() || !op.getAxes() || !op.getSteps())
    return op.emitOpError("expected constant starts, axes and steps but got ones computed at run time");
  Value x = op.getX();
  ArrayRef<int64_t> shape = shapeOf(x), result = shapeOf(op.getY());
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1), reversed;
  for (auto [axis, start, step] : llvm::zip_equal(*op.getAxes(), *op.getStarts(), *op.getSteps())) {
    int64_t dim = axisOf(axis, x);
    // A negative step takes the same elements forwards and turns them round afterwards.
    strides[dim] = std::abs(step);
    offsets[dim] = step > 0 ? start : start + (result[dim] - 1) * step;
    if (step < 0)
      reversed.push_back(dim);
  }
  if (tensorType(op.getY()).getNumElements() == 0)
    return b.empty(result, elementTypeOf(x));
  Value y = b.slice(x, offsets, result, strides);
  for (int64_t dim : reversed)
    y = b.reverse(y, dim);
  return y;
}

/// The elements before or after a dimension that a padding mode puts there; `value` is the one of mode constant.
static Value padding(LinalgBuilder &b, Value x, Value value, int64_t dim, int64_t count, bool before, StringRef mode) {
  int64_t size = shapeOf(x)[dim];
  SmallVector<int64_t> shape(shapeOf(x));
  shape[dim] = count;
  if (mode == "constant")
    return b.broadcast(b.reshape(value, SmallVector<int64_t>(shape.size(), 1)), shape);
  if (mode == "edge")
    return b.broadcast(b.sliceDim(x, dim, before ? 0 : size - 1, 1), shape);
  if (mode == "wrap")
    return b.sliceDim(x, dim, before ? size - count : 0, count);
  return b.reverse(b.sliceDim(x, dim, before ? 1 : size - 1 - count, count), dim);
}

static FailureOr<Value> lowerPad(onnx::PadOp op, LinalgBuilder &b) {
  if (!op.getPads())
    return op.emitOpError("expected constant pads but got ones computed at run time");
  Value x = op.getX();
  Type element = elementTypeOf(x);
  ArrayRef<int64_t> pads = *op.getPads();
  int64_t rank = shapeOf(x).size();
  StringRef mode = op.getMode();
  // Negative pads crop, in every mode first.
  SmallVector<int64_t> offsets, sizes, ones(rank, 1), low, high;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t before = pads[dim], after = pads[rank + dim];
    offsets.push_back(std::max<int64_t>(0, -before));
    sizes.push_back(shapeOf(x)[dim] + std::min<int64_t>(0, before) + std::min<int64_t>(0, after));
    low.push_back(std::max<int64_t>(0, before));
    high.push_back(std::max<int64_t>(0, after));
  }
  x = b.slice(x, offsets, sizes, ones);
  if (mode == "constant" && !op.getValueOperand()) {
    Value scalar = scalarConstant(b, element, 0);
    if (auto real = dyn_cast_if_present<FloatAttr>(op.getValueAttr()))
      scalar = scalarConstant(b, element, real.getValueAsDouble());
    else if (auto integer = dyn_cast_if_present<IntegerAttr>(op.getValueAttr()))
      scalar = arith::ConstantOp::create(b, b.getIntegerAttr(b.getIntegerType(integer.getValue().getBitWidth()), integer.getValue()));
    return b.pad(x, low, high, scalar);
  }
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return op.emitOpError("expected mode constant, edge, reflect or wrap but got \"") << mode << "\"";
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = shapeOf(x)[dim], limit = mode == "reflect" ? size - 1 : mode == "wrap" ? size : INT64_MAX;
    if (low[dim] > limit || high[dim] > limit)
      return op.emitOpError("padding by ")
             << std::max(low[dim], high[dim]) << " in mode " << mode << " is not supported for an extent of " << size;
    SmallVector<Value> parts;
    if (low[dim] > 0)
      parts.push_back(padding(b, x, op.getValueOperand(), dim, low[dim], /*before=*/true, mode));
    parts.push_back(x);
    if (high[dim] > 0)
      parts.push_back(padding(b, x, op.getValueOperand(), dim, high[dim], /*before=*/false, mode));
    x = b.concat(parts, dim);
  }
  return x;
}

static FailureOr<Value> lowerExpand(onnx::ExpandOp op, LinalgBuilder &b) {
  return b.broadcast(op.getX(), shapeOf(op.getY()));
}

/// [d0, d1] tiled is [r0, d0, r1, d1] broadcast along the repeats.
static FailureOr<Value> lowerTile(onnx::TileOp op, LinalgBuilder &b) {
  if (!op.getRepeats())
    return op.emitOpError("expected constant repeats but got ones computed at run time");
  Value x = op.getX();
  SmallVector<int64_t> shape, positions;
  for (auto [size, repeat] : llvm::zip_equal(shapeOf(x), *op.getRepeats())) {
    if (repeat != 1)
      shape.push_back(repeat);
    positions.push_back(shape.size());
    shape.push_back(size);
  }
  if (shape.size() == positions.size())
    return x;
  Value tiled = b.map(x, b.dims(shape.size(), positions), shape, elementTypeOf(x), itself);
  return b.reshape(tiled, shapeOf(op.getY()));
}

static FailureOr<Value> lowerDepthToSpace(onnx::DepthToSpaceOp op, LinalgBuilder &b) {
  ArrayRef<int64_t> s = shapeOf(op.getX());
  int64_t block = op.getBlocksize(), depth = s[1] / (block * block);
  bool isDCR = op.getMode() == "DCR";
  if (!isDCR && op.getMode() != "CRD")
    return op.emitOpError("expected mode DCR or CRD but got \"") << op.getMode() << "\"";
  Value split = isDCR ? b.reshape(op.getX(), {s[0], block, block, depth, s[2], s[3]})
                      : b.reshape(op.getX(), {s[0], depth, block, block, s[2], s[3]});
  Value moved = b.transpose(split, isDCR ? ArrayRef<int64_t>{0, 3, 4, 1, 5, 2} : ArrayRef<int64_t>{0, 1, 4, 2, 5, 3});
  return b.reshape(moved, shapeOf(op.getY()));
}

static FailureOr<Value> lowerSpaceToDepth(onnx::SpaceToDepthOp op, LinalgBuilder &b) {
  ArrayRef<int64_t> s = shapeOf(op.getX());
  int64_t block = op.getBlocksize();
  Value split = b.reshape(op.getX(), {s[0], s[1], s[2] / block, block, s[3] / block, block});
  return b.reshape(b.transpose(split, {0, 3, 5, 1, 2, 4}), shapeOf(op.getY()));
}

void addMovementLowerings(LoweringTable &table) {
  table.add(lowerReshape);
  table.add(lowerTranspose);
  table.add(lowerConcat);
  table.add(lowerSplit);
  table.add(lowerSlice);
  table.add(lowerPad);
  table.add(lowerExpand);
  table.add(lowerTile);
  table.add(lowerDepthToSpace);
  table.add(lowerSpaceToDepth);
}

} // namespace trn
