//===- Normalization.td - ONNX normalisations and composites --------------===//
//
// Owns batch, layer, instance, group and RMS normalisation, LRN, the softmax family and Dropout. Training forms are
// refused by the importer.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_NORMALIZATION
#define TRN_DIALECTS_ONNX_OPS_NORMALIZATION

include "dialects/ONNX/Ops/Base.td"

/// `y = (x - mean) / sqrt(var + epsilon) * scale + b` per channel (dimension 1). In training mode, mean and variance are
/// the batch's, and the running ones move towards them; `onnx-decompose` writes that out.
def ONNX_BatchNormalizationOp : ONNX_Op<"BatchNormalization", [1, 6, 7, 9, 14, 15], "batchNormalization",
                                             [AttrSizedResultSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, ONNX_FloatTensor:$b, ONNX_FloatTensor:$mean,
                       ONNX_FloatTensor:$var, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon,
                       DefaultValuedAttr<F32Attr, "0.9f">:$momentum,
                       DefaultValuedAttr<BoolAttr, "false">:$training_mode);
  let results = (outs ONNX_FloatTensor:$y, Optional<ONNX_FloatTensor>:$running_mean,
                      Optional<ONNX_FloatTensor>:$running_var);
  let attributesFrom = [From<"training_mode", 14>];
  let legacy = [ONNX_ConsumedInputs, Legacy<"is_test", "INT", 7>, Legacy<"spatial", "INT", 9>];
  let upgrades = [Upgrade<14, "batchNormalizationModes">];
  let limits = "one value for each channel (spatial = 1)";
  let counted = "items";
}

/// Normalises over the dimensions from `axis` on.
def ONNX_LayerNormalizationOp : ONNX_Op<"LayerNormalization", [17], "layerNormalization", [AttrSizedResultSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, Optional<ONNX_FloatTensor>:$b,
                       DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_FloatTensor:$y, Optional<ONNX_FloatTensor>:$mean, Optional<ONNX_FloatTensor>:$inv_std_dev);
  let counted = "fromAxis";
}

def ONNX_RMSNormalizationOp : ONNX_Op<"RMSNormalization", [23], "rmsNormalization"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "fromAxis";
}

def ONNX_InstanceNormalizationOp : ONNX_Op<"InstanceNormalization", [1, 6, 22], "channelNormalization"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, ONNX_FloatTensor:$b,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon);
  let results = (outs ONNX_FloatTensor:$y);
  let legacy = [ONNX_ConsumedInputs];
  let counted = "items";
}

/// Scale and bias per channel (version 21); version 18, with them per group, was withdrawn by the standard.
def ONNX_GroupNormalizationOp : ONNX_Op<"GroupNormalization", [21], "channelNormalization"> {
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, ONNX_FloatTensor:$b, I64Attr:$num_groups,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}

def ONNX_LRNOp : ONNX_Op<"LRN", [1, 13], "localResponse"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "0.0001f">:$alpha,
                       DefaultValuedAttr<F32Attr, "0.75f">:$beta, DefaultValuedAttr<F32Attr, "1.0f">:$bias,
                       I64Attr:$size);
  let results = (outs ONNX_FloatTensor:$y);
  let counted = "items";
}

/// Along one axis. Before version 13 the dimensions from `axis` on are one: the importer flattens.
class ONNX_SoftmaxLike<string onnxName> : ONNX_Op<onnxName, [1, 11, 13], "alongAxis"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<13, "softmaxFlattens">];
  let counted = "softmax";
}
def ONNX_SoftmaxOp : ONNX_SoftmaxLike<"Softmax">;
def ONNX_LogSoftmaxOp : ONNX_SoftmaxLike<"LogSoftmax">;
def ONNX_HardmaxOp : ONNX_SoftmaxLike<"Hardmax">;

def ONNX_LpNormalizationOp : ONNX_Op<"LpNormalization", [1, 22], "alongAxis"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<I64Attr, "2">:$p);
  let results = (outs ONNX_FloatTensor:$y);
}

def ONNX_MeanVarianceNormalizationOp : ONNX_Op<"MeanVarianceNormalization", [9, 13], "meanVariance"> {
  let arguments = (ins ONNX_FloatTensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs ONNX_FloatTensor:$y);
}

/// In inference, and with a ratio of 0, the identity with a mask that is all true; anything else is random, by the seed.
def ONNX_DropoutOp : ONNX_Op<"Dropout", [1, 6, 7, 10, 12, 13, 22], "dropout", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$ratio_operand,
                       Optional<ONNX_BoolTensor>:$training_mode_operand, OptionalAttr<F32Attr>:$ratio,
                       OptionalAttr<BoolAttr>:$training_mode, OptionalAttr<I64Attr>:$seed);
  let results = (outs ONNX_FloatTensor:$y, Optional<ONNX_Tensor>:$mask);
  let operandsFrom = [From<"ratio_operand", 12>, From<"training_mode_operand", 12>];
  let attributesFrom = [From<"seed", 12>];
  let attributesUntil = [Until<"ratio", 12>];
  let canonical = ["training_mode"];
  let moves = [Move<"ratio_operand", "ratio", 1>, Move<"training_mode_operand", "training_mode">];
  let legacy = [ONNX_ConsumedInputs, Legacy<"is_test", "INT", 7>];
  let upgrades = [Upgrade<1000, "dropoutSeed">, Upgrade<10, "dropoutModes">];
  let limits = "in training the same elements in every run";
  let counted = "elementwise";
}

#endif
