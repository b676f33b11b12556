//===- TrnxOps.td - the container as IR ------------------------*- tablegen -*-===//
//
// Owns the dialect that mirrors an executable one to one: what the bytes say, in text. It has no SSA data flow and no
// optimisation; backends/Trnx translates between it and exe::Executable.
//
//===--------------------------------------------------------------------------===//
#ifndef TRNX_OPS_TD
#define TRNX_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Trnx_Dialect : Dialect {
  let name = "trnx";
  let cppNamespace = "::trn::trnx";
  let summary = "An executable, 1:1 with its bytes";
  let description = [{
    `trnx.executable` holds buffers, debug entries, weights and one `trnx.program` per queue, whose `trnx.inst` carry the
    encoded instruction and its synchronisation. All addresses and semaphores are physical. Why it exists: Rationale.md.
  }];
}

class Trnx_Op<string mnemonic, list<Trait> traits = []> : Op<Trnx_Dialect, mnemonic, traits>;

def Trnx_ExecutableOp : Trnx_Op<"executable", [IsolatedFromAbove, SingleBlock, NoRegionArguments, NoTerminator]> {
  let summary = "a compiled program";
  let description = [{
    ```mlir
    trnx.executable "trn2" build {instructions = "5"} { … }
    ```
  }];
  let arguments = (ins StrAttr:$device, DictionaryAttr:$facts, OptionalAttr<StrAttr>:$ir);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$device `build` $facts (`ir` $ir^)? attr-dict-with-keyword $body";
}

def Trnx_BufferOp : Trnx_Op<"buffer", [HasParent<"ExecutableOp">]> {
  let summary = "a buffer in device memory; instructions name it by its position";
  let description = [{
    ```mlir
    trnx.buffer input "x" bf16 [1, 3, 224, 224] bytes 301056 host fp32
    ```
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$name, StrAttr:$dtype, DenseI64ArrayAttr:$shape, I64Attr:$bytes,
                       StrAttr:$host_dtype, I64Attr:$weight_offset, OptionalAttr<I32Attr>:$count_buffer,
                       OptionalAttr<I32Attr>:$count_dim);
  let assemblyFormat = [{
    $kind $name $dtype $shape `bytes` $bytes `host` $host_dtype `weights_at` $weight_offset attr-dict
  }];
  let hasVerifier = 1;
}

def Trnx_DebugOp : Trnx_Op<"debug", [HasParent<"ExecutableOp">]> {
  let summary = "where instructions come from; they name it by its position";
  let arguments = (ins StrAttr:$node, StrAttr:$op_type, StrAttr:$note);
  let assemblyFormat = "$node $op_type $note attr-dict";
}

def Trnx_WeightsOp : Trnx_Op<"weights", [HasParent<"ExecutableOp">]> {
  let summary = "the bytes of all weights";
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "$value attr-dict";
  let hasVerifier = 1;
}

def Trnx_FlowOp : Trnx_Op<"flow", [HasParent<"ExecutableOp">]> {
  let summary = "which command's data each operand reads";
  let description = [{
    Groups of four numbers: reader, its operand, writer, its operand; commands are numbered through all programs.
    ```mlir
    trnx.flow [2, 1, 0, 0, 3, 1, 2, 0]
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$edges);
  let assemblyFormat = "$edges attr-dict";
  let hasVerifier = 1;
}

def Trnx_ProgramOp : Trnx_Op<"program", [HasParent<"ExecutableOp">, SingleBlock, NoRegionArguments, NoTerminator]> {
  let summary = "the queue of one engine, in issue order";
  let arguments = (ins StrAttr:$engine);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$engine attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Trnx_InstOp : Trnx_Op<"inst", [HasParent<"ProgramOp">]> {
  let summary = "one encoded instruction with its synchronisation";
  let description = [{
    `encoding` is the instruction's bytes in hexadecimal, `text` its disassembly: the verifier decodes the one and
    compares it with the other, so that the text never lies. `wait` and `update` are [semaphore, value].
    ```mlir
    trnx.inst "1000…" "nc_matmul dst=…" ring 0 debug 3 wait [4, 16] update [0, 1]
    ```
  }];
  let arguments = (ins StrAttr:$encoding, StrAttr:$text, I32Attr:$ring, I32Attr:$debug,
                       OptionalAttr<DenseI64ArrayAttr>:$wait, OptionalAttr<DenseI64ArrayAttr>:$update);
  let assemblyFormat = [{
    $encoding $text `ring` $ring `debug` $debug (`wait` $wait^)? (`update` $update^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // TRNX_OPS_TD
