//===- Weight.td - constants ----------------------------------------------===//
//
// Owns `onnx.weight`, the one form of a constant: initializers, Constant nodes and folded values.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_WEIGHT
#define TRN_DIALECTS_ONNX_OPS_WEIGHT

include "dialects/ONNX/Ops/Base.td"

def ONNX_WeightOp : Op<ONNX_Dialect, "weight", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant tensor";
  let description = [{
    Small values and splats are `dense<…>`; large ones are `dense_resource<…>`, whose blob points into the mapped model
    file and is neither copied nor hashed. Elements of a blob are little endian, one byte per bool, row-major, and may
    be unaligned: read them through `compiler/Weights/Constant.h`.

    ```mlir
    %0 = onnx.weight dense<[1, 64]> : tensor<2xi64>
    %1 = onnx.weight dense_resource<conv1.weight> : tensor<64x3x7x7xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs ONNX_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value),
                            [{ build($_builder, $_state, ::mlir::cast<::mlir::ShapedType>(value.getType()), value); }]>];
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

#endif
