//===- ISA.h - the instruction set ----------------------------------------===//
//
// Owns the instruction structs (generated from the records in this folder) and what can be done with any instruction:
// visit its operands, encode, decode, print, validate, cost. Compiler and emulator share exactly this code. Knows
// neither MLIR nor LLVM nor abseil. Refuses to execute: that is runtime/emulator.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/AccessPattern.h"
#include "dialects/Trn/ISA/Accuracy.h"
#include "dialects/Trn/ISA/Device.h"
#include <array>
#include <cstddef>
#include <type_traits>
#include <variant>
#include <vector>

namespace trn::isa {

/// What an instruction does with an operand.
enum class Role : uint8_t { In, Out, InOut };
inline bool reads(Role role) { return role != Role::Out; }
inline bool writes(Role role) { return role != Role::In; }

/// The record of one operand.
struct OperandInfo {
  const char *name;
  Role role;
  uint8_t spaces;  ///< bits maskOf(Space)
  uint64_t dtypes; ///< bits maskOf(DType)
  uint8_t maxRank;
  bool optional;
  bool scalar;     ///< a Scalar: immediate or one value per partition
  bool hasDefault; ///< a Scalar that may be left out of the dialect's operation; the struct's initial value holds
};

/// The record of one attribute; the range is that of integers, 0 and 0 when there is none.
struct AttrInfo {
  const char *name;
  int32_t low, high;
};

//===----------------------------------------------------------------------===//
// Generated: enumerations, Opcode, one struct per instruction, visitFields, Instruction
//===----------------------------------------------------------------------===//

#include "dialects/Trn/ISA/Instructions.h.inc"

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// A view of a constant table.
template <class T> struct TableRef {
  const T *data;
  size_t count;

  const T *begin() const { return data; }
  const T *end() const { return data + count; }
  size_t size() const { return count; }
  const T &operator[](size_t i) const { return data[i]; }
};

/// The record of one instruction.
struct InstInfo {
  Opcode opcode;
  const char *mnemonic;
  const char *summary;
  uint8_t engines; ///< bits maskOf(Engine)
  uint8_t since;   ///< first core version
  bool isDma;
  bool isLibrary; ///< a program of the GpSimd cores
  TableRef<OperandInfo> operands;
  TableRef<AttrInfo> attributes;
};

const InstInfo &info(Opcode opcode);
TableRef<InstInfo> allInstructions();
std::optional<Opcode> parseOpcode(std::string_view mnemonic);
inline Opcode opcode(const Instruction &inst) {
  return std::visit([](const auto &x) { return std::decay_t<decltype(x)>::kOpcode; }, inst);
}
/// A default instruction of that number; false when there is none.
bool makeInstruction(uint16_t code, Instruction &inst);

enum class AluKind : uint8_t { Arith, Compare, Logical, Bitwise };
struct AluOpInfo {
  AluOp op;
  AluKind kind;
  uint8_t engines; ///< bits maskOf(Engine), for elementwise instructions; ACT from core version 3 on
  bool reducible;  ///< legal in tensor_reduce
  const char *doc;
};
const AluOpInfo &info(AluOp op);

struct ActivationInfo {
  ActivationFunc func;
  int32_t tableSet; ///< 0: always loaded
  float low, high;  ///< inputs outside of it give invalid results (SH32); reciprocal: of the magnitude
  const char *doc;
};
const ActivationInfo &info(ActivationFunc func);

/// How a scalar operation of the compiler's IR is computed: one row of ScalarOps.td.
struct ScalarOpInfo {
  const char *key; ///< "arith.addf", "arith.cmpf.olt", "trn.scalar.sigmoid"
  uint8_t arity;
  std::optional<AluOp> alu;
  std::optional<float> aluImmediate; ///< arity 1: the other operand of `alu`
  bool aluReverse;                   ///< arity 1: `aluImmediate alu x` instead of `x alu aluImmediate`
  std::optional<ActivationFunc> activation;
  Accuracy accuracy;
};
/// The row of that key, or null when no instruction computes it elementwise.
const ScalarOpInfo *scalarOp(std::string_view key);
TableRef<ScalarOpInfo> allScalarOps();

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace detail {
template <class F> struct OperandVisitor {
  F &f;

  template <class A> void operand(const OperandInfo &info, A &field) {
    using T = std::remove_const_t<A>;
    if constexpr (std::is_same_v<T, AP>) {
      f(field, info);
    } else if constexpr (std::is_same_v<T, Scalar>) {
      if (field.isPointer)
        f(field.pointer, info);
    } else if (field) {
      operand(info, *field);
    }
  }
  template <class A> void attribute(const AttrInfo &, A &) {}
};
} // namespace detail

/// Calls f(ap, info) for every access pattern of an instruction or of one instruction struct, in record order, present
/// optional operands and per-partition scalars included. `ap` is mutable when `inst` is.
template <class X, class F> void forEachOperand(X &inst, F &&f) {
  if constexpr (std::is_same_v<std::remove_const_t<X>, Instruction>)
    std::visit([&](auto &x) { forEachOperand(x, f); }, inst);
  else
    visitFields(inst, detail::OperandVisitor<F>{f});
}

/// True when both have the same fields; immediates are compared bit by bit.
bool equal(const Instruction &a, const Instruction &b);

//===----------------------------------------------------------------------===//
// Bytes and text
//===----------------------------------------------------------------------===//

/// Appends the encoding of an instruction whose patterns are well formed: docs/generated/isa.md, "Encoding".
void encode(const Instruction &inst, std::vector<uint8_t> &bytes);
/// Reads one instruction and moves `next` behind it. On any bytes whatsoever it either succeeds, with well-formed
/// patterns, known codes and attributes in range, or returns false with a reason and leaves `next` alone.
bool decode(const uint8_t *&next, const uint8_t *end, Instruction &inst, std::string &error);
/// "tensor_scalar dst=sbuf[0:128]@0 fp32 [1,512] src=... op0=multiply operand0=0.5".
std::string disassemble(const Instruction &inst);

//===----------------------------------------------------------------------===//
// Rules and costs
//===----------------------------------------------------------------------===//

/// Shape: what types alone decide. Address: that and what addresses decide. Engine: only what the engine decides.
enum class Phase : uint8_t { Shape, Address, Engine };

/// A broken rule. Numbers 1 to 19 are general (Rules.cpp), from 20 on the record's.
struct Violation {
  int number;
  std::string message; ///< "expected ..., but got ..."
  const char *source;  ///< where the limit comes from
};

/// Appends every rule of the phase that the instruction breaks on the device. Patterns must be well formed.
void validate(const Instruction &inst, const DeviceInfo &device, Phase phase, std::vector<Violation> &violations);
/// Appends what forbids the instruction on that engine: rules 16 to 19 and the record's Engine rules.
void validateEngine(const Instruction &inst, Engine engine, const DeviceInfo &device,
                    std::vector<Violation> &violations);
/// True when validateEngine finds nothing.
bool runsOn(const Instruction &inst, Engine engine, const DeviceInfo &device);

/// One record rule, for documentation and for the test that every rule has a test.
struct RuleInfo {
  Opcode opcode;
  int number;
  Phase phase;
  const char *source;
};
TableRef<RuleInfo> allRules();

/// In cycles of the engine. occupancy: until the next instruction of the queue can start; latency: from the start until
/// the results are visible. A DMA's is that of its trigger; the transfer is modelled by runtime/timing.
struct Cost {
  int64_t occupancy = 0;
  int64_t latency = 0;
};
/// Zero on an engine that cannot run the instruction.
Cost cost(const Instruction &inst, const DeviceInfo &device, Engine engine);

//===----------------------------------------------------------------------===//
// Commands: an instruction in its queue
//===----------------------------------------------------------------------===//

/// The instruction starts when the semaphore is at least `value`.
struct Wait {
  uint16_t semaphore = 0;
  uint32_t value = 0;
};
/// Added to the semaphore at completion. DMA: each of the 16 DMA engines adds 1, so `add` is 16.
struct Update {
  uint16_t semaphore = 0;
  int32_t add = 0;
};

struct Command {
  Instruction inst;
  Engine engine = Engine::SP;
  uint8_t ring = 0; ///< DMA only
  bool hasWait = false;
  bool hasUpdate = false;
  Wait wait;
  Update update;
  uint32_t debug = 0; ///< index into the executable's debug map
};

} // namespace trn::isa
