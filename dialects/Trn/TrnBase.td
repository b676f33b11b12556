//===- TrnBase.td - the trn dialect ----------------------------*- tablegen -*-===//
//
// Owns the definition of the dialect itself. Attributes: TrnAttrs.td. Instructions: ISA/.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_BASE_TD
#define TRN_BASE_TD

include "mlir/IR/OpBase.td"

def Trn_Dialect : Dialect {
  let name = "trn";
  let summary = "What one Trainium core can do: instructions on memrefs, memory spaces, buffers";
  let description = [{
    One operation per machine instruction, generated from the records in `dialects/Trn/ISA`. Operands are memrefs whose
    memory space is `#trn.hbm`, `#trn.sbuf` or `#trn.psum`; dimension 0 of an on-chip memref is the partition. From the
    stage `scheduled` on, the same operations name base buffers and carry access patterns (`#trn.ap`), an engine,
    modelled times and semaphores in declared attributes. A module carries the algorithmic work of the model it came
    from as `trn.model_macs` (multiply-accumulates, i64): no later stage can tell it from recomputation. Invariants and rejected alternatives: Rationale.md.
  }];
  let cppNamespace = "::trn::ir";
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    /// Adds operations of one translation unit: those of each engine live in their own.
    template <typename... Ops> void addOps() { addOperations<Ops...>(); }
  private:
    void registerAttributes();
  public:
  }];
}

#endif // TRN_BASE_TD
