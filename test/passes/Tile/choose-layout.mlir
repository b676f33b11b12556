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

// -----

#w = affine_map<(m, n, k) -> (m, k)>
#x = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// A concatenation along the columns stays on chip, and its pieces are made inside it.
// CHECK: linalg.generic 'a': contraction {{.*}} -> dim 0 inside its concatenation at [0, 0]
// CHECK: linalg.generic 'b': contraction {{.*}} -> dim 0 inside its concatenation at [0, 64]
// CHECK: tensor.concat 'c': place, operands (dim 0, dim 0) -> dim 0 [96x128]{{$}}
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %wa = arith.constant dense<1.0> : tensor<96x64xf32>
  %wb = arith.constant dense<2.0> : tensor<96x64xf32>
  %we = arith.constant dense<3.0> : tensor<64x96xf32>
  %he = tensor.empty() : tensor<64x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%he : tensor<64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = math.exp %p : f32
      linalg.yield %r : f32
  } -> tensor<64x64xf32> loc("h")
  %ae = tensor.empty() : tensor<96x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<96x64xf32>) -> tensor<96x64xf32>
  %a = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %h : tensor<96x64xf32>, tensor<64x64xf32>) outs(%af : tensor<96x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<96x64xf32> loc("a")
  %be = tensor.empty() : tensor<96x64xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<96x64xf32>) -> tensor<96x64xf32>
  %b = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wb, %h : tensor<96x64xf32>, tensor<64x64xf32>) outs(%bf : tensor<96x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<96x64xf32> loc("b")
  %c = tensor.concat dim(1) %a, %b : (tensor<96x64xf32>, tensor<96x64xf32>) -> tensor<96x128xf32> loc("c")
  %ee = tensor.empty() : tensor<64x128xf32>
  %ef = linalg.fill ins(%zero : f32) outs(%ee : tensor<64x128xf32>) -> tensor<64x128xf32>
  %e = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%we, %c : tensor<64x96xf32>, tensor<96x128xf32>) outs(%ef : tensor<64x128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<64x128xf32> loc("e")
  return %e : tensor<64x128xf32>
}

// -----

