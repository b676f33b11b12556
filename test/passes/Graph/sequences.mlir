// RUN: trn-opt %s --onnx-infer-fold --split-input-file | %FileCheck %s

// Positions count from the end where negative; what is erased and inserted is known.
// CHECK-LABEL: func @lists
// CHECK-DAG: %[[TWO:.*]] = onnx.weight dense<2> : tensor<i64>
// CHECK-NOT: onnx.Sequence
// CHECK: return %arg1, %[[TWO]]
func.func @lists(%a: tensor<1xf32>, %b: tensor<2xf32>) -> (tensor<*xf32>, tensor<i64>) {
  %first = onnx.weight dense<0> : tensor<i64>
  %last = onnx.weight dense<-1> : tensor<i64>
  %empty = onnx.SequenceEmpty() : () -> !onnx.seq<f32>
  %s0 = onnx.SequenceInsert(%empty, %a) : (!onnx.seq<f32>, tensor<1xf32>) -> !onnx.seq<f32>
  %s1 = onnx.SequenceInsert(%s0, %b, %first) : (!onnx.seq<f32>, tensor<2xf32>, tensor<i64>) -> !onnx.seq<f32>
  %s2 = onnx.SequenceInsert(%s1, %a) : (!onnx.seq<f32>, tensor<1xf32>) -> !onnx.seq<f32>
  %s3 = onnx.SequenceErase(%s2, %last) : (!onnx.seq<f32>, tensor<i64>) -> !onnx.seq<f32>
  %y = onnx.SequenceAt(%s3, %first) : (!onnx.seq<f32>, tensor<i64>) -> tensor<*xf32>
  %n = onnx.SequenceLength(%s3) : (!onnx.seq<f32>) -> tensor<i64>
  return %y, %n : tensor<*xf32>, tensor<i64>
}

// -----

// Parts of two rows, the last one smaller, joined along a new axis of the part that is taken twice.
// CHECK-LABEL: func @split_and_join
// CHECK: %[[LAST:.*]] = onnx.Slice(%arg0) {{.*}}ends = array<i64: 5>, {{.*}}starts = array<i64: 4>
// CHECK: %[[P:.*]] = onnx.Reshape(%[[LAST]]) {shape = array<i64: 1, 1, 3>}
// CHECK: onnx.Concat(%[[P]], %{{.*}}) {axis = 1 : i64}
func.func @split_and_join(%x: tensor<5x3xf32>) -> tensor<*xf32> {
  %two = onnx.weight dense<2> : tensor<i64>
  %parts = onnx.SplitToSequence(%x, %two) : (tensor<5x3xf32>, tensor<i64>) -> !onnx.seq<f32>
  %last = onnx.SequenceAt(%parts, %two) : (!onnx.seq<f32>, tensor<i64>) -> tensor<*xf32>
  %twice = onnx.SequenceConstruct(%last, %last) : (tensor<*xf32>, tensor<*xf32>) -> !onnx.seq<f32>
  %y = onnx.ConcatFromSequence(%twice) {axis = 1 : i64, new_axis = true} : (!onnx.seq<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A loop carries a list; without `keepdims` rows lose their dimension.
// CHECK-LABEL: func @carried
// CHECK: %[[E0:.*]] = onnx.Exp(%{{.*}}) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[E1:.*]] = onnx.Exp(%{{.*}}) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: onnx.Concat(%[[E0]], %[[E1]])
func.func @carried(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %two = onnx.weight dense<2> : tensor<i64>
  %rows = onnx.SplitToSequence(%x) {keepdims = false} : (tensor<2x3xf32>) -> !onnx.seq<f32>
  %empty = onnx.SequenceEmpty() : () -> !onnx.seq<f32>
  %list = onnx.Loop(%two, %empty) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %s: !onnx.seq<f32>):
    %row = onnx.SequenceAt(%rows, %i) : (!onnx.seq<f32>, tensor<*xi64>) -> tensor<*xf32>
    %e = onnx.Exp(%row) : (tensor<*xf32>) -> tensor<*xf32>
    %more = onnx.SequenceInsert(%s, %e) : (!onnx.seq<f32>, tensor<*xf32>) -> !onnx.seq<f32>
    onnx.yield %c, %more : tensor<*xi1>, !onnx.seq<f32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, !onnx.seq<f32>) -> !onnx.seq<f32>
  %y = onnx.ConcatFromSequence(%list) {axis = 0 : i64} : (!onnx.seq<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
