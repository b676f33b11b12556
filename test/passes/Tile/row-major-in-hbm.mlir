// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir
// RUN: trnc compile %s --start-from tensor -o %t.trnx
// RUN: trnc inspect %t.trnx | FileCheck-22 --check-prefix=ONCE %s

// A product of which neither the moving operand nor the result has room in SBUF. Both lie in HBM in row-major order, where
// the caller sees them: tiles are loaded from there and stored there by transfers that put the partitions in front, or back
// in their place. No tensor in HBM is copied to another.
#x = affine_map<(m, n, k) -> (k, n)>
#w = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
// CHECK: func.func private @[[PRODUCT:.*]](%[[X:.*]]: tensor<3x128x70000xf32, #trn.hbm> {{.*}}, %{{.*}}: tensor<128x2x3x128xf32, #trn.hbm> {{.*}}, %[[Y:.*]]: tensor<256x70000xf32, #trn.hbm>
// CHECK-SAME: -> tensor<256x70000xf32, #trn.hbm>
// CHECK: linalg.transpose ins(%[[X]] : tensor<3x128x70000xf32, #trn.hbm>) outs(%{{.*}} : tensor<128x3x70000xf32>) permutation = [1, 0, 2]
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[Y]] {{.*}} into tensor<2x128x70000xf32, #trn.hbm>
// CHECK: linalg.transpose ins(%{{.*}} : tensor<128x2x70000xf32>) outs(%[[SPLIT]] : tensor<2x128x70000xf32, #trn.hbm>) permutation = [1, 0, 2]
// CHECK: tensor.collapse_shape
// CHECK-NOT: func.func private
// CHECK: func.func @main
// CHECK-COUNT-1: call @[[PRODUCT]]
// CHECK-NOT: call

// The tensors of the caller and the weight: no other memory.
// ONCE: scratch 0 bytes
func.func @main(%x: tensor<384x70000xf32>) -> tensor<256x70000xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<256x384xf32>
  %e = tensor.empty() : tensor<256x70000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x70000xf32>) -> tensor<256x70000xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<384x70000xf32>, tensor<256x384xf32>) outs(%f : tensor<256x70000xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
  } -> tensor<256x70000xf32> loc("dense")
  return %c : tensor<256x70000xf32>
}
