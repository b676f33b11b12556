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
