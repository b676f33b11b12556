// RUN: trn-opt %s --tile-fold-taps --canonicalize | FileCheck-22 %s

// Three channels of an input: the three kernel rows join them, so PE contracts 9 lanes in 3 steps instead of 3 in 9.
#in = affine_map<(n, m, y, x, c, r, s) -> (n, c, y + r, x + s)>
#weight = affine_map<(n, m, y, x, c, r, s) -> (m, c, r, s)>
#out = affine_map<(n, m, y, x, c, r, s) -> (n, m, y, x)>
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d3 + d5)>
// CHECK: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>
// CHECK-DAG: #[[APART:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d2, d5, d3)>
// CHECK-DAG: #[[COPIED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 * 2, d3 + d6)>
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

// Rows of a tensor made on chip are copied beside each other: two at a time of 64 channels, so that two of the three rows
// and a row of zeros are left, which meets a row more of padding.
// CHECK-LABEL: func.func @copied
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 0, 1, 0]
// CHECK-DAG: %[[FIRST:.*]] = tensor.extract_slice %[[PADDED]][0, 0, 0, 0] [1, 64, 32, 32] [1, 1, 1, 1]
// CHECK-DAG: %[[SECOND:.*]] = tensor.extract_slice %[[PADDED]][0, 0, 1, 0] [1, 64, 32, 32] [1, 1, 1, 1]
// CHECK: %[[JOINED:.*]] = tensor.concat dim(1) %[[FIRST]], %[[SECOND]]
// CHECK-SAME: -> tensor<1x128x32x32xf32>
// CHECK: linalg.generic {indexing_maps = [#[[COPIED]]
// CHECK-SAME: ins(%[[JOINED]], %{{.*}} : tensor<1x128x32x32xf32>, tensor<64x128x2x3xf32>)
func.func @copied(%x: tensor<1x64x32x32xf32>) -> tensor<1x64x30x30xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %e0 = tensor.empty() : tensor<1x64x32x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>, affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x32x32xf32>) outs(%e0 : tensor<1x64x32x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<1x64x32x32xf32>
  %e = tensor.empty() : tensor<1x64x30x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x30x30xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x30x30xf32>
  return %r : tensor<1x64x30x30xf32>
}

// With 96 channels there is no room for another row.
// CHECK-LABEL: func.func @full
// CHECK-NOT: tensor.concat
func.func @full(%x: tensor<1x96x32x32xf32>) -> tensor<1x64x30x30xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x96x3x3xf32>
  %e0 = tensor.empty() : tensor<1x96x32x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>, affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x96x32x32xf32>) outs(%e0 : tensor<1x96x32x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      linalg.yield %q : f32
  } -> tensor<1x96x32x32xf32>
  %e = tensor.empty() : tensor<1x64x30x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x96x32x32xf32>, tensor<64x96x3x3xf32>) outs(%f : tensor<1x64x30x30xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x30x30xf32>
  return %r : tensor<1x64x30x30xf32>
}

// A large picture: kernel columns join as well, and every lane reads one run of memory. With stride 2 the picture is
// taken apart into 2 x 2 planes; tap (r, s) reads plane ((r - 3) mod 2, (s - 3) mod 2). Four columns in a row join, the
// kernel is padded to eight, and what is left steps by 4 / 2 columns of a plane.
#out4 = affine_map<(n, c, y, x) -> (n, c, y, x)>
#in2 = affine_map<(n, m, y, x, c, r, s) -> (n, c, y * 2 + r, x * 2 + s)>
// CHECK-LABEL: func.func @planes
// CHECK: %[[VIEW:.*]] = tensor.expand_shape %{{.*}} output_shape [1, 3, 112, 2, 112, 2]
// CHECK: linalg.generic {indexing_maps = [#[[APART]]
// CHECK-SAME: outs(%{{.*}} : tensor<1x3x2x2x112x112xbf16>)
// CHECK: arith.truncf
// CHECK: tensor.pad %{{.*}} low[0, 0, 0, 0, 2, 2] high[0, 0, 0, 0, 2, 2]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 1, 1, 0] [1, 3, 1, 1, 6496] [1, 1, 1, 1, 1]
// CHECK: tensor.concat dim(1)
// CHECK-SAME: -> tensor<1x42x6496xbf16>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x42x56x116xbf16>
// CHECK: linalg.generic {indexing_maps = [#[[IN]]
// CHECK-SAME: tensor<64x42x4xbf16>
func.func @planes(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %w = arith.constant dense_resource<w> : tensor<64x3x7x7xbf16>
  %e0 = tensor.empty() : tensor<1x3x224x224xbf16>
  %x16 = linalg.generic {indexing_maps = [#out4, #out4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x224x224xf32>) outs(%e0 : tensor<1x3x224x224xbf16>) {
    ^bb0(%a: f32, %o: bf16):
      %q = arith.truncf %a : f32 to bf16
      linalg.yield %q : bf16
  } -> tensor<1x3x224x224xbf16>
  %p = tensor.pad %x16 low[0, 0, 3, 3] high[0, 0, 3, 3] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %none : bf16
  } : tensor<1x3x224x224xbf16> to tensor<1x3x230x230xbf16>
  %e = tensor.empty() : tensor<1x64x112x112xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x112x112xf32>) -> tensor<1x64x112x112xf32>
  %r = linalg.generic {indexing_maps = [#in2, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x3x230x230xbf16>, tensor<64x3x7x7xbf16>) outs(%f : tensor<1x64x112x112xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %a32 = arith.extf %a : bf16 to f32
      %b32 = arith.extf %b : bf16 to f32
      %m = arith.mulf %a32, %b32 : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x112x112xf32>
  return %r : tensor<1x64x112x112xf32>
}

// A large picture is folded in strips: 30 rows of 130 elements hold 16 KiB, so 64 rows are three strips of 22, 22 and 20.
// Bias and ReLU are repeated for each, so that each empties its own accumulators; then the strips lie side by side.
#id = affine_map<(n, m, y, x) -> (n, m, y, x)>
#column = affine_map<(n, m, y, x) -> (m)>
// CHECK-LABEL: func.func @strips
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<1x18x22x130xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x64x22x128xf32>)
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<1x18x22x130xf32>
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<1x18x20x130xf32>
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x22x128xf32>, tensor<64xf32>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x22x128xf32>, tensor<64xf32>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x20x128xf32>, tensor<64xf32>)
// CHECK: %[[WHOLE:.*]] = tensor.concat dim(2) %[[A]], %[[B]], %[[C]]
// CHECK: return %[[WHOLE]]
func.func @strips(%x: tensor<1x3x66x130xf32>, %b: tensor<64xf32>) -> tensor<1x64x64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<w> : tensor<64x3x3x3xf32>
  %e = tensor.empty() : tensor<1x64x64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x64x128xf32>) -> tensor<1x64x64x128xf32>
  %r = linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3x66x130xf32>, tensor<64x3x3x3xf32>) outs(%f : tensor<1x64x64x128xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
  } -> tensor<1x64x64x128xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %b : tensor<1x64x64x128xf32>, tensor<64xf32>) outs(%e : tensor<1x64x64x128xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %q = arith.maximumf %s, %zero : f32
      linalg.yield %q : f32
  } -> tensor<1x64x64x128xf32>
  return %y : tensor<1x64x64x128xf32>
}
