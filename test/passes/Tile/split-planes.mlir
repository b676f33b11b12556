// RUN: trn-opt %s --tile-split-planes=print-plan 2>&1 | FileCheck-22 %s
// RUN: trn-opt %s --tile-split-planes=resident-percent=0 2>&1 | FileCheck-22 %s --check-prefix=WHOLE

// The planes between two convolutions do not fit in SBUF beside each other: they are computed band by band. A band of the
// last result needs one row around itself of the ReLU, and two of the input; only at the sides of the picture is there
// padding. The rest of a program is whole: a mean over all rows could not begin before the last band.
#conv = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>
#half = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 2 + i, w * 2 + j)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#o = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
#channel = affine_map<(n, f, h, w) -> (n, f)>

// CHECK: remark: {{.*}}planes of 'first' to 'second' (5 operations): 8 bands
// CHECK-NEXT: 1 band: {{.*}} us, {{[1-9][0-9]*}} bytes by way of HBM
// CHECK: 8 bands: {{.*}} us, 0 bytes by way of HBM
// CHECK-LABEL: func.func @main
// CHECK: %[[X0:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 32, 33, 256] [1, 1, 1, 1]
// CHECK: %[[P0:.*]] = tensor.pad %[[X0]] low[0, 0, 1, 1] high[0, 0, 0, 1]
// CHECK: linalg.generic {{.*}} ins(%[[P0]], %{{.*}} : tensor<1x32x34x258xf32>, tensor<24x32x3x3xf32>) outs({{.*}} : tensor<1x24x32x256xf32>)
// CHECK: tensor.pad {{.*}} low[0, 0, 1, 1] high[0, 0, 0, 0]
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x16x16x128xf32>)
// CHECK: tensor.extract_slice %arg0[0, 0, 30, 0] [1, 32, 35, 256] [1, 1, 1, 1]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 0, 1]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 0, 0]
// CHECK: %[[B:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x16x16x128xf32>)
// CHECK: tensor.extract_slice %arg0[0, 0, 222, 0] [1, 32, 34, 256] [1, 1, 1, 1]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 1, 1]
// CHECK: %[[Y:.*]] = tensor.concat dim(2) %[[A]], %[[B]]
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<1x16x128x128xf32>) outs({{.*}} : tensor<1x16xf32>)
// CHECK-NOT: linalg.generic

// WHOLE-NOT: tensor.concat
func.func @main(%x: tensor<1x32x256x256xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<1.0> : tensor<24x32x3x3xf32>
  %w2 = arith.constant dense<1.0> : tensor<16x24x3x3xf32>
  %xp = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
  } : tensor<1x32x256x256xf32> to tensor<1x32x258x258xf32> loc("first")
  %e1 = tensor.empty() : tensor<1x24x256x256xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x24x256x256xf32>) -> tensor<1x24x256x256xf32>
  %c1 = linalg.generic {indexing_maps = [#conv, #k, #o],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%xp, %w1 : tensor<1x32x258x258xf32>, tensor<24x32x3x3xf32>) outs(%f1 : tensor<1x24x256x256xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
  } -> tensor<1x24x256x256xf32> loc("first")
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c1 : tensor<1x24x256x256xf32>) outs(%e1 : tensor<1x24x256x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.maximumf %a, %zero : f32
      linalg.yield %q : f32
  } -> tensor<1x24x256x256xf32> loc("relu")
  %rp = tensor.pad %r low[0, 0, 1, 1] high[0, 0, 0, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
  } : tensor<1x24x256x256xf32> to tensor<1x24x257x257xf32> loc("second")
  %e2 = tensor.empty() : tensor<1x16x128x128xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x16x128x128xf32>) -> tensor<1x16x128x128xf32>
  %c2 = linalg.generic {indexing_maps = [#half, #k, #o],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%rp, %w2 : tensor<1x24x257x257xf32>, tensor<16x24x3x3xf32>) outs(%f2 : tensor<1x16x128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
  } -> tensor<1x16x128x128xf32> loc("second")
  %e3 = tensor.empty() : tensor<1x16xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %s = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%c2 : tensor<1x16x128x128xf32>) outs(%f3 : tensor<1x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
  } -> tensor<1x16xf32> loc("sum")
  return %s : tensor<1x16xf32>
}
