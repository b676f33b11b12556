// RUN: trn-opt %s -onnx-to-linalg -split-input-file -verify-diagnostics

// expected-error@+1 {{input 'x': expected elements but got 'tensor<0x3xf32>'; tensors of size 0 are not supported yet}}
func.func @main(%x: tensor<0x3xf32> {onnx.name = "x"}) -> tensor<2x3xf32> {
  %w = onnx.weight dense<1.0> : tensor<2x3xf32>
  return %w : tensor<2x3xf32>
}

// -----

// An empty piece of a Concat is left out; the slice that makes another is named.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = onnx.weight dense<> : tensor<0x3xf32>
  // expected-error@+1 {{expected elements in the result but got 'tensor<0x3xf32>'}}
  %s = onnx.Slice(%x) {starts = array<i64: 2>, ends = array<i64: 2>, axes = array<i64: 0>, steps = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}
      : (tensor<2x3xf32>) -> tensor<0x3xf32>
  %y = onnx.Concat(%x, %w, %s) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
