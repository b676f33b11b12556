//===- Learning.td - operators of ai.onnx.ml ------------------------------===//
//
// Owns what converters of classical machine learning write: scaled and normalised rows.
// The importer builds the standard's operators (compiler/Import/Learning.cpp): none of these operations is left.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_LEARNING
#define TRN_DIALECTS_ONNX_OPS_LEARNING

include "dialects/ONNX/Ops/Base.td"

class ONNX_LearningOp<string onnxName, list<int> since, string step, list<Trait> traits = []>
    : ONNX_DomainOp<"ai.onnx.ml", "ml", onnxName, since, "sameAsFirst", traits> {
  let results = (outs ONNX_NumTensor:$y);
  let upgrades = [Upgrade<1000, step>];
}

/// Elements of the last dimension.
def ONNX_ArrayFeatureExtractorOp : ONNX_LearningOp<"ArrayFeatureExtractor", [1], "arrayFeatureExtractor"> {
  let arguments = (ins ONNX_NumTensor:$x, ONNX_I64Tensor:$indices);
}
/// `(x - offset) * scale`
def ONNX_ScalerOp : ONNX_LearningOp<"Scaler", [1], "scaler"> {
  let arguments = (ins ONNX_NumTensor:$x, OptionalAttr<DenseF32ArrayAttr>:$scale, OptionalAttr<DenseF32ArrayAttr>:$offset);
}
/// Rows divided by their norm.
def ONNX_NormalizerOp : ONNX_LearningOp<"Normalizer", [1], "normalizer"> {
  let arguments = (ins ONNX_NumTensor:$x, DefaultValuedStrAttr<StrAttr, "MAX">:$norm);
}

#endif
