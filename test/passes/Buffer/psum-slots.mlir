// RUN: trn-opt %s --buffer-psum-slots --split-input-file | FileCheck-22 %s

// Two transposes of 2-byte elements lie side by side: each value gets 4 bytes, so that both begin at an address.
// CHECK-LABEL: func.func @in_parts
// CHECK:         %[[A:.*]] = memref.alloc() : memref<64x32x2x2xbf16, #trn.psum>
// CHECK:         %[[V:.*]] = memref.subview %[[A]][0, 0, 0, 0] [64, 32, 2, 1] [1, 1, 1, 1]
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           memref.subview %[[V]][0, 0, %[[I]]] [64, 32, 1] [1, 1, 1] : memref<64x32x2xbf16, strided<[128, 4, 2]>, #trn.psum> to memref<64x32x1xbf16, strided<[128, 4, 2], offset: ?>, #trn.psum>
// CHECK:         linalg.copy ins(%[[V]] : memref<64x32x2xbf16, strided<[128, 4, 2]>, #trn.psum>)
func.func @in_parts(%x: memref<32x2x64xbf16, #trn.sbuf>, %y: memref<64x32x2xbf16, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<64x32x2xbf16, #trn.psum>
  scf.for %i = %c0 to %c2 step %c1 {
    %s = memref.subview %x[0, %i, 0] [32, 1, 64] [1, 1, 1] : memref<32x2x64xbf16, #trn.sbuf> to memref<32x1x64xbf16, strided<[128, 64, 1], offset: ?>, #trn.sbuf>
    %d = memref.subview %a[0, 0, %i] [64, 32, 1] [1, 1, 1] : memref<64x32x2xbf16, #trn.psum> to memref<64x32x1xbf16, strided<[64, 2, 1], offset: ?>, #trn.psum>
    linalg.transpose ins(%s : memref<32x1x64xbf16, strided<[128, 64, 1], offset: ?>, #trn.sbuf>) outs(%d : memref<64x32x1xbf16, strided<[64, 2, 1], offset: ?>, #trn.psum>) permutation = [2, 0, 1]
  }
  linalg.copy ins(%a : memref<64x32x2xbf16, #trn.psum>) outs(%y : memref<64x32x2xbf16, #trn.sbuf>)
  return
}

// -----

// Used whole, a buffer begins where the allocator puts it; 4-byte elements are addresses of their own; SBUF has any.
// CHECK-LABEL: func.func @left_alone
// CHECK:         memref.alloc() : memref<32x128xbf16, #trn.psum>
// CHECK:         memref.alloc() : memref<32x4xf32, #trn.psum>
// CHECK:         memref.alloc() : memref<32x4xbf16, #trn.sbuf>
func.func @left_alone(%x: memref<128x32xbf16, #trn.sbuf>, %y: memref<32x128xbf16, #trn.sbuf>, %z: memref<32x2xf32, #trn.sbuf>, %w: memref<32x2xbf16, #trn.sbuf>) {
  %a = memref.alloc() : memref<32x128xbf16, #trn.psum>
  linalg.transpose ins(%x : memref<128x32xbf16, #trn.sbuf>) outs(%a : memref<32x128xbf16, #trn.psum>) permutation = [1, 0]
  linalg.copy ins(%a : memref<32x128xbf16, #trn.psum>) outs(%y : memref<32x128xbf16, #trn.sbuf>)
  %b = memref.alloc() : memref<32x4xf32, #trn.psum>
  %c = memref.subview %b[0, 1] [32, 2] [1, 1] : memref<32x4xf32, #trn.psum> to memref<32x2xf32, strided<[4, 1], offset: 1>, #trn.psum>
  linalg.copy ins(%c : memref<32x2xf32, strided<[4, 1], offset: 1>, #trn.psum>) outs(%z : memref<32x2xf32, #trn.sbuf>)
  %d = memref.alloc() : memref<32x4xbf16, #trn.sbuf>
  %e = memref.subview %d[0, 1] [32, 2] [1, 1] : memref<32x4xbf16, #trn.sbuf> to memref<32x2xbf16, strided<[4, 1], offset: 1>, #trn.sbuf>
  linalg.copy ins(%e : memref<32x2xbf16, strided<[4, 1], offset: 1>, #trn.sbuf>) outs(%w : memref<32x2xbf16, #trn.sbuf>)
  return
}
