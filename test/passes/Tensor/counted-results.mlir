// RUN: trn-opt %s -onnx-to-linalg -split-input-file -verify-diagnostics | %FileCheck %s

// A count follows the tensor past a transpose and an elementwise operator to the function's results.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<6x2xi64> {onnx.count = 1 : i64, onnx.count_dim = 0 : i64, onnx.name = "y"}, tensor<1xi32> {onnx.name = "y.count"})
// CHECK: %[[R:.*]]:2 = trn.kernel "library_nonzero" ins(%{{.*}} : tensor<6xf32>) outs(%{{.*}}, %{{.*}} : tensor<2x6xi64>, tensor<1xi32>)
// CHECK-SAME: dims = array<i32: 2, 3>
// CHECK: return %{{.*}}, %[[R]]#1 : tensor<6x2xi64>, tensor<1xi32>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<6x2xi64> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<2x3xf32>) -> tensor<2x6xi64>
  %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<2x6xi64>) -> tensor<6x2xi64>
  %2 = onnx.Neg(%1) : (tensor<6x2xi64>) -> tensor<6x2xi64>
  return %2 : tensor<6x2xi64>
}

// -----

// What has no rule for such operands is refused, with the node that made them.
func.func @main(%x: tensor<6xf32> {onnx.name = "x"}) -> (tensor<1x1xi64> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<6xf32>) -> tensor<1x6xi64> loc("positions")
  // expected-error @+1 {{the run decides how many elements of what node 'positions' makes are valid}}
  %1 = onnx.ReduceSum(%0) {axes = array<i64: 1>, keepdims = true} : (tensor<1x6xi64>) -> tensor<1x1xi64>
  return %1 : tensor<1x1xi64>
}
