// RUN: trn-opt %s --trn-select-contractions --canonicalize --split-input-file --verify-diagnostics | FileCheck-22 %s

#x = affine_map<(m, y, x, k) -> (k, y * 2, x * 2)>
#w = affine_map<(m, y, x, k) -> (k, m)>
#y = affine_map<(m, y, x, k) -> (m, y, x)>
// A stride-2 window is walked by strides of 2 columns and 2 rows of 29; the first step of the reduction loop overwrites PSUM.
// CHECK-LABEL: func @window
// CHECK-NOT:     linalg.fill
// CHECK:         scf.for %[[K:.*]] = %[[FIRST:.*]] to
// CHECK:           %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
// CHECK:           trn.nc_matmul outs(%{{.*}} : memref<64x14x14xf32, {{.*}}#trn.psum>)
// CHECK-SAME:        ins(%{{.*}}, %{{.*}} : memref<128x64xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>, memref<128x14x14xbf16, strided<[3364, 58, 2], offset: ?>, #trn.sbuf>) accumulate_if(%[[LATER]])
func.func @window(%x: memref<128x4x29x29xbf16, #trn.sbuf>, %w: memref<128x4x64xbf16, #trn.sbuf>, %psum: memref<64x14x14xf32, #trn.psum>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%psum : memref<64x14x14xf32, #trn.psum>)
  scf.for %k = %c0 to %c4 step %c1 {
    %xs = memref.subview %x[0, %k, 0, 0] [128, 1, 27, 27] [1, 1, 1, 1] : memref<128x4x29x29xbf16, #trn.sbuf> to memref<128x27x27xbf16, strided<[3364, 29, 1], offset: ?>, #trn.sbuf>
    %ws = memref.subview %w[0, %k, 0] [128, 1, 64] [1, 1, 1] : memref<128x4x64xbf16, #trn.sbuf> to memref<128x64xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>
    linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%xs, %ws : memref<128x27x27xbf16, strided<[3364, 29, 1], offset: ?>, #trn.sbuf>, memref<128x64xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>) outs(%psum : memref<64x14x14xf32, #trn.psum>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %a32 = arith.extf %a : bf16 to f32
      %b32 = arith.extf %b : bf16 to f32
      %p = arith.mulf %a32, %b32 : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// Blocks in one bank: the fill is on the whole of it, and each block starts anew in the first step of its own reduction.
// CHECK-LABEL: func @blocks
// CHECK-NOT:     linalg.fill
// CHECK:         scf.for %[[Q:.*]] =
// CHECK:           scf.for %[[K:.*]] = %[[FIRST:.*]] to
// CHECK:             %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
// CHECK:             trn.nc_matmul {{.*}} accumulate_if(%[[LATER]])
func.func @blocks(%x: memref<24x2x8x64xf32, #trn.sbuf>, %w: memref<24x2x4xf32, #trn.sbuf>, %psum: memref<64x8x4xf32, #trn.psum>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%psum : memref<64x8x4xf32, #trn.psum>)
  scf.for %q = %c0 to %c8 step %c1 {
    %block = memref.subview %psum[0, %q, 0] [64, 1, 4] [1, 1, 1] : memref<64x8x4xf32, #trn.psum> to memref<64x4xf32, strided<[32, 1], offset: ?>, #trn.psum>
    scf.for %k = %c0 to %c2 step %c1 {
      %xs = memref.subview %x[0, %k, %q, 0] [24, 1, 1, 64] [1, 1, 1, 1] : memref<24x2x8x64xf32, #trn.sbuf> to memref<24x64xf32, strided<[1024, 1], offset: ?>, #trn.sbuf>
      %ws = memref.subview %w[0, %k, 0] [24, 1, 4] [1, 1, 1] : memref<24x2x4xf32, #trn.sbuf> to memref<24x4xf32, strided<[8, 1], offset: ?>, #trn.sbuf>
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%xs, %ws : memref<24x64xf32, strided<[1024, 1], offset: ?>, #trn.sbuf>, memref<24x4xf32, strided<[8, 1], offset: ?>, #trn.sbuf>) outs(%block : memref<64x4xf32, strided<[32, 1], offset: ?>, #trn.psum>) {
      ^bb0(%a: f32, %b: f32, %acc: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        linalg.yield %s : f32
      }
    }
  }
  return
}

// -----

// CHECK-LABEL: func @transpose
// CHECK:         trn.nc_transpose outs(%{{.*}} : memref<64x128xf32, {{.*}}#trn.psum>) ins(%{{.*}} : memref<128x64xf32, {{.*}}#trn.sbuf>)
func.func @transpose(%x: memref<128x1x64xf32, #trn.sbuf>, %psum: memref<64x1x128xf32, #trn.psum>) {
  linalg.transpose ins(%x : memref<128x1x64xf32, #trn.sbuf>) outs(%psum : memref<64x1x128xf32, #trn.psum>) permutation = [2, 1, 0]
  return
}

// -----

func.func @not_started(%x: memref<128x16xf32, #trn.sbuf>, %w: memref<128x64xf32, #trn.sbuf>, %psum: memref<64x16xf32, #trn.psum>) {
  // expected-error @below {{expected its accumulator to be filled with zero before its reduction loops}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<128x16xf32, #trn.sbuf>, memref<128x64xf32, #trn.sbuf>) outs(%psum : memref<64x16xf32, #trn.psum>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @not_one_step(%x: memref<128x2x16xf32, #trn.sbuf>, %w: memref<128x2x64xf32, #trn.sbuf>, %psum: memref<64x16xf32, #trn.psum>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%psum : memref<64x16xf32, #trn.psum>)
  // expected-error @below {{is not one matmul: loop 3 has 2 steps, expected 1}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k, c) -> (k, c, n)>, affine_map<(m, n, k, c) -> (k, c, m)>, affine_map<(m, n, k, c) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<128x2x16xf32, #trn.sbuf>, memref<128x2x64xf32, #trn.sbuf>) outs(%psum : memref<64x16xf32, #trn.psum>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
