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
