// RUN: trn-opt %s -split-input-file -tensor-read-fixed-rows | %FileCheck %s

// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: @row
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[1, 0] [1, 5] [1, 1] : tensor<3x7xf32> to tensor<5xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #{{.*}}]{{.*}} ins(%arg1, %[[S]] :
// CHECK-NEXT: ^bb0(%[[B:.*]]: f32, %[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[E]], %[[B]]
func.func @row(%x: tensor<3x7xf32>, %b: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %e = tensor.empty() : tensor<2x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%b : tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%in: f32, %o: f32):
    %j = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %v = tensor.extract %x[%c1, %j] : tensor<3x7xf32>
    %s = arith.addf %v, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// One element, and the whole table the other way round.
// CHECK-LABEL: @element_and_transpose
// CHECK: tensor.extract_slice %arg0[2, 1] [1, 1] [1, 1] : tensor<3x2xf32> to tensor<f32>
// CHECK: tensor.extract_slice %arg0[0, 0] [3, 2] [1, 1] : tensor<3x2xf32> to tensor<3x2xf32>
// CHECK-NOT: tensor.extract %
func.func @element_and_transpose(%x: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<2x3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %v = tensor.extract %x[%c2, %c1] : tensor<3x2xf32>
    %w = tensor.extract %x[%j, %i] : tensor<3x2xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Outside of the table, along a diagonal, and at a place that the run decides: left to the planner.
// CHECK-LABEL: @others
// CHECK-NOT: extract_slice
// CHECK-COUNT-3: tensor.extract %
func.func @others(%x: tensor<3x3xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%i : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i32, %o: f32):
    %d = linalg.index 0 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %p = arith.index_cast %in : i32 to index
    %u = tensor.extract %x[%c3, %d] : tensor<3x3xf32>
    %v = tensor.extract %x[%d, %d] : tensor<3x3xf32>
    %w = tensor.extract %x[%p, %c0] : tensor<3x3xf32>
    %s = arith.addf %u, %v : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
