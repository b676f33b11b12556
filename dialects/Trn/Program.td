//===- Program.td - programs of several parts ------------------*- tablegen -*-===//
//
// Owns the order of the parts of a program whose way only the run knows. A part is a module of its own that goes through
// all stages by itself; parts and what decides the way meet in device memory only, in buffers with names: a name is an
// input or output of the parts that use it, and what is neither an input nor an output of the program is scratch.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_PROGRAM_TD
#define TRN_PROGRAM_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "dialects/Trn/TrnAttrs.td"

class Trn_ProgramOp<string mnemonic, list<Trait> traits = []>
    : Op<Trn_Dialect, mnemonic, !listconcat([SingleBlock, NoTerminator], traits)>;

def ProgramOp : Trn_ProgramOp<"program", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "the parts of a program and their order";
  let description = [{
    Stands beside the parts from stage `graph` on; the linker lays its parts one behind the other (backends/Trnx/Link.h).

    ```mlir
    module @part0 { … }
    module @part1 { … }
    trn.program inputs(["x", "n"]) outputs(["y"]) {
      trn.run @part0
      trn.repeat count("loop0.count") limit(2147483647) carried(["loop0.0"]) {
        trn.run @part1
      }
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$inputs, StrArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`inputs` `(` $inputs `)` `outputs` `(` $outputs `)` attr-dict-with-keyword $body";
}

/// Stands in the order that a program says.
def InProgram : ParentOneOf<["ProgramOp", "RepeatOp", "EitherOp"]>;

def RunOp : Op<Trn_Dialect, "run", [InProgram, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one part, from its first to its last instruction";
  let arguments = (ins FlatSymbolRefAttr:$part);
  let assemblyFormat = "$part attr-dict";
}

def RepeatOp : Trn_ProgramOp<"repeat", [InProgram]> {
  let summary = "rounds of parts as often as memory says";
  let description = [{
    `limit` rounds, or as many as the integer in `count` says, which has no smaller `limit` beside it; none any more once
    the flag in `condition` is 0. Behind each round the buffer `name.next` becomes `name`, for each of `carried`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$count, I64Attr:$limit, OptionalAttr<StrAttr>:$condition,
                       StrArrayAttr:$carried);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`count` `(` $count^ `)`)? `limit` `(` $limit `)` (`condition` `(` $condition^ `)`)? `carried` `(` $carried `)`
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def EitherOp : Trn_ProgramOp<"either", [InProgram]> {
  let summary = "one of two lists of parts, as memory says";
  let description = [{
    The parts of the first body when the flag in `condition` is set, otherwise those of the second.

    ```mlir
    trn.either condition("branch0.condition") {
      trn.run @part1
    } else {
      trn.run @part2
    }
    ```
  }];
  let arguments = (ins StrAttr:$condition);
  let regions = (region SizedRegion<1>:$then_body, SizedRegion<1>:$else_body);
  let assemblyFormat = "`condition` `(` $condition `)` attr-dict-with-keyword $then_body `else` $else_body";
}

#endif
