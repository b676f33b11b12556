// RUN: trn-opt %s --onnx-split-control --mlir-print-debuginfo --mlir-print-local-scope | %FileCheck %s

// Parts in the body of a loop or branch belong to it, and the others to the model: so says what is refused of a part.
// CHECK: module @part0
// CHECK: return {{.*}} loc("model")
// CHECK: module @part1
// CHECK: return {{.*}} loc("branch")
// CHECK: module @part2
// CHECK: return {{.*}} loc("branch")
// CHECK: module @part3
// CHECK: return {{.*}} loc("model")
// CHECK:      trn.either
// CHECK-NEXT: trn.run @part1 loc("branch")
// CHECK:      trn.run @part2 loc("branch")
// CHECK:      trn.run @part3 loc("model")
func.func @main(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %d = onnx.Not(%c) : (tensor<i1>) -> tensor<i1>
  %r = "onnx.branch"(%d) ({
    %a = onnx.Tanh(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("tanh")
    onnx.yield %a : tensor<4xf32>
  }, {
    %b = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("neg")
    onnx.yield %b : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32> loc("branch")
  %y = onnx.Neg(%r) : (tensor<4xf32>) -> tensor<4xf32> loc("behind")
  return %y : tensor<4xf32>
} loc("model")
