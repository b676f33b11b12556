// RUN: trn-opt %s -onnx-infer-fold -split-input-file -verify-diagnostics | %FileCheck %s

// A count follows the tensor past a transpose and an elementwise operator to the function's results.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<6x2xi64> {onnx.count = 1 : i64, onnx.count_dim = 0 : i64, onnx.name = "y"}, tensor<1xi32> {onnx.name = "y.count"})
// CHECK: %[[Z:.*]], %[[N:.*]] = onnx.NonZero(%{{.*}}) : (tensor<2x3xf32>) -> (tensor<2x6xi64>, tensor<i64>)
// CHECK: %[[T:.*]] = onnx.Transpose(%[[Z]])
// CHECK: %[[Y:.*]] = onnx.Neg(%[[T]])
// CHECK: %[[I:.*]] = onnx.Cast(%[[N]]) {to = i32}
// CHECK: %[[C:.*]] = onnx.Reshape(%[[I]]) {shape = array<i64: 1>}
// CHECK: return %[[Y]], %[[C]] : tensor<6x2xi64>, tensor<1xi32>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<*xi64> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<2x3xf32>) -> tensor<*xi64>
  %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %2 = onnx.Neg(%1) : (tensor<*xi64>) -> tensor<*xi64>
  return %2 : tensor<*xi64>
}

// -----

// What combines the elements of the counted dimension gets neutral ones behind those that are valid, and has one size.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<i64> {onnx.name = "y"})
// CHECK: %[[Z:.*]], %[[N:.*]] = onnx.NonZero
// CHECK: %[[R:.*]] = onnx.Cast(%[[N]]) {to = f32}
// CHECK: %[[V:.*]] = onnx.Less(%{{.*}}, %[[R]]) : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xi1>
// CHECK: %[[M:.*]] = onnx.Where(%[[V]], %[[Z]], %{{.*}})
// CHECK: onnx.ReduceProd(%[[M]])
func.func @main(%x: tensor<6xf32> {onnx.name = "x"}) -> (tensor<*xi64> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<6xf32>) -> tensor<*xi64>
  %1 = onnx.ReduceProd(%0) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<*xi64>) -> tensor<*xi64>
  return %1 : tensor<*xi64>
}

// -----

// Sizes are counts, and what is made of a size has the same count.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<6xf32> {onnx.count = 1 : i64, onnx.count_dim = 0 : i64
// CHECK: %[[Z:.*]], %[[N:.*]] = onnx.NonZero
// CHECK-NOT: onnx.Shape
// CHECK: %[[G:.*]] = onnx.GatherND
// CHECK: onnx.Add(%{{.*}}, %[[G]])
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<2x3xf32>) -> tensor<*xi64>
  %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %2 = onnx.Shape(%1) {end = 1 : i64} : (tensor<*xi64>) -> tensor<*xi64>
  %3 = onnx.ConstantOfShape(%2) {value = dense<2.0> : tensor<1xf32>} : (tensor<*xi64>) -> tensor<*xf32>
  %4 = onnx.GatherND(%x, %1) : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  %5 = onnx.Add(%3, %4) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %5 : tensor<*xf32>
}

// -----

