// RUN: trn-opt %s --onnx-infer-fold --split-input-file --verify-diagnostics

// The operation that causes the unknown size is named, not those behind it.
func.func @data(%x: tensor<4xf32>, %s: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error@+1 {{the size of the result depends on the value of an input; bind that input with --const-input}}
  %y = onnx.Reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %z = onnx.Exp(%y) : (tensor<*xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// The size is known here, but not the values.
func.func @values(%x: tensor<4x4xf32>, %k: tensor<i64>) -> tensor<4x4xf32> {
  // expected-error@+1 {{expected 'k' to be constant but it depends on the value of an input}}
  %y = onnx.Trilu(%x, %k) : (tensor<4x4xf32>, tensor<i64>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// An error that only shows once shapes are known.
func.func @late(%x: tensor<4xf32>) -> tensor<*xf32> {
  %s = onnx.weight dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{expected a shape of 4 elements but got 2x3}}
  %y = onnx.Reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
