// RUN: trn-opt %s --trn-flatten --split-input-file --verify-diagnostics

func.func @recursive() {
  call @again() : () -> ()
  return
}
func.func private @again() {
  // expected-error @+1 {{calls 'again' recursively}}
  call @again() : () -> ()
  return
}

// -----

// expected-error @+1 {{expected arguments of type memref<…, #trn.hbm>, but argument 0 is 'memref<128x4xf32, #trn.sbuf>'}}
func.func @argument(%x: memref<128x4xf32, #trn.sbuf>) {
  return
}

// -----

func.func @partition_as_free() {
  %x = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  %y = memref.alloc() : memref<64x128xf32, #trn.sbuf>
  %t = memref.transpose %x (i, j) -> (j, i) : memref<128x64xf32, #trn.sbuf> to memref<64x128xf32, strided<[1, 64]>, #trn.sbuf>
  // expected-error @+1 {{steps over partitions by 1 elements, but a row of its buffer}}
  trn.tensor_copy outs(%y : memref<64x128xf32, #trn.sbuf>) ins(%t : memref<64x128xf32, strided<[1, 64]>, #trn.sbuf>)
  return
}

// -----

func.func @first() {
  return
}
// expected-error @+1 {{expected one public function, but 'first' is one already}}
func.func @second() {
  return
}

// -----

func.func @unknown() {
  %x = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be evaluated while flattening}}
  %v = memref.dim %x, %c0 : memref<128x64xf32, #trn.sbuf>
  return
}

// -----

func.func @endless() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000000000000 : index
  // expected-error @+1 {{has 1000000000000 iterations; expected at most 134217728 evaluated operations and iterations in all}}
  scf.for %i = %c0 to %end step %c1 {
  }
  return
}

// -----

// The last iteration's successor has no 64 bits: the loop ends all the same. What has none is refused.
func.func @overflow() {
  %c1 = arith.constant 1 : index
  %max = arith.constant 9223372036854775807 : index
  %low = arith.constant 9223372036854775806 : index
  %step = arith.constant 4 : index
  scf.for %i = %low to %max step %step {
    // expected-error @+1 {{overflows 64 bits: its operands are 9223372036854775806 and 9223372036854775807}}
    %sum = arith.addi %i, %max : index
  }
  return
}

// -----

// expected-error @+1 {{expected arguments of different names, but arguments 0 and 2 are both named 'x'}}
func.func @twins(%a: memref<128x4xf32, #trn.hbm> {onnx.name = "x"}, %b: memref<128x4xf32, #trn.hbm>,
                 %c: memref<128x4xf32, #trn.hbm> {onnx.name = "x"}) {
  return
}

// -----

func.func @backward() {
  %x = memref.alloc() : memref<128x64xf32, #trn.sbuf>
  %y = memref.alloc() : memref<128x8xf32, #trn.sbuf>
  %v = memref.reinterpret_cast %x to offset: [4], sizes: [128, 8], strides: [64, -1] : memref<128x64xf32, #trn.sbuf> to memref<128x8xf32, strided<[64, -1], offset: 4>, #trn.sbuf>
  // expected-error @+1 {{reaches elements -3 to 4 of partitions 0 to 127, beyond its buffer}}
  trn.tensor_copy outs(%y : memref<128x8xf32, #trn.sbuf>) ins(%v : memref<128x8xf32, strided<[64, -1], offset: 4>, #trn.sbuf>)
  return
}
