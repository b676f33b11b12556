// RUN: trn-opt %s -onnx-bound-inputs | %FileCheck %s

// All elements of the ids are positions in one of 9 rows; a sum has any numbers.
// CHECK-LABEL: func @positions
// CHECK-SAME: (%{{.*}}: tensor<2x3xi64> {onnx.name = "ids", onnx.range = array<i64: -9, 8>}, %{{.*}}: tensor<6xi64> {onnx.name = "n"})
func.func @positions(%ids: tensor<2x3xi64> {onnx.name = "ids"}, %n: tensor<6xi64> {onnx.name = "n"}) -> (tensor<6x4xf32>, tensor<6xi64>) {
  %table = onnx.weight dense<1.0> : tensor<9x4xf32>
  %flat = onnx.Reshape(%ids) {shape = array<i64: 6>} : (tensor<2x3xi64>) -> tensor<6xi64>
  %y = onnx.Gather(%table, %flat) : (tensor<9x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %sum = onnx.Add(%n, %flat) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  return %y, %sum : tensor<6x4xf32>, tensor<6xi64>
}

// The smaller of two tables bounds the positions; the table itself is none.
// CHECK-LABEL: func @two
// CHECK-SAME: (%{{.*}}: tensor<3xi64> {onnx.range = array<i64: -5, 4>}, %{{.*}}: tensor<7xi64>)
func.func @two(%i: tensor<3xi64>, %t: tensor<7xi64>) -> (tensor<3xi64>, tensor<3x2xf32>) {
  %table = onnx.weight dense<1.0> : tensor<5x2xf32>
  %a = onnx.Gather(%t, %i) : (tensor<7xi64>, tensor<3xi64>) -> tensor<3xi64>
  %b = onnx.Gather(%table, %i) : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %a, %b : tensor<3xi64>, tensor<3x2xf32>
}

// A slice of them says nothing of the others.
// CHECK-LABEL: func @part
// CHECK-NOT: onnx.range
func.func @part(%i: tensor<3xi64>) -> tensor<2x2xf32> {
  %table = onnx.weight dense<1.0> : tensor<5x2xf32>
  %some = onnx.Slice(%i) {axes = array<i64: 0>, ends = array<i64: 2>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<3xi64>) -> tensor<2xi64>
  %b = onnx.Gather(%table, %some) : (tensor<5x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}
