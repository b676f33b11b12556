// RUN: trn-opt %s --trn-verify-stage=stage=allocated --split-input-file --verify-diagnostics

func.func @beyond() {
  // expected-error @+1 {{ends at byte 212992 of a partition, but}}
  %0 = trn.alloc {address = 212928 : i64} : memref<128x16xf32, #trn.sbuf>
  trn.memset outs(%0 : memref<128x16xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 16]]>],
    engine = #trn.engine<POOL>, issue = 0 : i64, completion = 200 : i64}
  return
}

// -----

func.func @shared() {
  // expected-note @+1 {{the other buffer}}
  %0 = trn.alloc {address = 0 : i64} : memref<128x16xf32, #trn.sbuf>
  // expected-error @+1 {{shares bytes with a buffer that is alive at the same time}}
  %1 = trn.alloc {address = 32 : i64} : memref<128x16xf32, #trn.sbuf>
  trn.memset outs(%0 : memref<128x16xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 16]]>],
    engine = #trn.engine<POOL>, issue = 0 : i64, completion = 200 : i64}
  trn.memset outs(%1 : memref<128x16xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 16]]>],
    engine = #trn.engine<POOL>, issue = 100 : i64, completion = 300 : i64}
  return
}
