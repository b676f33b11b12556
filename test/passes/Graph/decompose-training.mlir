// RUN: trn-opt %s --onnx-decompose --onnx-infer-fold --split-input-file | %FileCheck %s

// A target that is ignored, though it is a class, picks nothing; the mean is over the weights picked.
// CHECK-LABEL: func @likelihood_loss
// CHECK: %[[HIT:.*]] = onnx.Equal(%{{.*}}, %{{.*}}) : (tensor<2x1x4xi64>, tensor<3x1xi64>) -> tensor<2x3x4xi1>
// CHECK: %[[IGNORED:.*]] = onnx.Equal
// CHECK: %[[COUNTS:.*]] = onnx.Not(%[[IGNORED]])
// CHECK: %[[PICK:.*]] = onnx.And(%[[HIT]], %[[COUNTS]])
// CHECK: %[[X:.*]] = onnx.Where(%[[PICK]], %arg0, %{{.*}})
// CHECK: %[[PICKED:.*]] = onnx.ReduceSum(%[[X]]) {axes = array<i64: 1>, keepdims = false}
// CHECK: %[[LOSS:.*]] = onnx.Neg(%[[PICKED]])
// CHECK: %[[W:.*]] = onnx.ReduceSum(%{{.*}}) {axes = array<i64: 1>, keepdims = false}
// CHECK: %[[WEIGHTED:.*]] = onnx.Mul(%[[LOSS]], %[[W]])
// CHECK: %[[SUM:.*]] = onnx.ReduceSum(%[[WEIGHTED]])
// CHECK: %[[TOTAL:.*]] = onnx.ReduceSum(%[[W]])
// CHECK: onnx.Div(%[[SUM]], %[[TOTAL]])
func.func @likelihood_loss(%x: tensor<2x3x4xf32>, %t: tensor<2x4xi64>, %w: tensor<3xf32>) -> tensor<f32> {
  %y = onnx.NegativeLogLikelihoodLoss(%x, %t, %w) {ignore_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// CHECK-LABEL: func @cross_entropy
// CHECK: %[[LOG:.*]] = onnx.LogSoftmax(%arg0) {axis = 1 : i64}
// CHECK-NOT: onnx.And
// CHECK: onnx.Where(%{{.*}}, %[[LOG]], %{{.*}})
// CHECK: return %{{.*}}, %[[LOG]]
func.func @cross_entropy(%x: tensor<2x3xf32>, %t: tensor<2xi64>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %y, %p = onnx.SoftmaxCrossEntropyLoss(%x, %t) {reduction = "none", ignore_index = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %y, %p : tensor<2xf32>, tensor<2x3xf32>
}

// -----

// Two parameters: the results are both parameters, then both states.
// CHECK-LABEL: func @momentum
// CHECK: %[[V0:.*]] = onnx.Add
// CHECK: %[[X0:.*]] = onnx.Sub(%arg2, %{{.*}})
// CHECK: %[[V1:.*]] = onnx.Add
// CHECK: %[[X1:.*]] = onnx.Sub(%arg3, %{{.*}})
// CHECK: return %[[X0]], %[[X1]], %[[V0]], %[[V1]]
func.func @momentum(%r: tensor<f32>, %t: tensor<i64>, %x0: tensor<2xf32>, %x1: tensor<3xf32>, %g0: tensor<2xf32>, %g1: tensor<3xf32>, %v0: tensor<2xf32>, %v1: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) {
  %y:4 = onnx.training.Momentum(%r, %t, %x0, %x1, %g0, %g1, %v0, %v1) {alpha = 0.9 : f32, beta = 0.5 : f32, mode = "standard", norm_coefficient = 0.0 : f32} : (tensor<f32>, tensor<i64>, tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>
}
