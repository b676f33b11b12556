//===- TrnOps.td - operations that are no instruction ----------*- tablegen -*-===//
//
// Owns buffers, globals and pure scalar functions. Instructions: ISA/*.td.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_OPS_TD
#define TRN_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "dialects/Trn/TrnAttrs.td"

class Trn_Op<string mnemonic, list<Trait> traits = []> : Op<Trn_Dialect, mnemonic, traits>;

def AllocOp : Trn_Op<"alloc"> {
  let summary = "one buffer in SBUF, PSUM or HBM scratch";
  let description = [{
    The base of all accesses to one buffer. `address` is decided by the stage `allocated`: bytes inside each partition
    (SBUF, PSUM) or bytes inside the scratch buffer of device memory. On chip, dimension 0 is the partition and the type
    has its default layout.

    ```mlir
    %0 = trn.alloc : memref<128x4x56xbf16, #trn.sbuf>
    %1 = trn.alloc {address = 2048 : i64} : memref<128x512xf32, #trn.psum>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$address);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = "attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

def GlobalOp : Trn_Op<"global", [Symbol, HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an input, an output or a weight in device memory";
  let description = [{
    `io_name` is the ONNX name of an input or output, and `host_type` its element type in the model where the device has
    a narrower one (i32 for i64, i8 for i1): the caller's tensors keep it. A weight has a `value` (a resource that is never copied) and
    optionally `transforms`, which are applied lazily when bytes are written; the type is that after the transforms.

    ```mlir
    trn.global @x kind(input) io_name "x" : memref<1x3x224x224xf32, #trn.hbm>
    trn.global @ids kind(input) io_name "ids" host_type(i64) : memref<1x128xi32, #trn.hbm>
    trn.global @w kind(weight) value(dense<1.0> : tensor<128x8xf32>) : memref<128x8xf32, #trn.hbm>
    trn.global @y kind(output) io_name "y" {count = @n, count_dim = 1 : i64} : memref<2x12xi32, #trn.hbm>
    ```

    Of an output with a `count`, the run decides how many elements of dimension `count_dim` are valid: as many as the one
    32-bit integer in the output of that name says.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Trn_GlobalKindAttr:$kind, OptionalAttr<StrAttr>:$io_name,
                       OptionalAttr<TypeAttr>:$host_type, OptionalAttr<ElementsAttr>:$value, OptionalAttr<ArrayAttr>:$transforms,
                       OptionalAttr<FlatSymbolRefAttr>:$count, OptionalAttr<I64Attr>:$count_dim, TypeAttrOf<AnyMemRef>:$type);
  let assemblyFormat = [{
    $sym_name `kind` `(` custom<KindName>($kind) `)` (`io_name` $io_name^)? (`host_type` `(` $host_type^ `)`)?
    (`value` `(` $value^ `)`)? (`transforms` `(` $transforms^ `)`)? attr-dict `:` $type
  }];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getMemRefType() { return ::llvm::cast<::mlir::MemRefType>(getType()); }
  }];
  let hasVerifier = 1;
}

def GetGlobalOp : Trn_Op<"get_global", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the memref of a global";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = "$name attr-dict `:` type($memref)";
}

def BitcastOp : Trn_Op<"bitcast", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a buffer seen as elements of another type of the same size";
  let description = [{
    The machine's access patterns carry an element type of their own. Gone at stage `scheduled`, where the pattern of the
    operand says it (`as`).

    ```mlir
    %1 = trn.bitcast %0 : memref<128x64xf32, #trn.sbuf> to memref<128x64xi32, #trn.sbuf>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def KernelOp : Trn_Op<"kernel", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                 DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a call of a library kernel";
  let description = [{
    A program of the GpSimd cores (`ISA/Library.td`) on whole tensors: the form of the call from stage `tensor` to stage
    `buffered`; selection makes the instruction of it. Operands lie in device memory, row major. `parameters` are the
    attributes of the kernel's record; its operands are the outputs, then the inputs.

    ```mlir
    %1 = trn.kernel "library_loops" ins(%a, %b : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>)
        parameters {bounds = array<i32: 4>, …} -> tensor<4xf64>
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inputs,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outputs, DictionaryAttr:$parameters);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    `parameters` $parameters attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// The kernel's record; null when there is none of that name.
    const ::trn::isa::InstInfo *getKernelInfo();
    /// The instruction that the call is, on buffers in its operand order (inputs, then outputs).
    ::mlir::Operation *createInstruction(::mlir::OpBuilder &builder, ::mlir::ValueRange buffers);
  }];
}

def Trn_ScalarOp : Trn_Op<"scalar", [Pure, SameOperandsAndResultType]> {
  let summary = "a scalar function that arith and math do not have";
  let description = [{
    One of the activation functions whose row in ScalarOps.td is `trn.scalar.<name>`; functions that math has are refused,
    so that each function has one form. Lives in bodies of linalg operations.

    ```mlir
    %1 = trn.scalar sigmoid %0 : f32
    ```
  }];
  let arguments = (ins Trn_ActAttr:$func, AnyFloat:$operand);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "custom<ActivationName>($func) $operand attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TRN_OPS_TD
