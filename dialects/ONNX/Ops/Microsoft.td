//===- Microsoft.td - operators of ONNX Runtime's own domain --------------===//
//
// Owns the operators of com.microsoft that ONNX Runtime's optimiser and exporters write into files. The importer builds
// the standard's operators for each (compiler/Import/Microsoft.cpp): no operation of theirs reaches a pass.
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
}
def ONNX_MicrosoftBiasGeluOp : ONNX_MicrosoftOp<"BiasGelu", "microsoftGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$bias);
}
/// With tanh.
def ONNX_MicrosoftFastGeluOp : ONNX_MicrosoftOp<"FastGelu", "microsoftFastGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, Optional<ONNX_FloatTensor>:$bias);
}
/// `x * sigmoid(alpha * x)`
def ONNX_MicrosoftQuickGeluOp : ONNX_MicrosoftOp<"QuickGelu", "microsoftQuickGelu"> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.702f">:$alpha);
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
  let arguments = (ins ONNX_FloatTensor:$x, ONNX_FloatTensor:$scale, DefaultValuedAttr<I64Attr, "-1">:$axis, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_FloatTensor:$y);
  let upgrades = [Upgrade<1000, "microsoftSimplifiedNorm">];
  let limits = "no deviation as output";
}

/// MatMul with matrices transposed first, and a factor.
def ONNX_MicrosoftFusedMatMulOp : ONNX_MicrosoftOp<"FusedMatMul", "microsoftFusedMatMul"> {
  let arguments = (ins ONNX_FloatTensor:$a, ONNX_FloatTensor:$b, DefaultValuedAttr<F32Attr, "1.0f">:$alpha, DefaultValuedAttr<BoolAttr, "false">:$transA,
                       DefaultValuedAttr<BoolAttr, "false">:$transB,
                       DefaultValuedAttr<BoolAttr, "false">:$transBatchA,
                       DefaultValuedAttr<BoolAttr, "false">:$transBatchB);
  let limits = "no transposed batches";
}

#endif
