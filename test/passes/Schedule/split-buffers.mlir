// RUN: trn-opt %s --trn-flatten --trn-split-buffers --split-input-file | %FileCheck %s

// A buffer that is overwritten whole begins anew; one whose border stays live does not.
// CHECK-LABEL: func.func @reused
// CHECK: trn.tensor_copy outs(%[[T:[0-9]+]] :
// CHECK: trn.tensor_copy outs(%[[A:[0-9]+]] :{{.*}} ins(%[[T]] :
// CHECK-NOT: outs(%[[T]] :
// CHECK: trn.tensor_copy outs(%[[U:[0-9]+]] :{{.*}} ins(%[[A]] :
// CHECK: trn.tensor_copy outs(%{{[0-9]+}} :{{.*}} ins(%[[U]] :
func.func @reused() {
  %a = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  %t = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  trn.tensor_copy outs(%t : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>)
  trn.tensor_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%t : memref<128x64xf32, #trn.sbuf>)
  trn.tensor_copy outs(%t : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>)
  trn.tensor_copy outs(%a : memref<128x64xf32, #trn.sbuf>) ins(%t : memref<128x64xf32, #trn.sbuf>)
  return
}

// -----

// CHECK-LABEL: func.func @border
// CHECK-COUNT-1: trn.alloc : memref<128x10xf32
// CHECK-NOT: trn.alloc : memref<128x10xf32
// CHECK: return
func.func @border() {
  %a = memref.alloc() : memref<128x8xf32, #trn.sbuf>
  %t = memref.alloc() : memref<128x10xf32, #trn.sbuf>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  trn.memset outs(%t : memref<128x10xf32, #trn.sbuf>) {value = 0.0 : f32}
  %inner = memref.subview %t[0, 1] [128, 8] [1, 1]
    : memref<128x10xf32, #trn.sbuf> to memref<128x8xf32, strided<[10, 1], offset: 1>, #trn.sbuf>
  %left = memref.subview %t[0, 0] [128, 8] [1, 1]
    : memref<128x10xf32, #trn.sbuf> to memref<128x8xf32, strided<[10, 1]>, #trn.sbuf>
  scf.for %i = %c0 to %c2 step %c1 {
    trn.tensor_copy outs(%inner : memref<128x8xf32, strided<[10, 1], offset: 1>, #trn.sbuf>)
                    ins(%a : memref<128x8xf32, #trn.sbuf>)
    trn.tensor_copy outs(%a : memref<128x8xf32, #trn.sbuf>)
                    ins(%left : memref<128x8xf32, strided<[10, 1]>, #trn.sbuf>)
  }
  return
}
