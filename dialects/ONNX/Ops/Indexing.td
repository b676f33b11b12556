//===- Indexing.td - ONNX operators that read or write by index -----------===//
//
// Owns gathers, scatters, OneHot, TopK and EyeLike, and the operators whose result size depends on data.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_INDEXING
#define TRN_DIALECTS_ONNX_OPS_INDEXING

include "dialects/ONNX/Ops/Base.td"

def ONNX_GatherOp : ONNX_Op<"Gather", [1, 11, 13], "gather"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs ONNX_Tensor:$y);
  let indexOperands = ["indices"];
  let counted = "gather";
}
def ONNX_GatherElementsOp : ONNX_Op<"GatherElements", [11, 13], "gatherElements"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs ONNX_Tensor:$y);
  let indexOperands = ["indices"];
  let counted = "gatherElements";
}
def ONNX_GatherNDOp : ONNX_Op<"GatherND", [11, 12, 13], "gatherND"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_I64Tensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"batch_dims", 12>];
  let indexOperands = ["indices"];
  let counted = "gatherND";
}
def ONNX_ScatterNDOp : ONNX_Op<"ScatterND", [11, 13, 16, 18], "scatterND"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_I64Tensor:$indices, ONNX_Tensor:$updates,
                       DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"reduction", 16>];
  let indexOperands = ["indices"];
  let counted = "scatterND";
}
def ONNX_ScatterElementsOp : ONNX_Op<"ScatterElements", [11, 13, 16, 18], "scatterElements"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_IndexTensor:$indices, ONNX_Tensor:$updates,
                       DefaultValuedAttr<I64Attr, "0">:$axis, DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"reduction", 16>];
  let indexOperands = ["indices"];
  let counted = "scatterElements";
}
/// Renamed; the importer builds `onnx.ScatterElements`.
def ONNX_ScatterOp : ONNX_Op<"Scatter", [9, 11], "alongAxis"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_IndexTensor:$indices, ONNX_Tensor:$updates,
                       DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs ONNX_Tensor:$y);
  let upgrades = [Upgrade<12, "scatterToElements">];
}
def ONNX_OneHotOp : ONNX_Op<"OneHot", [9, 11], "oneHot"> {
  let arguments = (ins ONNX_NumTensor:$indices, Optional<ONNX_NumTensor>:$depth_operand, ONNX_Tensor:$values,
                       OptionalAttr<I64Attr>:$depth, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["depth"];
  let moves = [Move<"depth_operand", "depth">];
  let counted = "oneHot";
}
def ONNX_TopKOp : ONNX_Op<"TopK", [1, 10, 11, 24], "topK"> {
  let arguments = (ins ONNX_NumTensor:$x, Optional<ONNX_I64Tensor>:$k_operand, OptionalAttr<I64Attr>:$k,
                       DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest,
                       DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs ONNX_NumTensor:$values, ONNX_I64Tensor:$indices);
  let operandsFrom = [From<"k_operand", 10>];
  let attributesFrom = [From<"largest", 11>, From<"sorted", 11>];
  let attributesUntil = [Until<"k", 10>];
  let moves = [Move<"k_operand", "k">];
  let counted = "topK";
}
/// Folded: shapes are static after inference.
def ONNX_EyeLikeOp : ONNX_Op<"EyeLike", [9, 22], "eyeLike"> {
  let arguments = (ins ONNX_Tensor:$x, OptionalAttr<TypeAttr>:$dtype, DefaultValuedAttr<I64Attr, "0">:$k);
  let results = (outs ONNX_Tensor:$y);
}

//===----------------------------------------------------------------------===//
// Results whose size depends on data: of the largest size, with a count
//===----------------------------------------------------------------------===//

def ONNX_NonZeroOp : ONNX_Op<"NonZero", [9, 13], "nonZero"> {
  let arguments = (ins ONNX_Tensor:$x);
  let results = (outs ONNX_I64Tensor:$y, Optional<ONNX_I64Tensor>:$count);
  let canonical = ["count"];
  let makesCounts = 1;
  let library = "library_nonzero";
  let counted = "nonZero";
}
/// Decomposed: a gather by the positions where the condition holds.
def ONNX_CompressOp : ONNX_Op<"Compress", [9, 11], "compress"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_BoolTensor:$condition, OptionalAttr<I64Attr>:$axis);
  let results = (outs ONNX_Tensor:$y);
  let makesCounts = 1;
  let library = "library_nonzero";
}
def ONNX_UniqueOp : ONNX_Op<"Unique", [11], "unique", [AttrSizedResultSegments]> {
  let arguments = (ins ONNX_Tensor:$x, OptionalAttr<I64Attr>:$axis, DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs ONNX_Tensor:$y, Optional<ONNX_I64Tensor>:$indices, Optional<ONNX_I64Tensor>:$inverse,
                      Optional<ONNX_I64Tensor>:$counts, Optional<ONNX_I64Tensor>:$count);
  let canonical = ["count"];
  let makesCounts = 1;
  let library = "library_unique";
}
def ONNX_NonMaxSuppressionOp
    : ONNX_Op<"NonMaxSuppression", [10, 11], "nonMaxSuppression", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$boxes, ONNX_FloatTensor:$scores, Optional<ONNX_I64Tensor>:$limit_operand,
                       Optional<ONNX_FloatTensor>:$iou_threshold, Optional<ONNX_FloatTensor>:$score_threshold,
                       OptionalAttr<I64Attr>:$limit, DefaultValuedAttr<I64Attr, "0">:$center_point_box);
  let results = (outs ONNX_I64Tensor:$selected, Optional<ONNX_I64Tensor>:$count);
  let canonical = ["limit", "count"];
  let moves = [Move<"limit_operand", "limit", 1>];
  let makesCounts = 1;
  let library = "library_nms";
  let counted = "boxes";
}

#endif