#w = affine_map<(m, n, k) -> (m, k)>
#x = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// So does one of whole chunks of partitions.
// CHECK: linalg.generic 'a': contraction {{.*}} -> dim 0 inside its concatenation at [0, 0]
// CHECK: linalg.generic 'b': contraction {{.*}} -> dim 0 inside its concatenation at [128, 0]
// CHECK: tensor.concat 'c': place, operands (dim 0, dim 0) -> dim 0 [128x3x64]{{$}}
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wa = arith.constant dense<1.0> : tensor<128x64xf32>
  %wb = arith.constant dense<2.0> : tensor<256x64xf32>
  %we = arith.constant dense<3.0> : tensor<64x384xf32>
  %he = tensor.empty() : tensor<64x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%he : tensor<64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = math.exp %p : f32
      linalg.yield %r : f32
  } -> tensor<64x64xf32> loc("h")
  %ae = tensor.empty() : tensor<128x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<128x64xf32>) -> tensor<128x64xf32>
  %a = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %h : tensor<128x64xf32>, tensor<64x64xf32>) outs(%af : tensor<128x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<128x64xf32> loc("a")
  %be = tensor.empty() : tensor<256x64xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<256x64xf32>) -> tensor<256x64xf32>
  %b = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wb, %h : tensor<256x64xf32>, tensor<64x64xf32>) outs(%bf : tensor<256x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<256x64xf32> loc("b")
  %c = tensor.concat dim(0) %a, %b : (tensor<128x64xf32>, tensor<256x64xf32>) -> tensor<384x64xf32> loc("c")
  %ee = tensor.empty() : tensor<64x64xf32>
  %ef = linalg.fill ins(%zero : f32) outs(%ee : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%we, %c : tensor<64x384xf32>, tensor<384x64xf32>) outs(%ef : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("e")
  return %e : tensor<64x64xf32>
}

// -----

#w = affine_map<(m, n, p, k) -> (m, k)>
#x = affine_map<(m, n, p, k) -> (k, n, p)>
#y = affine_map<(m, n, p, k) -> (m, n, p)>
// 64 + 96 rows are two chunks of 80: the second piece begins at lane 64, where engines may, and goes on in lane 0 of the
// next chunk with its own lane 16, where only DMA may.
// CHECK: linalg.generic 'a': contraction {{.*}} -> dim 0 [64x64x64]
// CHECK: linalg.generic 'b': contraction {{.*}} -> dim 0 [96x64x64]
// CHECK: tensor.concat 'c': place, operands (dim 0, dim 0) -> dim 0 [80x2x64x64], piece 1 from SBUF to SBUF by DMA{{$}}
func.func @main(%x: tensor<64x64x64xf32>) -> tensor<64x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wa = arith.constant dense<1.0> : tensor<64x64xf32>
  %wb = arith.constant dense<2.0> : tensor<96x64xf32>
  %we = arith.constant dense<3.0> : tensor<64x160xf32>
  %he = tensor.empty() : tensor<64x64x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x64x64xf32>) outs(%he : tensor<64x64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = math.exp %p : f32
      linalg.yield %r : f32
  } -> tensor<64x64x64xf32> loc("h")
  %ae = tensor.empty() : tensor<64x64x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<64x64x64xf32>) -> tensor<64x64x64xf32>
  %a = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%wa, %h : tensor<64x64xf32>, tensor<64x64x64xf32>) outs(%af : tensor<64x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<64x64x64xf32> loc("a")
  %be = tensor.empty() : tensor<96x64x64xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<96x64x64xf32>) -> tensor<96x64x64xf32>
  %b = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%wb, %h : tensor<96x64xf32>, tensor<64x64x64xf32>) outs(%bf : tensor<96x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<96x64x64xf32> loc("b")
  %c = tensor.concat dim(0) %a, %b : (tensor<64x64x64xf32>, tensor<96x64x64xf32>) -> tensor<160x64x64xf32> loc("c")
  %ee = tensor.empty() : tensor<64x64x64xf32>
  %ef = linalg.fill ins(%zero : f32) outs(%ee : tensor<64x64x64xf32>) -> tensor<64x64x64xf32>
  %e = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%we, %c : tensor<64x160xf32>, tensor<160x64x64xf32>) outs(%ef : tensor<64x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<64x64x64xf32> loc("e")
  return %e : tensor<64x64x64xf32>
}

// -----

#w = affine_map<(m, n, k) -> (m, k)>
#x = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// 32 + 96 rows: engines move lanes 32 at a time.
// CHECK: tensor.concat 'c': place, operands (dim 0, dim 0) -> dim 0 [128x64]{{$}}
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wa = arith.constant dense<1.0> : tensor<32x64xf32>
  %wb = arith.constant dense<2.0> : tensor<96x64xf32>
  %we = arith.constant dense<3.0> : tensor<64x128xf32>
  %he = tensor.empty() : tensor<64x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%he : tensor<64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %r = math.exp %p : f32
      linalg.yield %r : f32
  } -> tensor<64x64xf32> loc("h")
  %ae = tensor.empty() : tensor<32x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<32x64xf32>) -> tensor<32x64xf32>
  %a = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %h : tensor<32x64xf32>, tensor<64x64xf32>) outs(%af : tensor<32x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<32x64xf32> loc("a")
  %be = tensor.empty() : tensor<96x64xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<96x64xf32>) -> tensor<96x64xf32>
  %b = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wb, %h : tensor<96x64xf32>, tensor<64x64xf32>) outs(%bf : tensor<96x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<96x64xf32> loc("b")
  %c = tensor.concat dim(0) %a, %b : (tensor<32x64xf32>, tensor<96x64xf32>) -> tensor<128x64xf32> loc("c")
  %ee = tensor.empty() : tensor<64x64xf32>
  %ef = linalg.fill ins(%zero : f32) outs(%ee : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%we, %c : tensor<64x128xf32>, tensor<128x64xf32>) outs(%ef : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %t = arith.addf %o, %r : f32
      linalg.yield %t : f32
  } -> tensor<64x64xf32> loc("e")
  return %e : tensor<64x64xf32>
}
