//===- Sequence.cpp - the shape rule of sequences -------------------------===//
//
// Owns the types that sequences and what is taken out of them have until they are resolved.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Sequence.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trn::onnx;

LogicalResult shape::sequence(Inference &in) {
  Operation *op = in.operation();
  Value y = op->getResult(0);
  auto elementOf = [](Value sequence) { return cast<SequenceType>(sequence.getType()).getElement(); };
  auto sequenceOf = [&](Type element) {
    in.result(y, SequenceType::get(op->getContext(), element));
    return success();
  };
  // The operation is not verified yet.
  if (llvm::isa<SequenceInsertOp, SequenceEraseOp, SequenceLengthOp, SequenceAtOp, ConcatFromSequenceOp>(op) &&
      !llvm::isa<SequenceType>(op->getOperand(0).getType()))
    return in.fail("expected a sequence for 'sequence' but got a tensor");
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](SequenceConstructOp construct) {
        if (construct.getInputs().empty())
          return in.fail("expected at least one tensor but got none; SequenceEmpty makes an empty sequence");
        for (Value input : construct.getInputs())
          if (failed(in.sameElement(construct.getInputs().front(), input)))
            return failure();
        return sequenceOf(in.element(construct.getInputs().front()));
      })
      .Case([&](SequenceEmptyOp empty) {
        return sequenceOf(empty.getDtype().value_or(Float32Type::get(op->getContext())));
      })
      .Case([&](SplitToSequenceOp split) {
        std::optional<Sizes> x = in.sizes(split.getX());
        FailureOr<int64_t> axis = x ? in.axis(split.getAxis(), x->size()) : FailureOr<int64_t>(split.getAxis());
        if (failed(axis))
          return failure();
        in.set("axis", *axis);
        return sequenceOf(in.element(split.getX()));
      })
      .Case([&](SequenceInsertOp insert) {
        if (in.element(insert.getTensor()) != elementOf(insert.getSequence()))
          return in.fail("expected a tensor of the sequence's element type");
        return sequenceOf(elementOf(insert.getSequence()));
      })
      .Case([&](SequenceEraseOp erase) { return sequenceOf(elementOf(erase.getSequence())); })
      .Case([&](SequenceLengthOp) { return in.result(y, IntegerType::get(op->getContext(), 64), Sizes()); })
      .Case<SequenceAtOp, ConcatFromSequenceOp>(
          [&](auto reader) { return in.result(y, elementOf(reader.getSequence()), std::nullopt); })
      .Case([&](OptionalHasElementOp) { return in.result(y, IntegerType::get(op->getContext(), 1), Sizes()); })
      .Case([&](OptionalOp optional) {
        Type declared = optional.getTypeAttr() ? optional.getTypeAttr().getValue() : y.getType();
        in.result(y, optional.getX() ? optional.getX().getType() : declared);
        return success();
      })
      .Default([&](Operation *) { // an optional has the type of its element
        in.result(y, op->getNumOperands() ? op->getOperand(0).getType() : y.getType());
        return success();
      });
}
