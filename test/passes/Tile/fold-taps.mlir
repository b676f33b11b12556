// RUN: trn-opt %s --tile-fold-taps --canonicalize | FileCheck-22 %s

// Three channels of an input: the three kernel rows join them, so PE contracts 9 lanes in 3 steps instead of 3 in 9.
#in = affine_map<(n, m, y, x, c, r, s) -> (n, c, y + r, x + s)>
#weight = affine_map<(n, m, y, x, c, r, s) -> (m, c, r, s)>
#out = affine_map<(n, m, y, x, c, r, s) -> (n, m, y, x)>
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d3 + d5)>
// CHECK: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[TOP:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 3, 29, 30] [1, 1, 1, 1]
// CHECK-DAG: tensor.pad %[[TOP]] low[0, 0, 1, 1] high[0, 0, 0, 1]
// CHECK-DAG: %[[BOTTOM:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1, 0] [1, 3, 29, 30] [1, 1, 1, 1]
// CHECK-DAG: tensor.pad %[[BOTTOM]] low[0, 0, 0, 1] high[0, 0, 1, 1]
// CHECK: tensor.concat dim(1)
// CHECK-SAME: -> tensor<1x9x30x32xf32>
// CHECK: linalg.generic
// CHECK-SAME: #[[IN]], #[[WEIGHT]]
// CHECK-SAME: tensor<64x9x3xf32>
func.func @main(%x: tensor<1x3x30x30xf32>) -> tensor<1x64x30x30xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<w> : tensor<64x3x3x3xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
  } : tensor<1x3x30x30xf32> to tensor<1x3x32x32xf32>
  %e = tensor.empty() : tensor<1x64x30x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x3x32x32xf32>, tensor<64x3x3x3xf32>) outs(%f : tensor<1x64x30x30xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x30x30xf32>
  return %r : tensor<1x64x30x30xf32>
}

// A tensor made on chip is left alone.
// CHECK-LABEL: func.func @other
// CHECK-NOT: tensor.concat
func.func @other(%x: tensor<1x3x32x32xf32>) -> tensor<1x64x30x30xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<w> : tensor<64x3x3x3xf32>
  %e0 = tensor.empty() : tensor<1x3x32x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>, affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x32x32xf32>) outs(%e0 : tensor<1x3x32x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<1x3x32x32xf32>
  %e = tensor.empty() : tensor<1x64x30x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x3x32x32xf32>, tensor<64x3x3x3xf32>) outs(%f : tensor<1x64x30x30xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x30x30xf32>
  return %r : tensor<1x64x30x30xf32>
}
