//===- BoundInputs.cpp - inputs that are positions -------------------------===//
//
// Owns `onnx-bound-inputs`: which numbers an input of 64-bit integers can have, because all of them are positions.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Movement.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace trn {
#define GEN_PASS_DEF_BOUNDINPUTSPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;

namespace {

using Range = std::pair<int64_t, int64_t>;

/// Whether an operation's result has all elements of its first operand, and no others.
bool keepsElements(Operation *op) {
  return llvm::isa<onnx::IdentityOp, onnx::ReshapeOp, onnx::TransposeOp, onnx::SqueezeOp, onnx::UnsqueezeOp, onnx::FlattenOp,
                   onnx::ExpandOp>(op);
}

/// The positions that an operand can be, when its record says that it is one.
std::optional<Range> positionsOf(OpOperand &use) {
  Operation *op = use.getOwner();
  const onnx::OpRecord *record = onnx::lookupRecord(op);
  if (!record)
    return std::nullopt;
  for (unsigned index : record->indexOperands) {
    OperandRange group = onnx::operandGroup(op, index);
    if (group.empty() || group.getBeginOperandIndex() != use.getOperandNumber())
      continue;
    auto table = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!table || !table.hasStaticShape() || table.getRank() == 0)
      return std::nullopt;
    const int64_t most = *llvm::max_element(table.getShape());
    return Range(-most, most - 1);
  }
  return std::nullopt;
}

/// The positions that all elements of `value` are, by a reader; `block` is where it is sure to be read.
std::optional<Range> positionsOf(Value value, Block *block) {
  std::optional<Range> found;
  auto meet = [&](std::optional<Range> range) {
    if (range)
      found = found ? Range(std::max(found->first, range->first), std::min(found->second, range->second)) : *range;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    std::optional<Range> range = positionsOf(use);
    if (range && op->getBlock() != block)
      range = Range(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    if (!range && use.getOperandNumber() == 0 && keepsElements(op))
      range = positionsOf(op->getResult(0), block);
    meet(range);
  }
  return found;
}

struct BoundInputsPass : trn::impl::BoundInputsPassBase<BoundInputsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // What parts of a program share has been decided for all of them.
    if (function.isExternal() || !function->getParentOp() || function->getParentOp()->getParentOp())
      return;
    // An index that a way reads which the run does not go may be any number.
    if (function->hasAttr("onnx.selects_ways"))
      return;
    for (BlockArgument argument : function.getArguments()) {
      if (!getElementTypeOrSelf(argument.getType()).isInteger(64))
        continue;
      std::optional<Range> range = positionsOf(argument, &function.front());
      if (range && range->first <= range->second)
        function.setArgAttr(argument.getArgNumber(), "onnx.range",
                            DenseI64ArrayAttr::get(&getContext(), {range->first, range->second}));
    }
  }
};

} // namespace
