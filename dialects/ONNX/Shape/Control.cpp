//===- Control.cpp - the shape rule of operators with bodies --------------===//
//
// Owns the types that If, Loop and Scan have until they are resolved: elements are known, shapes are not.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn::onnx;

/// Whether a value, if it is there, has one element as far as its sizes are known.
static bool mayBeOne(Inference &in, Value value) {
  std::optional<Sizes> sizes = value ? in.sizes(value) : std::nullopt;
  return !sizes || llvm::all_of(*sizes, [](int64_t size) { return !isStatic(size) || size == 1; });
}

LogicalResult shape::control(Inference &in) {
  Operation *op = in.operation();
  for (Region &body : op->getRegions())
    if (body.empty() || body.front().empty() || !llvm::isa<YieldOp>(body.front().back()))
      return in.fail("expected a body that ends in 'onnx.yield'");
  // The body of a Loop gives the next condition first.
  unsigned skipped = llvm::isa<LoopOp>(op), arguments = 0;
  if (auto loop = dyn_cast<LoopOp>(op)) {
    arguments = 2 + loop.getCarried().size();
    if (!mayBeOne(in, loop.getTripCount()) || !mayBeOne(in, loop.getCondition()))
      return in.fail("expected a trip count and a condition of one element");
  }
  if (auto branch = dyn_cast<IfOp>(op); branch && !mayBeOne(in, branch.getCondition()))
    return in.fail("expected a condition of one element but got " + printSizes(*in.sizes(branch.getCondition())));
  if (auto scan = dyn_cast<ScanOp>(op)) {
    arguments = scan.getInputs().size();
    if (scan.getNumScanInputs() < 1 || scan.getNumScanInputs() > arguments)
      return in.fail("expected 'num_scan_inputs' from 1 to " + Twine(arguments) + " but got " +
                     Twine(scan.getNumScanInputs()));
  }
  if (auto map = dyn_cast<SequenceMapOp>(op)) {
    arguments = 1 + map.getInputs().size();
    if (!llvm::isa<SequenceType>(map.getSequence().getType()))
      return in.fail("expected a sequence as first input");
  }
  for (Region &body : op->getRegions()) {
    unsigned yielded = body.front().back().getNumOperands();
    if (body.getNumArguments() != arguments)
      return in.fail("expected a body with " + Twine(arguments) + " inputs but got " + Twine(body.getNumArguments()));
    if (yielded != op->getNumResults() + skipped)
      return in.fail("expected a body with " + Twine(op->getNumResults() + skipped) + " outputs but got " +
                     Twine(yielded));
  }
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber() + skipped;
    Type type = op->getRegion(0).front().back().getOperand(number).getType();
    if (llvm::isa<SequenceMapOp>(op))
      type = SequenceType::get(op->getContext(), getElementTypeOrSelf(type));
    else if (auto tensor = dyn_cast<TensorType>(type))
      type = UnrankedTensorType::get(tensor.getElementType());
    for (Region &body : op->getRegions().drop_front())
      if (getElementTypeOrSelf(body.front().back().getOperand(number).getType()) != getElementTypeOrSelf(type))
        return in.fail("expected branches with results of one element type");
    in.result(result, type);
  }
  return success();
}
