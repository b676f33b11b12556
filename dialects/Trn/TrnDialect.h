//===- TrnDialect.h - the trn dialect -------------------------------------===//
//
// Owns the dialect class, its attributes, the interface of instructions and the translation between MLIR's types and
// those of the ISA library. Operations are in one header per engine (PE.h, ACT.h, DVE.h, POOL.h, DMA.h, Control.h) and
// in TrnOps.h. Refuses whole-program rules: those are stage contracts (passes/Verify).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace trn::ir {

/// What a global buffer is for.
enum class GlobalKind : uint32_t { Input, Output, Weight };
const char *name(GlobalKind kind);
std::optional<GlobalKind> parseGlobalKind(std::string_view text);

/// Where a base buffer lies: completes an operand's pattern to an `isa::AP`.
struct ResolvedBuffer {
  uint32_t buffer = 0;         ///< isa::AP::buffer
  uint64_t address = 0;        ///< bytes, added to the pattern's offset
  uint16_t startPartition = 0; ///< added to the pattern's start partition
  /// The whole operand, from who knows where a view with dynamic offsets lies: then nothing else is asked for.
  std::optional<isa::AP> operand = std::nullopt;
};
using OperandResolver = llvm::function_ref<mlir::FailureOr<ResolvedBuffer>(mlir::Value)>;

/// A scalar operand as builders take it: a memref of one value per partition, an immediate, or nothing.
struct ScalarArg {
  ScalarArg() = default;
  ScalarArg(mlir::Value value) : value(value) {}
  ScalarArg(float immediate) : immediate(immediate) {}

  mlir::FloatAttr attr(mlir::Builder &builder) const {
    return immediate ? builder.getF32FloatAttr(*immediate) : mlir::FloatAttr();
  }

  mlir::Value value;
  std::optional<float> immediate;
};

} // namespace trn::ir

#include "dialects/Trn/TrnDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Trn/TrnAttrs.h.inc"

#include "dialects/Trn/TrnInterfaces.h.inc"

namespace trn::ir {

/// The module attribute that carries the model's multiply-accumulates.
constexpr llvm::StringLiteral kModelMacs = "trn.model_macs";

void registerTrnDialect(mlir::DialectRegistry &registry);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The space of a memref (its memory space) or tensor (its encoding); none when it has none of ours.
std::optional<isa::Space> spaceOf(mlir::Type type);
mlir::Attribute spaceAttr(mlir::MLIRContext *context, isa::Space space);
/// The machine's element type; none when the machine has no such type. i1 is stored as a byte.
std::optional<isa::DType> dtypeOf(mlir::Type elementType);
/// The same for the caller's side of inputs and outputs, where there are more types.
std::optional<isa::DType> hostDtypeOf(mlir::Type elementType);
/// The inverse; null for types that MLIR does not have (fp32r).
mlir::Type elementTypeOf(mlir::MLIRContext *context, isa::DType type);

/// The access pattern that visits all of a memref in order: dimension 0 is the partition (HBM: the row). Null, with a
/// reason, when the type has no such pattern: dynamic sizes, no space, more than four free dimensions that do not
/// merge, an offset that is dynamic unless `anyOffset`.
mlir::FailureOr<APAttr> accessPatternOf(mlir::MemRefType type, std::string &reason, bool anyOffset = false);

/// The same for an operand of a library kernel: one row of all its elements, which must be adjacent and row major.
mlir::FailureOr<APAttr> flatPatternOf(mlir::MemRefType type, std::string &reason);

/// The row of ScalarOps.td that computes a scalar operation of arith, math or trn; null when there is none.
const isa::ScalarOpInfo *scalarOpInfo(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Shared by the operations of all engines; called by generated code
//===----------------------------------------------------------------------===//

/// The state of an engine besides memory: semaphores, registers, loaded tables.
struct EngineStateResource : public mlir::SideEffects::Resource::Base<EngineStateResource> {
  mlir::StringRef getName() final { return "EngineState"; }
};

namespace detail {

/// Fills the fields of an instruction struct from an operation; an `isa::visitFields` visitor.
class InstReader {
public:
  /// `groups`: the value of each operand record, null when absent. `resolve` null: shapes only, any offset is fine.
  InstReader(mlir::Operation *op, mlir::ArrayRef<mlir::Value> groups, OperandResolver *resolve);

  void operand(const isa::OperandInfo &info, isa::AP &ap);
  void operand(const isa::OperandInfo &info, isa::Scalar &scalar);
  template <class T> void operand(const isa::OperandInfo &info, std::optional<T> &field) {
    if (!isPresent(info)) {
      ++index;
      return;
    }
    operand(info, field.emplace());
  }
  void attribute(const isa::AttrInfo &info, bool &value);
  void attribute(const isa::AttrInfo &info, int32_t &value);
  void attribute(const isa::AttrInfo &info, float &value);
  void attribute(const isa::AttrInfo &info, isa::Pattern &value);
  void attribute(const isa::AttrInfo &info, isa::AluOp &value);
  void attribute(const isa::AttrInfo &info, isa::ActivationFunc &value);
  template <size_t N> void attribute(const isa::AttrInfo &info, std::array<int32_t, N> &values) {
    readInts(info, values);
  }
  void attribute(const isa::AttrInfo &info, std::vector<int32_t> &values);
  mlir::LogicalResult result() const { return mlir::success(ok); }

private:
  mlir::InFlightDiagnostic error();
  bool isPresent(const isa::OperandInfo &info);
  mlir::Attribute get(const std::string &name);
  void checkWellFormed(const isa::OperandInfo &info, const isa::AP &ap);
  void readAP(const isa::OperandInfo &info, mlir::Value value, isa::AP &ap);
  void readInts(const isa::AttrInfo &info, mlir::MutableArrayRef<int32_t> values);

  mlir::Operation *op;
  mlir::ArrayRef<mlir::Value> groups;
  OperandResolver *resolve;
  mlir::ArrayAttr aps;
  unsigned index = 0;       // operand record
  unsigned memrefIndex = 0; // entry of `aps`
  bool ok = true;
};

/// The value of each operand record, null when absent.
template <class Op> llvm::SmallVector<mlir::Value, 6> operandGroups(Op op) {
  llvm::SmallVector<mlir::Value, 6> groups;
  for (unsigned i = 0, e = Op::getInstInfo().operands.size(); i < e; ++i) {
    auto range = op.getODSOperands(i);
    groups.push_back(range.empty() ? mlir::Value() : *range.begin());
  }
  return groups;
}

template <class X, class Op> mlir::FailureOr<isa::Instruction> readInstruction(Op op, OperandResolver *resolve) {
  llvm::SmallVector<mlir::Value, 6> groups = operandGroups(op);
  X x;
  InstReader reader(op, groups, resolve);
  isa::visitFields(x, reader);
  if (failed(reader.result()))
    return mlir::failure();
  return isa::Instruction(x);
}

template <class Op> const isa::OperandInfo *operandInfo(Op op, unsigned operandNumber) {
  for (unsigned i = 0, e = Op::getInstInfo().operands.size(); i < e; ++i) {
    auto [start, length] = op.getODSOperandIndexAndLength(i);
    if (operandNumber >= start && operandNumber < start + length)
      return &Op::getInstInfo().operands[i];
  }
  return nullptr;
}

/// Rules of the ISA on shapes, and the declared attributes of later stages.
mlir::LogicalResult verifyInstruction(InstructionOpInterface op, const isa::Instruction &inst);
/// Memory effects by the roles of operands.
void instructionEffects(InstructionOpInterface op, bool readsDestination,
                        llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);

} // namespace detail
} // namespace trn::ir
