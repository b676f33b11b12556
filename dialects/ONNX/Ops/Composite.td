//===- Composite.td - ONNX operators made of others -----------------------===//
//
// Owns operators that the standard defines by a function of others: the attention family, the losses, and the
// optimisers of ai.onnx.preview.training; and random numbers, which become constants. `onnx-decompose` writes them out; none reaches the lowering to linalg.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_COMPOSITE
#define TRN_DIALECTS_ONNX_OPS_COMPOSITE

include "dialects/ONNX/Ops/Base.td"

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Scaled dot-product attention: Q, K, V are [batch, heads, sequence, size], or [batch, sequence, heads · size] with the
/// numbers of heads as attributes. A row that may attend nothing gives zeros (the standard's correction of 2026).
def ONNX_AttentionOp : ONNX_Op<"Attention", [23, 24, 25], "attention",
                               [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let unpinned = [25];
  let arguments = (ins ONNX_FloatTensor:$q, ONNX_FloatTensor:$k, ONNX_FloatTensor:$v,
                       Optional<ONNX_Tensor>:$attn_mask, Optional<ONNX_FloatTensor>:$past_key,
                       Optional<ONNX_FloatTensor>:$past_value, Optional<ONNX_I64Tensor>:$nonpad_kv_seqlen,
                       DefaultValuedAttr<BoolAttr, "false">:$is_causal, OptionalAttr<I64Attr>:$q_num_heads,
                       OptionalAttr<I64Attr>:$kv_num_heads, DefaultValuedAttr<I64Attr, "0">:$qk_matmul_output_mode,
                       OptionalAttr<F32Attr>:$scale, DefaultValuedAttr<F32Attr, "0.0f">:$softcap,
                       OptionalAttr<TypeAttr>:$softmax_precision,
                       DefaultValuedAttr<I64Attr, "-1">:$left_window_size,
                       DefaultValuedAttr<I64Attr, "-1">:$right_window_size);
  let results = (outs ONNX_FloatTensor:$y, Optional<ONNX_FloatTensor>:$present_key,
                      Optional<ONNX_FloatTensor>:$present_value, Optional<ONNX_FloatTensor>:$qk_matmul_output);
  let operandsFrom = [From<"nonpad_kv_seqlen", 24>];
  let attributesFrom = [From<"left_window_size", 25>, From<"right_window_size", 25>];
}

/// Attention with bodies that change all scores before the softmax, and all weights behind it. Inference inlines them.
def ONNX_FlexAttentionOp : ONNX_DomainOp<"ai.onnx.preview", "preview", "FlexAttention", [1], "flexAttention"> {
  let arguments = (ins ONNX_FloatTensor:$q, ONNX_FloatTensor:$k, ONNX_FloatTensor:$v, OptionalAttr<F32Attr>:$scale,
                       OptionalAttr<TypeAttr>:$softmax_precision);
  let results = (outs ONNX_FloatTensor:$y);
  let regions = (region AnyRegion:$prob_mod, AnyRegion:$score_mod);
  let extraClassDeclaration = [{
    /// Whether a body is there: one that is read from text without operations is not.
    static bool isGiven(::mlir::Region &body) { return !body.empty() && !body.front().empty(); }
  }];
  let assemblyFormat = "`(` operands `)` regions attr-dict `:` functional-type(operands, results)";
}

/// Rotates pairs of elements by position: halves of the head, or neighbours when `interleaved`.
def ONNX_RotaryEmbeddingOp : ONNX_Op<"RotaryEmbedding", [23], "rotaryEmbedding"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$cos_cache, ONNX_FloatTensor:$sin_cache,
                       Optional<ONNX_I64Tensor>:$position_ids, DefaultValuedAttr<BoolAttr, "false">:$interleaved,
                       DefaultValuedAttr<I64Attr, "0">:$num_heads, DefaultValuedAttr<I64Attr, "0">:$rotary_embedding_dim);
  let results = (outs ONNX_FloatTensor:$y);
}

