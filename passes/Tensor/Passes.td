//===- Passes.td - passes of stage tensor ---------------------------------===//
//
// Owns the declarations and documentation of the passes between stage `graph` and stage `tensor`.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_PASSES_TENSOR_PASSES
#define TRN_PASSES_TENSOR_PASSES

include "mlir/Pass/PassBase.td"

def OnnxToLinalgPass : Pass<"onnx-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower ONNX operations to linalg on tensors";
  let description = [{
    **Contract in**: stage `graph` (static ranked types, normalised attributes). **Contract out**: the only operation of the
    onnx dialect is `onnx.weight`; every structured operation is a map, a reduction or a sum of products; locations are
    those of the ONNX operations.

    An elementwise operator whose record names one scalar operation for its element type becomes a map with that
    operation; every other operator has one function in passes/Tensor/OnnxToLinalg. All operations that have no lowering
    are reported in one run.

    **Example**
    ```mlir
    %y = onnx.Sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // →
    %e = tensor.empty() : tensor<4x8xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = trn.scalar sigmoid %in : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    ```
    **Not done**: control flow; results whose size depends on data.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::trn::ir::TrnDialect",
                           "::trn::onnx::ONNXDialect"];
}

def FuseElementwisePass : Pass<"tensor-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse maps into the maps that use them";
  let description = [{
    **Contract in**, **out**: stage `tensor`. A map is fused into a map that uses it when it has one user, or when it is
    cheap (at most `max-cheap-ops` scalar operations, none of them a function of math or trn.scalar) and computing it
    again saves a tensor. Contractions and reductions keep their inputs: the layout decides what they are fed with.

    **Example**: an addition of a bias, then a ReLU
    ```mlir
    %0 = linalg.generic … { %s = arith.addf %in, %b : f32 linalg.yield %s : f32 }
    %1 = linalg.generic … ins(%0) { %m = arith.maximumf %in, %zero : f32 linalg.yield %m : f32 }
    // →
    %1 = linalg.generic … { %s = arith.addf %in, %b : f32  %m = arith.maximumf %s, %zero : f32  linalg.yield %m : f32 }
    ```
    **Not done**: fusing producers of several results; duplicating work that is not cheap.
  }];
  let options = [Option<"maxCheapOps", "max-cheap-ops", "unsigned", "2",
                        "scalar operations that may be computed twice (an affine scale and shift)">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif
