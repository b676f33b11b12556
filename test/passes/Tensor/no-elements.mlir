// RUN: trn-opt %s -onnx-to-linalg -split-input-file | %FileCheck %s

// What has no elements is a constant, and a piece without any is left out of a Concat.
// CHECK-LABEL: func.func @pieces
// CHECK-NOT: onnx.Slice
// CHECK-NOT: onnx.Concat
// CHECK: return %{{.*}} : tensor<2x3xf32>
func.func @pieces(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = onnx.weight dense<> : tensor<0x3xf32>
  %s = onnx.Slice(%x) {starts = array<i64: 2>, ends = array<i64: 2>, axes = array<i64: 0>, steps = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}
      : (tensor<2x3xf32>) -> tensor<0x3xf32>
  %y = onnx.Concat(%x, %w, %s) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// The maximum of nothing is what starts a maximum.
// CHECK-LABEL: func.func @maximum_of_nothing
// CHECK: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[LOW]] : f32)
// CHECK-NOT: linalg.generic
func.func @maximum_of_nothing(%x: tensor<2x0x4xf32>) -> tensor<2x4xf32> {
  %y = onnx.ReduceMax(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<2x0x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
