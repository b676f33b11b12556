//===- Contraction.td - ONNX operators that multiply and accumulate -------===//
//
// Owns MatMul, Gemm and Einsum. Integer matrix products of the quantised kind are refused.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_CONTRACTION
#define TRN_DIALECTS_ONNX_OPS_CONTRACTION

include "dialects/ONNX/Ops/Base.td"

def ONNX_MatMulOp : ONNX_Op<"MatMul", [1, 9, 13], "matMul"> {
  let arguments = (ins ONNX_NumTensor:$a, ONNX_NumTensor:$b);
  let results = (outs ONNX_NumTensor:$y);
  let counted = "matMul";
}

def ONNX_GemmOp : ONNX_Op<"Gemm", [1, 6, 7, 9, 11, 13], "gemm"> {
  let arguments = (ins ONNX_NumTensor:$a, ONNX_NumTensor:$b, Optional<ONNX_NumTensor>:$c,
                       DefaultValuedAttr<F32Attr, "1.0f">:$alpha, DefaultValuedAttr<F32Attr, "1.0f">:$beta,
                       DefaultValuedAttr<BoolAttr, "false">:$transA, DefaultValuedAttr<BoolAttr, "false">:$transB);
  let results = (outs ONNX_NumTensor:$y);
  // Without it, `c` has the result's shape: a broadcast that does nothing.
  let legacy = [Legacy<"broadcast", "INT", 7>];
  let counted = "gemm";
}

/// After inference the equation has letters only. `onnx-decompose` takes diagonals, and more than two terms two by two.
def ONNX_EinsumOp : ONNX_Op<"Einsum", [12], "einsum"> {
  let arguments = (ins Variadic<ONNX_NumTensor>:$inputs, StrAttr:$equation);
  let results = (outs ONNX_NumTensor:$y);
}

/// A library kernel: elimination chooses its pivots by data.
def ONNX_DetOp : ONNX_Op<"Det", [11, 22], "det"> {
  let arguments = (ins ONNX_FloatTensor:$x);
  let results = (outs ONNX_FloatTensor:$y);
  let library = "library_det";
  let limits = "float and double";
}

#endif
