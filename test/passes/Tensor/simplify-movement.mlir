// RUN: trn-opt %s -split-input-file -tensor-simplify-movement | %FileCheck %s

// CHECK-LABEL: func.func @cancel
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]]
func.func @cancel(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %1 = linalg.transpose ins(%0 : tensor<3x2xf32>) outs(%f : tensor<2x3xf32>) permutation = [1, 0]
  return %1 : tensor<2x3xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @unit_dims
// CHECK-NOT: expand_shape
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x96xf32>)
// CHECK-NOT: collapse_shape
func.func @unit_dims(%x: tensor<1x96xf32>) -> tensor<1x96xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [1, 96, 1, 1] : tensor<1x96xf32> into tensor<1x96x1x1xf32>
  %e = tensor.empty() : tensor<1x96x1x1xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x96x1x1xf32>) outs(%e : tensor<1x96x1x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<1x96x1x1xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<1x96x1x1xf32> into tensor<1x96xf32>
  return %2 : tensor<1x96xf32>
}
