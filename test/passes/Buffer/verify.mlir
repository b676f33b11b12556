// RUN: trn-opt %s --buffer-verify --split-input-file --verify-diagnostics

func.func @no_space(%x: memref<128x4xf32>, %y: memref<128x4xf32, #trn.sbuf>) {
  // expected-error @below {{expected a memory space on 'memref<128x4xf32>'}}
  linalg.exp ins(%x : memref<128x4xf32>) outs(%y : memref<128x4xf32, #trn.sbuf>)
  return
}

// -----

func.func @compute_in_hbm(%x: memref<128x4xf32, #trn.hbm>, %y: memref<128x4xf32, #trn.sbuf>) {
  // expected-error @below {{expected operand #0 of a map in sbuf or psum but got hbm}}
  linalg.exp ins(%x : memref<128x4xf32, #trn.hbm>) outs(%y : memref<128x4xf32, #trn.sbuf>)
  return
}

// -----

func.func @dma_into_psum(%x: memref<128x4xf32, #trn.hbm>, %y: memref<128x4xf32, #trn.psum>) {
  // expected-error @below {{expected a copy into HBM or SBUF but got one into PSUM}}
  linalg.copy ins(%x : memref<128x4xf32, #trn.hbm>) outs(%y : memref<128x4xf32, #trn.psum>)
  return
}

// -----

func.func @dma_out_of_psum(%x: memref<128x4xf32, #trn.psum>, %y: memref<128x4xf32, #trn.hbm>) {
  // expected-error @below {{expected PSUM to be emptied into SBUF}}
  linalg.copy ins(%x : memref<128x4xf32, #trn.psum>) outs(%y : memref<128x4xf32, #trn.hbm>)
  return
}

// -----

func.func @accumulate_onto_ones(%y: memref<128x4xf32, #trn.psum>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{expected PSUM to start from zero}}
  linalg.fill ins(%one : f32) outs(%y : memref<128x4xf32, #trn.psum>)
  return
}

// -----

func.func @left_over_copy(%x: memref<128x4xf32, #trn.sbuf>, %y: memref<128x4xf32, #trn.sbuf>) {
  // expected-error @below {{expected linalg.copy at stage 'buffered'}}
  memref.copy %x, %y : memref<128x4xf32, #trn.sbuf> to memref<128x4xf32, #trn.sbuf>
  return
}
