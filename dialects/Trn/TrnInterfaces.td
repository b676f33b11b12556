//===- TrnInterfaces.td - what all instructions share ----------*- tablegen -*-===//
//
// Owns the interface through which passes handle any instruction without knowing it.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_INTERFACES_TD
#define TRN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::trn::ir";
  let description = [{
    An operation that is one machine instruction. Generated for every record of `dialects/Trn/ISA`. The attributes are
    declared ones of each operation: absent until the stage that decides them.
  }];
  let methods = [
    StaticInterfaceMethod<"The record's facts: mnemonic, engines, operands.", "const ::trn::isa::InstInfo &",
                          "getInstInfo">,
    InterfaceMethod<"The operand record of a memref operand, by its position among all operands of the operation; null "
                    "for operands that are no memory (predicates).",
                    "const ::trn::isa::OperandInfo *", "getOperandInfo", (ins "unsigned":$operandNumber)>,
    InterfaceMethod<[{
      The instruction as the machine sees it. `resolve` says where a base buffer lies. Operands with an `aps` entry take
      their pattern from it, the others from their memref type (offsets that are not static are an error). Emits an
      error and fails when an attribute or a type has no machine form.
    }], "::mlir::FailureOr<::trn::isa::Instruction>", "toInstruction", (ins "::trn::ir::OperandResolver":$resolve)>,
    InterfaceMethod<"One access pattern per memref operand, in operand order; null before the stage `scheduled`.",
                    "::mlir::ArrayAttr", "getApsAttr", (ins), [{ return $_op.getApsAttr(); }]>,
    InterfaceMethod<"", "void", "setApsAttr", (ins "::mlir::ArrayAttr":$aps), [{ $_op.setApsAttr(aps); }]>,
    InterfaceMethod<"The queue that issues the instruction.", "::std::optional<::trn::isa::Engine>", "getEngine", (ins),
                    [{ return $_op.getEngine(); }]>,
    InterfaceMethod<"", "void", "setEngine", (ins "::std::optional<::trn::isa::Engine>":$engine),
                    [{ $_op.setEngineAttr(engine ? ::trn::ir::EngineAttr::get($_op->getContext(), *engine)
                                                 : ::trn::ir::EngineAttr()); }]>,
    InterfaceMethod<"DMA: the ring of the issuing engine.", "::std::optional<uint32_t>", "getRing", (ins),
                    [{ return $_op.getRing(); }]>,
    InterfaceMethod<"", "void", "setRing", (ins "uint32_t":$ring),
                    [{ $_op.setRingAttr(::mlir::Builder($_op->getContext()).getI32IntegerAttr(ring)); }]>,
    InterfaceMethod<"Modelled start in ticks of 1/33.6 ns.", "::std::optional<int64_t>", "getIssue", (ins),
                    [{ return $_op.getIssue(); }]>,
    InterfaceMethod<"", "void", "setIssue", (ins "int64_t":$ticks),
                    [{ $_op.setIssueAttr(::mlir::Builder($_op->getContext()).getI64IntegerAttr(ticks)); }]>,
    InterfaceMethod<"Modelled completion in ticks.", "::std::optional<int64_t>", "getCompletion", (ins),
                    [{ return $_op.getCompletion(); }]>,
    InterfaceMethod<"", "void", "setCompletion", (ins "int64_t":$ticks),
                    [{ $_op.setCompletionAttr(::mlir::Builder($_op->getContext()).getI64IntegerAttr(ticks)); }]>,
    InterfaceMethod<"The semaphore condition, from the stage `synced` on.", "::trn::ir::WaitAttr", "getWaitAttr", (ins),
                    [{ return $_op.getWaitAttr(); }]>,
    InterfaceMethod<"", "void", "setWaitAttr", (ins "::trn::ir::WaitAttr":$wait), [{ $_op.setWaitAttr(wait); }]>,
    InterfaceMethod<"The semaphore update, from the stage `synced` on.", "::trn::ir::UpdateAttr", "getUpdateAttr", (ins),
                    [{ return $_op.getUpdateAttr(); }]>,
    InterfaceMethod<"", "void", "setUpdateAttr", (ins "::trn::ir::UpdateAttr":$update),
                    [{ $_op.setUpdateAttr(update); }]>,
  ];
  let extraSharedClassDeclaration = [{
    ::trn::isa::Opcode getOpcode() { return $_op.getInstInfo().opcode; }
    bool isDma() { return $_op.getInstInfo().isDma; }
  }];
}

#endif // TRN_INTERFACES_TD
