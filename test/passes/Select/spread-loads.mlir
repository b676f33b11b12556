// RUN: trn-opt %s --trn-spread-loads --split-input-file | FileCheck-22 %s

// A row of weights that 96 partitions read, in a loop: it is loaded to three of them, and spread.
// CHECK-LABEL: func.func private @bias
// CHECK:         trn.dma_copy outs(%{{.*}} : memref<1x64xf32, strided<[64, 1]>, #trn.sbuf>) ins(%{{.*}} : memref<1x64xf32, strided<[0, 1]>, #trn.hbm>)
// CHECK:         memref.subview %{{.*}}[32, 0] [1, 64]
// CHECK:         trn.dma_copy
// CHECK:         memref.subview %{{.*}}[64, 0] [1, 64]
// CHECK:         trn.dma_copy
// CHECK-NOT:     trn.dma_copy
// CHECK:         trn.nc_stream_shuffle outs(%[[D:.*]] : memref<96x64xf32, #trn.sbuf>) ins(%[[D]] : memref<96x64xf32, #trn.sbuf>) {mask = array<i32: 0, 0,
func.func private @bias(%w: memref<64xf32, #trn.hbm>, %d: memref<96x64xf32, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.reinterpret_cast %w to offset: [0], sizes: [96, 64], strides: [0, 1] : memref<64xf32, #trn.hbm> to memref<96x64xf32, strided<[0, 1]>, #trn.hbm>
    trn.dma_copy outs(%d : memref<96x64xf32, #trn.sbuf>) ins(%row : memref<96x64xf32, strided<[0, 1]>, #trn.hbm>)
  }
  return
}
trn.global @w kind(weight) value(dense<1.0> : tensor<64xf32>) : memref<64xf32, #trn.hbm>
func.func @main() {
  %w = trn.get_global @w : memref<64xf32, #trn.hbm>
  %d = memref.alloc() : memref<96x64xf32, #trn.sbuf>
  call @bias(%w, %d) : (memref<64xf32, #trn.hbm>, memref<96x64xf32, #trn.sbuf>) -> ()
  return
}

// -----

// Few of the bytes that move: they stay one transfer.
// CHECK-LABEL: func.func @few
// CHECK:         trn.dma_copy
// CHECK:         trn.dma_copy
// CHECK-NOT:     trn.nc_stream_shuffle
trn.global @w kind(weight) value(dense<1.0> : tensor<64xf32>) : memref<64xf32, #trn.hbm>
trn.global @v kind(weight) value(dense<1.0> : tensor<128x2048xf32>) : memref<128x2048xf32, #trn.hbm>
func.func @few() {
  %w = trn.get_global @w : memref<64xf32, #trn.hbm>
  %v = trn.get_global @v : memref<128x2048xf32, #trn.hbm>
  %d = memref.alloc() : memref<96x64xf32, #trn.sbuf>
  %e = memref.alloc() : memref<128x2048xf32, #trn.sbuf>
  trn.dma_copy outs(%e : memref<128x2048xf32, #trn.sbuf>) ins(%v : memref<128x2048xf32, #trn.hbm>)
  %row = memref.reinterpret_cast %w to offset: [0], sizes: [96, 64], strides: [0, 1] : memref<64xf32, #trn.hbm> to memref<96x64xf32, strided<[0, 1]>, #trn.hbm>
  trn.dma_copy outs(%d : memref<96x64xf32, #trn.sbuf>) ins(%row : memref<96x64xf32, strided<[0, 1]>, #trn.hbm>)
  return
}

// -----

// What the program has stored itself is needed at once: one transfer is the shortest way.
// CHECK-LABEL: func.func @own
// CHECK:         trn.dma_copy
// CHECK-NOT:     trn.nc_stream_shuffle
func.func @own() {
  %w = memref.alloc() : memref<64xf32, #trn.hbm>
  %d = memref.alloc() : memref<96x64xf32, #trn.sbuf>
  %row = memref.reinterpret_cast %w to offset: [0], sizes: [96, 64], strides: [0, 1] : memref<64xf32, #trn.hbm> to memref<96x64xf32, strided<[0, 1]>, #trn.hbm>
  trn.dma_copy outs(%d : memref<96x64xf32, #trn.sbuf>) ins(%row : memref<96x64xf32, strided<[0, 1]>, #trn.hbm>)
  return
}

// -----

// Partitions where engines may not start: a transfer may.
// CHECK-LABEL: func.func @inside
// CHECK:         trn.dma_copy
// CHECK-NOT:     trn.nc_stream_shuffle
trn.global @w kind(weight) value(dense<1.0> : tensor<4096xf32>) : memref<4096xf32, #trn.hbm>
func.func @inside() {
  %w = trn.get_global @w : memref<4096xf32, #trn.hbm>
  %d = memref.alloc() : memref<128x4096xf32, #trn.sbuf>
  %part = memref.subview %d[16, 0] [40, 4096] [1, 1] : memref<128x4096xf32, #trn.sbuf> to memref<40x4096xf32, strided<[4096, 1], offset: 65536>, #trn.sbuf>
  %row = memref.reinterpret_cast %w to offset: [0], sizes: [40, 4096], strides: [0, 1] : memref<4096xf32, #trn.hbm> to memref<40x4096xf32, strided<[0, 1]>, #trn.hbm>
  trn.dma_copy outs(%part : memref<40x4096xf32, strided<[4096, 1], offset: 65536>, #trn.sbuf>) ins(%row : memref<40x4096xf32, strided<[0, 1]>, #trn.hbm>)
  return
}
