//===- Integers.h - ALU operators on raw integers --------------------------------===//
//
// Owns the bitwise operators and the native 32-bit arithmetic of POOL. Values are zero-extended to 32 bits.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <cmath>
#include <cstdint>

namespace trn::rt {

/// How an integer element is interpreted.
struct IntegerType {
  unsigned bits;
  bool isSigned;
};
inline IntegerType integerType(isa::DType type) {
  bool isSigned = type == isa::DType::I8 || type == isa::DType::I16 || type == isa::DType::I32;
  return {8 * isa::byteSize(type), isSigned};
}

inline bool isBitwiseOp(isa::AluOp op) { return isa::info(op).kind == isa::AluKind::Bitwise; }

inline int64_t signedValue(uint32_t value, IntegerType type) {
  if (!type.isSigned)
    return value;
  unsigned unused = 32 - type.bits;
  return int32_t(value << unused) >> unused;
}

/// An fp32 scalar operand as an integer of `type`: rounded to even, saturated; NaN gives 0.
inline uint32_t toInteger(float value, IntegerType type) {
  double low = type.isSigned ? -std::ldexp(1.0, type.bits - 1) : 0.0;
  double high = std::ldexp(1.0, type.isSigned ? type.bits - 1 : type.bits) - 1;
  double rounded = std::isnan(value) ? 0.0 : std::nearbyint(double(value));
  return uint32_t(int64_t(std::fmin(std::fmax(rounded, low), high)));
}

/// a op b; results wrap around at 32 bits and are cut to the element when stored.
inline uint32_t integerOp(isa::AluOp op, uint32_t a, uint32_t b, IntegerType type) {
  using isa::AluOp;
  int64_t sa = signedValue(a, type), sb = signedValue(b, type);
  uint32_t mask = type.bits == 32 ? ~0u : (1u << type.bits) - 1;
  switch (op) {
  case AluOp::Add:
    return a + b;
  case AluOp::Subtract:
    return a - b;
  case AluOp::Multiply:
    return a * b;
  case AluOp::Max:
    return sa > sb ? a : b;
  case AluOp::Min:
    return sa < sb ? a : b;
  case AluOp::Bypass:
    return a;
  case AluOp::IsEq:
    return sa == sb;
  case AluOp::IsNe:
    return sa != sb;
  case AluOp::IsGt:
    return sa > sb;
  case AluOp::IsGe:
    return sa >= sb;
  case AluOp::IsLt:
    return sa < sb;
  case AluOp::IsLe:
    return sa <= sb;
  case AluOp::LogicalAnd:
    return a && b;
  case AluOp::LogicalOr:
    return a || b;
  case AluOp::LogicalXor:
    return !a != !b;
  case AluOp::BitwiseAnd:
    return a & b;
  case AluOp::BitwiseOr:
    return a | b;
  case AluOp::BitwiseXor:
    return a ^ b;
  // A shift by the width or more, or by a negative amount, shifts everything out.
  case AluOp::ShiftLeft:
    return b >= type.bits ? 0 : a << b;
  case AluOp::ShiftRight:
    return b >= type.bits ? 0 : (a & mask) >> b;
  case AluOp::ShiftRightArith: {
    unsigned unused = 32 - type.bits;
    int32_t value = int32_t(a << unused) >> unused;
    return uint32_t(value >> (b >= type.bits ? 31 : b));
  }
  case AluOp::Divide:
  case AluOp::Power:
  case AluOp::Mod:
  case AluOp::AbsMax:
  case AluOp::Average:
    break;
  }
  return 0; // Not reached: hasIntegerForm.
}

/// True for the operators that integerOp computes; POOL computes the others in fp32 even on int32.
inline bool hasIntegerForm(isa::AluOp op) {
  using isa::AluOp;
  return op != AluOp::Divide && op != AluOp::Power && op != AluOp::Mod && op != AluOp::AbsMax && op != AluOp::Average;
}

} // namespace trn::rt
