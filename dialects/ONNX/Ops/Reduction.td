//===- Reduction.td - ONNX operators that reduce along axes ---------------===//
//
// Owns the Reduce family, ArgMax, ArgMin, CumSum and CumProd. Axes are an attribute before version 13 (ReduceSum) or 18, an
// operand afterwards; the canonical form has the attribute, always present after inference, sorted and not negative.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_REDUCTION
#define TRN_DIALECTS_ONNX_OPS_REDUCTION

include "dialects/ONNX/Ops/Base.td"

class ONNX_Reduce<string onnxName, list<int> since, int axesOperandSince = 18> : ONNX_Op<onnxName, since, "reduce"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$axes_operand,
                       OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$noop_with_empty_axes);
  let results = (outs ONNX_Tensor:$y);
  let operandsFrom = [From<"axes_operand", axesOperandSince>];
  let attributesUntil = [Until<"axes", axesOperandSince>];
  let attributesFrom = [From<"noop_with_empty_axes", axesOperandSince>];
  let moves = [Move<"axes_operand", "axes">];
  let counted = "reduce";
}

def ONNX_ReduceSumOp : ONNX_Reduce<"ReduceSum", [1, 11, 13], 13>;
def ONNX_ReduceMeanOp : ONNX_Reduce<"ReduceMean", [1, 11, 13, 18]>;
def ONNX_ReduceMaxOp : ONNX_Reduce<"ReduceMax", [1, 11, 12, 13, 18, 20]>;
def ONNX_ReduceMinOp : ONNX_Reduce<"ReduceMin", [1, 11, 12, 13, 18, 20]>;
def ONNX_ReduceProdOp : ONNX_Reduce<"ReduceProd", [1, 11, 13, 18]>;
def ONNX_ReduceL1Op : ONNX_Reduce<"ReduceL1", [1, 11, 13, 18]>;
def ONNX_ReduceL2Op : ONNX_Reduce<"ReduceL2", [1, 11, 13, 18]>;
def ONNX_ReduceLogSumOp : ONNX_Reduce<"ReduceLogSum", [1, 11, 13, 18]>;
def ONNX_ReduceLogSumExpOp : ONNX_Reduce<"ReduceLogSumExp", [1, 11, 13, 18]>;
def ONNX_ReduceSumSquareOp : ONNX_Reduce<"ReduceSumSquare", [1, 11, 13, 18]>;

class ONNX_ArgReduce<string onnxName> : ONNX_Op<onnxName, [1, 11, 12, 13], "argReduce"> {
  let arguments = (ins ONNX_NumTensor:$x, DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last_index);
  let results = (outs ONNX_I64Tensor:$y);
  let attributesFrom = [From<"select_last_index", 12>];
  let counted = "argReduce";
}
def ONNX_ArgMaxOp : ONNX_ArgReduce<"ArgMax">;
def ONNX_ArgMinOp : ONNX_ArgReduce<"ArgMin">;

class ONNX_Cumulative<string onnxName, list<int> since> : ONNX_Op<onnxName, since, "cumulative"> {
  let arguments = (ins ONNX_NumTensor:$x, Optional<ONNX_IndexTensor>:$axis_operand, OptionalAttr<I64Attr>:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive, DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs ONNX_NumTensor:$y);
  let canonical = ["axis"];
  let moves = [Move<"axis_operand", "axis">];
  let counted = "cumulative";
}
def ONNX_CumSumOp : ONNX_Cumulative<"CumSum", [11, 14]>;
def ONNX_CumProdOp : ONNX_Cumulative<"CumProd", [26]>;

#endif
