//===- Emitter.h - make instructions of the trn dialect ---------------------===//
// Owns the creation of instruction operations as selection needs them: operands are views, everything that later stages
// decide (engine, times, semaphores) is left open.
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace trn {

/// A scalar operand of an instruction: an immediate, or a [partitions, 1] buffer of fp32.
struct ScalarOperand {
  float immediate = 0.0f;
  mlir::Value column; // null: immediate

  static ScalarOperand constant(float value) { return {value, {}}; }
  static ScalarOperand at(mlir::Value column) { return {0.0f, column}; }
  bool isConstant(float value) const { return !column && immediate == value; }
};

/// One half of a tensor_scalar or scalar_tensor_tensor: data `op` operand, sides swapped by `reverse`.
struct ScalarStep {
  isa::AluOp op = isa::AluOp::Bypass;
  ScalarOperand operand;
  bool reverse = false;
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  void matmul(mlir::Value dst, mlir::Value stationary, mlir::Value moving, mlir::Value accumulateIf);
  void transpose(mlir::Value dst, mlir::Value src);
  void activation(mlir::Value dst, mlir::Value src, isa::ActivationFunc func, ScalarOperand scale, ScalarOperand bias,
                  mlir::Value rowSum = {});
  void tensorScalar(mlir::Value dst, mlir::Value src, ScalarStep first, ScalarStep second = {});
  void scalarTensorTensor(mlir::Value dst, mlir::Value src, ScalarStep first, isa::AluOp op, mlir::Value rhs,
                          bool reverse);
  void tensorTensor(mlir::Value dst, mlir::Value lhs, mlir::Value rhs, isa::AluOp op);
  /// 32-bit integers of one type in SBUF, exact and modulo 2^32: only POOL computes them natively (ISA32 tensor_tensor).
  void wordTensorTensor(mlir::Value dst, mlir::Value lhs, mlir::Value rhs, isa::AluOp op);
  void reduce(mlir::Value dst, mlir::Value src, isa::AluOp op, unsigned axes);
  void copy(mlir::Value dst, mlir::Value src);
  void fill(mlir::Value dst, float value);
  /// An integer exactly: fp32, in which an instruction carries a constant, would round one beyond 2^24.
  void fillInteger(mlir::Value dst, int64_t value);
  void copyPredicated(mlir::Value dst, mlir::Value src, mlir::Value predicate, bool reverse = false);
  void select(mlir::Value dst, mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse);
  /// Gives every partition what the first of its group of 32 holds.
  void spread(mlir::Value dst);
  void dma(mlir::Value dst, mlir::Value src);
  void gather(mlir::Value dst, mlir::Value table, mlir::Value indices);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  mlir::FloatAttr immediate(const ScalarOperand &operand) {
    return operand.column ? mlir::FloatAttr() : builder.getF32FloatAttr(operand.immediate);
  }
  /// Creates an instruction; the attributes of later stages stay absent.
  template <typename Op, typename... Args> Op emit(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)..., mlir::ArrayAttr(), ir::EngineAttr(),
                      mlir::IntegerAttr(), mlir::IntegerAttr(), mlir::IntegerAttr(), ir::WaitAttr(), ir::UpdateAttr());
  }
};

} // namespace trn
