// RUN: trn-opt %s --tile-place --split-input-file --verify-diagnostics | FileCheck-22 %s

#x = affine_map<(m, n, k) -> (k, n)>
#w = affine_map<(m, n, k) -> (k, m)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func private @contraction
// CHECK:         tensor.empty() : tensor<32x16xf32, #trn.psum>
// CHECK:         linalg.fill {{.*}} -> tensor<32x16xf32, #trn.psum>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<32x16xf32, #trn.psum>)
// CHECK:         linalg.copy ins(%{{.*}} : tensor<32x16xf32, #trn.psum>) outs(%{{.*}} : tensor<32x16xf32, #trn.sbuf>)
func.func private @contraction(%x: tensor<64x16xf32, #trn.sbuf>, %w: tensor<64x32xf32, #trn.sbuf>, %dst: tensor<32x16xf32, #trn.sbuf>) -> tensor<32x16xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x16xf32, #trn.sbuf>, tensor<64x32xf32, #trn.sbuf>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x16xf32>
  %d = linalg.copy ins(%c : tensor<32x16xf32>) outs(%dst : tensor<32x16xf32, #trn.sbuf>) -> tensor<32x16xf32, #trn.sbuf>
  return %d : tensor<32x16xf32, #trn.sbuf>
}

// -----

func.func private @unreachable(%x: tensor<128x16xf32, #trn.hbm>, %dst: tensor<128x16xf32, #trn.sbuf>) -> tensor<128x16xf32, #trn.sbuf> {
  // expected-error @below {{operand #0 of a map expected in sbuf or psum but got hbm}}
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x16xf32, #trn.hbm>) outs(%dst : tensor<128x16xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<128x16xf32, #trn.sbuf>
  return %d : tensor<128x16xf32, #trn.sbuf>
}
