// RUN: %not trn-opt %s --trn-verify-sync --split-input-file 2>&1 | %FileCheck %s

// The second memset overwrites what DVE may still read.
// CHECK: error: 'trn.tensor_copy' op race-read-after-write: {{.*}}POOL #1 memset
// CHECK: note: the other instruction
func.func @race() {
  %0 = trn.alloc {address = 0 : i64} : memref<128x16xf32, #trn.sbuf>
  %1 = trn.alloc {address = 64 : i64} : memref<128x16xf32, #trn.sbuf>
  trn.memset outs(%0 : memref<128x16xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 16]]>],
    engine = #trn.engine<POOL>, issue = 0 : i64, completion = 200 : i64, update = #trn.update<0, 1>}
  trn.tensor_copy outs(%1 : memref<128x16xf32, #trn.sbuf>) ins(%0 : memref<128x16xf32, #trn.sbuf>)
    {aps = [#trn.ap<count = 128, dims = [[1, 16]]>, #trn.ap<count = 128, dims = [[1, 16]]>],
     engine = #trn.engine<DVE>, issue = 200 : i64, completion = 300 : i64, wait = #trn.wait<0, 1>}
  trn.memset outs(%0 : memref<128x16xf32, #trn.sbuf>) {value = 1.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 16]]>],
    engine = #trn.engine<POOL>, issue = 300 : i64, completion = 500 : i64}
  return
}

// -----

// CHECK: error: {{.*}}deadlock
func.func @deadlock() {
  trn.semaphore_wait {engine = #trn.engine<PE>, issue = 0 : i64, completion = 0 : i64, wait = #trn.wait<0, 1>}
  return
}
