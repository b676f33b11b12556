//===- Operands.h - what an instruction does with its operands ---------------===//
//
// Owns the answer to "does this command read this operand?" where it depends on more than the operand's role: a matmul
// reads its destination only when it accumulates. Checker and reports both ask here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"

namespace trn::rt {

/// What an operand does to memory.
struct OperandUse {
  const isa::AP *ap;
  bool reads, writes;
  const char *name;
};

/// Calls f(use, operand index) for each operand in memory, in record order.
template <typename F> void forEachUse(const isa::Instruction &inst, F f) {
  const auto *matmul = std::get_if<isa::NcMatmul>(&inst);
  unsigned index = 0;
  isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
    const bool reads = matmul && &ap == &matmul->dst ? matmul->accumulate : isa::reads(info.role);
    f(OperandUse{&ap, reads, isa::writes(info.role), info.name}, index++);
  });
}

} // namespace trn::rt
