//===- BranchCost.cpp - whether to branch or to select --------------------===//
//
// See BranchCost.h. The graph does not know its target: the numbers are those of trn2, rounded, and no other target's
// differ by more than the estimate does.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/BranchCost.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Contraction.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Convolution.h"
#include "dialects/ONNX/Ops/Recurrent.h"
#include "dialects/ONNX/Ops/Weight.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace trn;

namespace {

/// One transfer from its trigger to the release of who waits for it (Devices.td: dmaStartNs + dmaCompletionNs).
constexpr double kTransferNs = 1700;
/// Transfers one behind the other: the condition out, into registers, operands in, results out and in.
constexpr double kTransfers = 5;
/// HBM, a core's share (Devices.td: hbmBytesPerUs).
constexpr double kBytesPerNs = 360;
/// fp32 products of PE: 128 x 128 at 2.4 GHz, four passes each.
constexpr double kProductsPerNs = 128 * 128 * 2.4 / 4;
/// Elements of an engine: 128 partitions at 0.96 GHz.
constexpr double kElementsPerNs = 128 * 0.96;
/// The fixed part of an instruction and of the semaphore that the next one waits for.
constexpr double kInstructionNs = 100;
/// Instructions of a function that is no single one in fp32 (`trnc profile` of Tanh: 22).
constexpr double kFunctionInstructions = 20;

int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(elementsOf(value)) * double(elementBytes(type.getElementType())) : 0;
}

/// Products of a contraction; 0 for other operations. Each element of the result takes as many as there are weights for
/// its channel, or terms.
double productsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<onnx::MatMulOp>([](auto matMul) {
        auto lhs = dyn_cast<RankedTensorType>(matMul->getOperand(0).getType());
        return lhs && lhs.getRank() > 0 ? double(elementsOf(matMul->getResult(0))) * double(lhs.getShape().back()) : 0;
      })
      .Case<onnx::GemmOp>([](auto gemm) {
        const double result = double(elementsOf(gemm->getResult(0)));
        return std::sqrt(double(elementsOf(gemm->getOperand(0))) * double(elementsOf(gemm->getOperand(1))) * result);
      })
      .Case<onnx::ConvOp>([](auto conv) {
        auto weights = dyn_cast<RankedTensorType>(conv->getOperand(1).getType());
        return weights && weights.getRank() > 0
                   ? double(elementsOf(conv->getResult(0))) * double(elementsOf(conv->getOperand(1))) /
                         double(std::max<int64_t>(1, weights.getDimSize(0)))
                   : 0;
      })
      .Case<onnx::LSTMOp, onnx::GRUOp, onnx::RNNOp>([](Operation *layer) {
        // Each row of the sequence by all weights.
        auto x = dyn_cast<RankedTensorType>(layer->getOperand(0).getType());
        const double rows = x && x.getRank() == 3 ? double(x.getDimSize(0)) * double(x.getDimSize(1)) : 0;
        return rows * double(elementsOf(layer->getOperand(1)) + elementsOf(layer->getOperand(2)));
      })
      .Default([](Operation *) { return 0.0; });
}

/// Instructions per element.
double instructionsOf(Operation *op) {
  const onnx::OpRecord *record = onnx::lookupRecord(op);
  const StringRef scalar = record ? StringRef(record->floatScalar) : StringRef();
  return scalar.starts_with("math.") || scalar.starts_with("trn.scalar") ? kFunctionInstructions : 1;
}

/// What a body takes, and the bytes that it reads from around it.
struct BodyCost {
  double nanoseconds = 0;
  llvm::SetVector<Value> captured;
  bool hasControl = false;
};

BodyCost costOf(Block &body) {
  BodyCost cost;
  body.walk([&](Operation *op) {
    cost.hasControl |= llvm::isa<onnx::RepeatOp, onnx::BranchOp>(op);
    double elements = 0;
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<onnx::WeightOp>())
        cost.nanoseconds += bytesOf(operand) / kBytesPerNs;
      else if (!body.getParent()->isAncestor(operand.getParentRegion()))
        cost.captured.insert(operand);
      elements = std::max(elements, double(elementsOf(operand)));
    }
    if (op->hasTrait<OpTrait::IsTerminator>() || llvm::isa<onnx::WeightOp>(op))
      return;
    for (Value result : op->getResults())
      elements = std::max(elements, double(elementsOf(result)));
    const double products = productsOf(op);
    cost.nanoseconds += products > 0 ? kInstructionNs + products / kProductsPerNs
                                     : instructionsOf(op) * (kInstructionNs + elements / kElementsPerNs);
  });
  return cost;
}

} // namespace

bool trn::isBranchWorth(Block &taken, Block &other) {
  BodyCost first = costOf(taken), second = costOf(other);
  if (first.hasControl || second.hasControl)
    return true;
  llvm::SetVector<Value> captured = first.captured;
  captured.insert(second.captured.begin(), second.captured.end());
  double crossing = 0;
  for (Value value : captured)
    crossing += bytesOf(value);
  for (Value result : taken.getTerminator()->getOperands())
    crossing += 2 * bytesOf(result);
  return (first.nanoseconds + second.nanoseconds) / 2 > kTransfers * kTransferNs + crossing / kBytesPerNs;
}
