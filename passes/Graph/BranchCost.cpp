//===- BranchCost.cpp - whether to branch or to select --------------------===//
//
// See BranchCost.h. An estimate: instructions one behind the other, each at the full rate of its engine.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/BranchCost.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/Formula.h"
#include "dialects/Trn/ISA/Compositions.h"
#include "passes/Tensor/ModelWork.h"
#include "passes/Tensor/OnnxToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trn;

namespace {

/// Transfers one behind the other: the condition out, into registers, operands in, results out and in.
constexpr double kTransfers = 5;
/// Passes of PE for a product of fp32 (ISA/PE.td), which is what the graph says of precision.
constexpr double kPasses = 4;

int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(elementsOf(value)) * double(elementBytes(type.getElementType())) : 0;
}

/// Instructions that compute a scalar operation: those of its composition, or one.
double instructionsOf(StringRef key) {
  const isa::Composition *composition = isa::composition({key.data(), key.size()});
  if (!composition)
    return 1;
  double instructions = 0;
  for (const FormulaStep &step : composition->formula)
    if (step.kind == FormulaStep::Kind::Operation)
      instructions += key == step.text ? 1 : instructionsOf(step.text);
  return instructions;
}

/// What operations take on a device, in nanoseconds.
class Costs {
public:
  explicit Costs(const isa::DeviceInfo &device)
      : transfers(kTransfers * double(device.dmaStartNs + device.dmaCompletionNs)),
        bytesPerNs(double(device.hbmBytesPerUs) * 1e-3), instruction(double(device.dveFixedNs + device.semaphoreNs)),
        elementsPerNs(double(device.partitions) * double(device.dveHz) * 1e-9),
        productsPerNs(double(device.partitions * device.partitions) * double(device.peHz) * 1e-9 / kPasses) {}

  const double transfers;
  double ofBytes(double bytes) const { return bytes / bytesPerNs; }

  /// An operation of the onnx dialect, by what it is lowered to.
  double of(Operation *op) const {
    if (!hasLowering(op))
      return ofUnlowered(op);
    if (llvm::all_of(op->getResults(), [](Value result) { return elementsOf(result) == 0; }))
      return 0;
    Operation *before = op->getPrevNode();
    OpBuilder builder(op);
    // What has no lowering in this form is refused later, with its reason.
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    const bool isLowered = succeeded(lowerOnnxOp(op, builder));
    double cost = 0;
    while (op->getPrevNode() != before) {
      Operation *last = op->getPrevNode();
      last->walk([&](linalg::LinalgOp inner) { cost += of(inner); });
      last->erase();
    }
    return isLowered ? cost : ofUnlowered(op);
  }

private:
  double of(linalg::LinalgOp op) const {
    if (uint64_t macs = modelMacs(op))
      return instruction + double(macs) / productsPerNs;
    double instructions = 0, points = 1;
    for (Operation &inner : op.getBlock()->without_terminator())
      if (!llvm::isa<arith::ConstantOp>(inner))
        instructions += instructionsOf(ir::scalarKey(&inner));
    for (int64_t range : op.getStaticLoopRanges())
      points *= double(range);
    return std::max(1.0, instructions) * (instruction + points / elementsPerNs);
  }

  /// What is written out later. A recurrent layer multiplies each row of its sequence by all weights; others count as
  /// one instruction.
  double ofUnlowered(Operation *op) const {
    if (llvm::isa<onnx::LSTMOp, onnx::GRUOp, onnx::RNNOp>(op)) {
      auto x = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      const double rows = x && x.getRank() == 3 ? double(x.getDimSize(0)) * double(x.getDimSize(1)) : 0;
      return instruction + rows * double(elementsOf(op->getOperand(1)) + elementsOf(op->getOperand(2))) / productsPerNs;
    }
    int64_t elements = 0;
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        elements = std::max(elements, elementsOf(value));
    return instruction + double(elements) / elementsPerNs;
  }

  const double bytesPerNs, instruction, elementsPerNs, productsPerNs;
};

/// What a body takes, and what it reads from around it.
struct BodyCost {
  double nanoseconds = 0;
  llvm::SetVector<Value> captured;
  bool hasControl = false;
};

BodyCost costOf(Block &body, const Costs &costs) {
  BodyCost cost;
  SmallVector<Operation *> operations;
  body.walk([&](Operation *op) {
    operations.push_back(op);
    cost.hasControl |= llvm::isa<onnx::RepeatOp, onnx::BranchOp>(op);
  });
  if (cost.hasControl)
    return cost;
  for (Operation *op : operations) {
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<onnx::WeightOp>())
        cost.nanoseconds += costs.ofBytes(bytesOf(operand));
      else if (!body.getParent()->isAncestor(operand.getParentRegion()))
        cost.captured.insert(operand);
    }
    if (!op->hasTrait<OpTrait::IsTerminator>() && !llvm::isa<onnx::WeightOp>(op))
      cost.nanoseconds += costs.of(op);
  }
  return cost;
}

} // namespace

bool trn::isBranchWorth(Block &taken, Block &other, const isa::DeviceInfo &device) {
  const Costs costs(device);
  BodyCost first = costOf(taken, costs), second = costOf(other, costs);
  if (first.hasControl || second.hasControl)
    return true;
  llvm::SetVector<Value> captured = first.captured;
  captured.insert(second.captured.begin(), second.captured.end());
  double crossing = 0;
  for (Value value : captured)
    crossing += bytesOf(value);
  for (Value result : taken.getTerminator()->getOperands())
    crossing += 2 * bytesOf(result);
  return (first.nanoseconds + second.nanoseconds) / 2 > costs.transfers + costs.ofBytes(crossing);
}
