// RUN: trn-opt %s --onnx-fold-normalization --onnx-infer-fold | %FileCheck %s

// Scale 2 / sqrt(3 + 1) = 1, shift 5 - 1 · 1 = 4; the weight is scaled and the bias is the shift.
// CHECK-LABEL: func @conv
// CHECK-DAG: %[[W:.*]] = onnx.weight dense<3.000000e+00> : tensor<2x3x1x1xf32>
// CHECK-DAG: %[[B:.*]] = onnx.weight dense<4.000000e+00> : tensor<2xf32>
// CHECK: onnx.Conv(%arg0, %[[W]], %[[B]])
// CHECK-NEXT: return
func.func @conv(%x: tensor<1x3x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = onnx.weight dense<3.0> : tensor<2x3x1x1xf32>
  %scale = onnx.weight dense<2.0> : tensor<2xf32>
  %shift = onnx.weight dense<5.0> : tensor<2xf32>
  %mean = onnx.weight dense<1.0> : tensor<2xf32>
  %var = onnx.weight dense<3.0> : tensor<2xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.BatchNormalization(%c, %scale, %shift, %mean, %var) {epsilon = 1.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// A convolution with another use keeps its weights.
// CHECK-LABEL: func @shared
// CHECK: %[[C:.*]] = onnx.Conv(%arg0, %{{[^,]*}}) {
// CHECK: onnx.Mul(%[[C]]
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = onnx.weight dense<3.0> : tensor<2x1x1x1xf32>
  %s = onnx.weight dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.Mul(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %c, %y : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// A constant along the width is no bias.
// CHECK-LABEL: func @width
// CHECK: onnx.Conv(%arg0, %{{[^,]*}}) {
// CHECK: onnx.Add
func.func @width(%x: tensor<1x1x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %w = onnx.weight dense<3.0> : tensor<4x1x1x1xf32>
  %s = onnx.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x4x4xf32>
  %y = onnx.Add(%c, %s) : (tensor<1x4x4x4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}
