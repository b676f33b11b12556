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

//===--------------------------------------------------------------------------===//
// Counted results: filled from the front, zeros behind, and how much is valid in `count`
//===--------------------------------------------------------------------------===//

defvar kIndexTypes = ["I32", "I64"];
defvar kCount = ["I32"];

class OneRow<list<string> operands>
    : Rule<20, !interleave(!foreach(o, operands, "isOneRow(" # o # ")"), " && "),
           "expected operands that are one row of adjacent elements", "ours">;

def LibraryNonzeroOp : LibraryKernel<"library_nonzero", 0xC1,
    [Out<"indices", kHbm, kIndexTypes>, Out<"count", kHbm, kCount>, In<"mask", kHbm, kLibraryTypes>], [ListAttr<"dims">],
    "operandBytes(x)", "workOf({mask.elements(), 4})"> {
  let summary = "positions of the elements that are not 0";
  let description = [{
    `mask` has the extents `dims`. Row d of indices, which is [number of dims, elements of mask], has the positions in
    dimension d of the elements that are not 0, in order of the elements.
  }];
  let rules = [
    OneRow<["indices", "count", "mask"]>,
    Rule<21, "productOf(dims) == int64_t(mask.elements()) && indices.elements() == dims.size() * mask.elements() && count.elements() == 1",
         "expected a mask of {productOf(dims)} elements, as many for each dimension in 'indices' and one count, but got {mask.elements()}, {indices.elements()} and {count.elements()}",
         "ours">,
  ];
}

def LibraryUniqueOp : LibraryKernel<"library_unique", 0xC2,
    [Out<"values", kHbm, kLibraryTypes>, Out<"first", kHbm, kIndexTypes>, Out<"inverse", kHbm, kIndexTypes>,
     Out<"counts", kHbm, kIndexTypes>, Out<"count", kHbm, kCount>, In<"rows", kHbm, kLibraryTypes>],
    [IntAttr<"items", 1, 2147483647, 1>, IntAttr<"sorted", 0, 1, 1>],
    "operandBytes(x)", "workOf({rows.elements(), 32})"> {
  let summary = "the different rows of a matrix";
  let description = [{
    The rows, `items` of them, without repetitions: in order of their elements, NaNs last, or with sorted = 0 in order
    of their first occurrence. `first` is where each occurs first, `counts` how often, `inverse` which one each row is.
  }];
  let rules = [
    OneRow<["values", "first", "inverse", "counts", "count", "rows"]>,
    Rule<21, "rows.elements() % uint64_t(items) == 0 && values.elements() == rows.elements() && values.dtype == rows.dtype",
         "expected 'values' like 'rows', of whole rows, but got {values.elements()} {name(values.dtype)} and {rows.elements()} {name(rows.dtype)} in {items} rows",
         "ours">,
    Rule<22, "first.elements() == uint64_t(items) && inverse.elements() == uint64_t(items) && counts.elements() == uint64_t(items) && count.elements() == 1",
         "expected {items} positions and counts, and one count, but got {first.elements()}, {inverse.elements()}, {counts.elements()} and {count.elements()}",
         "ours">,
  ];
}

def LibraryNmsOp : LibraryKernel<"library_nms", 0xC3,
    [Out<"selected", kHbm, kIndexTypes>, Out<"count", kHbm, kCount>, In<"boxes_in", kHbm, kFp32>, In<"scores", kHbm, kFp32>,
     In<"limit", kHbm, kIndexTypes>, In<"iou_threshold", kHbm, kFp32>, In<"score_threshold", kHbm, kFp32>],
    [IntAttr<"batches", 1, 2147483647, 1>, IntAttr<"classes", 1, 2147483647, 1>, IntAttr<"boxes", 1, 2147483647, 1>,
     IntAttr<"center_point_box", 0, 1, 0>],
    "operandBytes(x)", "workOf({scores.elements(), uint64_t(boxes), 16})"> {
  let summary = "non-maximum suppression of boxes";
  let description = [{
    For each batch and class, boxes in falling order of their scores, as far as these exceed `score_threshold`, and at most
    `limit` of them: a box is left out when its intersection over union with one that was taken exceeds `iou_threshold`.
    Rows of `selected` are batch, class and box.
  }];
  let rules = [
    OneRow<["selected", "count", "boxes_in", "scores", "limit", "iou_threshold", "score_threshold"]>,
    Rule<21, "int64_t(boxes_in.elements()) == productOf({batches, boxes, 4}) && int64_t(scores.elements()) == productOf({batches, classes, boxes})",
         "expected 4 numbers for each of {batches} x {boxes} boxes and {classes} scores, but got {boxes_in.elements()} and {scores.elements()}",
         "ours">,
    Rule<22, "selected.elements() % 3 == 0 && count.elements() == 1 && limit.elements() == 1 && iou_threshold.elements() == 1 && score_threshold.elements() == 1",
         "expected rows of 3 numbers in 'selected', and single elements, but got {selected.elements()} and {count.elements()}, {limit.elements()}, {iou_threshold.elements()}, {score_threshold.elements()}",
         "ours">,
  ];
}

def LibraryDetOp : LibraryKernel<"library_det", 0xC4, [Out<"dst", kHbm, ["F32", "F64"]>, In<"matrices", kHbm, ["F32", "F64"]>],
    [IntAttr<"size", 1, 32767, 1>], "operandBytes(x)", "workOf({matrices.elements(), uint64_t(size), uint64_t(device.libraryWideCycles)})"> {
  let summary = "determinants of square matrices";
  let description = [{
    One number for each size x size matrix, by elimination with the largest pivot of each column, in IEEE double.
  }];
  let rules = [
    OneRow<["dst", "matrices"]>,
    Rule<21, "matrices.elements() % (uint64_t(size) * size) == 0 && matrices.elements() / (uint64_t(size) * size) == dst.elements()",
         "expected matrices of {size} x {size} for the {dst.elements()} results, but got {matrices.elements()} elements", "ours">,
  ];
}