// Items without elements are one item: nothing is counted.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<1x0xf32> {onnx.name = "y"})
func.func @main(%x: tensor<4x0xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %0 = onnx.Unique(%x) {axis = 0 : i64, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<4x0xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What has no rule for such operands is refused, with the node that made them.
func.func @main(%x: tensor<6xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %0 = onnx.NonZero(%x) : (tensor<6xf32>) -> tensor<*xi64> loc("positions")
  %1 = onnx.Cast(%0) {to = f32} : (tensor<*xi64>) -> tensor<*xf32>
  // expected-error @+1 {{the run decides how many elements of what node 'positions' makes are valid, and 'LpNormalization' takes no such operand}}
  %2 = onnx.LpNormalization(%1) {axis = 1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// So is what would count two dimensions of one tensor, with the reason.
func.func @main(%x: tensor<6xf32> {onnx.name = "x"}, %y: tensor<6xf32> {onnx.name = "y"}) -> (tensor<*xi64> {onnx.name = "z"}) {
  %0 = onnx.NonZero(%x) : (tensor<6xf32>) -> tensor<*xi64> loc("a")
  %1 = onnx.NonZero(%y) : (tensor<6xf32>) -> tensor<*xi64> loc("b")
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<*xi64>) -> tensor<*xi64>
  // expected-error @+1 {{and the operands have different counts, or count different dimensions}}
  %3 = onnx.Add(%0, %2) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  return %3 : tensor<*xi64>
}

// -----

// The size that is open is another than the one that would be counted.
func.func @reshape_to_rows(%x: tensor<8x4xf32>, %keep: tensor<8xi1>) -> tensor<*xf32> {
  %shape = onnx.weight dense<[2, -1]> : tensor<2xi64>
  %c = onnx.Compress(%x, %keep) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<8xi1>) -> tensor<*xf32> loc("some")
  // expected-error @+1 {{its shape fixes the dimension that would be counted}}
  %y = onnx.Reshape(%c, %shape) : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The square of what may be negative is largest where the count is 0: no bound.
func.func @square(%x: tensor<12xf32>, %keep: tensor<12xi1>) -> tensor<*xi64> {
  %zero = onnx.weight dense<0> : tensor<i64>
  %one = onnx.weight dense<1> : tensor<i64>
  %ten = onnx.weight dense<10> : tensor<i64>
  %c = onnx.Compress(%x, %keep) : (tensor<12xf32>, tensor<12xi1>) -> tensor<*xf32>
  %n = onnx.Size(%c) : (tensor<*xf32>) -> tensor<i64>
  %d = onnx.Sub(%n, %ten) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %end = onnx.Mul(%d, %d) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // expected-error @+1 {{the size of the result depends on the value of an input}}
  %y = onnx.Range(%zero, %end, %one) : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// A flag says whether there is something, not how much.
func.func @flag(%x: tensor<8xf32>, %keep: tensor<8xi1>) -> tensor<*xf32> {
  %c = onnx.Compress(%x, %keep) : (tensor<8xf32>, tensor<8xi1>) -> tensor<*xf32>
  %n = onnx.Shape(%c) : (tensor<*xf32>) -> tensor<1xi64>
  %flag = onnx.Cast(%n) {to = i1} : (tensor<1xi64>) -> tensor<*xi1>
  %size = onnx.Cast(%flag) {to = i64} : (tensor<*xi1>) -> tensor<*xi64>
  // expected-error @+1 {{the size of the result depends on the value of an input}}
  %y = onnx.ConstantOfShape(%size) : (tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Of a counted tensor only the largest size is known, which contradicts nothing: that is unsupported, not wrong.
func.func @meets_a_fixed_size(%x: tensor<6xf32>, %y: tensor<4xf32>) -> tensor<*xf32> {
  %c = onnx.NonZero(%x) : (tensor<6xf32>) -> tensor<*xi64> loc("found")
  %f = onnx.Cast(%c) {to = f32} : (tensor<*xi64>) -> tensor<*xf32>
  // expected-error @+1 {{the run decides how many elements of what node 'found' makes are valid, and of the most of them: expected shapes that broadcast but got 1x6 and 4; end the model before this node}}
  %z = onnx.Add(%f, %y) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// Two counts of one tensor, as nobody but a hand writes them.
func.func @counted_twice(%x: tensor<4x5xf32>, %n: tensor<i64>, %m: tensor<i64>) -> tensor<4x5xf32> {
  %0 = onnx.counted(%x, %n) {dim = 0 : i64} : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  // expected-error @+1 {{and another of its dimensions is counted, too}}
  %1 = onnx.counted(%0, %m) {dim = 1 : i64} : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
