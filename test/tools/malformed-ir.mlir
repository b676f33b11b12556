// RUN: not trnc compile %s -o %t.trnx > %t.out 2>&1
// RUN: FileCheck-22 %s < %t.out

// MLIR's parser of linalg.transpose follows a null attribute behind its own errors; the driver ends in order all the same.
// CHECK: error: {{.*}}malformed-ir.mlir:[[#@LINE + 3]]:{{[0-9]+}}: custom op 'linalg.transpose' expected integer value
// CHECK-NOT: Stack dump
func.func @between_partitions(%x: memref<1x64xf32, #trn.sbuf>, %y: memref<64x1xf32, #trn.sbuf>) {
  linalg.transpose ins(%x : memref<1x64xf32, #trn.sbuf>) outs(%y : memref<64x1xf32, #trn.sbuf>) permutation = [}, 0]
  return
}
