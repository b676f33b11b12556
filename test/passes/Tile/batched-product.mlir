// RUN: trnc compile %s --start-from tensor --stop-after tiled -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// A batch of products that has no room in SBUF. The loop over the batch is the outermost, so that what a step loads of one
// operand serves all tiles of the other, and the conversion of the result empties the accumulator: both have their dimensions
// in the order on chip. Only the store puts them into that of HBM.
#a = affine_map<(n, i, j, k) -> (n, i, k)>
#b = affine_map<(n, i, j, k) -> (n, k, j)>
#c = affine_map<(n, i, j, k) -> (n, i, j)>
#id = affine_map<(n, i, j) -> (n, i, j)>
// CHECK: tensor.expand_shape %{{.*}} into tensor<8x8x128x1024xbf16, #trn.hbm>
// CHECK: scf.for %[[BATCH:[a-z0-9]+]] = %c0 to %c8 step %c1
// CHECK: scf.for %[[BLOCK:[a-z0-9]+]] = %c0 to %c8 step %c1
// CHECK: linalg.copy
// CHECK: scf.for %[[COLUMN:[a-z0-9]+]] = %c0 to %c1024 step %c512
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK: tensor.extract_slice %{{.*}}[%[[BATCH]], %[[BLOCK]], 0, %[[COLUMN]]]
// CHECK: linalg.transpose {{.*}} permutation = [2, 1, 0, 3]
func.func @main(%x: tensor<8x1024x1024xbf16>, %y: tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x1024x1024xbf16>, tensor<8x1024x1024xbf16>) outs(%f : tensor<8x1024x1024xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %pw = arith.extf %p : bf16 to f32
      %qw = arith.extf %q : bf16 to f32
      %m = arith.mulf %pw, %qw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x1024x1024xf32> loc("product")
  %h = tensor.empty() : tensor<8x1024x1024xbf16>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<8x1024x1024xf32>) outs(%h : tensor<8x1024x1024xbf16>) {
    ^bb0(%p: f32, %o: bf16):
      %q = arith.truncf %p : f32 to bf16
      linalg.yield %q : bf16
  } -> tensor<8x1024x1024xbf16> loc("narrow")
  return %t : tensor<8x1024x1024xbf16>
}
