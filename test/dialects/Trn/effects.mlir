// RUN: trn-opt %s --canonicalize --cse | FileCheck-22 %s

// Instructions write memory or engine state: nothing removes or merges them. Unused buffers and pure functions go.

// CHECK-LABEL: func.func @kept
func.func @kept(%a: memref<128x64xf32, #trn.sbuf>, %b: memref<128x64xf32, #trn.sbuf>) {
  // CHECK-NOT: trn.alloc
  %unused = trn.alloc : memref<128x64xf32, #trn.sbuf>
  // CHECK: trn.memset
  // CHECK-NEXT: trn.tensor_copy
  // CHECK-NEXT: trn.tensor_copy
  // CHECK-NEXT: trn.nop
  // CHECK-NEXT: trn.nop
  // CHECK-NEXT: trn.act_table_load
  trn.memset outs(%a : memref<128x64xf32, #trn.sbuf>) {value = 0.0 : f32}
  trn.tensor_copy outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>)
  trn.tensor_copy outs(%b : memref<128x64xf32, #trn.sbuf>) ins(%a : memref<128x64xf32, #trn.sbuf>)
  trn.nop
  trn.nop
  trn.act_table_load {set = 1 : i32}
  return
}

// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: f32) -> (f32, f32, f32, f32) {
  // CHECK-DAG: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-DAG: %[[SOFT:.*]] = arith.constant 0.693147182 : f32
  // CHECK: %[[S:.*]] = trn.scalar sigmoid %{{.*}} : f32
  // CHECK-NOT: trn.scalar
  // CHECK: return %[[S]], %[[S]], %[[HALF]], %[[SOFT]]
  %zero = arith.constant 0.0 : f32
  %0 = trn.scalar sigmoid %x : f32
  %1 = trn.scalar sigmoid %x : f32
  %2 = trn.scalar sigmoid %zero : f32
  %3 = trn.scalar softplus %zero : f32
  %4 = trn.scalar gelu %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
