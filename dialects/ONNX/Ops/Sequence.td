//===- Sequence.td - ONNX sequences and optionals -------------------------===//
//
// Owns lists of tensors, which exist while compiling only: `onnx-infer-fold` knows the elements of every sequence and
// resolves what reads them. At the borders of a model the elements of a sequence are inputs and outputs of their own,
// `x.0`, `x.1`, …
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_SEQUENCE
#define TRN_DIALECTS_ONNX_OPS_SEQUENCE

include "dialects/ONNX/Ops/Base.td"

def ONNX_SequenceConstructOp : ONNX_Op<"SequenceConstruct", [11], "sequence"> {
  let arguments = (ins Variadic<ONNX_Tensor>:$inputs);
  let results = (outs ONNX_Sequence:$y);
}
def ONNX_SequenceEmptyOp : ONNX_Op<"SequenceEmpty", [11], "sequence"> {
  let arguments = (ins OptionalAttr<TypeAttr>:$dtype);
  let results = (outs ONNX_Sequence:$y);
}
def ONNX_SequenceAtOp : ONNX_Op<"SequenceAt", [11], "sequence"> {
  let arguments = (ins ONNX_Sequence:$sequence, ONNX_IndexTensor:$position);
  let results = (outs ONNX_Tensor:$y);
  let shapeOperands = ["position"];
}
/// Without a position: at the end.
def ONNX_SequenceInsertOp : ONNX_Op<"SequenceInsert", [11], "sequence"> {
  let arguments = (ins ONNX_Sequence:$sequence, ONNX_Tensor:$tensor, Optional<ONNX_IndexTensor>:$position);
  let results = (outs ONNX_Sequence:$y);
  let shapeOperands = ["position"];
}
/// Without a position: the last one.
def ONNX_SequenceEraseOp : ONNX_Op<"SequenceErase", [11], "sequence"> {
  let arguments = (ins ONNX_Sequence:$sequence, Optional<ONNX_IndexTensor>:$position);
  let results = (outs ONNX_Sequence:$y);
  let shapeOperands = ["position"];
}
def ONNX_SequenceLengthOp : ONNX_Op<"SequenceLength", [11], "sequence"> {
  let arguments = (ins ONNX_Sequence:$sequence);
  let results = (outs ONNX_I64Tensor:$y);
}
/// `split` is the size of all parts, or a list of sizes; without it each part has size 1 (which `keepdims` may drop).
def ONNX_SplitToSequenceOp : ONNX_Op<"SplitToSequence", [11, 24], "sequence"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_IndexTensor>:$split, DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs ONNX_Sequence:$y);
  let shapeOperands = ["split"];
}
def ONNX_ConcatFromSequenceOp : ONNX_Op<"ConcatFromSequence", [11], "sequence"> {
  let arguments = (ins ONNX_Sequence:$sequence, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$new_axis);
  let results = (outs ONNX_Tensor:$y);
}

// An optional is its element; `onnx.Optional` without an operand is one of a `type` that has none.
def ONNX_OptionalOp : ONNX_Op<"Optional", [15], "sequence"> {
  let arguments = (ins Optional<AnyType>:$x, OptionalAttr<ONNX_ValueTypeAttr>:$type);
  let results = (outs AnyType:$y);
}
def ONNX_OptionalGetElementOp : ONNX_Op<"OptionalGetElement", [15, 18], "sequence"> {
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$y);
}
def ONNX_OptionalHasElementOp : ONNX_Op<"OptionalHasElement", [15, 18], "sequence"> {
  let arguments = (ins Optional<AnyType>:$x);
  let results = (outs ONNX_BoolTensor:$y);
}

#endif
