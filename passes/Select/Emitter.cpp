//===- Emitter.cpp - make instructions of the trn dialect -------------------===//
// Owns the calls of the generated builders, one per instruction that selection emits.
#include "passes/Select/Emitter.h"
#include "dialects/Trn/ACT.h"
#include "dialects/Trn/DMA.h"
#include "dialects/Trn/DVE.h"
#include "dialects/Trn/ISA/Constants.h"
#include "dialects/Trn/PE.h"
#include "passes/Select/Access.h"

using namespace mlir;

namespace trn {

void Emitter::matmul(Value dst, Value stationary, Value moving, Value accumulateIf) {
  emit<ir::NcMatmulOp>(dst, stationary, moving, accumulateIf, /*accumulate=*/false, /*load_stationary=*/true);
}

void Emitter::transpose(Value dst, Value src) { emit<ir::NcTransposeOp>(dst, src); }

void Emitter::activation(Value dst, Value src, isa::ActivationFunc func, ScalarOperand scale, ScalarOperand bias,
                         Value rowSum) {
  // 1 and 0 are what an absent operand means.
  emit<ir::ActivationOp>(dst, src, scale.column, scale.isConstant(1.0f) ? FloatAttr() : immediate(scale), bias.column,
                         bias.isConstant(0.0f) ? FloatAttr() : immediate(bias), rowSum, func);
}

void Emitter::tensorScalar(Value dst, Value src, ScalarStep first, ScalarStep second) {
  bool single = second.op == isa::AluOp::Bypass;
  emit<ir::TensorScalarOp>(dst, src, first.operand.column, immediate(first.operand),
                           single ? Value() : second.operand.column, single ? FloatAttr() : immediate(second.operand),
                           first.op, second.op, first.reverse, second.reverse);
}

void Emitter::scalarTensorTensor(Value dst, Value src, ScalarStep first, isa::AluOp op, Value rhs, bool reverse) {
  emit<ir::ScalarTensorTensorOp>(dst, src, first.operand.column, immediate(first.operand), rhs, first.op, op,
                                 first.reverse, reverse);
}

void Emitter::tensorTensor(Value dst, Value lhs, Value rhs, isa::AluOp op) {
  emit<ir::TensorTensorOp>(dst, lhs, rhs, op);
}

void Emitter::wordTensorTensor(Value dst, Value lhs, Value rhs, isa::AluOp op) {
  auto add = emit<ir::TensorTensorOp>(dst, lhs, rhs, op);
  cast<ir::InstructionOpInterface>(add.getOperation()).setEngine(isa::Engine::POOL);
}

void Emitter::reduce(Value dst, Value src, isa::AluOp op, unsigned axes) {
  emit<ir::TensorReduceOp>(dst, src, op, static_cast<uint32_t>(axes), /*negate=*/false);
}

void Emitter::copy(Value dst, Value src) { emit<ir::TensorCopyOp>(dst, src); }

void Emitter::fill(Value dst, float value) { emit<ir::MemsetOp>(dst, llvm::APFloat(value)); }

void Emitter::fillInteger(Value dst, int64_t value) {
  auto type = cast<MemRefType>(dst.getType());
  if (type.getElementType().isUnsignedInteger() && value < 0)
    value += int64_t(1) << type.getElementTypeBitWidth();
  if (static_cast<double>(static_cast<float>(value)) == static_cast<double>(value))
    return fill(dst, static_cast<float>(value));
  // Both halves have fp32 values.
  int64_t high = value & ~int64_t(0xFFFF);
  ArrayRef<int64_t> shape = type.getShape();
  Value upper = createTemporary(builder, loc, shape.front(), shape.drop_front(), type.getElementType());
  Value lower = createTemporary(builder, loc, shape.front(), shape.drop_front(), type.getElementType());
  fill(upper, static_cast<float>(high));
  fill(lower, static_cast<float>(value - high));
  wordTensorTensor(dst, upper, lower, isa::AluOp::Add);
}

void Emitter::copyPredicated(Value dst, Value src, Value predicate, bool reverse) {
  emit<ir::CopyPredicatedOp>(dst, src, predicate, reverse);
}

void Emitter::select(Value dst, Value predicate, Value onTrue, Value onFalse) {
  emit<ir::SelectOp>(dst, predicate, onTrue, onFalse);
}

void Emitter::spread(Value dst) { emit<ir::NcStreamShuffleOp>(dst, dst, SmallVector<int32_t>(isa::nc_stream_shuffle::kGroup, 0)); }

void Emitter::dma(Value dst, Value src) { emit<ir::DmaCopyOp>(dst, src); }

void Emitter::gather(Value dst, Value table, Value indices) { emit<ir::DmaGatherOp>(dst, table, indices); }

} // namespace trn
