// RUN: trn-opt %s --onnx-infer-fold --split-input-file | %FileCheck %s

// A known condition: one branch is left, and it reads what is around it.
// CHECK-LABEL: func @known_branch
// CHECK-NEXT: %[[Y:.*]] = onnx.Exp(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @known_branch(%x: tensor<4xf32>) -> tensor<*xf32> {
  %c = onnx.weight dense<true> : tensor<i1>
  %y = onnx.If(%c) {
    %a = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  }, {
    %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A condition that only the run knows selects.
// CHECK-LABEL: func @branch_at_run_time
// CHECK: %[[A:.*]] = onnx.Exp(%arg0)
// CHECK: %[[B:.*]] = onnx.Neg(%arg0)
// CHECK: %[[Y:.*]] = onnx.Where(%arg1, %[[A]], %[[B]])
// CHECK: return %[[Y]]
func.func @branch_at_run_time(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  %y = onnx.If(%c) {
    %a = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  }, {
    %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %a : tensor<4xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Three steps, the third of which ends the loop; the shape grows from step to step, and each step is scanned.
// CHECK-LABEL: func @loop
// CHECK: %[[ONE:.*]] = onnx.Concat(%arg0, %arg0) {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
// CHECK: %[[TWO:.*]] = onnx.Concat(%[[ONE]], %arg0)
// CHECK: %[[THREE:.*]] = onnx.Concat(%[[TWO]], %arg0) {axis = 0 : i64} : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[STEPS:.*]] = onnx.weight dense<{{\[\[}}0], [1], [2]]> : tensor<3x1xi64>
// CHECK: return %[[THREE]], %[[STEPS]]
func.func @loop(%x: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %m = onnx.weight dense<10> : tensor<i64>
  %two = onnx.weight dense<2> : tensor<i64>
  %shape = onnx.weight dense<1> : tensor<1xi64>
  %y, %steps = onnx.Loop(%m, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %next = onnx.Less(%i, %two) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
    %grown = onnx.Concat(%v, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
    %number = onnx.Reshape(%i, %shape) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    onnx.yield %next, %grown, %number : tensor<*xi1>, tensor<*xf32>, tensor<*xi64>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y, %steps : tensor<*xf32>, tensor<*xi64>
}

// -----

// At most two steps; whether the second is done is known at run time only.
// CHECK-LABEL: func @loop_while_positive
// CHECK: %[[FIRST:.*]] = onnx.Sub(%arg0, %arg1)
// CHECK: %[[MORE:.*]] = onnx.Greater(%[[FIRST]], %arg1)
// CHECK: %[[SECOND:.*]] = onnx.Sub(%[[FIRST]], %arg1)
// CHECK: %[[Y:.*]] = onnx.Where(%[[MORE]], %[[SECOND]], %[[FIRST]])
// CHECK: return %[[Y]]
func.func @loop_while_positive(%x: tensor<f32>, %d: tensor<f32>) -> tensor<*xf32> {
  %m = onnx.weight dense<2> : tensor<i64>
  %y = onnx.Loop(%m, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %less = onnx.Sub(%v, %d) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %more = onnx.Greater(%less, %d) : (tensor<*xf32>, tensor<f32>) -> tensor<*xi1>
    onnx.yield %more, %less : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Columns from the last to the first, with a running sum.
// CHECK-LABEL: func @scan
// CHECK: %[[LAST:.*]] = onnx.Slice(%arg0) {{.*}}starts = array<i64: 1>
// CHECK: %[[A:.*]] = onnx.Reshape(%[[LAST]]) {shape = array<i64: 3>}
// CHECK: %[[S0:.*]] = onnx.Add(%arg1, %[[A]])
// CHECK: %[[FIRST:.*]] = onnx.Slice(%arg0) {{.*}}starts = array<i64: 0>
// CHECK: %[[B:.*]] = onnx.Reshape(%[[FIRST]]) {shape = array<i64: 3>}
// CHECK: %[[S1:.*]] = onnx.Add(%[[S0]], %[[B]])
// CHECK: %[[P0:.*]] = onnx.Reshape(%[[S0]]) {shape = array<i64: 3, 1>}
// CHECK: %[[P1:.*]] = onnx.Reshape(%[[S1]]) {shape = array<i64: 3, 1>}
// CHECK: %[[ALL:.*]] = onnx.Concat(%[[P0]], %[[P1]]) {axis = 1 : i64}
// CHECK: return %[[S1]], %[[ALL]]
func.func @scan(%x: tensor<3x2xf32>, %s: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y, %all = onnx.Scan(%s, %x) {
  ^bb0(%state: tensor<*xf32>, %column: tensor<*xf32>):
    %sum = onnx.Add(%state, %column) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %sum, %sum : tensor<*xf32>, tensor<*xf32>
  } {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: -1>} : (tensor<3xf32>, tensor<3x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %all : tensor<*xf32>, tensor<*xf32>
}

// -----

// A condition that does not hold: no step, whatever the number of steps is.
// CHECK-LABEL: func @never
// CHECK-NEXT: return %arg0
func.func @never(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %no = onnx.weight dense<false> : tensor<i1>
  %y = onnx.Loop(%n, %no, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %w = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %c, %w : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Scores and weights are changed whole, with the sizes that they have; heads that share a key are rows of one product.
// CHECK-LABEL: func @flex_attention
// CHECK: %[[P:.*]] = onnx.MatMul({{.*}}) : (tensor<1x2x8x8xf32>, tensor<1x2x8x6xf32>) -> tensor<1x2x8x6xf32>
// CHECK: %[[S:.*]] = onnx.Reshape(%[[P]]) {{.*}} -> tensor<1x4x4x6xf32>
// CHECK: %[[T:.*]] = onnx.Tanh(%[[S]])
// CHECK: %[[W:.*]] = onnx.Softmax(%[[T]])
// CHECK: onnx.Reshape(%[[W]]) {{.*}} -> tensor<1x2x8x6xf32>
func.func @flex_attention(%q: tensor<1x4x4x8xf32>, %k: tensor<1x2x6x8xf32>) -> tensor<1x4x4x8xf32> {
  %y = onnx.preview.FlexAttention(%q, %k, %k) {
  }, {
  ^bb0(%s: tensor<*xf32>):
    %t = onnx.Tanh(%s) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %t : tensor<*xf32>
  } : (tensor<1x4x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
