// RUN: trnc compile %s --start-from tensor --stop-after tiled -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// A layer of 64 channels x 240,000 columns does not fit in SBUF, nor do its bands: its result lies in HBM. The ReLU empties the accumulator
// all the same, and each tile is stored by itself; the reader of the result is another group, which loads it from HBM.
// The input does not fit either: the layer loads its tiles from where the caller put it.
#x = affine_map<(m, s, k) -> (k, s)>
#w = affine_map<(m, s, k) -> (m, k)>
#r = affine_map<(m, s, k) -> (m, s)>
#id = affine_map<(m, s) -> (m, s)>
#row = affine_map<(m, s) -> (m)>
// CHECK-LABEL: func.func private @g0
// CHECK-SAME: tensor<64x240000xf32, #trn.hbm>
// CHECK-NOT: tensor<64x240000xf32, #trn.sbuf>
// CHECK-NOT: linalg.copy ins({{.*}}#trn.hbm>) outs({{.*}}#trn.hbm>)
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: linalg.copy ins({{.*}}#trn.sbuf>) outs({{.*}}#trn.hbm>)
// CHECK: func.func private @g1
// CHECK-SAME: tensor<64x240000xf32, #trn.hbm>
// CHECK: arith.addf
func.func @main(%x: tensor<64x240000xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x240000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x240000xf32>) -> tensor<64x240000xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x240000xf32>, tensor<64x64xf32>) outs(%f : tensor<64x240000xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
  } -> tensor<64x240000xf32> loc("dense")
  %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x240000xf32>) outs(%e : tensor<64x240000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<64x240000xf32> loc("relu")
  %e1 = tensor.empty() : tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<64x240000xf32>) outs(%f1 : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<64xf32> loc("sum")
  return %s : tensor<64xf32>
}
