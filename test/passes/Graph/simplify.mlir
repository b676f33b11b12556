// RUN: trn-opt %s --onnx-simplify --onnx-infer-fold | %FileCheck %s

// CHECK-LABEL: func @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Cast(%a) {to = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Transpose(%b) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %d = onnx.Transpose(%c) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %e = onnx.Reshape(%d) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %f = onnx.Reshape(%e) {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return %f : tensor<2x3xf32>
}

// A slice that reverses has the operand's type and still does something.
// CHECK-LABEL: func @reverse
// CHECK: onnx.Slice
func.func @reverse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.Slice(%x) {axes = array<i64: 0>, starts = array<i64: 3>, ends = array<i64: -5>, steps = array<i64: -1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// So does a transpose of a square.
// CHECK-LABEL: func @square
// CHECK: onnx.Transpose
func.func @square(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func @division
// CHECK: %[[C:.*]] = onnx.weight dense<2.500000e-01>
// CHECK: onnx.Mul(%arg0, %[[C]])
func.func @division(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<4.0> : tensor<f32>
  %y = onnx.Div(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Integer division truncates: it stays.
// CHECK-LABEL: func @integers
// CHECK: onnx.Div
func.func @integers(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c = onnx.weight dense<4> : tensor<i64>
  %y = onnx.Div(%x, %c) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// CHECK-LABEL: func @power
// CHECK: onnx.Mul(%arg0, %arg0)
func.func @power(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<2.0> : tensor<f32>
  %y = onnx.Pow(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
