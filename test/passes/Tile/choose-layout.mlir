// RUN: trn-opt %s -split-input-file --tile-choose-layout=print-plan -o /dev/null 2>&1 | FileCheck-22 %s

// A convolution: channels on the partitions of both operands, 192 = 2 x 96 lanes without a remainder; the pad is a halo
// of the tensor it surrounds and takes no storage of its own.
#in = affine_map<(n, m, y, x, c, r, s) -> (n, c, y + r, x + s)>
#weight = affine_map<(n, m, y, x, c, r, s) -> (m, c, r, s)>
#out = affine_map<(n, m, y, x, c, r, s) -> (n, m, y, x)>
#id = affine_map<(n, m, y, x) -> (n, m, y, x)>
// CHECK: layout plan: {{.*}} us, optimal
// CHECK: linalg.generic 'square': map, operands (dim 1) -> dim 1 [96x2x8x8] halo
// CHECK: tensor.pad 'pad': place, operands (dim 1){{$}}
// CHECK: linalg.generic 'conv': contraction holding operand 1, contracted d4, operands (dim 1, dim 1) -> dim 1 [64x6x6]
func.func @main(%x: tensor<1x192x6x6xf32>) -> tensor<1x64x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x192x3x3xf32>
  %e0 = tensor.empty() : tensor<1x192x6x6xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x192x6x6xf32>) outs(%e0 : tensor<1x192x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<1x192x6x6xf32> loc("square")
  %p = tensor.pad %s low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
  } : tensor<1x192x6x6xf32> to tensor<1x192x8x8xf32> loc("pad")
  %e = tensor.empty() : tensor<1x64x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x6x6xf32>) -> tensor<1x64x6x6xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x192x8x8xf32>, tensor<64x192x3x3xf32>) outs(%f : tensor<1x64x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x6x6xf32> loc("conv")
  return %r : tensor<1x64x6x6xf32>
}

// -----

// A reduction over the last dimension of 197 rows: rows on the partitions, 99 and a remainder of 98.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK: linalg.generic 'sum': reduction, operands (dim 0) -> dim 0 [99x2] ragged 98
func.func @main(%x: tensor<197x768xf32>) -> tensor<197xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<197xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<197xf32>) -> tensor<197xf32>
  %r = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<197x768xf32>) outs(%f : tensor<197xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<197xf32> loc("sum")
  return %r : tensor<197xf32>
}

// -----

// Depthwise: no iterator belongs to one operand alone, so DVE accumulates the taps with channels on the partitions.
#in = affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>
#weight = affine_map<(n, c, y, x, r, s) -> (c, r, s)>
#out = affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>
// CHECK: linalg.generic 'depthwise': reduction, operands (dim 1, dim 0) -> dim 1 [96x6x6]
func.func @main(%x: tensor<1x96x8x8xf32>) -> tensor<1x96x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<96x3x3xf32>
  %e = tensor.empty() : tensor<1x96x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96x6x6xf32>) -> tensor<1x96x6x6xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x96x8x8xf32>, tensor<96x3x3xf32>) outs(%f : tensor<1x96x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x96x6x6xf32> loc("depthwise")
  return %r : tensor<1x96x6x6xf32>
}
