// RUN: trn-opt %s --tile-stage-transfers --split-input-file | FileCheck-22 %s

#x = affine_map<(m, n, k) -> (k, n)>
#w = affine_map<(m, n, k) -> (k, m)>
#y = affine_map<(m, n, k) -> (m, n)>
// Weights in HBM are loaded; PSUM that a reduction would read is emptied by a copy; HBM is written by a copy.
// CHECK-LABEL: func private @crossings
// CHECK:         %[[W:.*]] = linalg.copy ins(%{{.*}} : tensor<64x32xbf16, #trn.hbm>) outs(%{{.*}} : tensor<64x32xbf16>)
// CHECK:         %[[C:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[W]] :
// CHECK:         %[[D:.*]] = linalg.copy ins(%[[C]] : tensor<32x16xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<32x16xf32>) outs(%{{.*}} : tensor<32xf32>)
// CHECK:         linalg.copy ins(%[[R]] : tensor<32xf32>) outs(%{{.*}} : tensor<32xf32, #trn.hbm>)
func.func private @crossings(%x: tensor<64x16xbf16, #trn.sbuf>, %w: tensor<64x32xbf16, #trn.hbm>, %dst: tensor<32xf32, #trn.hbm>) -> tensor<32xf32, #trn.hbm> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x16xbf16, #trn.sbuf>, tensor<64x32xbf16, #trn.hbm>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x16xf32>
  %g = linalg.fill ins(%zero : f32) outs(%dst : tensor<32xf32, #trn.hbm>) -> tensor<32xf32, #trn.hbm>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<32x16xf32>) outs(%g : tensor<32xf32, #trn.hbm>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<32xf32, #trn.hbm>
  return %r : tensor<32xf32, #trn.hbm>
}

// -----

// A vector along the free dimension is the same for every partition: it is loaded to each.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func private @replicated
// CHECK:         %[[B:.*]] = linalg.broadcast ins(%{{.*}} : tensor<48xf32, #trn.hbm>) outs(%{{.*}} : tensor<128x48xf32>) dimensions = [0]
// CHECK:         linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]]]{{.*}} ins(%{{.*}}, %[[B]] :
func.func private @replicated(%x: tensor<128x48xf32, #trn.sbuf>, %g: tensor<48xf32, #trn.hbm>, %dst: tensor<128x48xf32, #trn.sbuf>) -> tensor<128x48xf32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (p, n)>, affine_map<(p, n) -> (n)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : tensor<128x48xf32, #trn.sbuf>, tensor<48xf32, #trn.hbm>) outs(%dst : tensor<128x48xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<128x48xf32, #trn.sbuf>
  return %r : tensor<128x48xf32, #trn.sbuf>
}

// -----

// Canonicalisation would delete an identity generic between two memories.
// CHECK-LABEL: func private @identity
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.copy ins(%{{.*}} : tensor<128x48xf32, #trn.sbuf>) outs(%{{.*}} : tensor<128x48xf32, #trn.hbm>)
func.func private @identity(%x: tensor<128x48xf32, #trn.sbuf>, %dst: tensor<128x48xf32, #trn.hbm>) -> tensor<128x48xf32, #trn.hbm> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (p, n)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x48xf32, #trn.sbuf>) outs(%dst : tensor<128x48xf32, #trn.hbm>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<128x48xf32, #trn.hbm>
  return %r : tensor<128x48xf32, #trn.hbm>
}

// -----

// What lies on partition 0 reaches the others as a product with ones.
// CHECK-LABEL: func private @spread
// CHECK:         %[[ONES:.*]] = linalg.fill {{.*}} -> tensor<1x125xf32>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[ONES]], %{{.*}} : tensor<1x125xf32>, tensor<1xf32, #trn.sbuf>) outs(%{{.*}} : tensor<125xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<125x8xf32, #trn.sbuf>, tensor<125xf32>)
func.func private @spread(%x: tensor<125x8xf32, #trn.sbuf>, %m: tensor<1xf32, #trn.sbuf>, %dst: tensor<125x8xf32, #trn.sbuf>) -> tensor<125x8xf32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (p, n)>, affine_map<(p, n) -> (0)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<125x8xf32, #trn.sbuf>, tensor<1xf32, #trn.sbuf>) outs(%dst : tensor<125x8xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<125x8xf32, #trn.sbuf>
  return %r : tensor<125x8xf32, #trn.sbuf>
}

// -----

// What is only spread is copied out of PSUM.
// CHECK-LABEL: func private @spread_only
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<125x3xf32>)
// CHECK:         linalg.copy ins(%[[P]] : tensor<125x3xf32>) outs(%arg1 : tensor<125x3xf32, #trn.sbuf>)
// CHECK-NEXT:    return
func.func private @spread_only(%m: tensor<1x3xf32, #trn.sbuf>, %dst: tensor<125x3xf32, #trn.sbuf>) -> tensor<125x3xf32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (0, n)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<1x3xf32, #trn.sbuf>) outs(%dst : tensor<125x3xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<125x3xf32, #trn.sbuf>
  return %r : tensor<125x3xf32, #trn.sbuf>
}

// -----

// Integers go as floats, words in halves.
// CHECK-LABEL: func private @spread_bytes
// CHECK:         arith.uitofp
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x125xf32>, tensor<1xf32>) outs(%{{.*}} : tensor<125xf32>)
// CHECK:         arith.fptoui
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<125x8xui8, #trn.sbuf>, tensor<125xui8>)
func.func private @spread_bytes(%x: tensor<125x8xui8, #trn.sbuf>, %m: tensor<1xui8, #trn.sbuf>, %dst: tensor<125x8xui8, #trn.sbuf>) -> tensor<125x8xui8, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (p, n)>, affine_map<(p, n) -> (0)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<125x8xui8, #trn.sbuf>, tensor<1xui8, #trn.sbuf>) outs(%dst : tensor<125x8xui8, #trn.sbuf>) {
  ^bb0(%a: ui8, %b: ui8, %o: ui8):
    %c = builtin.unrealized_conversion_cast %a : ui8 to i8
    %d = builtin.unrealized_conversion_cast %b : ui8 to i8
    %s = arith.maxui %c, %d : i8
    %y = builtin.unrealized_conversion_cast %s : i8 to ui8
    linalg.yield %y : ui8
  } -> tensor<125x8xui8, #trn.sbuf>
  return %r : tensor<125x8xui8, #trn.sbuf>
}

