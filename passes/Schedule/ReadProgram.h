//===- ReadProgram.h - the planners' view of a flat function --------------===//
//
// Owns the translation of a flat function (one block of buffers and instructions) into a flat program with costs, and
// the way back from its numbers to operations. It changes no IR.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/Target.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Schedule/Analysis/Program.h"

namespace trn {

/// A flat function, numbered. Instruction i of `program` is `operations[i]`, buffer b is `buffers[b]`.
struct FunctionProgram {
  FlatProgram program;
  std::vector<ir::InstructionOpInterface> operations;
  std::vector<isa::Instruction> instructions;
  std::vector<mlir::Value> buffers;
};

/// What the target gives to programs.
Resources resourcesOf(const isa::DeviceInfo &device);

/// The one public function; null with an error otherwise.
mlir::func::FuncOp findEntry(mlir::ModuleOp module);

/// Fails with an error at an instruction that the target cannot execute.
mlir::FailureOr<FunctionProgram> readProgram(mlir::func::FuncOp function, const isa::DeviceInfo &device);

/// The buffer that a `trn.alloc` or `trn.get_global` stands for.
FlatBuffer bufferOf(mlir::Value base);

} // namespace trn
