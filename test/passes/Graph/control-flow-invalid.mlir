// RUN: trn-opt %s --onnx-infer-fold --split-input-file --verify-diagnostics

func.func @branches_of_two_shapes(%x: tensor<4x2xf32>, %y: tensor<5x3xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  // expected-error@+1 {{the condition is known at run time only, and the branches give a tensor<4x2xf32> and a tensor<5x3xf32>}}
  %z = onnx.If(%c) {
    onnx.yield %x : tensor<4x2xf32>
  }, {
    onnx.yield %y : tensor<5x3xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

func.func @endless(%x: tensor<f32>) -> tensor<*xf32> {
  // expected-error@+1 {{the loop unrolls to more than 4096 steps}}
  %y = onnx.Loop(%x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    onnx.yield %c, %v : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 0, 0, 1>} : (tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @slices_at_run_time(%x: tensor<f32>, %m: tensor<i64>) -> tensor<*xf32> {
  // expected-error@+1 {{the number of steps, and with it the size of a result, is known at run time only, and nothing bounds it}}
  %y, %all = onnx.Loop(%m, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    onnx.yield %c, %v, %v : tensor<*xi1>, tensor<*xf32>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %all : tensor<*xf32>
}

// -----

func.func @growing_at_run_time(%x: tensor<1xf32>, %m: tensor<i64>) -> tensor<*xf32> {
  // expected-error@+1 {{the number of steps is known at run time only, and a carried value changes from tensor<1xf32> to tensor<2xf32>}}
  %y = onnx.Loop(%m, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    %w = onnx.Concat(%v, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
    onnx.yield %c, %w : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @body_of_other_arity(%x: tensor<f32>, %m: tensor<i64>) -> tensor<*xf32> {
  // expected-error@+1 {{expected a body with 3 inputs but got 1}}
  %y = onnx.Loop(%m, %x) {
  ^bb0(%v: tensor<*xf32>):
    onnx.yield %v, %v : tensor<*xf32>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @modifier_of_another_type(%q: tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf16> {
  // expected-error@+1 {{expected a body that takes elements of 'f32', the precision of the softmax, but got 'f16'}}
  %y = onnx.preview.FlexAttention(%q, %q, %q) {
  }, {
  ^bb0(%s: tensor<*xf16>):
    onnx.yield %s : tensor<*xf16>
  } : (tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf16>
  return %y : tensor<1x2x4x8xf16>
}

// -----

func.func @modifier_that_reduces(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  // expected-error@+1 {{expected a body that gives a tensor<1x2x4x4xf32> but got a tensor<1x2x4x1xf32>}}
  %y = onnx.preview.FlexAttention(%q, %q, %q) {
  }, {
  ^bb0(%s: tensor<*xf32>):
    %t = onnx.ReduceMax(%s) {axes = array<i64: 3>} : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %t : tensor<*xf32>
  } : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}

// -----

func.func @one_optional_is_empty(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  // expected-error@+1 {{one of the branches gives an optional without an element}}
  %z = onnx.If(%c) {
    onnx.yield %x : tensor<4xf32>
  }, {
    %n = onnx.Optional() {type = tensor<*xf32>} : () -> tensor<*xf32>
    onnx.yield %n : tensor<*xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}
