// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-plan-schedule --split-input-file -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-apply-schedule --split-input-file | FileCheck-22 %s

#in = affine_map<(m, mo, y, x, k, ko, r, s) -> (k, ko, y + r, x + s)>
#w = affine_map<(m, mo, y, x, k, ko, r, s) -> (k, mo, ko, r, s, m)>
#out = affine_map<(m, mo, y, x, k, ko, r, s) -> (m, mo, y, x)>
#id = affine_map<(m, mo, y, x) -> (m, mo, y, x)>
#col = affine_map<(m, mo, y, x) -> (m, mo)>
// One PSUM bank holds 512 fp32: 14 of 28 rows of 28. Weights of a block are loaded outside the row loop; chunks and taps
// are the innermost loops and carry the accumulator; bias is small and loaded once.
// PLAN: nest of map: tile [0, 1, 14, 0], order [1, 0, 2, 3], fused: contraction, copy, fill (one PSUM bank)
// CHECK-LABEL: func private @convolution
// CHECK:         linalg.copy ins(%{{.*}} : tensor<128x2xf32, #trn.hbm>)
// CHECK:         scf.for %[[M:.*]] = %c0 to %c2 step %c1
// CHECK:           linalg.copy ins(%{{.*}} : tensor<128x1x2x3x3x128xbf16, #trn.hbm>)
// CHECK:           scf.for %[[Y:.*]] = %c0 to %c28 step %c14
// CHECK:             scf.for {{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK:               scf.for {{.*}} = %c0 to %c3 step %c1 iter_args
// CHECK:                 scf.for {{.*}} = %c0 to %c3 step %c1 iter_args
// CHECK:                   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<128x1x14x28xbf16, #trn.sbuf>, tensor<128x1x1x1x1x128xbf16>) outs(%{{.*}} : tensor<128x1x14x28xf32>)
// CHECK:             linalg.generic {{.*}} outs(%{{.*}} : tensor<128x1x14x28xbf16
func.func private @convolution(%x: tensor<128x2x30x30xbf16, #trn.sbuf>, %w: tensor<128x2x2x3x3x128xbf16, #trn.hbm>, %b: tensor<128x2xf32, #trn.hbm>, %dst: tensor<128x2x28x28xbf16, #trn.sbuf>) -> tensor<128x2x28x28xbf16, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x2x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x2x28x28xf32>) -> tensor<128x2x28x28xf32>
  %c = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<128x2x30x30xbf16, #trn.sbuf>, tensor<128x2x2x3x3x128xbf16, #trn.hbm>) outs(%f : tensor<128x2x28x28xf32>) {
  ^bb0(%a: bf16, %bb: bf16, %acc: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %bb : bf16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x2x28x28xf32>
  %d = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<128x2x28x28xf32>, tensor<128x2xf32, #trn.hbm>) outs(%dst : tensor<128x2x28x28xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %bb: f32, %o: bf16):
    %s = arith.addf %a, %bb : f32
    %m = arith.maximumf %s, %zero : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<128x2x28x28xbf16, #trn.sbuf>
  return %d : tensor<128x2x28x28xbf16, #trn.sbuf>
}

// -----

#x = affine_map<(p, y, x, r, s) -> (p, y + r, x + s)>
#w = affine_map<(p, y, x, r, s) -> (p, r, s)>
#y = affine_map<(p, y, x, r, s) -> (p, y, x)>
// A window whose taps are accumulated one by one is no long row: 81 taps of 6,400 elements stay one operation, which
// selection cuts by what is kept.
// CHECK-LABEL: func private @many_taps
// CHECK-NOT:     scf.for
// CHECK:         return
func.func private @many_taps(%x: tensor<96x88x88xf32, #trn.sbuf>, %w: tensor<96x9x9xf32, #trn.sbuf>, %dst: tensor<96x80x80xf32, #trn.sbuf>) -> tensor<96x80x80xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%dst : tensor<96x80x80xf32, #trn.sbuf>) -> tensor<96x80x80xf32, #trn.sbuf>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<96x88x88xf32, #trn.sbuf>, tensor<96x9x9xf32, #trn.sbuf>) outs(%f : tensor<96x80x80xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x80x80xf32, #trn.sbuf>
  return %c : tensor<96x80x80xf32, #trn.sbuf>
}

// -----

#x = affine_map<(m, y, r, x, s, k) -> (k, y, x)>
#w = affine_map<(m, y, r, x, s, k) -> (k, r, s, m)>
#y = affine_map<(m, y, r, x, s, k) -> (m, y, r, x, s)>
// The phases of a transposed convolution lie between its columns in memory: a tile has them all, and a row of columns,
// so that a store writes runs of 320 elements, not single ones.
// PLAN: nest of copy: tile [0, 1, 0, 0, 0]
// CHECK-LABEL: func private @phases
// CHECK:         scf.for %[[Y:.*]] = %c0 to %c80 step %c1
// CHECK:           scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK:             scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK:               linalg.generic {{.*}} outs(%{{.*}} : tensor<24x1x1x80x1xf32>)
// CHECK:           linalg.copy ins(%{{.*}} : tensor<24x1x2x80x2xf32>) outs(%{{.*}} : tensor<24x1x2x80x2xf32, #trn.hbm>)
func.func private @phases(%x: tensor<24x80x80xf32, #trn.sbuf>, %w: tensor<24x2x2x24xf32, #trn.hbm>, %dst: tensor<24x80x2x80x2xf32, #trn.hbm>) -> tensor<24x80x2x80x2xf32, #trn.hbm> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x80x2x80x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x80x2x80x2xf32>) -> tensor<24x80x2x80x2xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x80x80xf32, #trn.sbuf>, tensor<24x2x2x24xf32, #trn.hbm>) outs(%f : tensor<24x80x2x80x2xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x80x2x80x2xf32>
  %d = linalg.copy ins(%c : tensor<24x80x2x80x2xf32>) outs(%dst : tensor<24x80x2x80x2xf32, #trn.hbm>) -> tensor<24x80x2x80x2xf32, #trn.hbm>
  return %d : tensor<24x80x2x80x2xf32, #trn.hbm>
}

// -----

#x = affine_map<(m, q, n, k, c) -> (k, c, m, q)>
#w = affine_map<(m, q, n, k, c) -> (k, c, n)>
#y = affine_map<(m, q, n, k, c) -> (m, q, n)>
// What PE holds is on chip and a block has 4 columns only: 128 of the 160 blocks would fit the bank, 80 are half of them.
// One drain empties them; blocks and chunks are steps of PE.
// PLAN: nest of copy: tile [0, 80, 0], order [1, 0, 2], fused: contraction, fill (one PSUM bank)
// CHECK-LABEL: func private @few_columns
// CHECK:         scf.for {{.*}} = %c0 to %c160 step %c80
// CHECK:           scf.for {{.*}} = %c0 to %c80 step %c1
// CHECK:             scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK:               linalg.generic {{.*}} outs(%{{.*}} : tensor<80x1x4xf32>)
// CHECK:           linalg.copy ins(%{{.*}} : tensor<80x80x4xf32>)
func.func private @few_columns(%x: tensor<24x2x80x160xf32, #trn.sbuf>, %w: tensor<24x2x4xf32, #trn.sbuf>, %dst: tensor<80x160x4xf32, #trn.sbuf>) -> tensor<80x160x4xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<80x160x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<80x160x4xf32>) -> tensor<80x160x4xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<24x2x80x160xf32, #trn.sbuf>, tensor<24x2x4xf32, #trn.sbuf>) outs(%f : tensor<80x160x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<80x160x4xf32>
  %d = linalg.copy ins(%c : tensor<80x160x4xf32>) outs(%dst : tensor<80x160x4xf32, #trn.sbuf>) -> tensor<80x160x4xf32, #trn.sbuf>
  return %d : tensor<80x160x4xf32, #trn.sbuf>
}

// -----

#x = affine_map<(m, n, k) -> (k, n)>
#w = affine_map<(m, n, k) -> (k, m)>
#y = affine_map<(m, n, k) -> (m, n)>
// 997 is prime: two balanced tiles of 499 and 498, split before tiling so that every size is static.
// PLAN: nest of map: tile [0, 499]
// CHECK-LABEL: func private @ragged
// CHECK-NOT:     tensor<64x?
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<64x499xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<64x498xf32>)
func.func private @ragged(%x: tensor<32x997xf32, #trn.sbuf>, %w: tensor<32x64xf32, #trn.sbuf>, %dst: tensor<64x997xf32, #trn.sbuf>) -> tensor<64x997xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<64x997xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x997xf32>) -> tensor<64x997xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x997xf32, #trn.sbuf>, tensor<32x64xf32, #trn.sbuf>) outs(%f : tensor<64x997xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x997xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x997xf32>) outs(%dst : tensor<64x997xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %half : f32
    linalg.yield %s : f32
  } -> tensor<64x997xf32, #trn.sbuf>
  return %d : tensor<64x997xf32, #trn.sbuf>
}

// -----

#f = affine_map<(i, c, j) -> (i, c, j)>
#r = affine_map<(i, c, j) -> (i, c)>
// Row sums make the rows the tiles: the sum is then one value per partition. The reduced loop stays whole, so nothing is
// computed twice although two operations read the same map.
// PLAN: nest of map: tile [0, 1, 0], order [0, 1, 2], fused: reduction, map, fill (rows of a reduction)
// CHECK-LABEL: func private @rows
// CHECK:         scf.for {{.*}} = %c0 to %c4 step %c1
// CHECK:           linalg.generic {{.*}} outs(%{{.*}} : tensor<64x1x300xf32>)
// CHECK:           linalg.generic {{.*}} outs(%{{.*}} : tensor<64x1xf32>)
// CHECK:           linalg.generic
// CHECK-NOT:       linalg.generic
func.func private @rows(%x: tensor<64x4x300xf32, #trn.sbuf>, %dst: tensor<64x4x300xf32, #trn.sbuf>) -> tensor<64x4x300xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4x300xf32>
  %m = linalg.generic {indexing_maps = [#f, #f], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x4x300xf32, #trn.sbuf>) outs(%e : tensor<64x4x300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<64x4x300xf32>
  %e0 = tensor.empty() : tensor<64x4xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x4xf32>) -> tensor<64x4xf32>
  %sum = linalg.generic {indexing_maps = [#f, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%m : tensor<64x4x300xf32>) outs(%i0 : tensor<64x4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x4xf32>
  %d = linalg.generic {indexing_maps = [#f, #r, #f], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m, %sum : tensor<64x4x300xf32>, tensor<64x4xf32>) outs(%dst : tensor<64x4x300xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x4x300xf32, #trn.sbuf>
  return %d : tensor<64x4x300xf32, #trn.sbuf>
}

// -----

#x = affine_map<(p, y, x, r, s) -> (p, y * 2 + r, x * 2 + s)>
#s = affine_map<(p, y, x, r, s) -> (r, s)>
#y = affine_map<(p, y, x, r, s) -> (p, y, x)>
// Each tile of a reduction starts from a value of its own, which selection then needs not combine with its result.
// CHECK-LABEL: func private @pool
// CHECK-NOT:     linalg.fill
// CHECK:         scf.for
// CHECK:           linalg.fill {{.*}} outs(%{{.*}} : tensor<64x{{[0-9]+}}x56xf32
// CHECK:           linalg.generic
func.func private @pool(%x: tensor<64x113x113xf32, #trn.sbuf>, %dst: tensor<64x56x56xf32, #trn.sbuf>) -> tensor<64x56x56xf32, #trn.sbuf> {
  %lowest = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%lowest : f32) outs(%dst : tensor<64x56x56xf32, #trn.sbuf>) -> tensor<64x56x56xf32, #trn.sbuf>
  %c = linalg.generic {indexing_maps = [#x, #s, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<64x113x113xf32, #trn.sbuf>, tensor<3x3xf32>) outs(%f : tensor<64x56x56xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<64x56x56xf32, #trn.sbuf>
  return %c : tensor<64x56x56xf32, #trn.sbuf>
}
