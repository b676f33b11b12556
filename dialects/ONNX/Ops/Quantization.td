//===- Quantization.td - ONNX quantise and dequantise ---------------------===//
//
// Owns QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. Blocked quantisation is kept as `block_size`.
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
}
def ONNX_DequantizeLinearOp : ONNX_Op<"DequantizeLinear", [10, 13, 19, 21, 23, 24, 25], "dequantize"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_Tensor:$scale, Optional<ONNX_Tensor>:$zero_point,
                       DefaultValuedAttr<I64Attr, "1">:$axis, DefaultValuedAttr<I64Attr, "0">:$block_size,
                       OptionalAttr<TypeAttr>:$output_dtype);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"axis", 13>, From<"block_size", 21>, From<"output_dtype", 23>];
}
def ONNX_DynamicQuantizeLinearOp : ONNX_Op<"DynamicQuantizeLinear", [11], "dynamicQuantize"> {
  let arguments = (ins ONNX_Tensor:$x);
  let results = (outs ONNX_Tensor:$y, ONNX_Tensor:$scale, ONNX_Tensor:$zero_point);
}

#endif
