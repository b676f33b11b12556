// RUN: trn-opt %s --onnx-infer-fold --split-input-file | %FileCheck %s

// A shape chain folds into the attribute of the Reshape that reads it.
// CHECK-LABEL: func @chain
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%arg0) {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: return %[[Y]] : tensor<2x12xf32>
func.func @chain(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %zero = onnx.weight dense<0> : tensor<i64>
  %minus = onnx.weight dense<-1> : tensor<1xi64>
  %axes = onnx.weight dense<0> : tensor<1xi64>
  %shape = onnx.Shape(%x) : (tensor<2x3x4xf32>) -> tensor<?xi64>
  %n = onnx.Gather(%shape, %zero) : (tensor<?xi64>, tensor<i64>) -> tensor<i64>
  %n1 = onnx.Unsqueeze(%n, %axes) : (tensor<i64>, tensor<1xi64>) -> tensor<?xi64>
  %to = onnx.Concat(%n1, %minus) {axis = 0 : i64} : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
  %y = onnx.Reshape(%x, %to) : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A splat stays one, whatever its size.
// CHECK-LABEL: func @splat
// CHECK-NEXT: onnx.weight dense<2.500000e-01> : tensor<4096x4096xf32>
func.func @splat() -> tensor<*xf32> {
  %shape = onnx.weight dense<4096> : tensor<2xi64>
  %w = onnx.ConstantOfShape(%shape) {value = dense<0.5> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<*xf32>
  %y = onnx.Mul(%w, %w) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Attributes are normalised: axes, pads of SAME_UPPER, kernel and strides.
// CHECK-LABEL: func @normalise
// CHECK: onnx.Conv({{.*}}) {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-SAME: -> tensor<1x4x4x4xf32>
// CHECK: onnx.ReduceMean({{.*}}) {axes = array<i64: 2, 3>, keepdims = false}
// CHECK-SAME: -> tensor<1x4xf32>
func.func @normalise(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  %y = onnx.Conv(%x, %w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  %m = onnx.ReduceMean(%y) {axes = array<i64: -1, -2>, keepdims = false} : (tensor<*xf32>) -> tensor<*xf32>
  return %m : tensor<*xf32>
}

// -----

// Slices are brought into the dimension, also backwards.
// CHECK-LABEL: func @slice
// CHECK: onnx.Slice(%arg0) {axes = array<i64: 0>, ends = array<i64: -11>, {{.*}}starts = array<i64: 9>, steps = array<i64: -2>}
// CHECK-SAME: -> tensor<5xf32>
func.func @slice(%x: tensor<10xf32>) -> tensor<*xf32> {
  %y = onnx.Slice(%x) {starts = array<i64: 100>, ends = array<i64: -9223372036854775808>, steps = array<i64: -2>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<10xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What the standard leaves undefined has the value that the lowering has.
// CHECK-LABEL: func @undefined
// CHECK: onnx.weight dense<[0, 2]>
func.func @undefined() -> tensor<2xi64> {
  %a = onnx.weight dense<[1, 2]> : tensor<2xi64>
  %b = onnx.weight dense<[0, 1]> : tensor<2xi64>
  %y = onnx.Div(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// Whatever has a lowering folds.
// CHECK-LABEL: func @lowered
// CHECK-DAG: %[[A:.*]] = onnx.weight dense<[1, -2, 0]> : tensor<3xi64>
// CHECK-DAG: %[[B:.*]] = onnx.weight dense<[2, 1, 0]> : tensor<3xi64>
// CHECK: return %[[A]], %[[B]]
func.func @lowered() -> (tensor<3xi64>, tensor<3xi64>) {
  %x = onnx.weight dense<[7, -5, 9]> : tensor<3xi64>
  %d = onnx.weight dense<[3, -3, 9]> : tensor<3xi64>
  %r = onnx.Mod(%x, %d) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %i = onnx.weight dense<[-1, 1, 0]> : tensor<3xi64>
  %t = onnx.weight dense<[0, 1, 2]> : tensor<3xi64>
  %g = onnx.GatherElements(%t, %i) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  return %r, %g : tensor<3xi64>, tensor<3xi64>
}

// -----

// A cast of a fraction to bool is true; to an integer it truncates.
// CHECK-LABEL: func @casts
// CHECK-DAG: onnx.weight dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: onnx.weight dense<[0, -1]> : tensor<2xi32>
func.func @casts() -> (tensor<2xi1>, tensor<2xi32>) {
  %a = onnx.weight dense<[0.5, 0.0]> : tensor<2xf32>
  %b = onnx.weight dense<[0.9, -1.9]> : tensor<2xf32>
  %y = onnx.Cast(%a) {to = i1} : (tensor<2xf32>) -> tensor<2xi1>
  %z = onnx.Cast(%b) {to = i32} : (tensor<2xf32>) -> tensor<2xi32>
  return %y, %z : tensor<2xi1>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func @range
// CHECK: onnx.weight dense<[10, 7, 4]> : tensor<3xi64>
func.func @range() -> tensor<?xi64> {
  %a = onnx.weight dense<10> : tensor<i64>
  %b = onnx.weight dense<1> : tensor<i64>
  %c = onnx.weight dense<-3> : tensor<i64>
  %y = onnx.Range(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// Operators that choose by position fold in the same walk, because sizes may follow from them.
// CHECK-LABEL: func @positions
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%arg0) {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[Y]] : tensor<3x2xf32>
func.func @positions(%x: tensor<6xf32>) -> tensor<*xf32> {
  %square = onnx.weight dense<[[3, 1], [9, 2]]> : tensor<2x2xi64>
  %axes = onnx.weight dense<0> : tensor<1xi64>
  %lower = onnx.Trilu(%square) {upper = true} : (tensor<2x2xi64>) -> tensor<*xi64>
  %row = onnx.weight dense<[1, -2]> : tensor<2xi64>
  %depth = onnx.weight dense<2> : tensor<i64>
  %ends = onnx.weight dense<[0, 1]> : tensor<2xi64>
  %hot = onnx.OneHot(%row, %depth, %ends) {axis = -1 : i64} : (tensor<2xi64>, tensor<i64>, tensor<2xi64>) -> tensor<*xi64>
  %sum = onnx.Add(%lower, %hot) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %lengths = onnx.ReduceMax(%sum, %axes) {keepdims = false} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.Reshape(%x, %lengths) : (tensor<6xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
