//===- Build.cpp - building ONNX operations by name -----------------------===//
//
// Owns the generic builder on top of the records.
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Build.h"

#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace trn::onnx;

/// Operands in the record's order, and the size of each group.
static SmallVector<int32_t> addOperands(OperationState &state, const OpRecord &record, ArrayRef<Value> operands) {
  SmallVector<int32_t> sizes;
  bool variadic = llvm::any_of(record.operands, [](const OperandRecord &o) { return o.arity == Arity::Variadic; });
  if (variadic) {
    assert(record.operands.size() == 1 && "variadic operands of the standard stand alone");
    state.addOperands(operands);
    return {int32_t(operands.size())};
  }
  assert(operands.size() <= record.operands.size());
  for (size_t i = 0; i < record.operands.size(); ++i) {
    bool present = i < operands.size() && operands[i];
    sizes.push_back(present);
    if (present)
      state.addOperands(operands[i]);
  }
  return sizes;
}

static Operation *buildFrom(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Value> operands,
                            ArrayRef<NamedAttribute> attributes, unsigned results) {
  const OpRecord *record = findRecord("", name);
  assert(record && !record->refused() && "only operators with a record can be built");
  OperationState state(loc, record->operation);
  SmallVector<int32_t> sizes = addOperands(state, *record, operands);
  state.addAttributes(attributes);
  if (record->operandSegments)
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(sizes));
  if (record->resultSegments) {
    SmallVector<int32_t> resultSizes(record->results.size(), 0);
    std::fill_n(resultSizes.begin(), results, 1);
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(resultSizes));
  }
  // Inference replaces these types.
  state.addTypes(SmallVector<Type>(results, UnrankedTensorType::get(builder.getF32Type())));
  Operation *op = builder.create(state);
  Inference inference(op);
  if (failed(inference.run()))
    llvm::report_fatal_error(Twine("a pass built a wrong onnx.") + name + ": " + inference.message());
  inference.commit();
  return op;
}

Operation *trn::onnx::buildOperation(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                                     ArrayRef<NamedAttribute> attributes, unsigned results) {
  return buildFrom(builder, loc, name, SmallVector<Value>(operands), attributes, results);
}

Value trn::onnx::build(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Value> operands,
                       ArrayRef<NamedAttribute> attributes) {
  return buildFrom(builder, loc, name, operands, attributes, 1)->getResult(0);
}
