// RUN: trn-opt %s -tile-normalize-structure -split-input-file | %FileCheck %s

// The border keeps its shapes; inside, a scalar has one dimension and a loop of one round.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @scalars(
// CHECK-SAME: %[[X:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: %[[U:.*]] = tensor.expand_shape %[[X]] [] output_shape [1] : tensor<f32> into tensor<1xf32>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel"]} ins(%[[U]] : tensor<1xf32>) outs(%{{.*}} : tensor<1xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[R]] [] : tensor<1xf32> into tensor<f32>
// CHECK: return %[[C]]
#none = affine_map<() -> ()>
func.func @scalars(%x: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A sum of everything, divided and spread again: the new loop is the last, so that linalg.index keeps its numbers.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[S:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @reduced
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<1xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[S]]], iterator_types = ["reduction", "parallel"]}
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[S]], #[[X]]], iterator_types = ["parallel", "parallel"]}
#x = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>
func.func @reduced(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#x, #s], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %d = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#x, #s, #x], iterator_types = ["parallel"]} ins(%x, %0 : tensor<4xf32>, tensor<f32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
