//===- TrnAttrs.td - attributes of the trn dialect -------------*- tablegen -*-===//
//
// Owns the memory spaces, the access pattern, the semaphore conditions and the enumerations as MLIR attributes. The C++
// enumerations themselves are those of the MLIR-free ISA library, so nothing is translated between the two worlds.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ATTRS_TD
#define TRN_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialects/Trn/TrnBase.td"
include "dialects/Trn/ISA/ScalarOps.td"

class Trn_Attr<string name, string mnemonic_> : AttrDef<Trn_Dialect, name> { let mnemonic = mnemonic_; }

//===--------------------------------------------------------------------------===//
// Memory spaces: memory space of a memref, encoding of a tensor
//===--------------------------------------------------------------------------===//

def Trn_HBMAttr : Trn_Attr<"HBM", "hbm"> { let summary = "device memory"; }
def Trn_SBUFAttr : Trn_Attr<"SBUF", "sbuf"> { let summary = "the state buffer: 128 partitions, dimension 0 is the partition"; }
def Trn_PSUMAttr : Trn_Attr<"PSUM", "psum"> { let summary = "the partial sum buffer: 128 partitions of 8 banks"; }

//===--------------------------------------------------------------------------===//
// Enumerations
//===--------------------------------------------------------------------------===//

/// An enumeration of the ISA library as an attribute of this dialect: #trn.alu<add>.
class Trn_IsaEnumAttr<EnumInfo enum, string mnemonic> : EnumAttr<Trn_Dialect, enum, mnemonic> {
  let cppNamespace = "::trn::ir";
  let assemblyFormat = "`<` $value `>`";
}
def Trn_AluAttr : Trn_IsaEnumAttr<Trn_AluOp, "alu">;
def Trn_ActAttr : Trn_IsaEnumAttr<Trn_ActivationFunc, "act">;

def Trn_Engine : I32EnumAttr<"Engine", "instruction queue",
    [I32EnumAttrCase<"PE", 0>, I32EnumAttrCase<"ACT", 1>, I32EnumAttrCase<"DVE", 2>, I32EnumAttrCase<"POOL", 3>,
     I32EnumAttrCase<"SP", 4>]> {
  let cppNamespace = "::trn::isa";
  let genSpecializedAttr = 0;
  let stringToSymbolFnName = "parseEngine";
  let symbolToStringFnName = "::trn::isa::name";
}
def Trn_EngineAttr : Trn_IsaEnumAttr<Trn_Engine, "engine">;

def Trn_GlobalKind : I32EnumAttr<"GlobalKind", "what a global buffer is for",
    [I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
     I32EnumAttrCase<"Weight", 2, "weight">]> {
  let cppNamespace = "::trn::ir";
  let genSpecializedAttr = 0;
  let stringToSymbolFnName = "parseGlobalKind";
  let symbolToStringFnName = "::trn::ir::name";
}
def Trn_GlobalKindAttr : EnumAttr<Trn_Dialect, Trn_GlobalKind, "kind">;

//===--------------------------------------------------------------------------===//
// Operands and synchronisation of scheduled instructions
//===--------------------------------------------------------------------------===//

def Trn_APAttr : Trn_Attr<"AP", "ap"> {
  let summary = "access pattern of one operand inside its base buffer";
  let description = [{
    `#trn.ap<start = 0, count = 128, offset = 512, dims = [[512, 4], [1, 512]]>`: `count` partitions from `start` on
    (HBM: `count` rows, `start` = 0, `row_step` elements apart); the free pattern begins `offset` elements into each
    partition (HBM: into the buffer) and visits up to four dimensions of `[step, count]`, slowest first. All numbers are
    elements of the base buffer's element type, which with the base buffer's space completes an `isa::AP`; with `as = i32`
    the operand is read or written as elements of another type of the same size (`trn.bitcast`).
  }];
  let parameters = (ins "uint32_t":$start, "uint32_t":$count, "int64_t":$offset,
                        ArrayRefParameter<"int64_t", "step and count, alternating">:$dims, "int64_t":$rowStep,
                        OptionalParameter<"::mlir::Type", "element type when it is not the base buffer's">:$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getDims().size() / 2; }
    int64_t getStep(unsigned dim) const { return getDims()[2 * dim]; }
    int64_t getDimCount(unsigned dim) const { return getDims()[2 * dim + 1]; }
    /// Elements per partition.
    int64_t getElements() const;
  }];
}

def Trn_WaitAttr : Trn_Attr<"Wait", "wait"> {
  let summary = "the instruction starts only when semaphore >= value";
  let parameters = (ins "uint32_t":$semaphore, "uint32_t":$value);
  let assemblyFormat = "`<` $semaphore `,` $value `>`";
}

def Trn_UpdateAttr : Trn_Attr<"Update", "update"> {
  let summary = "added to the semaphore when the instruction completes (DMA: 1 by each of the 16 DMA engines)";
  let parameters = (ins "uint32_t":$semaphore, "int32_t":$add);
  let assemblyFormat = "`<` $semaphore `,` $add `>`";
}

#endif // TRN_ATTRS_TD