/// A recurrence over the sequence with one matrix of state per head; unrolled like the recurrent layers.
def ONNX_LinearAttentionOp : ONNX_Op<"LinearAttention", [27], "linearAttention", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$query, ONNX_FloatTensor:$key, ONNX_FloatTensor:$value,
                       Optional<ONNX_FloatTensor>:$past_state, Optional<ONNX_FloatTensor>:$decay,
                       Optional<ONNX_FloatTensor>:$beta, I64Attr:$q_num_heads, I64Attr:$kv_num_heads,
                       DefaultValuedAttr<F32Attr, "0.0f">:$scale,
                       DefaultValuedStrAttr<StrAttr, "gated_delta">:$update_rule,
                       DefaultValuedAttr<I64Attr, "64">:$chunk_size);
  let results = (outs ONNX_FloatTensor:$output, ONNX_FloatTensor:$present_state);
}

/// A depthwise convolution that sees the past only, and carries its last `k - 1` positions on.
def ONNX_CausalConvWithStateOp : ONNX_Op<"CausalConvWithState", [27], "causalConv", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$w, Optional<ONNX_FloatTensor>:$b,
                       Optional<ONNX_FloatTensor>:$past_state, DefaultValuedStrAttr<StrAttr, "none">:$activation);
  let results = (outs ONNX_FloatTensor:$y, ONNX_FloatTensor:$present_state);
}

/// Writes `update` into the cache from a row on that may differ between samples.
def ONNX_TensorScatterOp : ONNX_Op<"TensorScatter", [24], "tensorScatter"> {
  let arguments = (ins ONNX_Tensor:$past_cache, ONNX_Tensor:$update, Optional<ONNX_I64Tensor>:$write_indices,
                       DefaultValuedAttr<I64Attr, "-2">:$axis, DefaultValuedStrAttr<StrAttr, "linear">:$mode);
  let results = (outs ONNX_Tensor:$present_cache);
}

def ONNX_SwiGLUOp : ONNX_Op<"SwiGLU", [28], "sameAsFirst"> {
  let unpinned = [28];
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_FloatTensor:$b, DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs ONNX_FloatTensor:$y);
}

/// Where each pixel of an image of this size samples another one that an affine map moves it to; images are
/// [-1, 1] wide, from edge to edge or, with `align_corners`, from middle to middle.
def ONNX_AffineGridOp : ONNX_Op<"AffineGrid", [20], "affineGrid"> {
  let arguments = (ins ONNX_FloatTensor:$theta, Optional<ONNX_I64Tensor>:$size_operand,
                       OptionalAttr<DenseI64ArrayAttr>:$size, DefaultValuedAttr<BoolAttr, "false">:$align_corners);
  let results = (outs ONNX_FloatTensor:$grid);
  let canonical = ["size"];
  let moves = [Move<"size_operand", "size">];
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Classes are dimension 1. `ignore_index` marks targets without a loss.
def ONNX_NegativeLogLikelihoodLossOp : ONNX_Op<"NegativeLogLikelihoodLoss", [12, 13, 22], "likelihoodLoss"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_IndexTensor:$target, Optional<ONNX_FloatTensor>:$weight,
                       OptionalAttr<I64Attr>:$ignore_index, DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs ONNX_FloatTensor:$loss);
}
def ONNX_SoftmaxCrossEntropyLossOp : ONNX_Op<"SoftmaxCrossEntropyLoss", [12, 13], "likelihoodLoss"> {
  let arguments = (ins ONNX_FloatTensor:$scores, ONNX_IndexTensor:$labels, Optional<ONNX_FloatTensor>:$weights,
                       OptionalAttr<I64Attr>:$ignore_index, DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs ONNX_FloatTensor:$output, Optional<ONNX_FloatTensor>:$log_prob);
}

//===----------------------------------------------------------------------===//
// Optimisers
//===----------------------------------------------------------------------===//

