//===- CountedResults.cpp - tensors of which the run decides how much is valid ===//
#include "passes/Tensor/CountedResults.h"
#include "compiler/Support/Problems.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Indexing.h"
#include "dialects/ONNX/Ops/Movement.h"

using namespace mlir;

namespace trn {

/// The dimension of the result that counts what dimension `counted.dim` of the operand counts; none if there is none.
std::optional<int64_t> CountedResults::dimOfResult(Operation *op, StringRef rule, OpOperand &operand,
                                                   const Counted &counted) const {
  ArrayRef<int64_t> from = shapeOf(operand.get()), to = shapeOf(op->getResult(0));
  if (rule == "elementwise") {
    // The others have one element along that dimension, or the same count.
    int64_t fromEnd = int64_t(from.size()) - counted.dim;
    for (Value other : op->getOperands()) {
      if (other == operand.get() || !llvm::isa<RankedTensorType>(other.getType()))
        continue;
      auto entry = known.find(other);
      int64_t dim = int64_t(shapeOf(other).size()) - fromEnd;
      bool same = entry != known.end() && entry->second.dim == dim && entry->second.count == counted.count;
      if (!same && dim >= 0 && shapeOf(other)[dim] != 1)
        return std::nullopt;
    }
    return int64_t(to.size()) - fromEnd;
  }
  if (rule == "transpose") {
    ArrayRef<int64_t> perm = *cast<onnx::TransposeOp>(op).getPerm();
    return llvm::find(perm, counted.dim) - perm.begin();
  }
  if (rule == "reshape") {
    // Dimensions of one element come and go; the others stay.
    SmallVector<int64_t> kept, made;
    for (int64_t dim = 0; dim < int64_t(from.size()); ++dim)
      if (from[dim] != 1 || dim == counted.dim)
        kept.push_back(dim);
    for (int64_t dim = 0; dim < int64_t(to.size()); ++dim)
      if (to[dim] != 1)
        made.push_back(dim);
    if (kept.size() != made.size())
      return std::nullopt;
    for (auto [before, after] : llvm::zip_equal(kept, made))
      if (from[before] != to[after])
        return std::nullopt;
    return made[llvm::find(kept, counted.dim) - kept.begin()];
  }
  if (rule == "gather" && operand.getOperandNumber() == 1)
    return cast<onnx::GatherOp>(op).getAxis() + counted.dim;
  return std::nullopt;
}

LogicalResult CountedResults::visit(Operation *op) {
  inherited.reset();
  for (OpOperand &operand : op->getOpOperands()) {
    auto entry = known.find(operand.get());
    if (entry == known.end())
      continue;
    const onnx::OpRecord *record = onnx::lookupRecord(op);
    std::optional<int64_t> dim;
    if (record && !record->counted.empty() && op->getNumResults() == 1)
      dim = dimOfResult(op, record->counted, operand, entry->second);
    if (!dim) {
      std::string maker = originOf(entry->second.maker).node;
      return op->emitError("expected an operand whose size is known, but the run decides how many elements of what node '")
             << maker << "' makes are valid; end the model before this node, or keep to elementwise operators, "
             << "transposes and gathers by such indices";
    }
    inherited = Counted{*dim, entry->second.count, entry->second.maker};
  }
  return success();
}

void CountedResults::lowered(Operation *op, ArrayRef<Value> values, ArrayRef<LinalgBuilder::Count> counts) {
  if (inherited && values.front())
    known.insert({values.front(), *inherited});
  for (const LinalgBuilder::Count &made : counts)
    if (values[made.result])
      known.insert({values[made.result], Counted{made.dim, made.count, op->getLoc()}});
}

void CountedResults::addResults(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  Builder b(function.getContext());
  unsigned results = terminator->getNumOperands();
  for (unsigned result = 0; result < results; ++result) {
    auto entry = known.find(terminator->getOperand(result));
    if (entry == known.end())
      continue;
    unsigned number = terminator->getNumOperands();
    auto name = function.getResultAttrOfType<StringAttr>(result, "onnx.name");
    function.setResultAttr(result, "onnx.count", b.getI64IntegerAttr(number));
    function.setResultAttr(result, "onnx.count_dim", b.getI64IntegerAttr(entry->second.dim));
    terminator->insertOperands(number, entry->second.count);
    DictionaryAttr attributes = b.getDictionaryAttr(
        b.getNamedAttr("onnx.name", b.getStringAttr((name ? name.getValue() : "result").str() + ".count")));
    (void)function.insertResult(number, entry->second.count.getType(), attributes);
  }
}

} // namespace trn
