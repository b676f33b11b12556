//===- GenDialect.cpp - the trn dialect's instruction operations ----------===//
//
// Owns the generator of what mlir-tblgen does not generate of an instruction operation: interface methods, verifier,
// memory effects (-gen-trn-op-impls). All of them are one call into dialects/Trn/Instruction.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace trn::tblgen;

static void emitOp(raw_ostream &os, const InstRecord &inst) {
  std::string op = inst.opClass, x = "::trn::isa::" + inst.structName;
  os << "const ::trn::isa::InstInfo &" << op << "::getInstInfo() { return ::trn::isa::info(" << x << "::kOpcode); }\n"
     << "const ::trn::isa::OperandInfo *" << op << "::getOperandInfo(unsigned operandNumber) {\n"
     << "  return detail::operandInfo(*this, operandNumber);\n}\n"
     << "::mlir::FailureOr<::trn::isa::Instruction> " << op << "::toInstruction(OperandResolver resolve) {\n"
     << "  return detail::readInstruction<" << x << ">(*this, &resolve);\n}\n"
     << "::mlir::LogicalResult " << op << "::verify() {\n"
     << "  ::mlir::FailureOr<::trn::isa::Instruction> inst = detail::readInstruction<" << x << ">(*this, nullptr);\n"
     << "  return failed(inst) ? ::mlir::failure() : detail::verifyInstruction(*this, *inst);\n}\n"
     << "void " << op << "::getEffects(::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<"
     << "::mlir::MemoryEffects::Effect>> &effects) {\n"
     << "  [[maybe_unused]] auto op = *this;\n"
     << "  detail::instructionEffects(*this, "
     << (inst.readsDestination.empty() ? "true" : "static_cast<bool>(" + inst.readsDestination.str() + ")")
     << ", effects);\n}\n\n";
}

static bool emitOpImpls(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Instruction operations, generated from the records in dialects/Trn/ISA", os, records);
  os << "namespace trn::ir {\n\n";
  for (const InstRecord &inst : instructions(records))
    emitOp(os, inst);
  os << "} // namespace trn::ir\n";
  return false;
}

static mlir::GenRegistration impls("gen-trn-op-impls", "Interface methods of instruction operations", emitOpImpls);
