// RUN: trn-opt %s -tensor-call-library | %FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Types decide: a map of 64-bit floats is a call, one of 32 bits is not.
// CHECK-LABEL: func @add
// CHECK: trn.kernel "library_loops" ins(%arg0, %arg1 : tensor<4xf64>, tensor<4xf64>) outs(%{{.*}} : tensor<4xf64>)
// CHECK-SAME: bounds = array<i32: 4>, offsets = array<i32: 0, 0, 0>, program = array<i32: 3, [[#]], 9252, 0, 1, 0>, starts_from = -1 : i32, strides = array<i32: 1, 1, 1>
// CHECK: linalg.generic
func.func @add(%x: tensor<4xf64>, %y: tensor<4xf64>, %z: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf64>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %f = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%z : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0, %1 : tensor<4xf64>, tensor<4xf32>
}

// A reduction along the last iterator goes outside of a parallel one; rank 0 has one dimension in a call.
// CHECK-LABEL: func @sum
// CHECK: trn.kernel "library_loops"
// CHECK-SAME: bounds = array<i32: 3, 2>
// CHECK-SAME: strides = array<i32: 0, 1, 1, 3>
func.func @sum(%x: tensor<2x3xf64>) -> tensor<2xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf64>) outs(%i : tensor<2xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %o, %a : f64
    linalg.yield %s : f64
  } -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// Movement is a call, too; a reshape is a view.
// CHECK-LABEL: func @slice
// CHECK: %[[S:.*]] = trn.kernel "library_loops" ins(%arg0 : tensor<4x6xf64>)
// CHECK-SAME: bounds = array<i32: 2, 3>, offsets = array<i32: 0, 7>
// CHECK-SAME: strides = array<i32: 3, 1, 12, 1>
// CHECK: tensor.collapse_shape %[[S]]
func.func @slice(%x: tensor<4x6xf64>) -> tensor<6xf64> {
  %0 = tensor.extract_slice %x[1, 1] [2, 3] [2, 1] : tensor<4x6xf64> to tensor<2x3xf64>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x3xf64> into tensor<6xf64>
  return %1 : tensor<6xf64>
}
