// RUN: trn-opt %s -tensor-assign-precision="auto-cast=matmult" | %FileCheck %s --check-prefix=MATMULT
// RUN: trn-opt %s -tensor-assign-precision="auto-cast=all auto-cast-type=fp16" | %FileCheck %s --check-prefix=ALL
// RUN: trn-opt %s -tensor-assign-precision | %FileCheck %s --check-prefix=NONE
// RUN: %not trn-opt %s -tensor-assign-precision="auto-cast=some" 2>&1 | %FileCheck %s --check-prefix=ERROR

// ERROR: expected auto-cast none, matmult or all but got 'some'
// NONE-NOT: bf16

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
// The signature stays.
// MATMULT-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x2xf32>) -> tensor<4x2xf32>
// ALL-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x2xf32>) -> tensor<4x2xf32>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  // MATMULT: ins(%{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%{{.*}} : tensor<4x2xf32>)
  // MATMULT: arith.extf %{{.*}} : bf16 to f32
  // ALL: ins(%{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x2xf16>) outs(%{{.*}} : tensor<4x2xf32>)
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  // MATMULT: outs(%{{.*}} : tensor<4x2xf32>)
  // MATMULT: math.exp %{{.*}} : f32
  // ALL: ins(%{{.*}} : tensor<4x2xf32>) outs(%{{.*}} : tensor<4x2xf16>)
  // ALL: math.exp %{{.*}} : f32
  // ALL: arith.truncf %{{.*}} : f32 to f16
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// What is padded and then only multiplied is rounded first: the pad moves 2-byte elements, and the cast can fuse with
// the map that made the value. A value that something else reads too stays f32, and is rounded behind the pad.
#window = affine_map<(i, j, k, l) -> (l, i + k)>
#kernel = affine_map<(i, j, k, l) -> (k, l, j)>
#out = affine_map<(i, j, k, l) -> (i, j)>
#line = affine_map<(i, j) -> (i, j)>
// MATMULT-LABEL: func.func @padded
// MATMULT:         %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xbf16>)
// MATMULT:         %[[P:.*]] = tensor.pad %[[X]] low[0, 1] high[0, 1]
// MATMULT:           arith.truncf %{{.*}} : f32 to bf16
// MATMULT:         tensor<4x8xbf16> to tensor<4x10xbf16>
// MATMULT:         %[[Y:.*]] = tensor.pad %arg2 low[0, 1] high[0, 1]
// MATMULT:         tensor<4x8xf32> to tensor<4x10xf32>
// MATMULT:         %[[Q:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<4x10xf32>) outs(%{{.*}} : tensor<4x10xbf16>)
// MATMULT:         linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<4x10xbf16>, tensor<3x4x2xbf16>)
// MATMULT:         linalg.generic {{.*}} ins(%[[Q]], %{{.*}} : tensor<4x10xbf16>, tensor<3x4x2xbf16>)
func.func @padded(%x: tensor<4x8xf32>, %w: tensor<3x4x2xf32>, %y: tensor<4x8xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<4x10xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x8xf32> to tensor<4x10xf32>
  %q = tensor.pad %y low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x8xf32> to tensor<4x10xf32>
  %e = tensor.empty() : tensor<8x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %0 = linalg.generic {indexing_maps = [#window, #kernel, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<4x10xf32>, tensor<3x4x2xf32>) outs(%f : tensor<8x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x2xf32>
  %1 = linalg.generic {indexing_maps = [#window, #kernel, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%q, %w : tensor<4x10xf32>, tensor<3x4x2xf32>) outs(%f : tensor<8x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x2xf32>
  return %0, %1, %q : tensor<8x2xf32>, tensor<8x2xf32>, tensor<4x10xf32>
}

// The largest of narrow elements is one of them: it stays narrow, and so does its start.
#pooled = affine_map<(i, j) -> (i)>
// ALL-LABEL: func.func @largest
// ALL:         %[[START:.*]] = arith.constant 0xFC00 : f16
// ALL:         %[[FILL:.*]] = linalg.fill ins(%[[START]] : f16)
// ALL:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf16>) outs(%[[FILL]] : tensor<4xf16>)
// ALL:           arith.maximumf %{{.*}}, %{{.*}} : f16
// MATMULT-LABEL: func.func @largest
// MATMULT:       arith.maximumf %{{.*}}, %{{.*}} : f32
func.func @largest(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%lowest : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#line, #pooled], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What becomes a position in a tensor is no data: 4095 has no narrow type. The table is, and its rows are.
#row = affine_map<(i) -> (i)>
#rows = affine_map<(i, j) -> (i)>
// ALL-LABEL: func.func @positions
// ALL:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>)
// ALL:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xi32>)
// ALL:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8x2xf16>)
// ALL:           tensor.extract %{{.*}} : tensor<4096x2xf16>
func.func @positions(%x: tensor<8xf32>, %table: tensor<4096x2xf32>) -> tensor<8x2xf32> {
  %last = arith.constant 4095.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %last : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %i = tensor.empty() : tensor<8xi32>
  %1 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%i : tensor<8xi32>) {
  ^bb0(%a: f32, %o: i32):
    %m = arith.fptosi %a : f32 to i32
    linalg.yield %m : i32
  } -> tensor<8xi32>
  %r = tensor.empty() : tensor<8x2xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #line], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<8xi32>) outs(%r : tensor<8x2xf32>) {
  ^bb0(%a: i32, %o: f32):
    %at = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<4096x2xf32>
    linalg.yield %v : f32
  } -> tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}
