// RUN: trnc compile %s --start-from tensor --stop-after tiled -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// The result of the layer does not fit in SBUF, and the ReLU reads it through a reshape. The reshape is a view that the
// caller makes in HBM, so the ReLU is a group of its own that loads what it reads.
#x = affine_map<(m, t, s, k) -> (k, t, s)>
#w = affine_map<(m, t, s, k) -> (m, k)>
#r = affine_map<(m, t, s, k) -> (m, t, s)>
#id = affine_map<(m, s) -> (m, s)>
#row = affine_map<(m, s) -> (m)>
// CHECK: func.func private @[[RELU:.*]](%{{.*}}: tensor<64x60000xf32, #trn.hbm>
// CHECK: arith.maximumf
// CHECK-LABEL: func.func @main
// CHECK: %[[VIEW:.*]] = tensor.collapse_shape
// CHECK: call @[[RELU]](%[[VIEW]]
func.func @main(%x: tensor<64x300x200xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x300x200xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x300x200xf32>) -> tensor<64x300x200xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x300x200xf32>, tensor<64x64xf32>) outs(%f : tensor<64x300x200xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
  } -> tensor<64x300x200xf32> loc("dense")
  %c2 = tensor.collapse_shape %c [[0], [1, 2]] : tensor<64x300x200xf32> into tensor<64x60000xf32>
  %e2 = tensor.empty() : tensor<64x60000xf32>
  %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c2 : tensor<64x60000xf32>) outs(%e2 : tensor<64x60000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<64x60000xf32> loc("relu")
  %e1 = tensor.empty() : tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<64x60000xf32>) outs(%f1 : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<64xf32> loc("sum")
  return %s : tensor<64xf32>
}
