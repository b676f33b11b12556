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

// Numbers that 32 bits of the new sign do not have; those of bytes, and of the same sign, they have.
func.func @conversions(%a: tensor<4xui32>, %b: tensor<4xui64>, %c: tensor<4xi8>, %d: tensor<4xi64>, %e: tensor<4xui8>, %f: tensor<4xi1>, %g: tensor<4xi32>)
    -> (tensor<4xi64>, tensor<4xi64>, tensor<4xui64>, tensor<4xui64>, tensor<4xi64>, tensor<4xui64>, tensor<4xi64>, tensor<4xui64>) {
  // CHECK: error: 'onnx.Cast' op expected a conversion whose numbers 32 bits have, but got one of uint32 to int64, which makes numbers above 2147483647; convert to uint64
  %0 = onnx.Cast(%a) {to = i64} : (tensor<4xui32>) -> tensor<4xi64>
  // CHECK: error: 'onnx.Cast' op expected {{.*}} but got one of uint64 to int64,
  %1 = onnx.Cast(%b) {to = i64} : (tensor<4xui64>) -> tensor<4xi64>
  // CHECK: error: 'onnx.Cast' op expected {{.*}} but got one of int8 to uint64, which makes numbers above 4294967295 of negative ones; convert to int64
  %2 = onnx.Cast(%c) {to = ui64} : (tensor<4xi8>) -> tensor<4xui64>
  // CHECK: error: 'onnx.Cast' op expected {{.*}} but got one of int64 to uint64,
  %3 = onnx.Cast(%d) {to = ui64} : (tensor<4xi64>) -> tensor<4xui64>
  // CHECK-NOT: error:
  %4 = onnx.Cast(%e) {to = i64} : (tensor<4xui8>) -> tensor<4xi64>
  %5 = onnx.Cast(%f) {to = ui64} : (tensor<4xi1>) -> tensor<4xui64>
  %6 = onnx.Cast(%g) {to = i64} : (tensor<4xi32>) -> tensor<4xi64>
  %7 = onnx.Cast(%a) {to = ui64} : (tensor<4xui32>) -> tensor<4xui64>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<4xi64>, tensor<4xi64>, tensor<4xui64>, tensor<4xui64>, tensor<4xi64>, tensor<4xui64>, tensor<4xi64>, tensor<4xui64>
}
