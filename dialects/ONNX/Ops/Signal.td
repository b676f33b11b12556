//===- Signal.td - ONNX operators on signals and sampled pictures ---------===//
//
// Owns Fourier transforms and the operators that sample at computed positions. All are decomposed.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_SIGNAL
#define TRN_DIALECTS_ONNX_OPS_SIGNAL

include "dialects/ONNX/Ops/Base.td"

/// The last dimension holds the real part, or the real and the imaginary one. After inference `axis` is present.
def ONNX_DFTOp : ONNX_Op<"DFT", [17, 20], "dft", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_IndexTensor>:$dft_length_operand,
                       Optional<ONNX_IndexTensor>:$axis_operand, OptionalAttr<I64Attr>:$dft_length,
                       OptionalAttr<I64Attr>:$axis, DefaultValuedAttr<BoolAttr, "false">:$inverse,
                       DefaultValuedAttr<BoolAttr, "false">:$onesided);
  let results = (outs ONNX_FloatTensor:$y);
  let operandsFrom = [From<"axis_operand", 20>];
  let attributesUntil = [Until<"axis", 20>];
  let canonical = ["dft_length"];
  let moves = [Move<"dft_length_operand", "dft_length">, Move<"axis_operand", "axis">];
  let upgrades = [Upgrade<20, "dftAxis">];
}

def ONNX_STFTOp : ONNX_Op<"STFT", [17], "stft", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$signal, Optional<ONNX_IndexTensor>:$frame_step_operand,
                       Optional<ONNX_FloatTensor>:$window, Optional<ONNX_IndexTensor>:$frame_length_operand,
                       OptionalAttr<I64Attr>:$frame_step, OptionalAttr<I64Attr>:$frame_length,
                       DefaultValuedAttr<BoolAttr, "true">:$onesided);
  let results = (outs ONNX_FloatTensor:$y);
  let canonical = ["frame_step", "frame_length"];
  let moves = [Move<"frame_step_operand", "frame_step">, Move<"frame_length_operand", "frame_length">];
}

/// Spellings of before version 20 (bilinear, bicubic) mean linear and cubic.
def ONNX_GridSampleOp : ONNX_Op<"GridSample", [16, 20, 22], "gridSample"> {
  let arguments = (ins ONNX_NumTensor:$x, ONNX_FloatTensor:$grid, DefaultValuedAttr<BoolAttr, "false">:$align_corners,
                       DefaultValuedStrAttr<StrAttr, "linear">:$mode,
                       DefaultValuedStrAttr<StrAttr, "zeros">:$padding_mode);
  let results = (outs ONNX_NumTensor:$y);
  let upgrades = [Upgrade<20, "gridSampleModes">];
}

def ONNX_RoiAlignOp : ONNX_Op<"RoiAlign", [10, 16, 22], "roiAlign"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$rois, ONNX_I64Tensor:$batch_indices,
                       DefaultValuedStrAttr<StrAttr, "avg">:$mode, DefaultValuedAttr<I64Attr, "1">:$output_height,
                       DefaultValuedAttr<I64Attr, "1">:$output_width, DefaultValuedAttr<I64Attr, "0">:$sampling_ratio,
                       DefaultValuedAttr<F32Attr, "1.0f">:$spatial_scale,
                       OptionalAttr<StrAttr>:$coordinate_transformation_mode);
  let results = (outs ONNX_FloatTensor:$y);
  let attributesFrom = [From<"coordinate_transformation_mode", 16>];
  let upgrades = [Upgrade<16, "roiWithoutHalfPixel">];
  let limits = "sampling_ratio of at least 1";
  let counted = "items";
}

def ONNX_Col2ImOp : ONNX_Op<"Col2Im", [18], "col2im", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_I64Tensor>:$image_shape_operand,
                       Optional<ONNX_I64Tensor>:$block_shape_operand, OptionalAttr<DenseI64ArrayAttr>:$image_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$block_shape, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs ONNX_FloatTensor:$y);
  let canonical = ["image_shape", "block_shape"];
  let moves = [Move<"image_shape_operand", "image_shape">, Move<"block_shape_operand", "block_shape">];
}

def ONNX_ReverseSequenceOp : ONNX_Op<"ReverseSequence", [10], "sameAsFirst"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_I64Tensor:$sequence_lens, DefaultValuedAttr<I64Attr, "1">:$batch_axis,
                       DefaultValuedAttr<I64Attr, "0">:$time_axis);
  let results = (outs ONNX_Tensor:$y);
}

/// Folded: all of its operands are known while compiling.
def ONNX_MelWeightMatrixOp : ONNX_Op<"MelWeightMatrix", [17], "melWeightMatrix"> {
  let arguments = (ins ONNX_IndexTensor:$num_mel_bins, ONNX_IndexTensor:$dft_length, ONNX_IndexTensor:$sample_rate,
                       ONNX_FloatTensor:$lower_edge_hertz, ONNX_FloatTensor:$upper_edge_hertz,
                       OptionalAttr<TypeAttr>:$output_datatype);
  let results = (outs ONNX_NumTensor:$y);
  let shapeOperands = ["num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"];
}

#endif
