//===- Library.td - library kernels of the GpSimd cores --------*- tablegen -*-===//
//
// What no documented instruction does runs where the real chip would run it: as a program of the eight general-purpose
// cores of POOL (AWS calls such programs custom operators; their tensors lie in device memory). A library kernel is an
// instruction record like any other, with `isLibrary`: `trnc inspect` and the support table name the calls, so that
// nobody takes them for compiled code. Operands are whole tensors in device memory, row major.
//
// Costs are ours: nobody has published any. A call takes `libraryStart` cycles, moves its operands through the cores'
// memory at `libraryBytesPerCycle`, and computes `work` lane operations on `libraryLanes` lanes, each `libraryWideCycles`
// cycles for types of 64 bits.
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

defvar kHbm = ["HBM"];
/// What the cores' C++ has: what engines compute with, and 64 bits.
defvar kLibraryTypes = !listconcat(kCompute, ["I64", "U64", "F64"]);

class OptionalIn<string name, list<string> spaces, list<string> dtypes, int maxRank = 4>
    : Operand<name, "In", spaces, dtypes, maxRank, 1>;

/// `bytes`: what is moved, `work`: lane operations; C++ expressions like all of a record's.
class LibraryKernel<string mnemonic, int opcode, list<Operand> operands, list<InstAttr> attrs, string bytes, string work>
    : Inst<mnemonic, opcode, operands, attrs, ["POOL"]> {
  let isLibrary = 1;
  let costs = [Cost<"POOL", "libraryTime(device, " # bytes # ", " # work # ")",
                    "libraryTime(device, " # bytes # ", " # work # ")", "ours">];
  let source = "ours";
}

def LibraryLoopsOp : LibraryKernel<"library_loops", 0xC0,
    [Out<"dst", kHbm, kLibraryTypes>, OptionalIn<"source0", kHbm, kLibraryTypes>, OptionalIn<"source1", kHbm, kLibraryTypes>,
     OptionalIn<"source2", kHbm, kLibraryTypes>, OptionalIn<"source3", kHbm, kLibraryTypes>,
     OptionalIn<"source4", kHbm, kLibraryTypes>, OptionalIn<"source5", kHbm, kLibraryTypes>],
    [IntAttr<"starts_from", -1, 5, -1>, ListAttr<"bounds">, ListAttr<"offsets">, ListAttr<"strides">, ListAttr<"program">],
    "operandBytes(x)", "loopWork(device, x)"> {
  let summary = "a scalar program for each step of a loop nest";
  let description = [{
    dst starts as a copy of source number `starts_from`, or as zeros; then, for each step of the loops `bounds` in order, the
    elements of dst and the sources at offsets + strides * position enter the program, and its result is the new element of
    dst. Arithmetic is that of the types named in the program: IEEE double is exact. A step of a gather whose index is not
    an element of its source is an error of the program, always checked. The words of a program: `LoopNest.h`.
  }];
  let rules = [
    Rule<20, "loopProblem(x).empty()", "{loopProblem(x)}", "ours: LoopNest.h">,
    Rule<21, "startsFromLikeDst(x)",
         "expected source {starts_from} to have the type and elements of dst", "ours">,
  ];
}
