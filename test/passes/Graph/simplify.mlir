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

// The inverse of a power of two is exact.
// CHECK-LABEL: func @division
// CHECK: %[[C:.*]] = onnx.weight dense<2.500000e-01>
// CHECK: onnx.Mul(%arg0, %[[C]])
func.func @division(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<4.0> : tensor<f32>
  %y = onnx.Div(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// 41 times the inverse of 41 is not 1: it stays.
// CHECK-LABEL: func @inexact
// CHECK: onnx.Div
func.func @inexact(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<[4.0, 41.0]> : tensor<2xf32>
  %y = onnx.Div(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Neither has 2^127 an inverse that is normal.
// CHECK-LABEL: func @subnormal
// CHECK: onnx.Div
func.func @subnormal(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<0x7F000000> : tensor<f32>
  %y = onnx.Div(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// x · c may leave the range that x · (c · d) stays in.
// CHECK-LABEL: func @factors
// CHECK: onnx.Mul
// CHECK: onnx.Mul
func.func @factors(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<1.0e30> : tensor<f32>
  %a = onnx.Mul(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = onnx.Mul(%a, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
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

// The power 0.5 of -inf is inf; its root is none.
// CHECK-LABEL: func @half
// CHECK: onnx.Pow
func.func @half(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.weight dense<0.5> : tensor<f32>
  %y = onnx.Pow(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The square of an fp16 may be subnormal where the cube, rounded once, is right.
// CHECK-LABEL: func @cube_half_float
// CHECK: onnx.Pow
func.func @cube_half_float(%x: tensor<2xf16>) -> tensor<2xf16> {
  %c = onnx.weight dense<3.0> : tensor<f16>
  %y = onnx.Pow(%x, %c) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}
