// RUN: trn-opt %s --trn-verify-selected --split-input-file --verify-diagnostics

func.func @left_over(%x: memref<128x4xf32, #trn.sbuf>, %y: memref<128x4xf32, #trn.sbuf>) {
  // expected-error @below {{expected only instructions, loops, index arithmetic and views at stage 'selected'}}
  linalg.exp ins(%x : memref<128x4xf32, #trn.sbuf>) outs(%y : memref<128x4xf32, #trn.sbuf>)
  return
}

// -----

func.func @data_dependent(%n: index, %x: memref<128x4xf32, #trn.sbuf>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected constant bounds}}
  scf.for %i = %c0 to %n step %c1 {
    trn.memset outs(%x : memref<128x4xf32, #trn.sbuf>) {value = 0.0 : f32}
  }
  return
}
