// RUN: trn-opt %s --onnx-decompose --onnx-infer-fold | %FileCheck %s

// CHECK-LABEL: func @views
// CHECK: %[[A:.*]] = onnx.Reshape(%arg0) {shape = array<i64: 2, 12>}
// CHECK: onnx.Reshape(%[[A]]) {shape = array<i64: 2, 1, 12>}
func.func @views(%x: tensor<2x3x4xf32>) -> tensor<2x1x12xf32> {
  %a = onnx.Flatten(%x) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %b = onnx.Unsqueeze(%a) {axes = array<i64: 1>} : (tensor<2x12xf32>) -> tensor<2x1x12xf32>
  return %b : tensor<2x1x12xf32>
}

// CHECK-LABEL: func @trilu
// CHECK: %[[M:.*]] = onnx.weight dense<{{\[\[}}true, false], [true, true]]> : tensor<2x2xi1>
// CHECK: onnx.Where(%[[M]], %arg0,
func.func @trilu(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = onnx.Trilu(%x) {upper = false} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// One step from a zero state needs neither the recurrence weights nor the forget gate.
// CHECK-LABEL: func @lstm
// CHECK-COUNT-1: onnx.MatMul
// CHECK-NOT: onnx.MatMul
// CHECK-NOT: onnx.LSTM
// CHECK: return %{{.*}} : tensor<1x1x1x2xf32>
func.func @lstm(%x: tensor<1x1x3xf32>) -> tensor<1x1x1x2xf32> {
  %w = onnx.weight dense<0.5> : tensor<1x8x3xf32>
  %r = onnx.weight dense<0.25> : tensor<1x8x2xf32>
  %y = onnx.LSTM(%x, %w, %r) {hidden_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>) -> tensor<1x1x1x2xf32>
  return %y : tensor<1x1x1x2xf32>
}

// In training, the batch's statistics normalise, and the running ones move towards them.
// CHECK-LABEL: func @batch_normalization_in_training
func.func @batch_normalization_in_training(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>) {
  // CHECK: %[[MEAN:.*]] = onnx.ReduceMean(%arg0) {axes = array<i64: 0, 2>
  // CHECK: %[[FLAT:.*]] = onnx.Reshape(%[[MEAN]])
  // CHECK: %[[Y:.*]] = onnx.BatchNormalization(%arg0, %arg1, %arg2, %[[FLAT]], %{{.*}})
  // CHECK-NOT: training_mode = true
  // CHECK: %[[OLD:.*]] = onnx.Mul(%arg3, %{{.*}})
  // CHECK: %[[NEW:.*]] = onnx.Mul(%[[FLAT]], %{{.*}})
  // CHECK: %[[MOVED:.*]] = onnx.Add(%[[OLD]], %[[NEW]])
  // CHECK: return %[[Y]], %[[MOVED]]
  %y, %rm, %rv = onnx.BatchNormalization(%x, %s, %b, %m, %v) {training_mode = true, resultSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y, %rm : tensor<2x3x4xf32>, tensor<3xf32>
}

// Three columns are cut, the odd one at the end; one row is added at the end.
// CHECK-LABEL: func @center_crop_pad
// CHECK: %[[CUT:.*]] = onnx.Slice(%arg0) {axes = array<i64: 1>, ends = array<i64: 3>, {{.*}}starts = array<i64: 1>
// CHECK: onnx.Pad(%[[CUT]]) {{.*}}pads = array<i64: 0, 0, 1, 0>
func.func @center_crop_pad(%x: tensor<3x5xf32>) -> tensor<4x2xf32> {
  %y = onnx.CenterCropPad(%x) {shape = array<i64: 4, 2>} : (tensor<3x5xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// The reset gate scales what the state gives, its bias included; the first step has no state.
// CHECK-LABEL: func @gru_reset_after_the_product
// CHECK: %[[IN:.*]] = onnx.MatMul
// CHECK: onnx.Sigmoid
// CHECK: %[[RESET:.*]] = onnx.Sigmoid
// CHECK: %[[BIAS:.*]] = onnx.Mul(%[[RESET]], %{{.*}}) : (tensor<1x2xf32>, tensor<2xf32>)
// CHECK: onnx.Tanh
// CHECK-NOT: onnx.MatMul
// CHECK-NOT: onnx.GRU
func.func @gru_reset_after_the_product(%x: tensor<1x1x3xf32>) -> tensor<1x1x2xf32> {
  %w = onnx.weight dense<0.5> : tensor<1x6x3xf32>
  %r = onnx.weight dense<0.25> : tensor<1x6x2xf32>
  %b = onnx.weight dense<0.125> : tensor<1x12xf32>
  %y = onnx.GRU(%x, %w, %r, %b) {linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 0, 1>} : (tensor<1x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// Both directions, each with its function and parameter; the input of the function is clipped.
// CHECK-LABEL: func @rnn
// CHECK: onnx.Max
// CHECK: onnx.Min
// CHECK: onnx.LeakyRelu(%{{.*}}) {alpha = 5.000000e-01 : f32}
// CHECK: onnx.Softsign
// CHECK-NOT: onnx.RNN
func.func @rnn(%x: tensor<1x1x3xf32>) -> tensor<1x2x1x2xf32> {
  %w = onnx.weight dense<0.5> : tensor<2x2x3xf32>
  %r = onnx.weight dense<0.25> : tensor<2x2x2xf32>
  %y = onnx.RNN(%x, %w, %r) {activations = ["LeakyRelu", "Softsign"], activation_alpha = array<f32: 0.5>, clip = 3.0 : f32, direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>} : (tensor<1x1x3xf32>, tensor<2x2x3xf32>, tensor<2x2x2xf32>) -> tensor<1x2x1x2xf32>
  return %y : tensor<1x2x1x2xf32>
}

// Behind a sample's end the output is zero and the state stays.
// CHECK-LABEL: func @lengths
// CHECK: %[[INSIDE:.*]] = onnx.Less(%{{.*}}, %{{.*}}) : (tensor<i32>, tensor<2x1xi32>)
// CHECK: onnx.Where(%[[INSIDE]]
func.func @lengths(%x: tensor<1x2x3xf32>, %n: tensor<2xi32>) -> tensor<1x2x2xf32> {
  %w = onnx.weight dense<0.5> : tensor<1x2x3xf32>
  %r = onnx.weight dense<0.25> : tensor<1x2x2xf32>
  %y = onnx.RNN(%x, %w, %r, %n) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>, resultSegmentSizes = array<i32: 0, 1>} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>, tensor<2xi32>) -> tensor<1x2x2xf32>
  return %y : tensor<1x2x2xf32>
}

// The generator's published first word for counter 0 and key 0 is 0x6627e8d5; its upper 24 bits are the fraction.
// CHECK-LABEL: func @uniform
// CHECK: onnx.weight dense<0.399046421> : tensor<1xf32>
func.func @uniform() -> tensor<1xf32> {
  %y = onnx.RandomUniform() {shape = array<i64: 1>, seed = 0.0 : f32} : () -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// What is kept in training is divided by its share.
// CHECK-LABEL: func @dropout
// CHECK-DAG: %[[KEEP:.*]] = onnx.weight dense<{{.*}}> : tensor<2xi1>
// CHECK: %[[D:.*]] = onnx.Div(%arg0, %{{.*}})
// CHECK: onnx.Where(%[[KEEP]], %[[D]], %{{.*}})
func.func @dropout(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.Dropout(%x) {ratio = 2.500000e-01 : f32, training_mode = true, seed = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A diagonal is every fourth element of nine.
// CHECK-LABEL: func @diagonal
// CHECK: %[[FLAT:.*]] = onnx.Reshape({{.*}}) {shape = array<i64: 2, 9>}
// CHECK: %[[D:.*]] = onnx.Slice(%[[FLAT]]) {{.*}}steps = array<i64: 4>
// CHECK: onnx.Einsum(%[[D]]) {equation = "ij->ji"}
func.func @diagonal(%x: tensor<2x3x3xf32>) -> tensor<3x2xf32> {
  %y = onnx.Einsum(%x) {equation = "ijj->ji"} : (tensor<2x3x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func @three_terms
// CHECK: %[[AB:.*]] = onnx.Einsum(%arg0, %arg1) {equation = "ij,jk->ik"}
// CHECK: onnx.Einsum(%[[AB]], %arg2) {equation = "ik,kl->il"}
func.func @three_terms(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %y = onnx.Einsum(%a, %b, %c) {equation = "ij,jk,kl->il"}
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
