// A hand-written kernel: softmax over the rows of a 128 x 1000 matrix.
//
// A row is a partition. DVE finds the negated maximum, ACT computes exp(x - max) and, in the same instruction, the row sum;
// the reciprocal of the sum then scales the row.
func.func @softmax(%x: memref<128x1000xf32, #trn.hbm>, %y: memref<128x1000xf32, #trn.hbm>) {
  %rows = trn.alloc : memref<128x1000xf32, #trn.sbuf>
  trn.dma_copy outs(%rows : memref<128x1000xf32, #trn.sbuf>) ins(%x : memref<128x1000xf32, #trn.hbm>)
  %minus_max = trn.alloc : memref<128x1xf32, #trn.sbuf>
  trn.tensor_reduce outs(%minus_max : memref<128x1xf32, #trn.sbuf>) ins(%rows : memref<128x1000xf32, #trn.sbuf>)
      {op = #trn.alu<max>, axes = 1 : i32, negate}
  %exponentials = trn.alloc : memref<128x1000xf32, #trn.sbuf>
  %sum = trn.alloc : memref<128x1xf32, #trn.sbuf>
  trn.activation outs(%exponentials : memref<128x1000xf32, #trn.sbuf>) ins(%rows : memref<128x1000xf32, #trn.sbuf>)
      bias(%minus_max : memref<128x1xf32, #trn.sbuf>) reduce(%sum : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<exp>}
  %scale = trn.alloc : memref<128x1xf32, #trn.sbuf>
  trn.reciprocal outs(%scale : memref<128x1xf32, #trn.sbuf>) ins(%sum : memref<128x1xf32, #trn.sbuf>)
  %result = trn.alloc : memref<128x1000xf32, #trn.sbuf>
  trn.tensor_scalar outs(%result : memref<128x1000xf32, #trn.sbuf>) ins(%exponentials : memref<128x1000xf32, #trn.sbuf>)
      operand0(%scale : memref<128x1xf32, #trn.sbuf>) {op0 = #trn.alu<multiply>}
  trn.dma_copy outs(%y : memref<128x1000xf32, #trn.hbm>) ins(%result : memref<128x1000xf32, #trn.sbuf>)
  return
}