// CHECK-LABEL: func private @spread_words
// CHECK:         arith.shrui
// CHECK:         linalg.generic {{.*}} tensor<1x125xf32>, tensor<1xf32>
// CHECK:         arith.andi
// CHECK:         linalg.generic {{.*}} tensor<1x125xf32>, tensor<1xf32>
// CHECK:         arith.shli
// CHECK:         arith.ori
func.func private @spread_words(%x: tensor<125x8xi32, #trn.sbuf>, %m: tensor<1xi32, #trn.sbuf>, %dst: tensor<125x8xi32, #trn.sbuf>) -> tensor<125x8xi32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, n) -> (p, n)>, affine_map<(p, n) -> (0)>, affine_map<(p, n) -> (p, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<125x8xi32, #trn.sbuf>, tensor<1xi32, #trn.sbuf>) outs(%dst : tensor<125x8xi32, #trn.sbuf>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<125x8xi32, #trn.sbuf>
  return %r : tensor<125x8xi32, #trn.sbuf>
}

// -----

// Elements that repeat are loaded once and repeated on chip: DMA would move each of them by a packet of its own. What
// repeats for the partitions only is one transfer.
// CHECK-LABEL: func private @repeated
// CHECK:         %[[L:.*]] = linalg.copy ins(%arg0 : tensor<24x40xf32, #trn.hbm>)
// CHECK:         linalg.generic {{.*}} ins(%[[L]] : tensor<24x40xf32>) outs(%arg1 : tensor<24x40x2xf32, #trn.sbuf>)
func.func private @repeated(%x: tensor<24x40xf32, #trn.hbm>, %d: tensor<24x40x2xf32, #trn.sbuf>) -> tensor<24x40x2xf32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, x, r) -> (p, x)>, affine_map<(p, x, r) -> (p, x, r)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<24x40xf32, #trn.hbm>) outs(%d : tensor<24x40x2xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<24x40x2xf32, #trn.sbuf>
  return %r : tensor<24x40x2xf32, #trn.sbuf>
}

// CHECK-LABEL: func private @to_partitions
// CHECK-NEXT:    linalg.generic {{.*}} ins(%arg0 : tensor<40xf32, #trn.hbm>) outs(%arg1 : tensor<24x40xf32, #trn.sbuf>)
func.func private @to_partitions(%x: tensor<40xf32, #trn.hbm>, %d: tensor<24x40xf32, #trn.sbuf>) -> tensor<24x40xf32, #trn.sbuf> {
  %r = linalg.generic {indexing_maps = [affine_map<(p, x) -> (x)>, affine_map<(p, x) -> (p, x)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<40xf32, #trn.hbm>) outs(%d : tensor<24x40xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<24x40xf32, #trn.sbuf>
  return %r : tensor<24x40xf32, #trn.sbuf>
}
