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

// With a bias: (7 - 1) · 1 + 5.
// CHECK-LABEL: func @biased
// CHECK-DAG: %[[W:.*]] = onnx.weight dense<3.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: %[[B:.*]] = onnx.weight dense<1.100000e+01> : tensor<2xf32>
// CHECK: onnx.Gemm(%arg0, %[[W]], %[[B]])
// CHECK-NEXT: return
func.func @biased(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.weight dense<3.0> : tensor<2x3xf32>
  %bias = onnx.weight dense<7.0> : tensor<f32>
  %scale = onnx.weight dense<2.0> : tensor<2xf32>
  %shift = onnx.weight dense<5.0> : tensor<2xf32>
  %mean = onnx.weight dense<1.0> : tensor<2xf32>
  %var = onnx.weight dense<3.0> : tensor<2xf32>
  %c = onnx.Gemm(%x, %w, %bias) {transB = true} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>
  %y = onnx.BatchNormalization(%c, %scale, %shift, %mean, %var) {epsilon = 1.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// The weight of a transposed convolution is [inputs, outputs / group, …]: channels 0 and 1 of the first group, 2 and 3.
// CHECK-LABEL: func @transposed
// CHECK{LITERAL}: onnx.weight dense<[[[1.000000e+00], [2.000000e+00]], [[3.000000e+00], [4.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK: onnx.ConvTranspose
// CHECK-NEXT: return
func.func @transposed(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %w = onnx.weight dense<2.0> : tensor<2x2x1xf32>
  %scale = onnx.weight dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %zero = onnx.weight dense<0.0> : tensor<4xf32>
  %var = onnx.weight dense<3.0> : tensor<4xf32>
  %c = onnx.ConvTranspose(%x, %w) {group = 2, kernel_shape = array<i64: 1>} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x4x4xf32>
  %y = onnx.BatchNormalization(%c, %scale, %zero, %zero, %var) {epsilon = 1.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
  return %y : tensor<1x4x4xf32>
}

// 1e-30 · 1e-10 is subnormal.
// CHECK-LABEL: func @range
// CHECK: onnx.BatchNormalization
func.func @range(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.weight dense<1.0e-30> : tensor<1x1x1xf32>
  %scale = onnx.weight dense<1.0e-10> : tensor<1xf32>
  %one = onnx.weight dense<1.0> : tensor<1xf32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %y = onnx.BatchNormalization(%c, %scale, %one, %one, %one) {resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// What a convolution of fp16 leaves is rounded before it is normalised.
// CHECK-LABEL: func @half
// CHECK: onnx.BatchNormalization
func.func @half(%x: tensor<1x1x4xf16>) -> tensor<1x1x4xf16> {
  %w = onnx.weight dense<2.0> : tensor<1x1x1xf16>
  %one = onnx.weight dense<1.0> : tensor<1xf16>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1>} : (tensor<1x1x4xf16>, tensor<1x1x1xf16>) -> tensor<1x1x4xf16>
  %y = onnx.BatchNormalization(%c, %one, %one, %one, %one) {resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x1x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4xf16>
  return %y : tensor<1x1x4xf16>
}

// A shift is a bias, and a second one is rounded by itself.
// CHECK-LABEL: func @shifts
// CHECK-DAG: %[[B:.*]] = onnx.weight dense<0x4B400000> : tensor<1xf32>
// CHECK-DAG: %[[T:.*]] = onnx.weight dense<0xCB400000> : tensor<f32>
// CHECK: %[[C:.*]] = onnx.Conv(%arg0, %{{.*}}, %[[B]])
// CHECK: onnx.Add(%[[C]], %[[T]])
func.func @shifts(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.weight dense<1.0> : tensor<1x1x1xf32>
  %a = onnx.weight dense<0x4B400000> : tensor<f32>
  %b = onnx.weight dense<0xCB400000> : tensor<f32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %d = onnx.Add(%a, %c) : (tensor<f32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %y = onnx.Add(%d, %b) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// So is a scale.
// CHECK-LABEL: func @scale
// CHECK: %[[C:.*]] = onnx.Conv(
// CHECK: onnx.Mul(%[[C]]
func.func @scale(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.weight dense<1.0e25> : tensor<1x1x1xf32>
  %s = onnx.weight dense<1.0e25> : tensor<f32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %y = onnx.Mul(%c, %s) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// A convolution with another use keeps its bias.
// CHECK-LABEL: func @shared
// CHECK: %[[C:.*]] = onnx.Conv(%arg0, %{{[^,]*}}) {
// CHECK: onnx.Add(%[[C]]
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = onnx.weight dense<3.0> : tensor<2x1x1x1xf32>
  %s = onnx.weight dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %c = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.Add(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
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
