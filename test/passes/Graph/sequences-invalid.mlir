// RUN: trn-opt %s --onnx-infer-fold --split-input-file --verify-diagnostics

func.func @position_at_run_time(%x: tensor<2xf32>, %i: tensor<i64>) -> tensor<*xf32> {
  %s = onnx.SequenceConstruct(%x) : (tensor<2xf32>) -> !onnx.seq<f32>
  // expected-error@+1 {{the position is known at run time only; bind that input with --const-input}}
  %y = onnx.SequenceAt(%s, %i) : (!onnx.seq<f32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @outside(%x: tensor<2xf32>) -> tensor<*xf32> {
  %i = onnx.weight dense<1> : tensor<i64>
  %s = onnx.SequenceConstruct(%x) : (tensor<2xf32>) -> !onnx.seq<f32>
  // expected-error@+1 {{expected a position inside of a sequence of 1 tensors}}
  %y = onnx.SequenceAt(%s, %i) : (!onnx.seq<f32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<5xf32>) -> tensor<*xf32> {
  %sizes = onnx.weight dense<[2, 2]> : tensor<2xi64>
  // expected-error@+1 {{expected sizes that add up to 5 but got 4}}
  %s = onnx.SplitToSequence(%x, %sizes) : (tensor<5xf32>, tensor<2xi64>) -> !onnx.seq<f32>
  %y = onnx.ConcatFromSequence(%s) {axis = 0 : i64} : (!onnx.seq<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @absent(%x: tensor<2xf32>) -> tensor<*xf32> {
  %none = onnx.Optional() : () -> tensor<2xf32>
  // expected-error@+1 {{expected an optional with an element but it has none}}
  %e = onnx.OptionalGetElement(%none) : (tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.Relu(%e) : (tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @lengths(%x: tensor<2xf32>) -> !onnx.seq<f32> {
  %s = onnx.SequenceConstruct(%x) : (tensor<2xf32>) -> !onnx.seq<f32>
  %t = onnx.SequenceConstruct(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> !onnx.seq<f32>
  // expected-error@+1 {{expected sequences of one length but got 1 and 2}}
  %y = onnx.SequenceMap(%s, %t) {
  ^bb0(%a: tensor<*xf32>, %b: tensor<*xf32>):
    onnx.yield %a : tensor<*xf32>
  } : (!onnx.seq<f32>, !onnx.seq<f32>) -> !onnx.seq<f32>
  return %y : !onnx.seq<f32>
}
