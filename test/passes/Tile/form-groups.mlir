// RUN: trn-opt %s --tile-apply-layout --tile-form-groups --mlir-print-local-scope | FileCheck-22 %s

// Two equal dense layers with ReLU: one group function, called twice; the accumulator is read by the map and has no
// space; the weights are laid out with the contracted lanes first, then the chunk of the result.
#x = affine_map<(s, m, k) -> (s, k)>
#w = affine_map<(s, m, k) -> (k, m)>
#r = affine_map<(s, m, k) -> (s, m)>
#id = affine_map<(s, m) -> (s, m)>

// CHECK: trn.global @x kind({{ *}}input) io_name "x" : memref<16x256xf32, #trn.hbm>
// CHECK: trn.global @y kind({{ *}}output) io_name "y" : memref<16x256xf32, #trn.hbm>
// CHECK: trn.global @w0 kind({{ *}}weight)
// CHECK-SAME: transforms([{reshape = array<i64: 2, 128, 2, 128>}, {transpose = array<i64: 1, 2, 0, 3>}])
// CHECK-SAME: memref<128x2x2x128xf32, #trn.hbm>

// CHECK: func.func private @[[LOAD:g[0-9]+]]
// CHECK: func.func private @[[DENSE:g[0-9]+]](%{{.*}}: tensor<128x2x16xf32, #trn.sbuf>, %{{.*}}: tensor<128x2x2x128xf32, #trn.hbm>, %{{.*}}: tensor<128x2x16xf32, #trn.sbuf>)
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<128x2x16xf32>
// CHECK: %[[FILL:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
// CHECK: %[[ACC:.*]] = linalg.generic
// CHECK-SAME: outs(%[[FILL]] : tensor<128x2x16xf32>)
// CHECK-NOT: linalg.copy
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[ACC]] : tensor<128x2x16xf32>) outs(%{{.*}} : tensor<128x2x16xf32, #trn.sbuf>)
// CHECK: return %{{.*}} : tensor<128x2x16xf32, #trn.sbuf>

// CHECK: func.func @main() {
// CHECK: call @[[LOAD]]
// CHECK: %[[FIRST:.*]] = call @[[DENSE]]
// CHECK: call @[[DENSE]](%[[FIRST]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable
func.func @main(%x: tensor<16x256xf32> {onnx.name = "x"}) -> (tensor<16x256xf32> {onnx.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<1.0> : tensor<256x256xf32>
  %w1 = arith.constant dense<2.0> : tensor<256x256xf32>
  %e = tensor.empty() : tensor<16x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x256xf32>) -> tensor<16x256xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : tensor<16x256xf32>, tensor<256x256xf32>) outs(%f : tensor<16x256xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<16x256xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<16x256xf32>) outs(%e : tensor<16x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<16x256xf32>
  %2 = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %w1 : tensor<16x256xf32>, tensor<256x256xf32>) outs(%f : tensor<16x256xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<16x256xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<16x256xf32>) outs(%e : tensor<16x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<16x256xf32>
  return %3 : tensor<16x256xf32>
}
