// RUN: trn-opt %s --split-input-file --tile-accumulate-addends --tile-verify-grouped --mlir-print-local-scope | FileCheck-22 %s

#x = affine_map<(p, y, x, k) -> (k, y, x)>
#w = affine_map<(p, y, x, k) -> (k, p)>
#r = affine_map<(p, y, x, k) -> (p, y, x)>
#id = affine_map<(p, y, x) -> (p, y, x)>
#col = affine_map<(p, y, x) -> (p)>
// PE adds the second tensor to the accumulator; 96 lanes take a part of the identity, which both calls share. The rounding
// in front of the addition is gone, the one behind it stays.
// CHECK:       trn.global @identity kind({{ *}}weight) value({{.*}}) : memref<128x128xbf16, #trn.hbm>
// CHECK-LABEL: func.func private @block
// CHECK-SAME:    %[[R:[a-z0-9]+]]: tensor<96x14x14xbf16, #trn.sbuf>, %{{[a-z0-9]+}}: tensor<96x14x14xbf16, #trn.sbuf>, %[[I:[a-z0-9]+]]: tensor<128x128xbf16, #trn.sbuf>)
// CHECK:         %[[C:.*]] = linalg.generic
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[I]][0, 0] [96, 96] [1, 1]
// CHECK:         %[[D:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[R]], %[[PART]] : {{.*}}) outs(%[[C]] : tensor<96x14x14xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[D]], %{{.*}} : tensor<96x14x14xf32>, tensor<96xf32, #trn.hbm>)
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[SUM]]
// CHECK-NEXT:      linalg.yield %[[ROUNDED]]
// CHECK:       func.func private @load_identity
// CHECK:         linalg.copy
// CHECK-LABEL: func.func @main
// CHECK:         %[[E:.*]] = call @load_identity
// CHECK:         call @block({{.*}}, %[[E]])
// CHECK:         call @block({{.*}}, %[[E]])
// CHECK-NOT:     call
func.func private @block(%x: tensor<64x14x14xbf16, #trn.sbuf>, %w: tensor<64x96xbf16, #trn.hbm>, %b: tensor<96xf32, #trn.hbm>, %res: tensor<96x14x14xbf16, #trn.sbuf>, %dst: tensor<96x14x14xbf16, #trn.sbuf>) -> tensor<96x14x14xbf16, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x14x14xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x14x14xf32>) -> tensor<96x14x14xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x14x14xbf16, #trn.sbuf>, tensor<64x96xbf16, #trn.hbm>) outs(%f : tensor<96x14x14xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %l32 = arith.extf %l : bf16 to f32
    %r32 = arith.extf %r : bf16 to f32
    %p = arith.mulf %l32, %r32 : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x14x14xf32>
  %y = linalg.generic {indexing_maps = [#id, #col, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %b, %res : tensor<96x14x14xf32>, tensor<96xf32, #trn.hbm>, tensor<96x14x14xbf16, #trn.sbuf>) outs(%dst : tensor<96x14x14xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %bias: f32, %r: bf16, %o: bf16):
    %s = arith.addf %a, %bias : f32
    %t = arith.truncf %s : f32 to bf16
    %t32 = arith.extf %t : bf16 to f32
    %r32 = arith.extf %r : bf16 to f32
    %u = arith.addf %t32, %r32 : f32
    %v = arith.truncf %u : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<96x14x14xbf16, #trn.sbuf>
  return %y : tensor<96x14x14xbf16, #trn.sbuf>
}

trn.global @w kind(weight) value(dense<1.0> : tensor<64x96xbf16>) : memref<64x96xbf16, #trn.hbm>
trn.global @b kind(weight) value(dense<1.0> : tensor<96xf32>) : memref<96xf32, #trn.hbm>
func.func @main() {
  %wm = trn.get_global @w : memref<64x96xbf16, #trn.hbm>
  %w = bufferization.to_tensor %wm restrict : memref<64x96xbf16, #trn.hbm> to tensor<64x96xbf16, #trn.hbm>
  %bm = trn.get_global @b : memref<96xf32, #trn.hbm>
  %b = bufferization.to_tensor %bm restrict : memref<96xf32, #trn.hbm> to tensor<96xf32, #trn.hbm>
  %x = tensor.empty() : tensor<64x14x14xbf16, #trn.sbuf>
  %r = tensor.empty() : tensor<96x14x14xbf16, #trn.sbuf>
  %d = tensor.empty() : tensor<96x14x14xbf16, #trn.sbuf>
  %e = tensor.empty() : tensor<96x14x14xbf16, #trn.sbuf>
  %y = call @block(%x, %w, %b, %r, %d) : (tensor<64x14x14xbf16, #trn.sbuf>, tensor<64x96xbf16, #trn.hbm>, tensor<96xf32, #trn.hbm>, tensor<96x14x14xbf16, #trn.sbuf>, tensor<96x14x14xbf16, #trn.sbuf>) -> tensor<96x14x14xbf16, #trn.sbuf>
  %z = call @block(%x, %w, %b, %y, %e) : (tensor<64x14x14xbf16, #trn.sbuf>, tensor<64x96xbf16, #trn.hbm>, tensor<96xf32, #trn.hbm>, tensor<96x14x14xbf16, #trn.sbuf>, tensor<96x14x14xbf16, #trn.sbuf>) -> tensor<96x14x14xbf16, #trn.sbuf>
  return
}

// -----

#x = affine_map<(p, y, x, k, c) -> (k, c, y, x)>
#w = affine_map<(p, y, x, k, c) -> (k, c, p)>
#r = affine_map<(p, y, x, k, c) -> (p, y, x)>
#id = affine_map<(p, y, x) -> (p, y, x)>
// Three products for each column keep PE as busy as the sum keeps DVE; and fp32 takes four passes.
// CHECK-NOT:   @identity
// CHECK-LABEL: func.func private @long
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<96x14x14xf32>, tensor<96x14x14xbf16, #trn.sbuf>)
func.func private @long(%x: tensor<64x3x14x14xbf16, #trn.sbuf>, %w: tensor<64x3x96xbf16, #trn.hbm>, %res: tensor<96x14x14xbf16, #trn.sbuf>, %dst: tensor<96x14x14xbf16, #trn.sbuf>) -> tensor<96x14x14xbf16, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x14x14xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x14x14xf32>) -> tensor<96x14x14xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<64x3x14x14xbf16, #trn.sbuf>, tensor<64x3x96xbf16, #trn.hbm>) outs(%f : tensor<96x14x14xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %l32 = arith.extf %l : bf16 to f32
    %r32 = arith.extf %r : bf16 to f32
    %p = arith.mulf %l32, %r32 : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x14x14xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %res : tensor<96x14x14xf32>, tensor<96x14x14xbf16, #trn.sbuf>) outs(%dst : tensor<96x14x14xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %r: bf16, %o: bf16):
    %r32 = arith.extf %r : bf16 to f32
    %u = arith.addf %a, %r32 : f32
    %v = arith.truncf %u : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<96x14x14xbf16, #trn.sbuf>
  return %y : tensor<96x14x14xbf16, #trn.sbuf>
}
func.func @main() {
  return
}

// -----

#x = affine_map<(p, y, k) -> (k, y)>
#w = affine_map<(p, y, k) -> (k, p)>
#r = affine_map<(p, y, k) -> (p, y)>
#id = affine_map<(p, y) -> (p, y)>
// A mask of the model may be infinite: 0 times infinity would reach every lane.
// CHECK-NOT:   @identity
// CHECK-LABEL: func.func private @masked
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<96x128xf32>, tensor<96x128xbf16, #trn.sbuf>)
func.func private @masked(%x: tensor<64x128xbf16, #trn.sbuf>, %w: tensor<64x96xbf16, #trn.hbm>, %mask: tensor<96x128xbf16, #trn.sbuf>, %dst: tensor<96x128xbf16, #trn.sbuf>) -> tensor<96x128xbf16, #trn.sbuf> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x128xf32>) -> tensor<96x128xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x128xbf16, #trn.sbuf>, tensor<64x96xbf16, #trn.hbm>) outs(%f : tensor<96x128xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %l32 = arith.extf %l : bf16 to f32
    %r32 = arith.extf %r : bf16 to f32
    %p = arith.mulf %l32, %r32 : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x128xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %mask : tensor<96x128xf32>, tensor<96x128xbf16, #trn.sbuf>) outs(%dst : tensor<96x128xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %r: bf16, %o: bf16):
    %r32 = arith.extf %r : bf16 to f32
    %u = arith.addf %a, %r32 : f32
    %v = arith.truncf %u : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<96x128xbf16, #trn.sbuf>
  return %y : tensor<96x128xbf16, #trn.sbuf>
}
func.func private @mask(%c: tensor<96x128xbf16, #trn.sbuf>, %dst: tensor<96x128xbf16, #trn.sbuf>) -> tensor<96x128xbf16, #trn.sbuf> {
  %far = arith.constant 0xFF80 : bf16
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<96x128xbf16, #trn.sbuf>) outs(%dst : tensor<96x128xbf16, #trn.sbuf>) {
  ^bb0(%a: bf16, %o: bf16):
    %zero = arith.constant 0.0 : bf16
    %hit = arith.cmpf ogt, %a, %zero : bf16
    %v = arith.select %hit, %zero, %far : bf16
    linalg.yield %v : bf16
  } -> tensor<96x128xbf16, #trn.sbuf>
  return %m : tensor<96x128xbf16, #trn.sbuf>
}
trn.global @w kind(weight) value(dense<1.0> : tensor<64x96xbf16>) : memref<64x96xbf16, #trn.hbm>
func.func @main() {
  %wm = trn.get_global @w : memref<64x96xbf16, #trn.hbm>
  %w = bufferization.to_tensor %wm restrict : memref<64x96xbf16, #trn.hbm> to tensor<64x96xbf16, #trn.hbm>
  %x = tensor.empty() : tensor<64x128xbf16, #trn.sbuf>
  %k = tensor.empty() : tensor<96x128xbf16, #trn.sbuf>
  %m = tensor.empty() : tensor<96x128xbf16, #trn.sbuf>
  %d = tensor.empty() : tensor<96x128xbf16, #trn.sbuf>
  %mask = call @mask(%k, %m) : (tensor<96x128xbf16, #trn.sbuf>, tensor<96x128xbf16, #trn.sbuf>) -> tensor<96x128xbf16, #trn.sbuf>
  %y = call @masked(%x, %w, %mask, %d) : (tensor<64x128xbf16, #trn.sbuf>, tensor<64x96xbf16, #trn.hbm>, tensor<96x128xbf16, #trn.sbuf>, tensor<96x128xbf16, #trn.sbuf>) -> tensor<96x128xbf16, #trn.sbuf>
  return
}
