//===- Convolution.td - ONNX operators on windows -------------------------===//
//
// Owns convolutions and pools. After inference `kernel_shape`, `strides`, `pads` (all begins, then all ends) and
// `dilations` are present and `auto_pad` and `output_shape` are gone; with `ceil_mode` the pads stay as given and the
// result's shape says how many windows there are.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_CONVOLUTION
#define TRN_DIALECTS_ONNX_OPS_CONVOLUTION

include "dialects/ONNX/Ops/Base.td"

def ONNX_ConvOp : ONNX_Op<"Conv", [1, 11, 22], "conv"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, Optional<ONNX_FloatTensor>:$b,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$group, OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}

/// Taps are moved by `offset`, [batch, offset groups · taps · 2, positions], rows before columns, and weighted by `mask`,
/// [batch, offset groups · taps, positions]; between pixels it is linear.
def ONNX_DeformConvOp : ONNX_Op<"DeformConv", [19, 22], "deformConv", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, ONNX_FloatTensor:$offset, Optional<ONNX_FloatTensor>:$b,
                       Optional<ONNX_FloatTensor>:$mask, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$offset_group);
  let results = (outs ONNX_FloatTensor:$y);
  let limits = "pictures of two dimensions";
}

def ONNX_ConvTransposeOp : ONNX_Op<"ConvTranspose", [1, 11, 22], "convTranspose"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, Optional<ONNX_FloatTensor>:$b,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$output_padding, OptionalAttr<DenseI64ArrayAttr>:$output_shape,
                       DefaultValuedAttr<I64Attr, "1">:$group, OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}

def ONNX_MaxPoolOp : ONNX_Op<"MaxPool", [1, 8, 10, 11, 12, 22], "pool"> {
  let arguments = (ins ONNX_NumTensor:$x, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<I64Attr, "0">:$storage_order, OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_NumTensor:$y, Optional<ONNX_I64Tensor>:$indices);
  let attributesFrom = [From<"storage_order", 8>, From<"ceil_mode", 10>, From<"dilations", 10>];
  let counted = "items";
}

def ONNX_AveragePoolOp : ONNX_Op<"AveragePool", [1, 7, 10, 11, 19, 22], "pool"> {
  let arguments = (ins ONNX_FloatTensor:$x, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$count_include_pad, OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_FloatTensor:$y);
  let attributesFrom = [From<"count_include_pad", 7>, From<"ceil_mode", 10>, From<"dilations", 19>];
  let counted = "items";
}

def ONNX_LpPoolOp : ONNX_Op<"LpPool", [2, 11, 18, 22], "pool"> {
  let arguments = (ins ONNX_FloatTensor:$x, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode, DefaultValuedAttr<I64Attr, "2">:$p,
                       OptionalAttr<StrAttr>:$auto_pad);
  let results = (outs ONNX_FloatTensor:$y);
  let attributesFrom = [From<"ceil_mode", 18>, From<"dilations", 18>];
  let counted = "items";
}
def ONNX_GlobalLpPoolOp : ONNX_Op<"GlobalLpPool", [2, 22], "globalPool"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<I64Attr, "2">:$p);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}

class ONNX_GlobalPool<string onnxName> : ONNX_Op<onnxName, [1, 22], "globalPool"> {
  let arguments = (ins ONNX_FloatTensor:$x);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}
def ONNX_GlobalAveragePoolOp : ONNX_GlobalPool<"GlobalAveragePool">;
def ONNX_GlobalMaxPoolOp : ONNX_GlobalPool<"GlobalMaxPool">;

/// Decomposed: a scatter of the maxima to where they were.
def ONNX_MaxUnpoolOp : ONNX_Op<"MaxUnpool", [9, 11, 22], "maxUnpool"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_I64Tensor:$indices, Optional<ONNX_I64Tensor>:$output_shape_operand,
                       DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$output_shape);
  let results = (outs ONNX_FloatTensor:$y);
  let canonical = ["output_shape"];
  let moves = [Move<"output_shape_operand", "output_shape">];
}

#endif
