// RUN: trn-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{expected shapes that broadcast but got 2x3 and 4}}
  %c = onnx.Add(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @elements(%a: tensor<3xf32>, %b: tensor<3xf16>) {
  // expected-error@+1 {{expected equal element types but got 'f32' and 'f16'}}
  %c = onnx.Mul(%a, %b) : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  return
}

// -----

func.func @declared(%a: tensor<3xf32>) {
  // expected-error@+1 {{expected result 0 of type 'tensor<3xf32>' but got 'tensor<4xf32>'}}
  %c = onnx.Exp(%a) : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @axis(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{expected an axis in [-2, 1] but got 2}}
  %c = onnx.Softmax(%a) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{expected 3 input channels in each of 1 groups but got 4 in all}}
  %y = onnx.Conv(%x, %w) : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @window(%x: tensor<1x4x2x2xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{expected a window of at most 2 elements but got 3}}
  %y = onnx.Conv(%x, %w) : (tensor<1x4x2x2xf32>, tensor<6x4x3x3xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{expected equal inner sizes but got 2x3 and 4x5}}
  %y = onnx.MatMul(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @reshape(%a: tensor<6xf32>) {
  // expected-error@+1 {{expected a shape of 6 elements but got 2x4}}
  %y = onnx.Reshape(%a) {shape = array<i64: 2, 4>} : (tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @huge(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected a result of at most 2^40 elements}}
  %y = onnx.Expand(%a) {shape = array<i64: 1099511627776, 1099511627776>} : (tensor<1xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @ratio(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected a ratio from 0 to 1 but got 1.5}}
  %y = onnx.Dropout(%a) {ratio = 1.5 : f32, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @much_noise() {
  // expected-error@+1 {{expected at most 2^28 random numbers}}
  %y = onnx.RandomUniform() {shape = array<i64: 65536, 65536>, seed = 0.0 : f32} : () -> tensor<65536x65536xf32>
  return
}

// -----

func.func @einsum_output(%a: tensor<2x2xf32>) {
  // expected-error@+1 {{expected each letter once in the output but got 'ii'}}
  %y = onnx.Einsum(%a) {equation = "ij->ii"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @deform_taps(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %o: tensor<1x4x2x2xf32>) {
  // expected-error@+1 {{expected 2 values for each of 1 x 4 taps in dimension 1 but got 1x4x2x2}}
  %y = onnx.DeformConv(%x, %w, %o) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x1x2x2xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<1x3x4x8xf32>, %k: tensor<1x2x4x8xf32>) -> tensor<1x3x4x8xf32> {
  // expected-error@+1 {{expected a number of query heads that is a multiple of the number of key heads but got 3 and 2}}
  %y = onnx.Attention(%q, %k, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>} : (tensor<1x3x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x3x4x8xf32>
  return %y : tensor<1x3x4x8xf32>
}

// -----

func.func @flex_attention_sizes(%q: tensor<1x4x4x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x4x4x8xf32> {
  // expected-error@+1 {{expected Q, K and V of sizes that fit but got 1x4x4x8, 1x2x5x8 and 1x2x6x8}}
  %y = onnx.preview.FlexAttention(%q, %k, %v) {
  }, {
  } : (tensor<1x4x4x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// -----

func.func @flex_attention_body(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  // expected-error@+1 {{expected a body with 1 input and 1 output but got 2 and 1}}
  %y = onnx.preview.FlexAttention(%q, %q, %q) {
  }, {
  ^bb0(%s: tensor<*xf32>, %t: tensor<*xf32>):
    onnx.yield %s : tensor<*xf32>
  } : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}

// -----

func.func @linear_attention_rule(%q: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error@+1 {{expected a decay for gated rules and a beta for delta rules only, but the rule is 'gated_delta'}}
  %y, %s = onnx.LinearAttention(%q, %q, %q) {q_num_heads = 1 : i64, kv_num_heads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> (tensor<1x3x4xf32>, tensor<1x1x4x4xf32>)
  return %y : tensor<1x3x4xf32>
}

// -----

func.func @groups(%x: tensor<1x6x4xf32>, %s: tensor<6xf32>) {
  // expected-error@+1 {{expected 'num_groups' to divide 6 channels but got 4}}
  %y = onnx.GroupNormalization(%x, %s, %s) {num_groups = 4 : i64} : (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x6x4xf32>, %s: tensor<5xf32>) {
  // expected-error@+1 {{expected one value for each of 6 channels but got 5}}
  %y = onnx.InstanceNormalization(%x, %s, %s) : (tensor<1x6x4xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @scale(%x: tensor<2x6xf32>, %s: tensor<5xf32>) {
  // expected-error@+1 {{expected a scale that broadcasts to 2x6 but got 5}}
  %y = onnx.RMSNormalization(%x, %s) : (tensor<2x6xf32>, tensor<5xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @neighbours(%x: tensor<1x6x4xf32>) {
  // expected-error@+1 {{expected 'size' of at least 1 and below 2^31 but got 0}}
  %y = onnx.LRN(%x) {size = 0 : i64} : (tensor<1x6x4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @triangle(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected matrices but got 6}}
  %y = onnx.Trilu(%x) : (tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{expected updates of shape 3x5 but got 3x4}}
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @far(%x: tensor<4x5xf32>, %i: tensor<2x6xi64>, %u: tensor<2x6xf32>) {
  // expected-error@+1 {{expected indices inside 4x5 but got 2x6}}
  %y = onnx.ScatterElements(%x, %i, %u) : (tensor<4x5xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @count_of_two(%x: tensor<4xf32>, %n: tensor<2xi64>) {
  // expected-error@+1 {{expected a count of one element but got 'tensor<2xi64>'}}
  %y = onnx.counted(%x, %n) {dim = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @counted_dim(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{expected a 'dim' from 0 to 0 but got 1}}
  %y = onnx.counted(%x, %n) {dim = 1 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @counted_type(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{expected a result of type 'tensor<4xf32>' but got 'tensor<5xf32>'}}
  %y = onnx.counted(%x, %n) {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<5xf32>
  return
}

// -----

func.func @counted_of_unknown_size(%x: tensor<?xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{expected a tensor of its largest size but got 'tensor<?xf32>'}}
  %y = onnx.counted(%x, %n) {dim = 0 : i64} : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

func.func @repeat_without_number(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the number of the step, one 64-bit integer, as the first carried value}}
  %y = onnx.repeat(%x) {
  ^bb0(%v: tensor<4xf32>):
    onnx.yield %v : tensor<4xf32>
  } {limit = 7 : i64, operandSegmentSizes = array<i32: 0, 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @repeat_of_other_types(%i: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected a body that takes ('tensor<i64>', 'tensor<4xf32>') but got ('tensor<i64>')}}
  %y:2 = onnx.repeat(%i, %x) {
  ^bb0(%n: tensor<i64>):
    onnx.yield %n, %x : tensor<i64>, tensor<4xf32>
  } {limit = 7 : i64, operandSegmentSizes = array<i32: 0, 0, 2>}
    : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>)
  return
}

// -----

func.func @repeat_without_condition(%i: tensor<i64>, %c: tensor<i1>) {
  // expected-error@+1 {{expected a body that gives ('tensor<i1>', 'tensor<i64>') but got ('tensor<i64>')}}
  %y = onnx.repeat(%c, %i) {
  ^bb0(%n: tensor<i64>):
    onnx.yield %n : tensor<i64>
  } {limit = 7 : i64, operandSegmentSizes = array<i32: 0, 1, 1>} : (tensor<i1>, tensor<i64>) -> tensor<i64>
  return
}

// -----

func.func @repeat_less_than_never(%i: tensor<i64>) {
  // expected-error@+1 {{expected a limit of at least 0 but got -1}}
  %y = onnx.repeat(%i) {
  ^bb0(%n: tensor<i64>):
    onnx.yield %n : tensor<i64>
  } {limit = -1 : i64, operandSegmentSizes = array<i32: 0, 0, 1>} : (tensor<i64>) -> tensor<i64>
  return
}

// -----

func.func @branch_of_two_types(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{expected a body that gives ('tensor<4xf32>') but got ('tensor<5xf32>')}}
  %z = onnx.branch(%c) {
    onnx.yield %x : tensor<4xf32>
  }, {
    onnx.yield %y : tensor<5xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @if_of_four(%x: tensor<4xf32>, %c: tensor<4xi1>) {
  // expected-error@+1 {{expected a condition of one element but got 4}}
  %z = onnx.If(%c) {
    onnx.yield %x : tensor<4xf32>
  }, {
    onnx.yield %x : tensor<4xf32>
  } : (tensor<4xi1>) -> tensor<*xf32>
  return
}

// -----

func.func @loop_of_four(%x: tensor<f32>, %m: tensor<4xi64>) {
  // expected-error@+1 {{expected a trip count and a condition of one element}}
  %y = onnx.Loop(%m, %x) {
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %v: tensor<*xf32>):
    onnx.yield %c, %v : tensor<*xi1>, tensor<*xf32>
  } {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<4xi64>, tensor<f32>) -> tensor<*xf32>
  return
}
