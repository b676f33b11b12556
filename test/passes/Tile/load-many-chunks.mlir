// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// 2560 rows lie on chip as 20 chunks of 128 lanes: one strided transfer of a view of HBM loads them, not 20 copies.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func private @g0
// CHECK-SAME: tensor<20x128x40xf32, #trn.hbm>
// CHECK: linalg.transpose ins({{.*}}) outs({{.*}} : tensor<128x20x40xf32, #trn.sbuf>) permutation = [1, 0, 2]
// CHECK-NEXT: return
// CHECK: func.func @main
// CHECK: tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]] output_shape [20, 128, 40]
func.func @main(%x: tensor<2560x40xf32>) -> tensor<2560xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2560xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2560xf32>) -> tensor<2560xf32>
  %r = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2560x40xf32>) outs(%f : tensor<2560xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<2560xf32> loc("sum")
  return %r : tensor<2560xf32>
}
