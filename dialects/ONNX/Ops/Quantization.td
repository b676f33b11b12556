//===- Quantization.td - ONNX quantise and dequantise ---------------------===//
//
// Owns QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, and the operators on quantised data. Blocked
// quantisation is kept as `block_size`.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_QUANTIZATION
#define TRN_DIALECTS_ONNX_OPS_QUANTIZATION

include "dialects/ONNX/Ops/Base.td"

def ONNX_QuantizeLinearOp : ONNX_Op<"QuantizeLinear", [10, 13, 19, 21, 23, 24, 25], "quantize"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_Tensor:$scale, Optional<ONNX_Tensor>:$zero_point,
                       DefaultValuedAttr<I64Attr, "1">:$axis, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       DefaultValuedAttr<I64Attr, "0">:$block_size, OptionalAttr<TypeAttr>:$output_dtype,
                       OptionalAttr<TypeAttr>:$precision);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"axis", 13>, From<"saturate", 19>, From<"block_size", 21>, From<"output_dtype", 21>,
                        From<"precision", 23>];
  let counted = "channels";
}
def ONNX_DequantizeLinearOp : ONNX_Op<"DequantizeLinear", [10, 13, 19, 21, 23, 24, 25], "dequantize"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_Tensor:$scale, Optional<ONNX_Tensor>:$zero_point,
                       DefaultValuedAttr<I64Attr, "1">:$axis, DefaultValuedAttr<I64Attr, "0">:$block_size,
                       OptionalAttr<TypeAttr>:$output_dtype);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"axis", 13>, From<"block_size", 21>, From<"output_dtype", 23>];
  let counted = "channels";
}
/// Decomposed into the float operators on exact integers, then QuantizeLinear.
def ONNX_MatMulIntegerOp : ONNX_Op<"MatMulInteger", [10], "matMulInteger", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_IntTensor:$a, ONNX_IntTensor:$b, Optional<ONNX_IntTensor>:$a_zero_point,
                       Optional<ONNX_IntTensor>:$b_zero_point);
  let results = (outs ONNX_IntTensor:$y);
}
def ONNX_QLinearMatMulOp : ONNX_Op<"QLinearMatMul", [10, 21], "qlinearMatMul"> {
  let arguments = (ins ONNX_Tensor:$a, ONNX_FloatTensor:$a_scale, ONNX_Tensor:$a_zero_point, ONNX_Tensor:$b,
                       ONNX_FloatTensor:$b_scale, ONNX_Tensor:$b_zero_point, ONNX_FloatTensor:$y_scale,
                       ONNX_Tensor:$y_zero_point);
  let results = (outs ONNX_Tensor:$y);
}
def ONNX_ConvIntegerOp : ONNX_Op<"ConvInteger", [10], "convInteger", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_IntTensor:$x, ONNX_IntTensor:$w, Optional<ONNX_IntTensor>:$x_zero_point,
                       Optional<ONNX_IntTensor>:$w_zero_point, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedAttr<I64Attr, "1">:$group,
                       OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_IntTensor:$y);
}
def ONNX_QLinearConvOp : ONNX_Op<"QLinearConv", [10], "qlinearConv"> {
  let arguments = (ins ONNX_IntTensor:$x, ONNX_FloatTensor:$x_scale, ONNX_IntTensor:$x_zero_point, ONNX_IntTensor:$w,
                       ONNX_FloatTensor:$w_scale, ONNX_IntTensor:$w_zero_point, ONNX_FloatTensor:$y_scale,
                       ONNX_IntTensor:$y_zero_point, Optional<ONNX_IntTensor>:$b,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$group, OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_IntTensor:$y);
}
def ONNX_DynamicQuantizeLinearOp : ONNX_Op<"DynamicQuantizeLinear", [11], "dynamicQuantize"> {
  let arguments = (ins ONNX_Tensor:$x);
  let results = (outs ONNX_Tensor:$y, ONNX_Tensor:$scale, ONNX_Tensor:$zero_point);
}

#endif
