// RUN: trn-opt %s --trn-verify-stage=stage=scheduled --split-input-file --verify-diagnostics

func.func @unassigned() {
  %0 = trn.alloc : memref<128x4xf32, #trn.sbuf>
  // expected-error @+1 {{expected an engine, an issue and a completion}}
  trn.memset outs(%0 : memref<128x4xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 4]]>]}
  return
}

// -----

func.func @unordered() {
  %0 = trn.alloc : memref<128x4xf32, #trn.sbuf>
  trn.memset outs(%0 : memref<128x4xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 4]]>],
    engine = #trn.engine<POOL>, issue = 100 : i64, completion = 200 : i64}
  // expected-error @+1 {{is issued at 50, but stands behind an instruction issued at 100}}
  trn.memset outs(%0 : memref<128x4xf32, #trn.sbuf>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 4]]>],
    engine = #trn.engine<POOL>, issue = 50 : i64, completion = 200 : i64}
  return
}

// -----

func.func @wrong_engine() {
  %0 = trn.alloc : memref<128x4xf32, #trn.psum>
  // expected-error @+1 {{expected sbuf on POOL, but got psum}}
  trn.memset outs(%0 : memref<128x4xf32, #trn.psum>) {value = 0.0 : f32, aps = [#trn.ap<count = 128, dims = [[1, 4]]>],
    engine = #trn.engine<POOL>, issue = 0 : i64, completion = 200 : i64}
  return
}

// -----

func.func @loop() {
  // expected-error @+1 {{expected only buffers and instructions}}
  %c0 = arith.constant 0 : index
  return
}
