// RUN: trnc compile %s -O1 --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir
// RUN: trnc compile %s -O1 --start-from tensor -o %t.trnx

// The transpose only renames: on chip, both sides lie with channels on the partitions and rows and columns in one order.
// But the convolution reads its result with a border, so it needs storage that has one: it is copied, not renamed.
#t = affine_map<(n, c, h, w) -> (c, n, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#x = affine_map<(n, m, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, m, h, w, c, r, s) -> (m, c, r, s)>
#y = affine_map<(n, m, h, w, c, r, s) -> (n, m, h, w)>
// CHECK: func.func private @{{.*}}(%{{[a-z0-9]+}}: tensor<64x10x12xf32, #trn.sbuf>{{.*}}, %{{[a-z0-9]+}}: tensor<64x12x14xf32, #trn.sbuf>
// CHECK: %[[INSIDE:.*]] = tensor.extract_slice %{{.*}}[0, 1, 1] [64, 10, 12] [1, 1, 1] : tensor<64x12x14xf32, #trn.sbuf>
// CHECK: linalg.generic {{.*}} outs(%[[INSIDE]] : tensor<64x10x12xf32, #trn.sbuf>)
func.func @main(%x: tensor<64x1x10x12xf32>) -> tensor<1x32x10x12xf32> {
  %zero = arith.constant 0.0 : f32
  %weight = arith.constant dense<0.5> : tensor<32x64x3x3xf32>
  %e0 = tensor.empty() : tensor<64x1x10x12xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x1x10x12xf32>) outs(%e0 : tensor<64x1x10x12xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<64x1x10x12xf32> loc("relu")
  %e1 = tensor.empty() : tensor<1x64x10x12xf32>
  %t = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<64x1x10x12xf32>) outs(%e1 : tensor<1x64x10x12xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<1x64x10x12xf32> loc("turn")
  %p = tensor.pad %t low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
  } : tensor<1x64x10x12xf32> to tensor<1x64x12x14xf32>
  %e2 = tensor.empty() : tensor<1x32x10x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x32x10x12xf32>) -> tensor<1x32x10x12xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %weight : tensor<1x64x12x14xf32>, tensor<32x64x3x3xf32>) outs(%f : tensor<1x32x10x12xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1x32x10x12xf32> loc("conv")
  return %c : tensor<1x32x10x12xf32>
}
