//===- Recurrent.td - ONNX recurrent layers -------------------------------===//
//
// Owns LSTM, GRU and RNN in the standard's own form (one op per layer, both directions).
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_RECURRENT
#define TRN_DIALECTS_ONNX_OPS_RECURRENT

include "dialects/ONNX/Ops/Base.td"

defvar ONNX_RecurrentAttributes = (ins
  OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
  OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<F32Attr>:$clip,
  DefaultValuedStrAttr<StrAttr, "forward">:$direction, OptionalAttr<I64Attr>:$hidden_size,
  DefaultValuedAttr<I64Attr, "0">:$layout);

defvar ONNX_RecurrentOperands = (ins
  ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, ONNX_FloatTensor:$r, Optional<ONNX_FloatTensor>:$b,
  Optional<TensorOf<[I32]>>:$sequence_lens, Optional<ONNX_FloatTensor>:$initial_h);

class ONNX_Recurrent<string onnxName, list<int> since> : ONNX_Op<onnxName, since, "recurrent",
                                                [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let results = (outs Optional<ONNX_FloatTensor>:$y, Optional<ONNX_FloatTensor>:$y_h);
  let attributesFrom = [From<"layout", 14>];
  // Says again whether the first output is named.
  let legacy = [Legacy<"output_sequence", "INT", 7>];
}
def ONNX_LSTMOp : ONNX_Recurrent<"LSTM", [1, 7, 14, 22]> {
  let arguments = !con(ONNX_RecurrentOperands,
                       (ins Optional<ONNX_FloatTensor>:$initial_c, Optional<ONNX_FloatTensor>:$p),
                       ONNX_RecurrentAttributes, (ins DefaultValuedAttr<BoolAttr, "false">:$input_forget));
  let results = (outs Optional<ONNX_FloatTensor>:$y, Optional<ONNX_FloatTensor>:$y_h, Optional<ONNX_FloatTensor>:$y_c);
}
def ONNX_GRUOp : ONNX_Recurrent<"GRU", [3, 7, 14, 22]> {
  let arguments = !con(ONNX_RecurrentOperands, ONNX_RecurrentAttributes,
                       (ins DefaultValuedAttr<BoolAttr, "false">:$linear_before_reset));
}
def ONNX_RNNOp : ONNX_Recurrent<"RNN", [1, 7, 14, 22]> {
  let arguments = !con(ONNX_RecurrentOperands, ONNX_RecurrentAttributes);
}

#endif
