// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// Sums of rows want the 2,570 rows on partitions: 21 chunks, the last shorter. Maxima of columns want columns there. One
// transpose moves the 20 whole chunks, one the rest: the group does not grow with the number of chunks.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#turned = affine_map<(i, j) -> (j, i)>
// CHECK:      linalg.transpose ins(%{{.*}} : tensor<123x20x40xf32, #trn.sbuf>) outs(%{{.*}} : tensor<40x20x123xf32, #trn.sbuf>) permutation = [2, 1, 0]
// CHECK-NEXT: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<40x20x123xf32, #trn.sbuf> into tensor<40x2460xf32, #trn.sbuf>
// CHECK:      linalg.transpose ins(%{{.*}} : tensor<110x40xf32, #trn.sbuf>) outs(%{{.*}} : tensor<40x110xf32, #trn.sbuf>) permutation = [1, 0]
// CHECK-NOT:  linalg.transpose
func.func @main(%x: tensor<2570x40xf32>) -> tensor<40xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<2570xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2570xf32>) -> tensor<2570xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2570x40xf32>) outs(%f0 : tensor<2570xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<2570xf32> loc("sum")
  %e1 = tensor.empty() : tensor<2570x40xf32>
  %scaled = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<2570x40xf32>, tensor<2570xf32>) outs(%e1 : tensor<2570x40xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = arith.mulf %a, %b : f32
      linalg.yield %q : f32
  } -> tensor<2570x40xf32> loc("scaled")
  %e2 = tensor.empty() : tensor<40xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<40xf32>) -> tensor<40xf32>
  %largest = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scaled : tensor<2570x40xf32>) outs(%f2 : tensor<40xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<40xf32> loc("largest")
  return %largest : tensor<40xf32>
}
