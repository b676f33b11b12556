//===- ElementwiseBase.td - classes of elementwise records ----------------===//
//
// Owns the classes that the elementwise families share: one operand, or two with numpy broadcasting.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_ELEMENTWISEBASE
#define TRN_DIALECTS_ONNX_OPS_ELEMENTWISEBASE

include "dialects/ONNX/Ops/Base.td"

class ONNX_Unary<string onnxName, list<int> since, string floatOp = "", string intOp = "", string uintOp = intOp,
                 TypeConstraint type = ONNX_FloatTensor> : ONNX_Op<onnxName, since, "sameAsFirst"> {
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let floatScalar = floatOp;
  let intScalar = intOp;
  let uintScalar = uintOp;
}

class ONNX_Binary<string onnxName, list<int> since, string floatOp = "", string intOp = "", string uintOp = intOp,
                  TypeConstraint type = ONNX_NumTensor> : ONNX_Op<onnxName, since, "broadcast"> {
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$c);
  let floatScalar = floatOp;
  let intScalar = intOp;
  let uintScalar = uintOp;
}

#endif
