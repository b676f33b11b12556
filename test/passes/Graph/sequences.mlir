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

// A map gives one element of each sequence; the elements of a returned sequence are results of their own.
// CHECK-LABEL: func.func @map
// CHECK-SAME: -> (tensor<2xf32> {onnx.name = "y.0"}, tensor<3xf32> {onnx.name = "y.1"})
// CHECK: %[[A:.*]] = onnx.Add(%arg0, %arg2)
// CHECK: %[[B:.*]] = onnx.Add(%arg1, %arg2)
// CHECK: return %[[A]], %[[B]] : tensor<2xf32>, tensor<3xf32>
func.func @map(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<f32>) -> (!onnx.seq<f32> {onnx.name = "y"}) {
  %s = onnx.SequenceConstruct(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> !onnx.seq<f32>
  %y = onnx.SequenceMap(%s, %c) {
  ^bb0(%x: tensor<*xf32>, %t: tensor<*xf32>):
    %sum = onnx.Add(%x, %t) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %sum : tensor<*xf32>
  } : (!onnx.seq<f32>, tensor<f32>) -> !onnx.seq<f32>
  return %y : !onnx.seq<f32>
}

// A branch that only the run knows selects between the elements of sequences of one length.
// CHECK-LABEL: func.func @branch
// CHECK: %[[Y:.*]] = onnx.Where(%arg0, %arg1, %arg2)
// CHECK: return %[[Y]] : tensor<2xf32>
func.func @branch(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> !onnx.seq<f32> {
  %y = onnx.If(%c) {
    %s = onnx.SequenceConstruct(%a) : (tensor<2xf32>) -> !onnx.seq<f32>
    onnx.yield %s : !onnx.seq<f32>
  }, {
    %s = onnx.SequenceConstruct(%b) : (tensor<2xf32>) -> !onnx.seq<f32>
    onnx.yield %s : !onnx.seq<f32>
  } : (tensor<i1>) -> !onnx.seq<f32>
  return %y : !onnx.seq<f32>
}

// An optional is its element, or known to have none.
// CHECK-LABEL: func.func @optional
// CHECK-DAG: %[[TRUE:.*]] = onnx.weight dense<true>
// CHECK-DAG: %[[FALSE:.*]] = onnx.weight dense<false>
// CHECK: %[[E:.*]] = onnx.Relu(%arg0)
// CHECK: return %[[E]], %[[TRUE]], %[[FALSE]]
func.func @optional(%a: tensor<2xf32>) -> (tensor<*xf32>, tensor<i1>, tensor<i1>) {
  %o = onnx.Optional(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %none = onnx.Optional() : () -> tensor<2xf32>
  %e = onnx.OptionalGetElement(%o) : (tensor<2xf32>) -> tensor<2xf32>
  %has = onnx.OptionalHasElement(%o) : (tensor<2xf32>) -> tensor<i1>
  %no = onnx.OptionalHasElement(%none) : (tensor<2xf32>) -> tensor<i1>
  %y = onnx.Relu(%e) : (tensor<2xf32>) -> tensor<*xf32>
  return %y, %has, %no : tensor<*xf32>, tensor<i1>, tensor<i1>
}
