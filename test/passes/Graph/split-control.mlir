// RUN: trn-opt %s --pass-pipeline='builtin.module(func.func(onnx-infer-fold),onnx-split-control)' --split-input-file | %FileCheck %s

// A loop whose steps only the run counts: what it starts with is left by the part before it, a round is a part of its
// own, and the part behind takes what the last round has left. Constants stay where they are read.
// CHECK: module @part0
// CHECK: func.func @main(%[[N:.*]]: tensor<i64> {onnx.name = "n"}, %[[X:.*]]: tensor<4xf32> {onnx.name = "x"})
// CHECK-SAME: -> (tensor<i64> {onnx.name = "loop0.0", onnx.range = array<i64: 0, 2147483647>}, tensor<4xf32> {onnx.name = "loop0.1"}, tensor<i64> {onnx.name = "loop0.count", onnx.range = array<i64: -2147483648, 2147483647>})
// CHECK: %[[ZERO:.*]] = onnx.weight dense<0> : tensor<i64>
// CHECK: return %[[ZERO]], %[[X]], %[[N]]
// CHECK: module @part1
// CHECK: func.func @main(%[[V:.*]]: tensor<4xf32> {onnx.name = "loop0.1"}, %[[I:.*]]: tensor<i64> {onnx.name = "loop0.0", onnx.range = array<i64: 0, 2147483647>}
// CHECK-SAME: -> (tensor<i64> {onnx.name = "loop0.0.next", onnx.range = array<i64: 0, 2147483647>}, tensor<4xf32> {onnx.name = "loop0.1.next"})
// CHECK: %[[W:.*]] = onnx.Tanh(%[[V]])
// CHECK: %[[ONE:.*]] = onnx.weight dense<1> : tensor<i64>
// CHECK: %[[NEXT:.*]] = onnx.Add(%[[I]], %[[ONE]])
// CHECK: return %[[NEXT]], %[[W]]
// CHECK: module @part2
// CHECK: func.func @main(%[[R:.*]]: tensor<4xf32> {onnx.name = "loop0.1"}) -> (tensor<4xf32> {onnx.name = "y"})
// CHECK: %[[Y:.*]] = onnx.Neg(%[[R]])
// CHECK: return %[[Y]]
// CHECK: trn.program inputs(["n", "x"]) outputs(["y"]) {
// CHECK-NEXT: trn.run @part0
// CHECK-NEXT: trn.repeat count("loop0.count") limit(2147483647) carried(["loop0.0", "loop0.1"]) {
// CHECK-NEXT: trn.run @part1
// CHECK-NEXT: }
// CHECK-NEXT: trn.run @part2
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %r = onnx.Loop(%n, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %w = onnx.Tanh(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %c, %w : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<4xf32>) -> tensor<*xf32>
  %y = onnx.Neg(%r) : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Names of the model that look like names of loops: no buffer of a loop has one of them.
// CHECK: trn.program inputs(["n", "loop0.1.next"]) outputs(["loop1.count"]) {
// CHECK: trn.repeat count("loop2.count") limit(2147483647) carried(["loop2.0", "loop2.1"]) {
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "loop0.1.next"})
    -> (tensor<*xf32> {onnx.name = "loop1.count"}) {
  %r = onnx.Loop(%n, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %w = onnx.Add(%v, %x) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
    onnx.yield %c, %w : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A body that ends the loop bounds the count: one step, or none.
// CHECK: onnx.name = "loop0.count"
// CHECK: onnx.Min(
// CHECK: trn.repeat count("loop0.count") limit(2147483647)
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %no = onnx.weight dense<false> : tensor<i1>
  %r = onnx.Loop(%n, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %w = onnx.Add(%v, %x) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
    onnx.yield %no, %w : tensor<i1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A branch that costs more to compute twice than to take: the part before it leaves the condition, each body is a part of
// its own that leaves the results in the same buffers, and what nobody reads is no result.
// CHECK: module @part0
// CHECK: func.func @main(%[[C:.*]]: tensor<i1> {onnx.name = "c"}, %[[X:.*]]: tensor<1024x1024xf32> {onnx.name = "x"})
// CHECK-SAME: -> (tensor<i1> {onnx.name = "branch0.condition"})
// CHECK: module @part1
// CHECK: func.func @main(%[[T:.*]]: tensor<1024x1024xf32> {onnx.name = "x"}) -> (tensor<1024x1024xf32> {onnx.name = "branch0.0"})
// CHECK: onnx.MatMul
// CHECK: module @part2
// CHECK: func.func @main(%[[E:.*]]: tensor<1024x1024xf32> {onnx.name = "x"}) -> (tensor<1024x1024xf32> {onnx.name = "branch0.0"})
// CHECK: %[[Y:.*]] = onnx.Neg
// CHECK: return %[[Y]] : tensor<1024x1024xf32>
// CHECK: trn.program inputs(["c", "x"]) outputs(["y"]) {
// CHECK-NEXT: trn.run @part0
// CHECK-NEXT: trn.either condition("branch0.condition") {
// CHECK-NEXT: trn.run @part1
// CHECK-NEXT: } else {
// CHECK-NEXT: trn.run @part2
// CHECK-NEXT: }
// CHECK-NEXT: trn.run @part3
func.func @main(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<1024x1024xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %r:2 = onnx.If(%c) {
    %a = onnx.MatMul(%x, %x) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<*xf32>
    onnx.yield %x, %a : tensor<1024x1024xf32>, tensor<*xf32>
  }, {
    %a = onnx.Neg(%x) : (tensor<1024x1024xf32>) -> tensor<*xf32>
    %e = onnx.Exp(%x) : (tensor<1024x1024xf32>) -> tensor<*xf32>
    onnx.yield %e, %a : tensor<*xf32>, tensor<*xf32>
  } : (tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#1 : tensor<*xf32>
}
