// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-plan-schedule --split-input-file -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// RUN: trn-opt %s --tile-stage-transfers --tile-split-destinations --tile-apply-schedule --split-input-file | FileCheck-22 %s

#row = affine_map<(p, n) -> (p, n)>
#column = affine_map<(p, n) -> (p)>
// A row of 400,000 bytes does not fit: the reduction runs over parts of it, each loaded by itself, and carries its result.
// PLAN: nest of reduction: tile [0, 6250], order [0, 1], fused: copy (parts of a row)
// CHECK-LABEL: func private @long_row
// CHECK:         %[[START:.*]] = linalg.fill
// CHECK:         scf.for %{{.*}} = %c0 to %c100000 step %c6250 iter_args(%[[PARTIAL:.*]] = %[[START]])
// CHECK:           %[[PART:.*]] = linalg.copy ins(%{{.*}} : tensor<4x6250xf32, #trn.hbm>)
// CHECK:           linalg.generic {{.*}} ins(%[[PART]] : tensor<4x6250xf32>) outs(%[[PARTIAL]] : tensor<4xf32, #trn.sbuf>)
func.func private @long_row(%x: tensor<4x100000xf32, #trn.hbm>, %dst: tensor<4xf32, #trn.sbuf>) -> tensor<4xf32, #trn.sbuf> {
  %lowest = arith.constant 0xFF625000 : f32
  %f = linalg.fill ins(%lowest : f32) outs(%dst : tensor<4xf32, #trn.sbuf>) -> tensor<4xf32, #trn.sbuf>
  %r = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x100000xf32, #trn.hbm>) outs(%f : tensor<4xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<4xf32, #trn.sbuf>
  return %r : tensor<4xf32, #trn.sbuf>
}

// -----

#moving = affine_map<(m, n, k, c) -> (k, c, n)>
#held = affine_map<(m, n, k, c) -> (k, c, m)>
#out = affine_map<(m, n, k, c) -> (m, n)>
// 400 chunks of a stationary operand are 204,800 bytes per partition: loaded in parts, inside a loop over the chunks that
// carries the accumulator.
// CHECK-LABEL: func private @many_chunks
// CHECK:         scf.for %{{.*}} = %c0 to %c400 step %[[PART:c[0-9]+]] iter_args
// CHECK:           linalg.copy ins(%{{.*}} : tensor<125x{{[0-9]+}}x128xf32, #trn.hbm>)
// CHECK:           scf.for %{{.*}} = %c0 to %[[PART]] step %c1 iter_args
// CHECK:             linalg.generic
func.func private @many_chunks(%x: tensor<125x400x4xf32, #trn.hbm>, %w: tensor<125x400x128xf32, #trn.hbm>, %dst: tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x4xf32>) -> tensor<128x4xf32>
  %c = linalg.generic {indexing_maps = [#moving, #held, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<125x400x4xf32, #trn.hbm>, tensor<125x400x128xf32, #trn.hbm>) outs(%f : tensor<128x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x4xf32>
  %d = linalg.copy ins(%c : tensor<128x4xf32>) outs(%dst : tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>
  return %d : tensor<128x4xf32, #trn.sbuf>
}

// -----

#window = affine_map<(m, o, k, t) -> (k, o * 256 + t)>
#taps = affine_map<(m, o, k, t) -> (k, t, m)>
#result = affine_map<(m, o, k, t) -> (m, o)>
// 172 columns read a window of 44,032 elements: fewer columns at a time, so that their part of it fits.
// PLAN: nest of copy: tile [0, 43], order [0, 1], fused: {{.*}} (what a load has room for)
// CHECK-LABEL: func private @long_window
// CHECK:         scf.for %{{.*}} = %c0 to %c172 step %c43
// CHECK:           linalg.copy ins(%{{.*}} : tensor<1x11008xf32, #trn.hbm>)
func.func private @long_window(%x: tensor<1x44032xf32, #trn.hbm>, %w: tensor<1x256x36xf32, #trn.hbm>, %dst: tensor<36x172xf32, #trn.sbuf>) -> tensor<36x172xf32, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<36x172xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<36x172xf32>) -> tensor<36x172xf32>
  %c = linalg.generic {indexing_maps = [#window, #taps, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x44032xf32, #trn.hbm>, tensor<1x256x36xf32, #trn.hbm>) outs(%f : tensor<36x172xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<36x172xf32>
  %d = linalg.copy ins(%c : tensor<36x172xf32>) outs(%dst : tensor<36x172xf32, #trn.sbuf>) -> tensor<36x172xf32, #trn.sbuf>
  return %d : tensor<36x172xf32, #trn.sbuf>
}
