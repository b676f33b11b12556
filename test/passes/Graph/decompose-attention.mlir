// RUN: trn-opt %s --onnx-decompose --onnx-infer-fold --split-input-file | %FileCheck %s

// Four query heads over two key heads: the heads of a group are rows of one product, and nothing is repeated.
// CHECK-LABEL: func @grouped_heads
// CHECK: %[[Q:.*]] = onnx.Reshape(%{{.*}}) {shape = array<i64: 1, 2, 6, 8>}
// CHECK: %[[K:.*]] = onnx.Transpose(%arg1) {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[S:.*]] = onnx.MatMul(%[[Q]], %[[K]]) : (tensor<1x2x6x8xf32>, tensor<1x2x8x5xf32>)
// CHECK: %[[SCORES:.*]] = onnx.Reshape(%[[S]]) {shape = array<i64: 1, 4, 3, 5>}
// CHECK: %[[P:.*]] = onnx.Softmax(%[[SCORES]]) {axis = 3 : i64}
// CHECK: %[[ROWS:.*]] = onnx.Reshape(%[[P]]) {shape = array<i64: 1, 2, 6, 5>}
// CHECK: onnx.MatMul(%[[ROWS]], %arg2) : (tensor<1x2x6x5xf32>, tensor<1x2x5x7xf32>)
// CHECK-NOT: onnx.Where
func.func @grouped_heads(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>) -> tensor<1x4x3x7xf32> {
  %y = onnx.Attention(%q, %k, %v) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>} : (tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>) -> tensor<1x4x3x7xf32>
  return %y : tensor<1x4x3x7xf32>
}

// -----

// Queries behind a past of one key, causal, seeing the key before: the mask is a constant.
// CHECK-LABEL: func @causal_window
// CHECK: onnx.weight dense<{{\[\[}}true, true, false], [false, true, true]]> : tensor<2x3xi1>
// CHECK: %[[K:.*]] = onnx.Concat(%arg3, %arg1) {axis = 2 : i64}
// CHECK: onnx.Where
// CHECK: return %{{.*}}, %[[K]]
func.func @causal_window(%q: tensor<1x1x2x4xf32>, %k: tensor<1x1x2x4xf32>, %v: tensor<1x1x2x4xf32>, %pk: tensor<1x1x1x4xf32>, %pv: tensor<1x1x1x4xf32>) -> (tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32>) {
  %y, %present = onnx.Attention(%q, %k, %v, %pk, %pv) {is_causal = true, left_window_size = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> (tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32>)
  return %y, %present : tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32>
}

// -----

// A mask of bools that ends early masks the rest out, and a row that may see nothing gives zeros.
// CHECK-LABEL: func @short_mask
// CHECK-DAG: %[[ZERO:.*]] = onnx.weight dense<0.000000e+00> : tensor<f32>
// CHECK: %[[MASK:.*]] = onnx.Concat(%arg3, %{{.*}}) {axis = 1 : i64} : (tensor<2x2xi1>, tensor<2x1xi1>)
// CHECK: %[[SCORES:.*]] = onnx.Where(%[[MASK]], %{{.*}}, %{{.*}})
// CHECK: %[[P:.*]] = onnx.Softmax(%[[SCORES]])
// CHECK: %[[HIGHEST:.*]] = onnx.ReduceMax(%[[SCORES]])
// CHECK: %[[ALIVE:.*]] = onnx.Greater(%[[HIGHEST]], %{{.*}})
// CHECK: onnx.Where(%[[ALIVE]], %[[P]], %[[ZERO]])
func.func @short_mask(%q: tensor<1x1x2x4xf32>, %k: tensor<1x1x3x4xf32>, %v: tensor<1x1x3x4xf32>, %m: tensor<2x2xi1>) -> tensor<1x1x2x4xf32> {
  %y = onnx.Attention(%q, %k, %v, %m) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>} : (tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<2x2xi1>) -> tensor<1x1x2x4xf32>
  return %y : tensor<1x1x2x4xf32>
}

// -----

// Half of the head is rotated, the rest is handed on.
// CHECK-LABEL: func @rotary
// CHECK: %[[COS:.*]] = onnx.Gather(%arg1, %arg3)
// CHECK: onnx.Reshape(%[[COS]]) {shape = array<i64: 1, 1, 3, 2>}
// CHECK: %[[REST:.*]] = onnx.Slice(%arg0) {axes = array<i64: 3>, ends = array<i64: 8>, {{.*}}starts = array<i64: 4>
// CHECK: onnx.Concat(%{{.*}}, %[[REST]]) {axis = 3 : i64}
func.func @rotary(%x: tensor<1x2x3x8xf32>, %c: tensor<9x2xf32>, %s: tensor<9x2xf32>, %p: tensor<1x3xi64>) -> tensor<1x2x3x8xf32> {
  %y = onnx.RotaryEmbedding(%x, %c, %s, %p) {rotary_embedding_dim = 4 : i64} : (tensor<1x2x3x8xf32>, tensor<9x2xf32>, tensor<9x2xf32>, tensor<1x3xi64>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// -----

// One row, put where its sample's index says.
// CHECK-LABEL: func @tensor_scatter
// CHECK: %[[AT:.*]] = onnx.Equal(%{{.*}}, %{{.*}}) : (tensor<1x4x1xi64>, tensor<2x1x1xi64>)
// CHECK: onnx.Where(%[[AT]], %arg1, %arg0)
func.func @tensor_scatter(%cache: tensor<2x4x5xf32>, %row: tensor<2x1x5xf32>, %at: tensor<2xi64>) -> tensor<2x4x5xf32> {
  %y = onnx.TensorScatter(%cache, %row, %at) : (tensor<2x4x5xf32>, tensor<2x1x5xf32>, tensor<2xi64>) -> tensor<2x4x5xf32>
  return %y : tensor<2x4x5xf32>
}

// -----

// CHECK-LABEL: func @swiglu
// CHECK: %[[G:.*]] = onnx.Swish(%arg0) {alpha = 2.000000e+00 : f32}
// CHECK: onnx.Mul(%[[G]], %arg1)
func.func @swiglu(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.SwiGLU(%a, %b) {alpha = 2.0 : f32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The middles of two by three pixels.
// CHECK-LABEL: func @affine_grid
// CHECK: %[[P:.*]] = onnx.weight dense<{{\[\[}}-0.666666686, 0.000000e+00, 0.666666686, -0.666666686, 0.000000e+00, 0.666666686], [-5.000000e-01, -5.000000e-01, -5.000000e-01, 5.000000e-01, 5.000000e-01, 5.000000e-01], [1.000000e+00
// CHECK: %[[M:.*]] = onnx.MatMul(%arg0, %[[P]])
// CHECK: %[[T:.*]] = onnx.Transpose(%[[M]]) {perm = array<i64: 0, 2, 1>}
// CHECK: onnx.Reshape(%[[T]]) {shape = array<i64: 1, 2, 3, 2>}
func.func @affine_grid(%theta: tensor<1x2x3xf32>) -> tensor<1x2x3x2xf32> {
  %y = onnx.AffineGrid(%theta) {size = array<i64: 1, 3, 2, 3>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x2xf32>
  return %y : tensor<1x2x3x2xf32>
}
