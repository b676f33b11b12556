// RUN: trn-opt %s --onnx-recompose --onnx-infer-fold | %FileCheck %s

// CHECK-LABEL: func @gelu
// CHECK-NEXT: onnx.Gelu(%arg0) :
// CHECK-NEXT: return
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = onnx.weight dense<1.41421354> : tensor<f32>
  %one = onnx.weight dense<1.0> : tensor<f32>
  %half = onnx.weight dense<0.5> : tensor<f32>
  %a = onnx.Div(%x, %root) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.Erf(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.Add(%b, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = onnx.Mul(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = onnx.Mul(%d, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// The gate of another value is no Gelu.
// CHECK-LABEL: func @other
// CHECK-NOT: onnx.Gelu
// CHECK: onnx.Erf
func.func @other(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %root = onnx.weight dense<0.70710678> : tensor<f32>
  %one = onnx.weight dense<1.0> : tensor<f32>
  %half = onnx.weight dense<0.5> : tensor<f32>
  %a = onnx.Mul(%z, %root) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.Erf(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.Add(%b, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = onnx.Mul(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = onnx.Mul(%d, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// A constant that is off by 1e-5 is another function.
// CHECK-LABEL: func @nearly
// CHECK-NOT: onnx.Gelu
// CHECK: onnx.Erf
func.func @nearly(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = onnx.weight dense<1.41422768> : tensor<f32>
  %one = onnx.weight dense<1.0> : tensor<f32>
  %half = onnx.weight dense<0.5> : tensor<f32>
  %a = onnx.Div(%x, %root) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.Erf(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.Add(%b, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = onnx.Mul(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = onnx.Mul(%d, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// CHECK-LABEL: func @gelu_tanh
// CHECK-NEXT: onnx.Gelu(%arg0) {approximate = "tanh"}
func.func @gelu_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = onnx.weight dense<0.044715> : tensor<f32>
  %root = onnx.weight dense<0.797884583> : tensor<f32>
  %one = onnx.weight dense<1.0> : tensor<f32>
  %half = onnx.weight dense<0.5> : tensor<f32>
  %three = onnx.weight dense<3.0> : tensor<f32>
  %a = onnx.Pow(%x, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.Mul(%a, %k) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = onnx.Add(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = onnx.Mul(%c, %root) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e = onnx.Tanh(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = onnx.Add(%e, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = onnx.Mul(%f, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = onnx.Mul(%x, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// CHECK-LABEL: func @layer_norm
// CHECK-DAG: %[[S:.*]] = onnx.weight dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG: %[[B:.*]] = onnx.weight dense<[4.000000e+00, 5.000000e+00, 6.000000e+00]>
// CHECK: onnx.LayerNormalization(%arg0, %[[S]], %[[B]]) {axis = 1 : i64, epsilon = 2.500000e-01 : f32
// CHECK-NEXT: return
func.func @layer_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = onnx.weight dense<2.0> : tensor<f32>
  %eps = onnx.weight dense<0.25> : tensor<f32>
  %s = onnx.weight dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = onnx.weight dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %m = onnx.ReduceMean(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %c = onnx.Sub(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %p = onnx.Pow(%c, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = onnx.ReduceMean(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %e = onnx.Add(%v, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %d = onnx.Sqrt(%e) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = onnx.Div(%c, %d) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%n, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %z = onnx.Add(%y, %t) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

// A mean over a leading axis is no layer normalisation.
// CHECK-LABEL: func @batch_mean
// CHECK-NOT: onnx.LayerNormalization
// CHECK: onnx.Div
func.func @batch_mean(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %eps = onnx.weight dense<1.0e-05> : tensor<f32>
  %m = onnx.ReduceMean(%x) {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %c = onnx.Sub(%x, %m) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %p = onnx.Mul(%c, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = onnx.ReduceMean(%p) {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %e = onnx.Add(%v, %eps) : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %d = onnx.Sqrt(%e) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %n = onnx.Div(%c, %d) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %n : tensor<2x3xf32>
}

// CHECK-LABEL: func @swish
// CHECK: onnx.Swish(%arg0)
func.func @swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = onnx.Sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.Mul(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @hard_swish
// CHECK: onnx.HardSwish(%arg0)
func.func @hard_swish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = onnx.weight dense<3.0> : tensor<f32>
  %six = onnx.weight dense<6.0> : tensor<f32>
  %a = onnx.Add(%x, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = onnx.Clip(%a) {min = 0.0 : f32, max = 6.0 : f32, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %m = onnx.Mul(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.Div(%m, %six) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @softmax
// CHECK-NEXT: onnx.Softmax(%arg0) {axis = 1 : i64}
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %m = onnx.ReduceMax(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %s = onnx.Sub(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %e = onnx.Exp(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.ReduceSum(%e) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %y = onnx.Div(%e, %t) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
