//===- Elementwise.cpp - shape rules of operators on corresponding elements -===//
//
// Owns the rules whose result follows the operands' shapes by broadcasting or one to one.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trn::onnx;

/// Broadcasts the operands [first, end) into `sizes`; leaves it empty when a rank is unknown.
static LogicalResult broadcastOperands(Inference &in, unsigned first, std::optional<Sizes> &sizes) {
  sizes = Sizes();
  bool known = true;
  for (Value operand : in.operation()->getOperands().drop_front(first)) {
    std::optional<Sizes> next = in.sizes(operand);
    if (!next) {
      known = false;
      continue;
    }
    FailureOr<Sizes> both = broadcastSizes(*sizes, *next);
    if (failed(both))
      return in.fail("expected shapes that broadcast but got " + printSizes(*sizes) + " and " + printSizes(*next));
    sizes = *both;
  }
  if (!known)
    sizes.reset();
  return success();
}

LogicalResult shape::sameAsFirst(Inference &in) {
  Value x = in.operation()->getOperand(0);
  return in.result(in.operation()->getResult(0), in.element(x), in.sizes(x));
}

LogicalResult shape::test(Inference &in) {
  Value x = in.operation()->getOperand(0);
  return in.result(in.operation()->getResult(0), IntegerType::get(x.getContext(), 1), in.sizes(x));
}

LogicalResult shape::broadcast(Inference &in) {
  Operation *op = in.operation();
  if (op->getNumOperands() == 0)
    return in.fail("expected at least one operand but got none");
  for (Value operand : op->getOperands())
    if (failed(in.sameElement(op->getOperand(0), operand)))
      return failure();
  std::optional<Sizes> sizes;
  if (failed(broadcastOperands(in, 0, sizes)))
    return failure();
  return in.result(op->getResult(0), in.element(op->getOperand(0)), sizes);
}

LogicalResult shape::compare(Inference &in) {
  Operation *op = in.operation();
  std::optional<Sizes> sizes;
  if (failed(in.sameElement(op->getOperand(0), op->getOperand(1))) || failed(broadcastOperands(in, 0, sizes)))
    return failure();
  return in.result(op->getResult(0), IntegerType::get(op->getContext(), 1), sizes);
}

LogicalResult shape::pow(Inference &in) {
  Operation *op = in.operation();
  std::optional<Sizes> sizes;
  if (failed(broadcastOperands(in, 0, sizes)))
    return failure();
  return in.result(op->getResult(0), in.element(op->getOperand(0)), sizes);
}

LogicalResult shape::prelu(Inference &in) {
  Operation *op = in.operation();
  Value x = op->getOperand(0);
  std::optional<Sizes> sizes = in.sizes(x), both;
  if (failed(in.sameElement(x, op->getOperand(1))) || failed(broadcastOperands(in, 0, both)))
    return failure();
  if (sizes && both && sizes->size() != both->size())
    return in.fail("expected a slope that broadcasts to the operand's shape " + printSizes(*sizes));
  return in.result(op->getResult(0), in.element(x), sizes);
}

LogicalResult shape::where(Inference &in) {
  auto op = cast<WhereOp>(in.operation());
  std::optional<Sizes> sizes;
  if (failed(in.sameElement(op.getX(), op.getY())) || failed(broadcastOperands(in, 0, sizes)))
    return failure();
  return in.result(op.getZ(), in.element(op.getX()), sizes);
}

LogicalResult shape::convertTo(Inference &in) {
  auto op = cast<CastOp>(in.operation());
  return in.result(op.getY(), op.getTo(), in.sizes(op.getX()));
}

LogicalResult shape::bitCast(Inference &in) {
  auto op = cast<BitCastOp>(in.operation());
  auto bits = [](Type type) { return std::max(8u, type.getIntOrFloatBitWidth()); };
  Type from = in.element(op.getX()), to = op.getTo();
  if (bits(from) != bits(to)) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected a type of the size of " << from << " but got " << to;
    return in.fail(text);
  }
  return in.result(op.getY(), to, in.sizes(op.getX()));
}

LogicalResult shape::castLike(Inference &in) {
  auto op = cast<CastLikeOp>(in.operation());
  return in.result(op.getY(), in.element(op.getTarget()), in.sizes(op.getX()));
}

LogicalResult shape::clip(Inference &in) {
  auto op = cast<ClipOp>(in.operation());
  for (Value bound : {op.getMinOperand(), op.getMaxOperand()}) {
    if (!bound)
      continue;
    if (failed(in.sameElement(op.getX(), bound)))
      return failure();
    std::optional<Sizes> sizes = in.sizes(bound);
    if (sizes && elementCount(*sizes) && *elementCount(*sizes) != 1)
      return in.fail("expected a scalar bound but got a tensor of " + printSizes(*sizes));
  }
  return in.result(op.getY(), in.element(op.getX()), in.sizes(op.getX()));
}
