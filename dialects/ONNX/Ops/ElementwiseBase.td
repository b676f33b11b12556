//===- ElementwiseBase.td - classes of elementwise records ----------------===//
//
// Owns the classes that the elementwise families share: one operand, or two with numpy broadcasting. Before version 7
// the second operand is broadcast only where the attribute `broadcast` says so, from dimension `axis` on.
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
  let counted = "elementwise";
  let legacy = [ONNX_ConsumedInputs];
}

defvar ONNX_BroadcastAttributes = [Legacy<"broadcast", "INT", 7>, Legacy<"axis", "INT", 7>];

class ONNX_Binary<string onnxName, list<int> since, string floatOp = "", string intOp = "", string uintOp = intOp,
                  TypeConstraint type = ONNX_NumTensor> : ONNX_Op<onnxName, since, "broadcast"> {
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$c);
  let floatScalar = floatOp;
  let intScalar = intOp;
  let uintScalar = uintOp;
  let counted = "elementwise";
  let legacy = ONNX_BroadcastAttributes;
  let upgrades = [Upgrade<7, "broadcastByAttribute">];
}
class ONNX_Arithmetic<string onnxName, list<int> since, string floatOp, string intOp, string uintOp = intOp>
    : ONNX_Binary<onnxName, since, floatOp, intOp, uintOp> {
  let legacy = !listconcat(ONNX_BroadcastAttributes, [ONNX_ConsumedInputs]);
}

#endif
