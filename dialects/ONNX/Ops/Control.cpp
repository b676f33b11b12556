//===- Control.cpp - definitions of Ops/Control.td ---------------------------===//
//
// Owns the generated code of this family, and the verifiers of the operations that inference makes; those of ONNX itself
// are held to their shape rule. What an operation means lies in its record.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Control.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace trn::onnx;

#define GET_OP_CLASSES
#include "dialects/ONNX/Ops/Control.cpp.inc"

/// What `body` gives; fails unless it takes values of types `arguments` and gives one of each of `results`.
static LogicalResult verifyBody(Operation *op, Region &body, TypeRange arguments, TypeRange results) {
  auto yield = dyn_cast<YieldOp>(body.front().getTerminator());
  if (!yield)
    return op->emitOpError("expected a body that ends in 'onnx.yield'");
  if (body.getArgumentTypes() != arguments)
    return op->emitOpError("expected a body that takes (") << arguments << ") but got (" << body.getArgumentTypes() << ")";
  if (yield.getOperandTypes() != results)
    return op->emitOpError("expected a body that gives (") << results << ") but got (" << yield.getOperandTypes() << ")";
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  if (getLimitAttr().getInt() < 0)
    return emitOpError("expected a limit of at least 0 but got ") << getLimitAttr().getInt();
  TypeRange carried = getCarried().getTypes();
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isInteger(64) && tensor.hasStaticShape() && tensor.getNumElements() == 1;
  };
  if (carried.empty() || !isNumber(carried.front()))
    return emitOpError("expected the number of the step, one 64-bit integer, as the first carried value");
  if (getTripCount() && !isNumber(getTripCount().getType()))
    return emitOpError("expected a trip count of one element but got ") << getTripCount().getType();
  if (getResultTypes() != carried)
    return emitOpError("expected results of the carried types (") << carried << ") but got (" << getResultTypes() << ")";
  SmallVector<Type> given;
  if (getCondition())
    given.push_back(getCondition().getType());
  llvm::append_range(given, carried);
  return verifyBody(*this, getBody(), carried, given);
}

LogicalResult BranchOp::verifyRegions() {
  if (failed(verifyBody(*this, getThenBranch(), {}, getResultTypes())))
    return failure();
  return verifyBody(*this, getElseBranch(), {}, getResultTypes());
}

LogicalResult CountedOp::verify() {
  if (getX().getType() != getY().getType())
    return emitOpError("expected a result of type ") << getX().getType() << " but got " << getY().getType();
  auto count = dyn_cast<RankedTensorType>(getCount().getType());
  if (!count || !count.hasStaticShape() || count.getNumElements() != 1)
    return emitOpError("expected a count of one element but got ") << getCount().getType();
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || !type.hasStaticShape())
    return emitOpError("expected a tensor of its largest size but got ") << getX().getType();
  const int64_t dim = getDimAttr().getInt();
  if (dim < 0 || dim >= type.getRank())
    return emitOpError("expected a 'dim' from 0 to ") << type.getRank() - 1 << " but got " << dim;
  return success();
}

void ONNXDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ONNX/Ops/Control.cpp.inc"
      >();
}