/// The learning rate, the number of updates so far, then groups of as many tensors each: parameters, gradients, and the
/// optimiser's states. The results are the new parameters and states.
class ONNX_Optimizer<string onnxName> : ONNX_DomainOp<"ai.onnx.preview.training", "training", onnxName, [1],
                                                      "optimizer"> {
  let results = (outs Variadic<ONNX_FloatTensor>:$outputs);
}
def ONNX_AdagradOp : ONNX_Optimizer<"Adagrad"> {
  let arguments = (ins ONNX_FloatTensor:$rate, ONNX_I64Tensor:$count, Variadic<ONNX_FloatTensor>:$tensors,
                       DefaultValuedAttr<F32Attr, "0.0f">:$decay_factor, DefaultValuedAttr<F32Attr, "1e-06f">:$epsilon,
                       DefaultValuedAttr<F32Attr, "0.0f">:$norm_coefficient);
}
def ONNX_AdamOp : ONNX_Optimizer<"Adam"> {
  let arguments = (ins ONNX_FloatTensor:$rate, ONNX_I64Tensor:$count, Variadic<ONNX_FloatTensor>:$tensors,
                       DefaultValuedAttr<F32Attr, "0.9f">:$alpha, DefaultValuedAttr<F32Attr, "0.999f">:$beta,
                       DefaultValuedAttr<F32Attr, "1e-06f">:$epsilon,
                       DefaultValuedAttr<F32Attr, "0.0f">:$norm_coefficient,
                       DefaultValuedAttr<F32Attr, "0.0f">:$norm_coefficient_post);
}
/// `mode` is "standard" or "nesterov".
def ONNX_MomentumOp : ONNX_Optimizer<"Momentum"> {
  let arguments = (ins ONNX_FloatTensor:$rate, ONNX_I64Tensor:$count, Variadic<ONNX_FloatTensor>:$tensors,
                       F32Attr:$alpha, F32Attr:$beta, StrAttr:$mode, F32Attr:$norm_coefficient);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// What a node draws follows from its seed alone; the importer gives those without one a seed of their own.
class ONNX_Random<string onnxName, list<int> since, string rule> : ONNX_Op<onnxName, since, rule> {
  let upgrades = [Upgrade<1000, "randomSeed">];
  let limits = "the same numbers in every run and in every step of a loop, other ones than ONNX Runtime's";
}
class ONNX_RandomOf<string onnxName, string rule, dag inputs, dag parameters> : ONNX_Random<onnxName, [1, 22], rule> {
  let arguments = !con(inputs, parameters, (ins OptionalAttr<F32Attr>:$seed));
  let results = (outs ONNX_FloatTensor:$y);
}
defvar ONNX_NormalParameters = (ins DefaultValuedAttr<F32Attr, "0.0f">:$mean, DefaultValuedAttr<F32Attr, "1.0f">:$scale);
defvar ONNX_UniformParameters = (ins DefaultValuedAttr<F32Attr, "0.0f">:$low, DefaultValuedAttr<F32Attr, "1.0f">:$high);
defvar ONNX_RandomShape = (ins DenseI64ArrayAttr:$shape, OptionalAttr<TypeAttr>:$dtype);
defvar ONNX_RandomLike = (ins ONNX_Tensor:$x, OptionalAttr<TypeAttr>:$dtype);
def ONNX_RandomNormalOp : ONNX_RandomOf<"RandomNormal", "randomShape", ONNX_RandomShape, ONNX_NormalParameters>;
def ONNX_RandomUniformOp : ONNX_RandomOf<"RandomUniform", "randomShape", ONNX_RandomShape, ONNX_UniformParameters>;
def ONNX_RandomNormalLikeOp : ONNX_RandomOf<"RandomNormalLike", "randomLike", ONNX_RandomLike, ONNX_NormalParameters>;
def ONNX_RandomUniformLikeOp : ONNX_RandomOf<"RandomUniformLike", "randomLike", ONNX_RandomLike, ONNX_UniformParameters>;

/// 1 with the probability that the operand has, 0 otherwise.
def ONNX_BernoulliOp : ONNX_Random<"Bernoulli", [15, 22], "randomLike"> {
  let arguments = (ins ONNX_FloatTensor:$x, OptionalAttr<TypeAttr>:$dtype, OptionalAttr<F32Attr>:$seed);
  let results = (outs ONNX_Tensor:$y);
}
/// Classes by their logarithmic probabilities, which need not add up: [batch, classes] to [batch, samples].
def ONNX_MultinomialOp : ONNX_Random<"Multinomial", [7, 22], "multinomial"> {
  let arguments = (ins ONNX_FloatTensor:$x, OptionalAttr<TypeAttr>:$dtype, DefaultValuedAttr<I64Attr, "1">:$sample_size,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs ONNX_IndexTensor:$y);
}

#endif
