// RUN: trn-opt %s --trn-select-movement --cse --canonicalize --split-input-file --verify-diagnostics | FileCheck-22 %s

// CHECK-LABEL: func @spaces
// CHECK:         trn.dma_copy outs(%[[S:.*]] : memref<128x64xf32, #trn.sbuf>) ins(%{{.*}} : memref<128x64xf32, #trn.hbm>)
// CHECK:         trn.tensor_copy outs(%{{.*}} : memref<128x64xf32, #trn.sbuf>) ins(%{{.*}} : memref<128x64xf32, #trn.psum>)
// CHECK:         trn.memset outs(%{{.*}} : memref<128x64xbf16, #trn.sbuf>) {value = 0.000000e+00 : f32}
func.func @spaces(%h: memref<128x64xf32, #trn.hbm>, %s: memref<128x64xf32, #trn.sbuf>, %p: memref<128x64xf32, #trn.psum>, %b: memref<128x64xbf16, #trn.sbuf>) {
  %zero = arith.constant 0.0 : bf16
  linalg.copy ins(%h : memref<128x64xf32, #trn.hbm>) outs(%s : memref<128x64xf32, #trn.sbuf>)
  linalg.copy ins(%p : memref<128x64xf32, #trn.psum>) outs(%s : memref<128x64xf32, #trn.sbuf>)
  linalg.fill ins(%zero : bf16) outs(%b : memref<128x64xbf16, #trn.sbuf>)
  return
}

// -----

// One row of HBM to every partition: row stride 0.
// CHECK-LABEL: func @broadcast
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [128, 64], strides: [0, 1]
// CHECK:         trn.dma_copy outs(%{{.*}} : {{.*}}) ins(%[[V]] : {{.*}})
func.func @broadcast(%h: memref<64xf32, #trn.hbm>, %s: memref<128x64xf32, #trn.sbuf>) {
  linalg.broadcast ins(%h : memref<64xf32, #trn.hbm>) outs(%s : memref<128x64xf32, #trn.sbuf>) dimensions = [0]
  return
}

// -----

// A transfer out of HBM may permute.
// CHECK-LABEL: func @permuted
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [128, 64], strides: [1, 128]
// CHECK:         trn.dma_copy
func.func @permuted(%h: memref<64x128xf32, #trn.hbm>, %s: memref<128x64xf32, #trn.sbuf>) {
  linalg.transpose ins(%h : memref<64x128xf32, #trn.hbm>) outs(%s : memref<128x64xf32, #trn.sbuf>) permutation = [1, 0]
  return
}

// -----

// HBM is filled by a constant tile of SBUF; 3 * 100 * 100 elements are 125 rows of 240.
// CHECK-LABEL: func @fill_hbm
// CHECK:         %[[T:.*]] = memref.alloc() : memref<125x240xf32, #trn.sbuf>
// CHECK:         trn.memset outs(%[[T]] : {{.*}}) {value = 1.000000e+00 : f32}
// CHECK:         trn.dma_copy outs(%{{.*}} : memref<125x240xf32, {{.*}}#trn.hbm>) ins(%[[T]] : {{.*}})
func.func @fill_hbm(%h: memref<1x3x100x100xf32, #trn.hbm>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%h : memref<1x3x100x100xf32, #trn.hbm>)
  return
}

// -----

func.func @between_partitions(%x: memref<1x64xf32, #trn.sbuf>, %y: memref<64x1xf32, #trn.sbuf>) {
  // expected-error @below {{cannot move: an operand whose partitions are not those of the result}}
  linalg.transpose ins(%x : memref<1x64xf32, #trn.sbuf>) outs(%y : memref<64x1xf32, #trn.sbuf>) permutation = [1, 0]
  return
}

// -----

#rows = affine_map<(p, k, c) -> (p, k)>
#out = affine_map<(p, k, c) -> (p, k, c)>
// A gather: one transfer per column of indices, each partition one row of the table.
// CHECK-LABEL: func @gather
// CHECK:         scf.for %[[K:.*]] =
// CHECK:           %[[I:.*]] = memref.reinterpret_cast %{{.*}} sizes: [100, 1], strides: [3, 1]
// CHECK:           %[[D:.*]] = memref.reinterpret_cast %{{.*}} sizes: [100, 64], strides: [192, 1]
// CHECK:           trn.dma_gather outs(%[[D]] : {{.*}}) ins(%{{.*}}, %[[I]] : memref<500x64xf32, #trn.hbm>, {{.*}})
func.func @gather(%i: memref<100x3xi32, #trn.sbuf>, %table: memref<500x64xf32, #trn.hbm>, %dst: memref<100x3x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#rows, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%i : memref<100x3xi32, #trn.sbuf>) outs(%dst : memref<100x3x64xf32, #trn.sbuf>) {
  ^bb0(%n: i32, %o: f32):
    %c = linalg.index 2 : index
    %at = arith.index_cast %n : i32 to index
    %x = memref.load %table[%at, %c] : memref<500x64xf32, #trn.hbm>
    linalg.yield %x : f32
  }
  return
}

// -----

// Another axis: the rows of the table are its second dimension, three elements apart.
// CHECK-LABEL: func @gather_columns
// CHECK:         %[[T:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [7, 4], strides: [3, 21]
// CHECK:         trn.dma_gather outs(%{{.*}} : {{.*}}) ins(%[[T]], %{{.*}} : {{.*}})
func.func @gather_columns(%i: memref<5xi32, #trn.sbuf>, %table: memref<4x7x3xf32, #trn.hbm>, %dst: memref<5x4xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [affine_map<(p, a) -> (p)>, affine_map<(p, a) -> (p, a)>], iterator_types = ["parallel", "parallel"]}
      ins(%i : memref<5xi32, #trn.sbuf>) outs(%dst : memref<5x4xf32, #trn.sbuf>) {
  ^bb0(%n: i32, %o: f32):
    %zero = arith.constant 0 : index
    %row = linalg.index 1 : index
    %at = arith.index_cast %n : i32 to index
    %x = memref.load %table[%row, %at, %zero] : memref<4x7x3xf32, #trn.hbm>
    linalg.yield %x : f32
  }
  return
}

// -----

// An engine moves lanes between the partitions at which its operands may begin; between others DMA moves from SBUF to SBUF.
// CHECK-LABEL: func @lanes
// CHECK:         trn.tensor_copy outs(%{{.*}} : memref<64x32xf32, {{.*}}>) ins(%{{.*}} : memref<64x32xf32
// CHECK:         trn.dma_copy outs(%{{.*}} : memref<16x32xf32, {{.*}}>) ins(%{{.*}} : memref<16x32xf32
// CHECK:         trn.dma_copy outs(%{{.*}} : memref<64x32xf32, {{.*}}>) ins(%{{.*}} : memref<64x32xf32
func.func @lanes(%x: memref<128x32xf32, #trn.sbuf>, %y: memref<128x32xf32, #trn.sbuf>) {
  %x0 = memref.subview %x[0, 0] [64, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<64x32xf32, strided<[32, 1]>, #trn.sbuf>
  %y64 = memref.subview %y[64, 0] [64, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<64x32xf32, strided<[32, 1], offset: 2048>, #trn.sbuf>
  linalg.copy ins(%x0 : memref<64x32xf32, strided<[32, 1]>, #trn.sbuf>) outs(%y64 : memref<64x32xf32, strided<[32, 1], offset: 2048>, #trn.sbuf>)
  %x8 = memref.subview %x[8, 0] [16, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<16x32xf32, strided<[32, 1], offset: 256>, #trn.sbuf>
  %y32 = memref.subview %y[32, 0] [16, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<16x32xf32, strided<[32, 1], offset: 1024>, #trn.sbuf>
  linalg.copy ins(%x8 : memref<16x32xf32, strided<[32, 1], offset: 256>, #trn.sbuf>) outs(%y32 : memref<16x32xf32, strided<[32, 1], offset: 1024>, #trn.sbuf>)
  %x32 = memref.subview %x[32, 0] [64, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<64x32xf32, strided<[32, 1], offset: 1024>, #trn.sbuf>
  %y0 = memref.subview %y[0, 0] [64, 32] [1, 1] : memref<128x32xf32, #trn.sbuf> to memref<64x32xf32, strided<[32, 1]>, #trn.sbuf>
  linalg.copy ins(%x32 : memref<64x32xf32, strided<[32, 1], offset: 1024>, #trn.sbuf>) outs(%y0 : memref<64x32xf32, strided<[32, 1]>, #trn.sbuf>)
  return
}
