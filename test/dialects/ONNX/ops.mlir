// RUN: trn-opt %s | trn-opt | %FileCheck %s

// Operations survive printing and parsing, optional operands and results included.

// CHECK-LABEL: func @conv
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %y = onnx.Conv(%x, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func @clip
// CHECK: onnx.Clip({{.*}}) {max = 6.000000e+00 : f32, operandSegmentSizes = array<i32: 1, 1, 0>}
func.func @clip(%x: tensor<4xf32>, %min: tensor<f32>) -> tensor<4xf32> {
  %y = onnx.Clip(%x, %min) {max = 6.0 : f32, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @weight
// CHECK: onnx.weight dense<[1, 2]> : tensor<2xi64>
func.func @weight() -> tensor<2xi64> {
  %w = onnx.weight dense<[1, 2]> : tensor<2xi64>
  return %w : tensor<2xi64>
}

// A result of unknown shape is legal before inference.
// CHECK-LABEL: func @unknown
func.func @unknown(%x: tensor<4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = onnx.Reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func @sinh
// CHECK: onnx.Sinh(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
func.func @sinh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.Sinh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @binarizer
// CHECK: onnx.ml.Binarizer(%arg0) {threshold = 5.000000e-01 : f32} : (tensor<4xf32>) -> tensor<4xf32>
func.func @binarizer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.ml.Binarizer(%x) {threshold = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @counted
// CHECK: onnx.NonZero(%arg0) : (tensor<3x4xf32>) -> tensor<2x12xi64>
// CHECK: onnx.Compress(%arg0, %arg1) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<2xi1>) -> tensor<3x2xf32>
// CHECK: onnx.Det(%arg2) : (tensor<5x2x2xf32>) -> tensor<5xf32>
func.func @counted(%x: tensor<3x4xf32>, %c: tensor<2xi1>, %m: tensor<5x2x2xf32>)
    -> (tensor<2x12xi64>, tensor<3x2xf32>, tensor<5xf32>) {
  %0 = onnx.NonZero(%x) : (tensor<3x4xf32>) -> tensor<2x12xi64>
  %1 = onnx.Compress(%x, %c) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<2xi1>) -> tensor<3x2xf32>
  %2 = onnx.Det(%m) : (tensor<5x2x2xf32>) -> tensor<5xf32>
  return %0, %1, %2 : tensor<2x12xi64>, tensor<3x2xf32>, tensor<5xf32>
}
