//===- Registers.h - how a queue goes through its program -----------------===//
//
// Owns the meaning of registers, branches and loops: the registers of one queue, and which command follows another. What
// a `register_load` reads is told by whoever walks: the emulator reads memory, timing and the checker assume
// (runtime/timing/Unroll.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace trn::exe {

class Registers {
public:
  void clear() { values.fill(0); }

  /// The position of the command that follows `instruction`, which is at `position` of a program of `size` commands;
  /// `size` or more when the program ends. `loaded` is what memory gives to a `register_load`. Register numbers and
  /// targets are in range by their records.
  size_t next(const isa::Instruction &instruction, size_t position, size_t size, int32_t loaded = 0) {
    auto jump = [&](int32_t target) { return target < 0 ? size : static_cast<size_t>(target); };
    if (const auto *move = std::get_if<isa::RegisterMove>(&instruction)) {
      at(move->reg) = move->value;
    } else if (const auto *load = std::get_if<isa::RegisterLoad>(&instruction)) {
      at(load->reg) = loaded;
    } else if (const auto *sum = std::get_if<isa::RegisterAdd>(&instruction)) {
      at(sum->reg) = add(at(sum->sourceReg), sum->value);
    } else if (const auto *branch = std::get_if<isa::Branch>(&instruction)) {
      if (compares(branch->compare, at(branch->reg), branch->value))
        return jump(branch->target);
    } else if (const auto *loop = std::get_if<isa::Loop>(&instruction)) {
      at(loop->reg) = add(at(loop->reg), -1);
      if (at(loop->reg) > 0)
        return jump(loop->target);
    }
    return position + 1;
  }

private:
  int32_t &at(int32_t number) { return values[static_cast<size_t>(number) % values.size()]; }
  static int32_t add(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }

  static bool compares(isa::AluOp op, int32_t a, int32_t b) {
    switch (op) {
    case isa::AluOp::IsEq:
      return a == b;
    case isa::AluOp::IsNe:
      return a != b;
    case isa::AluOp::IsGt:
      return a > b;
    case isa::AluOp::IsGe:
      return a >= b;
    case isa::AluOp::IsLt:
      return a < b;
    case isa::AluOp::IsLe:
      return a <= b;
    default:
      return true; // Bypass: always taken.
    }
  }

  std::array<int32_t, isa::DeviceInfo::registers> values{};
};

} // namespace trn::exe
