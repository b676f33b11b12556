//===- Control.td - ONNX operators with bodies ----------------------------===//
//
// Owns If, Loop, Scan and SequenceMap. `onnx-infer-fold` resolves them: a branch that is known is inlined, short loops
// with a known number of steps are unrolled, a condition that only the run knows selects between results that cost
// little, and the device runs what is left, as `onnx.repeat` and `onnx.branch`.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_CONTROL
#define TRN_DIALECTS_ONNX_OPS_CONTROL

include "dialects/ONNX/Ops/Base.td"

/// Bodies read values from around them by name.
class ONNX_ControlOp<string onnxName, list<int> since, list<Trait> traits = []>
    : ONNX_Op<onnxName, since, "control", !listconcat([SingleBlock], traits)> {
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "`(` operands `)` regions attr-dict `:` functional-type(operands, results)";
}

def ONNX_IfOp : ONNX_ControlOp<"If", [1, 11, 13, 16, 19, 21, 23, 24, 25]> {
  let arguments = (ins ONNX_BoolTensor:$condition);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let shapeOperands = ["condition"];
  let limits = "where the condition is known at run time only, branches that differ in one dimension at most";
}

/// The body takes the number of the step, the condition, and the carried values; it gives the next condition, the carried
/// values, and what each step adds to the scanned results.
def ONNX_LoopOp : ONNX_ControlOp<"Loop", [1, 11, 13, 16, 19, 21, 23, 24, 25], [AttrSizedOperandSegments]> {
  let arguments = (ins Optional<ONNX_I64Tensor>:$trip_count, Optional<ONNX_BoolTensor>:$condition,
                       Variadic<AnyType>:$carried);
  let regions = (region SizedRegion<1>:$body);
  let shapeOperands = ["trip_count", "condition"];
  let limits = "results that are scanned need a bound of the number of steps that is known while compiling";
}

/// The body takes the carried values and one slice of each scanned input; it gives the carried values and one slice of
/// each scanned result.
def ONNX_ScanOp : ONNX_ControlOp<"Scan", [8, 9, 11, 16, 19, 21, 23, 24, 25]> {
  let arguments = (ins Variadic<AnyType>:$inputs, I64Attr:$num_scan_inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_directions,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_directions);
  let regions = (region SizedRegion<1>:$body);
  let attributesFrom = [From<"scan_input_axes", 9>, From<"scan_input_directions", 9>, From<"scan_output_axes", 9>,
                        From<"scan_output_directions", 9>];
  let legacy = [Legacy<"directions", "INTS", 9>];
  let legacyOperands = [LegacyOperand<"sequence_lens", 9>];
  let upgrades = [Upgrade<9, "scanOfSamples">];
  let limits = "before version 9, sequences of one length";
}

/// The body takes one element of each sequence, and the tensors as they are; it gives one element of each result.
def ONNX_SequenceMapOp : ONNX_ControlOp<"SequenceMap", [17]> {
  let arguments = (ins AnyType:$sequence, Variadic<AnyType>:$inputs);
  let regions = (region SizedRegion<1>:$body);
}

/// A loop of the device: what inference makes of loops that it does not unroll. `carried` begins with the number of the
/// step. `limit` steps are done, or, with a `trip_count`, so many; with a `condition`, only while it holds. The body takes
/// the carried values, and gives the next condition, if there is one, and the carried values of the same types.
def ONNX_RepeatOp : Op<ONNX_Dialect, "repeat", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "a loop of the device";
  let arguments = (ins Optional<ONNX_I64Tensor>:$trip_count, Optional<ONNX_BoolTensor>:$condition,
                       Variadic<ONNX_Tensor>:$carried, I64Attr:$limit);
  let results = (outs Variadic<ONNX_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` operands `)` regions attr-dict `:` functional-type(operands, results)";
  let hasRegionVerifier = 1;
}

/// What is left of a branch for the device: one of the bodies, which read values from around them and give results of the
/// same types.
def ONNX_BranchOp : Op<ONNX_Dialect, "branch", [SingleBlock]> {
  let summary = "a branch of the device";
  let arguments = (ins ONNX_BoolTensor:$condition);
  let results = (outs Variadic<ONNX_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let assemblyFormat = "`(` operands `)` regions attr-dict `:` functional-type(operands, results)";
  let hasRegionVerifier = 1;
}

/// A tensor of the largest size, of which as many elements of a dimension are valid as the count says, the first ones; the
/// others are `zeros`, or anything. `onnx-infer-fold` takes it past the operations that read it, to the model's outputs (passes/Graph/Counted.h).
def ONNX_CountedOp : Op<ONNX_Dialect, "counted", [Pure]> {
  let summary = "a tensor of which the run decides how much is valid";
  let arguments = (ins ONNX_Tensor:$x, ONNX_I64Tensor:$count, I64Attr:$dim, UnitAttr:$zeros);
  let results = (outs ONNX_Tensor:$y);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

/// Ends a body with its results.
def ONNX_YieldOp : Op<ONNX_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the results of a body";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif
