//===- Microsoft.td - operators of ONNX Runtime's own domain --------------===//
//
// Owns the operators of com.microsoft that ONNX Runtime's optimiser and exporters write into files. Where ranks suffice,
// the importer builds the standard's operators (compiler/Import/Microsoft*.cpp); the others are operations until
// `onnx-decompose` writes them out (passes/Graph/DecomposeMicrosoft.cpp), and their import steps refuse what is missing.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_MICROSOFT
#define TRN_DIALECTS_ONNX_OPS_MICROSOFT

include "dialects/ONNX/Ops/Base.td"

class ONNX_MicrosoftOp<string onnxName, string step, list<Trait> traits = []>
    : ONNX_DomainOp<"com.microsoft", "microsoft", onnxName, [1], "sameAsFirst", traits> {
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<1000, step>];
}

def ONNX_MicrosoftGeluOp : ONNX_MicrosoftOp<"Gelu", "microsoftGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$bias);
  let counted = "elementwise";
}
def ONNX_MicrosoftBiasGeluOp : ONNX_MicrosoftOp<"BiasGelu", "microsoftGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$bias);
  let counted = "elementwise";
}
/// With tanh.
def ONNX_MicrosoftFastGeluOp : ONNX_MicrosoftOp<"FastGelu", "microsoftFastGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$bias);
  let counted = "elementwise";
}
/// `x * sigmoid(alpha * x)`
def ONNX_MicrosoftQuickGeluOp : ONNX_MicrosoftOp<"QuickGelu", "microsoftQuickGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.702f">:$alpha);
  let counted = "elementwise";
}

/// The sum of both inputs and the bias, normalised; the last output is the sum.
class ONNX_MicrosoftSkip<string onnxName, string step, list<Trait> traits = []>
    : ONNX_MicrosoftOp<onnxName, step, traits> {
  let limits = "no mean and no deviation as outputs";
}
def ONNX_MicrosoftSkipLayerNormalizationOp
    : ONNX_MicrosoftSkip<"SkipLayerNormalization", "microsoftSkipLayerNorm", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$skip, ONNX_FloatTensor:$gamma,
                       Optional<ONNX_FloatTensor>:$beta, Optional<ONNX_FloatTensor>:$bias,
                       DefaultValuedAttr<F32Attr, "1e-12f">:$epsilon);
}
def ONNX_MicrosoftSkipSimplifiedLayerNormalizationOp
    : ONNX_MicrosoftSkip<"SkipSimplifiedLayerNormalization", "microsoftSkipSimplifiedNorm"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$skip, ONNX_FloatTensor:$gamma,
                       Optional<ONNX_FloatTensor>:$bias, DefaultValuedAttr<F32Attr, "1e-12f">:$epsilon);
}
/// RMSNormalization; files say com.microsoft or, from before it was named so, ai.onnx.
def ONNX_MicrosoftSimplifiedLayerNormalizationOp
    : ONNX_MicrosoftOp<"SimplifiedLayerNormalization", "microsoftSimplifiedNorm"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let limits = "no deviation as output";
}
def ONNX_SimplifiedLayerNormalizationOp
    : ONNX_Op<"SimplifiedLayerNormalization", [1], "sameAsFirst"> {
  let unpinned = [1];
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<1000, "microsoftSimplifiedNorm">];
  let limits = "no deviation as output";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// MatMul with dimensions moved first, and a factor. `transA` swaps the last two; with `transBatchA` the rows are the
/// first dimension, before the batches.
def ONNX_MicrosoftFusedMatMulOp : ONNX_MicrosoftOp<"FusedMatMul", "microsoftFusedMatMul"> {
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_FloatTensor:$b, DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
                       DefaultValuedAttr<BoolAttr, "false">:$transA, DefaultValuedAttr<BoolAttr, "false">:$transB,
                       DefaultValuedAttr<BoolAttr, "false">:$transBatchA,
                       DefaultValuedAttr<BoolAttr, "false">:$transBatchB);
}
/// Gemm, then an activation.
def ONNX_MicrosoftFusedGemmOp : ONNX_MicrosoftOp<"FusedGemm", "microsoftFusedGemm"> {
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_FloatTensor:$b, Optional<ONNX_FloatTensor>:$c,
                       DefaultValuedAttr<F32Attr, "1.0f">:$alpha, DefaultValuedAttr<F32Attr, "1.0f">:$beta,
                       DefaultValuedAttr<BoolAttr, "false">:$transA, DefaultValuedAttr<BoolAttr, "false">:$transB,
                       OptionalAttr<StrAttr>:$activation, OptionalAttr<F32Attr>:$activation_alpha,
                       OptionalAttr<F32Attr>:$activation_beta, OptionalAttr<F32Attr>:$activation_gamma);
}
/// Conv, then `z` added, then an activation.
def ONNX_MicrosoftFusedConvOp : ONNX_MicrosoftOp<"FusedConv", "microsoftFusedConv", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, Optional<ONNX_FloatTensor>:$b,
                       Optional<ONNX_FloatTensor>:$z, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedAttr<I64Attr, "1">:$group,
                       OptionalAttr<StrAttr>:$auto_pad, OptionalAttr<StrAttr>:$activation,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_params);
}
/// A product with constant weights of 2, 4 or 8 bits, [N, blocks, bytes of a block]: each block of a row has a scale and
/// a zero point. Large ones stay packed until the lowering to linalg, and in device memory.
def ONNX_MicrosoftMatMulNBitsOp
    : ONNX_DomainOp<"com.microsoft", "microsoft", "MatMulNBits", [1], "matMulNBits", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_Tensor:$b, ONNX_FloatTensor:$scales, Optional<ONNX_Tensor>:$zero_points,
                       Optional<ONNX_IndexTensor>:$g_idx, Optional<ONNX_FloatTensor>:$bias, I64Attr:$K, I64Attr:$N,
                       DefaultValuedAttr<I64Attr, "4">:$bits, I64Attr:$block_size,
                       DefaultValuedAttr<I64Attr, "0">:$accuracy_level,
                       DefaultValuedAttr<I64Attr, "0">:$weight_prepacked);
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<1000, "microsoftMatMulNBits">];
  let limits = "constant weights of 2, 4 or 8 bits; no g_idx";
}

//===----------------------------------------------------------------------===//
// Attention and embeddings
//===----------------------------------------------------------------------===//

class ONNX_MicrosoftComposite<string onnxName, string rule, string step,
                              list<Trait> traits = [AttrSizedOperandSegments, AttrSizedResultSegments]>
    : ONNX_DomainOp<"com.microsoft", "microsoft", onnxName, [1], rule, traits> {
  let upgrades = [Upgrade<1000, step>];
}

/// Attention of queries to keys, all [batch, sequence, heads · size]; or packed, [batch, sequence, heads, 3 or 2, size];
/// or keys and values as [batch, heads, sequence, size]. What the padding mask leaves out gets `mask_filter_value` added.
def ONNX_MicrosoftMultiHeadAttentionOp
    : ONNX_MicrosoftComposite<"MultiHeadAttention", "microsoftMultiHead", "microsoftMultiHead"> {
  let arguments = (ins ONNX_FloatTensor:$query, Optional<ONNX_FloatTensor>:$key, Optional<ONNX_FloatTensor>:$value,
                       Optional<ONNX_FloatTensor>:$bias, Optional<ONNX_IndexTensor>:$key_padding_mask,
                       Optional<ONNX_FloatTensor>:$attention_bias, Optional<ONNX_FloatTensor>:$past_key,
                       Optional<ONNX_FloatTensor>:$past_value, Optional<ONNX_IndexTensor>:$past_sequence_length,
                       Optional<ONNX_IndexTensor>:$cache_indirection, I64Attr:$num_heads,
                       DefaultValuedAttr<BoolAttr, "false">:$unidirectional,
                       DefaultValuedAttr<F32Attr, "-10000.0f">:$mask_filter_value, OptionalAttr<F32Attr>:$scale);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_FloatTensor>:$present_key,
                      Optional<ONNX_FloatTensor>:$present_value, Optional<ONNX_FloatTensor>:$qk);
  let limits = "no buffers shared between past and present";
}
/// The same with the projection of one input to queries, keys and values.
def ONNX_MicrosoftAttentionOp : ONNX_MicrosoftComposite<"Attention", "microsoftAttention", "microsoftAttention",
                                                        [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$input, ONNX_FloatTensor:$weights, Optional<ONNX_FloatTensor>:$bias,
                       Optional<ONNX_IndexTensor>:$mask_index, Optional<ONNX_FloatTensor>:$past,
                       Optional<ONNX_FloatTensor>:$attention_bias, Optional<ONNX_IndexTensor>:$past_sequence_length,
                       I64Attr:$num_heads, DefaultValuedAttr<BoolAttr, "false">:$unidirectional,
                       OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes,
                       DefaultValuedAttr<F32Attr, "-10000.0f">:$mask_filter_value, OptionalAttr<F32Attr>:$scale,
                       DefaultValuedAttr<BoolAttr, "false">:$do_rotary,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_embedding_dim,
                       DefaultValuedAttr<BoolAttr, "false">:$past_present_share_buffer);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_FloatTensor>:$present);
  let limits = "no rotation, no buffers shared between past and present";
}
/// Attention whose projection is of quantised data: the scales are one, or one for each column of the weights.
def ONNX_MicrosoftQAttentionOp : ONNX_MicrosoftComposite<"QAttention", "microsoftQuantizedAttention",
                                                         "microsoftQuantizedAttention", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_IntTensor:$input, ONNX_IntTensor:$weights, ONNX_FloatTensor:$bias,
                       ONNX_FloatTensor:$input_scale, ONNX_FloatTensor:$weight_scale,
                       Optional<ONNX_IndexTensor>:$mask_index, Optional<ONNX_IntTensor>:$input_zero_point,
                       Optional<ONNX_IntTensor>:$weight_zero_point, Optional<ONNX_FloatTensor>:$past,
                       I64Attr:$num_heads, DefaultValuedAttr<BoolAttr, "false">:$unidirectional,
                       DefaultValuedAttr<F32Attr, "-10000.0f">:$mask_filter_value, OptionalAttr<F32Attr>:$scale,
                       DefaultValuedAttr<BoolAttr, "false">:$do_rotary,
                       DefaultValuedAttr<BoolAttr, "false">:$past_present_share_buffer);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_FloatTensor>:$present);
  let limits = "no rotation, no buffers shared between past and present";
}
/// Attention with fewer heads of keys than of queries. `seqlens_k` is each sample's number of keys less one, new ones
/// included, and the run may decide it; `total_sequence_length` bounds it and decides the size of the present keys.
def ONNX_MicrosoftGroupQueryAttentionOp
    : ONNX_MicrosoftComposite<"GroupQueryAttention", "microsoftGroupQuery", "microsoftGroupQuery"> {
  let arguments = (ins ONNX_FloatTensor:$query, Optional<ONNX_FloatTensor>:$key, Optional<ONNX_FloatTensor>:$value,
                       Optional<ONNX_Tensor>:$past_key, Optional<ONNX_Tensor>:$past_value, ONNX_IndexTensor:$seqlens_k,
                       Optional<ONNX_IndexTensor>:$total_sequence_length_operand, Optional<ONNX_FloatTensor>:$cos_cache,
                       Optional<ONNX_FloatTensor>:$sin_cache, Optional<ONNX_I64Tensor>:$position_ids,
                       Optional<ONNX_FloatTensor>:$attention_bias, Optional<ONNX_FloatTensor>:$head_sink,
                       Optional<ONNX_Tensor>:$k_scale, Optional<ONNX_Tensor>:$v_scale,
                       Optional<ONNX_FloatTensor>:$q_norm_weight, Optional<ONNX_FloatTensor>:$k_norm_weight,
                       Optional<ONNX_IndexTensor>:$query_seqlens, I64Attr:$num_heads, I64Attr:$kv_num_heads,
                       DefaultValuedAttr<BoolAttr, "true">:$causal, OptionalAttr<F32Attr>:$scale,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap,
                       DefaultValuedAttr<I64Attr, "-1">:$local_window_size,
                       DefaultValuedAttr<BoolAttr, "false">:$do_rotary,
                       DefaultValuedAttr<BoolAttr, "false">:$rotary_interleaved,
                       DefaultValuedAttr<BoolAttr, "false">:$smooth_softmax,
                       DefaultValuedAttr<BoolAttr, "false">:$sliding_window_cache,
                       DefaultValuedAttr<I64Attr, "0">:$qk_output, OptionalAttr<I64Attr>:$kv_cache_bit_width,
                       OptionalAttr<StrAttr>:$k_quant_type, OptionalAttr<StrAttr>:$v_quant_type,
                       OptionalAttr<F32Attr>:$qk_norm_epsilon, OptionalAttr<F32Attr>:$q_norm_epsilon,
                       OptionalAttr<F32Attr>:$k_norm_epsilon, OptionalAttr<I64Attr>:$total_sequence_length);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_FloatTensor>:$present_key,
                      Optional<ONNX_FloatTensor>:$present_value, Optional<ONNX_FloatTensor>:$output_qk);
  let canonical = ["total_sequence_length"];
  let moves = [Move<"total_sequence_length_operand", "total_sequence_length">];
  let limits = "a constant bound of the length; several new keys behind a past need constant lengths; no quantised or "
               "evicting cache, no norms of queries, no scores as output";
}
/// RotaryEmbedding by the positions of all elements, or by that of the first.
def ONNX_MicrosoftRotaryEmbeddingOp
    : ONNX_DomainOp<"com.microsoft", "microsoft", "RotaryEmbedding", [1], "sameAsFirst"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_I64Tensor:$position_ids, ONNX_FloatTensor:$cos_cache,
                       ONNX_FloatTensor:$sin_cache, DefaultValuedAttr<BoolAttr, "false">:$interleaved,
                       DefaultValuedAttr<BoolAttr, "false">:$is_packed_batching,
                       DefaultValuedAttr<I64Attr, "0">:$num_heads,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_embedding_dim,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<1000, "microsoftRotary">];
  let limits = "all positions, or a constant first one; no packed batches, no scale";
}
/// The sum of up to three embeddings, normalised; the second result counts the ones in each row of the mask.
def ONNX_MicrosoftEmbedLayerNormalizationOp
    : ONNX_DomainOp<"com.microsoft", "microsoft", "EmbedLayerNormalization", [1], "microsoftEmbed",
                    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins ONNX_IndexTensor:$input_ids, Optional<ONNX_IndexTensor>:$segment_ids,
                       ONNX_FloatTensor:$word_embedding, ONNX_FloatTensor:$position_embedding,
                       Optional<ONNX_FloatTensor>:$segment_embedding, ONNX_FloatTensor:$gamma, ONNX_FloatTensor:$beta,
                       Optional<ONNX_IndexTensor>:$mask, Optional<ONNX_IndexTensor>:$position_ids,
                       DefaultValuedAttr<F32Attr, "1e-12f">:$epsilon, DefaultValuedAttr<I64Attr, "0">:$mask_index_type);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_IndexTensor>:$mask_index,
                      Optional<ONNX_FloatTensor>:$embedding_sum);
}

//===----------------------------------------------------------------------===//
// Quantised data
//===----------------------------------------------------------------------===//

class ONNX_MicrosoftQuantized<string onnxName, string step, list<Trait> traits = [AttrSizedOperandSegments]>
    : ONNX_DomainOp<"com.microsoft", "microsoft", onnxName, [1], "sameAsFirst", traits> {
  let results = (outs ONNX_Tensor:$y);
  let upgrades = [Upgrade<1000, step>];
}

class ONNX_MicrosoftQuantizedBinary<string onnxName, string step> : ONNX_MicrosoftQuantized<onnxName, step> {
  let arguments = (ins ONNX_Tensor:$a, ONNX_FloatTensor:$a_scale, Optional<ONNX_Tensor>:$a_zero_point, ONNX_Tensor:$b,
                       ONNX_FloatTensor:$b_scale, Optional<ONNX_Tensor>:$b_zero_point, ONNX_FloatTensor:$y_scale,
                       Optional<ONNX_Tensor>:$y_zero_point);
}
def ONNX_MicrosoftQLinearAddOp : ONNX_MicrosoftQuantizedBinary<"QLinearAdd", "microsoftQuantizedAdd">;
def ONNX_MicrosoftQLinearMulOp : ONNX_MicrosoftQuantizedBinary<"QLinearMul", "microsoftQuantizedMul">;

def ONNX_MicrosoftQLinearSigmoidOp : ONNX_MicrosoftQuantized<"QLinearSigmoid", "microsoftQuantizedSigmoid"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, Optional<ONNX_Tensor>:$x_zero_point,
                       ONNX_FloatTensor:$y_scale, Optional<ONNX_Tensor>:$y_zero_point);
}
def ONNX_MicrosoftQLinearLeakyReluOp : ONNX_MicrosoftQuantized<"QLinearLeakyRelu", "microsoftQuantizedLeakyRelu"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, Optional<ONNX_Tensor>:$x_zero_point,
                       ONNX_FloatTensor:$y_scale, Optional<ONNX_Tensor>:$y_zero_point,
                       DefaultValuedAttr<F32Attr, "0.01f">:$alpha);
}
/// `opset` says which version of Softmax is meant.
def ONNX_MicrosoftQLinearSoftmaxOp : ONNX_MicrosoftQuantized<"QLinearSoftmax", "microsoftQuantizedSoftmax", []> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, Optional<ONNX_Tensor>:$x_zero_point,
                       ONNX_FloatTensor:$y_scale, ONNX_Tensor:$y_zero_point, OptionalAttr<I64Attr>:$axis, I64Attr:$opset);
}
/// A tensor, a scale and a zero point for each input.
def ONNX_MicrosoftQLinearConcatOp : ONNX_MicrosoftQuantized<"QLinearConcat", "microsoftQuantizedConcat", []> {
  let arguments = (ins ONNX_FloatTensor:$y_scale, ONNX_Tensor:$y_zero_point, Variadic<ONNX_Tensor>:$inputs, I64Attr:$axis);
}
def ONNX_MicrosoftQLinearAveragePoolOp : ONNX_MicrosoftQuantized<"QLinearAveragePool", "microsoftQuantizedPool"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, Optional<ONNX_Tensor>:$x_zero_point,
                       ONNX_FloatTensor:$y_scale, Optional<ONNX_Tensor>:$y_zero_point, DenseI64ArrayAttr:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<StrAttr>:$auto_pad, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$count_include_pad,
                       DefaultValuedAttr<BoolAttr, "false">:$channels_last);
}
def ONNX_MicrosoftQLinearGlobalAveragePoolOp
    : ONNX_MicrosoftQuantized<"QLinearGlobalAveragePool", "microsoftQuantizedGlobalPool", []> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, ONNX_Tensor:$x_zero_point, ONNX_FloatTensor:$y_scale,
                       ONNX_Tensor:$y_zero_point, DefaultValuedAttr<BoolAttr, "false">:$channels_last);
}
def ONNX_MicrosoftQLinearReduceMeanOp : ONNX_MicrosoftQuantized<"QLinearReduceMean", "microsoftQuantizedMean"> {
  let arguments = (ins ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, Optional<ONNX_Tensor>:$x_zero_point,
                       ONNX_FloatTensor:$y_scale, Optional<ONNX_Tensor>:$y_zero_point,
                       OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedAttr<BoolAttr, "true">:$keepdims);
}
def ONNX_MicrosoftQLinearWhereOp : ONNX_MicrosoftQuantized<"QLinearWhere", "microsoftQuantizedWhere", []> {
  let arguments = (ins ONNX_BoolTensor:$condition, ONNX_Tensor:$x, ONNX_FloatTensor:$x_scale, ONNX_Tensor:$x_zero_point,
                       ONNX_Tensor:$other, ONNX_FloatTensor:$other_scale, ONNX_Tensor:$other_zero_point,
                       ONNX_FloatTensor:$y_scale, ONNX_Tensor:$y_zero_point);
}

/// Products of quantised data whose result is real; a zero point or scale of `b` is one, or one for each column.
def ONNX_MicrosoftMatMulIntegerToFloatOp : ONNX_MicrosoftQuantized<"MatMulIntegerToFloat", "microsoftIntegerToFloat"> {
  let arguments = (ins ONNX_IntTensor:$a, ONNX_IntTensor:$b, ONNX_FloatTensor:$a_scale, ONNX_FloatTensor:$b_scale,
                       Optional<ONNX_IntTensor>:$a_zero_point, Optional<ONNX_IntTensor>:$b_zero_point,
                       Optional<ONNX_FloatTensor>:$bias);
}
def ONNX_MicrosoftDynamicQuantizeMatMulOp
    : ONNX_MicrosoftQuantized<"DynamicQuantizeMatMul", "microsoftDynamicMatMul"> {
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_IntTensor:$b, ONNX_FloatTensor:$b_scale,
                       Optional<ONNX_IntTensor>:$b_zero_point, Optional<ONNX_FloatTensor>:$bias);
}
/// Gemm of quantised data; `c` counts in steps of both scales. Without `y_scale` the result is real.
def ONNX_MicrosoftQGemmOp : ONNX_MicrosoftQuantized<"QGemm", "microsoftQuantizedGemm"> {
  let arguments = (ins ONNX_IntTensor:$a, ONNX_FloatTensor:$a_scale, ONNX_IntTensor:$a_zero_point, ONNX_IntTensor:$b,
                       ONNX_FloatTensor:$b_scale, ONNX_IntTensor:$b_zero_point, Optional<ONNX_IntTensor>:$c,
                       Optional<ONNX_FloatTensor>:$y_scale, Optional<ONNX_IntTensor>:$y_zero_point,
                       DefaultValuedAttr<F32Attr, "1.0f">:$alpha, DefaultValuedAttr<BoolAttr, "false">:$transA,
                       DefaultValuedAttr<BoolAttr, "false">:$transB);
}
/// Rows of quantised data, dequantised: blocks along `quantize_axis` have a scale and a zero point. Bytes of data hold
/// 8 or two times 4 bits.
def ONNX_MicrosoftGatherBlockQuantizedOp
    : ONNX_DomainOp<"com.microsoft", "microsoft", "GatherBlockQuantized", [1], "gatherBlockQuantized"> {
  let arguments = (ins ONNX_Tensor:$data, ONNX_IndexTensor:$indices, ONNX_FloatTensor:$scales,
                       Optional<ONNX_Tensor>:$zero_points, DefaultValuedAttr<I64Attr, "0">:$gather_axis,
                       DefaultValuedAttr<I64Attr, "1">:$quantize_axis, DefaultValuedAttr<I64Attr, "128">:$block_size,
                       DefaultValuedAttr<I64Attr, "4">:$bits);
  let results = (outs ONNX_FloatTensor:$y);
  let limits = "blocks that divide the axis";
}
/// LSTM with weights of bytes, [directions, input, 4 · hidden]: what enters a product is quantised first, the whole
/// input in one range, the state in a range of its own at each step. A scale is one for each direction or each column.
def ONNX_MicrosoftDynamicQuantizeLSTMOp
    : ONNX_DomainOp<"com.microsoft", "microsoft", "DynamicQuantizeLSTM", [1], "recurrent",
                    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_IntTensor:$w, ONNX_IntTensor:$r, Optional<ONNX_FloatTensor>:$b,
                       Optional<TensorOf<[I32]>>:$sequence_lens, Optional<ONNX_FloatTensor>:$initial_h,
                       Optional<ONNX_FloatTensor>:$initial_c, Optional<ONNX_FloatTensor>:$p, ONNX_FloatTensor:$w_scale,
                       ONNX_IntTensor:$w_zero_point, ONNX_FloatTensor:$r_scale, ONNX_IntTensor:$r_zero_point,
                       OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<F32Attr>:$clip,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction, OptionalAttr<I64Attr>:$hidden_size,
                       DefaultValuedAttr<BoolAttr, "false">:$input_forget);
  let results = (outs Optional<ONNX_FloatTensor>:$y, Optional<ONNX_FloatTensor>:$y_h, Optional<ONNX_FloatTensor>:$y_c);
  let limits = "sequences that are unrolled (at most 128 steps)";
}

#endif
