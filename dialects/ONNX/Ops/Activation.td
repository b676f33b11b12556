//===- Activation.td - ONNX activation functions --------------------------===//
//
// Owns the elementwise functions that networks use as activations, parametric ones included.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_ACTIVATION
#define TRN_DIALECTS_ONNX_OPS_ACTIVATION

include "dialects/ONNX/Ops/ElementwiseBase.td"

def ONNX_ReluOp : ONNX_Unary<"Relu", [1, 6, 13, 14], "", "", "", ONNX_NumTensor> {
  let floatFormula = (max $x, 0);
  let intFormula = (maxInt $x, 0);
  let uintFormula = (or $x, 0); // never negative: itself
}
def ONNX_SoftplusOp : ONNX_Unary<"Softplus", [1, 22], "trn.scalar.softplus"> { let legacy = []; }
def ONNX_SoftsignOp : ONNX_Unary<"Softsign", [1, 22]> {
  let legacy = [];
  let floatFormula = (div $x, (add 1, (abs $x)));
}
def ONNX_MishOp : ONNX_Unary<"Mish", [18, 22], "trn.scalar.mish">;
def ONNX_HardSwishOp : ONNX_Unary<"HardSwish", [14, 22]> {
  let floatFormula = (mul $x, (max (min (add (mul $x, (div 1, 6)), "0.5"), 1), 0));
  let accuracy = Accuracy<"2", "1">; // terms cancel
}
def ONNX_LeakyReluOp : ONNX_Unary<"LeakyRelu", [1, 6, 16]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "0.01f">:$alpha);
  let floatFormula = (select (lt $x, 0), (mul $x, $alpha), $x);
}
def ONNX_EluOp : ONNX_Unary<"Elu", [1, 6, 22]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
  let floatFormula = (select (lt $x, 0), (mul (sub (exp (min $x, 0)), 1), $alpha), $x);
  let accuracy = Accuracy<"2", "1">; // terms cancel
}
def ONNX_SeluOp : ONNX_Unary<"Selu", [1, 6, 22]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.67326319217681884765625f">:$alpha,
                       DefaultValuedAttr<F32Attr, "1.05070102214813232421875f">:$gamma);
  let upgrades = [Upgrade<6, "seluRoundedDefaults">];
  let floatFormula = (select (gt $x, 0), (mul $x, $gamma), (mul (sub (exp (min $x, 0)), 1), (mul $alpha, $gamma)));
  let accuracy = Accuracy<"2", "1">; // terms cancel
}
def ONNX_CeluOp : ONNX_Unary<"Celu", [12, 28]> {
  let unpinned = [28];
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
  let floatFormula = (add (max $x, 0), (min (mul $alpha, (sub (exp (div $x, $alpha)), 1)), 0));
  let accuracy = Accuracy<"2", "1">; // terms cancel
}
def ONNX_HardSigmoidOp : ONNX_Unary<"HardSigmoid", [1, 6, 22]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "0.2f">:$alpha,
                       DefaultValuedAttr<F32Attr, "0.5f">:$beta);
  let floatFormula = (max (min (add (mul $x, $alpha), $beta), 1), 0);
  let accuracy = Accuracy<"2", "1">; // terms cancel
}
def ONNX_ThresholdedReluOp : ONNX_Unary<"ThresholdedRelu", [10, 22]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
  let floatFormula = (select (gt $x, $alpha), $x, 0);
}
def ONNX_SwishOp : ONNX_Unary<"Swish", [24]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedAttr<F32Attr, "1.0f">:$alpha);
}
/// `approximate` is "none" (with erf) or "tanh".
def ONNX_GeluOp : ONNX_Unary<"Gelu", [20]> {
  let arguments = (ins ONNX_FloatTensor:$x, DefaultValuedStrAttr<StrAttr, "none">:$approximate);
}
def ONNX_ShrinkOp : ONNX_Unary<"Shrink", [9], "", "", "", ONNX_NumTensor> {
  let arguments = (ins ONNX_NumTensor:$x, DefaultValuedAttr<F32Attr, "0.0f">:$bias,
                       DefaultValuedAttr<F32Attr, "0.5f">:$lambd);
  let floatFormula = (select (lt $x, (neg $lambd)), (add $x, $bias), (select (gt $x, $lambd), (sub $x, $bias), 0));
}
/// The slope broadcasts to the operand; before version 7 it has one value, or one for each channel.
def ONNX_PReluOp : ONNX_Binary<"PRelu", [1, 6, 7, 9, 16]> {
  let shape = "prelu";
  let legacy = [ONNX_ConsumedInputs];
  let upgrades = [Upgrade<7, "preluPerChannel">];
  let floatFormula = (select (lt $a, 0), (mul $a, $b), $a);
  let intFormula = (select (ltInt $a, 0), (mulInt $a, $b), $a);
  let uintFormula = (or $a, 0); // never negative: itself
}

#endif
