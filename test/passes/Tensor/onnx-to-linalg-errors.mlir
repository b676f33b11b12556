// RUN: %not trn-opt %s -onnx-to-linalg 2>&1 | %FileCheck %s

// Every operation that cannot be lowered is reported, not only the first.
func.func @main(%x: tensor<3x2xf32>, %l: tensor<2xi64>, %y: tensor<1x3xf32>, %n: tensor<i64>)
    -> (tensor<3x2xf32>, tensor<1x9xf32>, tensor<1x3xf32>) {
  // CHECK: error: this form of the operator is not supported
  %v = onnx.ReverseSequence(%x, %l) : (tensor<3x2xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  // CHECK: error: 'onnx.Pad' op padding by 6 in mode reflect is not supported for an extent of 3
  %p = onnx.Pad(%y) {operandSegmentSizes = array<i32: 1, 0, 0, 0>, mode = "reflect", pads = array<i64: 0, 6, 0, 0>}
      : (tensor<1x3xf32>) -> tensor<1x9xf32>
  // What binds sizes is gone before; left in a module, it is an operator without a lowering like any other.
  // CHECK: error: this form of the operator is not supported
  %b = onnx.counted(%y, %n) {dim = 1 : i64} : (tensor<1x3xf32>, tensor<i64>) -> tensor<1x3xf32>
  return %v, %p, %b : tensor<3x2xf32>, tensor<1x9xf32>, tensor<1x3xf32>
}
