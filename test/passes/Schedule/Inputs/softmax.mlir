// Row softmax of [256, 1000] in two blocks of 128 rows that share their temporaries, as hoisting leaves them.
func.func @softmax(%x: memref<256x1000xf32, #trn.hbm> {trn.name = "x"},
                   %y: memref<256x1000xf32, #trn.hbm> {trn.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %t = memref.alloc() : memref<128x1000xf32, #trn.sbuf>
  %e = memref.alloc() : memref<128x1000xf32, #trn.sbuf>
  %m = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  %sum = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  %r = memref.alloc() : memref<128x1xf32, #trn.sbuf>
  scf.for %i = %c0 to %c256 step %c128 {
    %from = memref.subview %x[%i, 0] [128, 1000] [1, 1]
      : memref<256x1000xf32, #trn.hbm> to memref<128x1000xf32, strided<[1000, 1], offset: ?>, #trn.hbm>
    %to = memref.subview %y[%i, 0] [128, 1000] [1, 1]
      : memref<256x1000xf32, #trn.hbm> to memref<128x1000xf32, strided<[1000, 1], offset: ?>, #trn.hbm>
    trn.dma_copy outs(%t : memref<128x1000xf32, #trn.sbuf>)
                 ins(%from : memref<128x1000xf32, strided<[1000, 1], offset: ?>, #trn.hbm>)
    trn.tensor_reduce outs(%m : memref<128x1xf32, #trn.sbuf>) ins(%t : memref<128x1000xf32, #trn.sbuf>)
                      {op = #trn.alu<max>, axes = 1 : i32, negate}
    trn.activation outs(%e : memref<128x1000xf32, #trn.sbuf>) ins(%t : memref<128x1000xf32, #trn.sbuf>)
                   bias(%m : memref<128x1xf32, #trn.sbuf>) reduce(%sum : memref<128x1xf32, #trn.sbuf>)
                   {func = #trn.act<exp>}
    trn.reciprocal outs(%r : memref<128x1xf32, #trn.sbuf>) ins(%sum : memref<128x1xf32, #trn.sbuf>)
    trn.tensor_scalar outs(%t : memref<128x1000xf32, #trn.sbuf>) ins(%e : memref<128x1000xf32, #trn.sbuf>)
                      operand0(%r : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>}
    trn.dma_copy outs(%to : memref<128x1000xf32, strided<[1000, 1], offset: ?>, #trn.hbm>)
                 ins(%t : memref<128x1000xf32, #trn.sbuf>)
  }
  return
}
