// A hand-written kernel: out[m, n] = sum over k of lhs[k, m] * rhs[k, n], with k = 256, m = 128, n = 1024.
//
// The contraction is on the partitions, in two chunks of 128 rows that accumulate in PSUM. One PSUM bank holds 512 fp32
// columns, so n runs in two tiles. Inputs and outputs are the function's arguments: one that is written is an output.
func.func @matmul(%lhs: memref<256x128xbf16, #trn.hbm>, %rhs: memref<256x1024xbf16, #trn.hbm>,
                  %out: memref<128x1024xf32, #trn.hbm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index

  // Row 128 * chunk + p of the inputs goes to partition p.
  %lhs_rows = memref.reinterpret_cast %lhs to offset: [0], sizes: [128, 2, 128], strides: [128, 16384, 1]
      : memref<256x128xbf16, #trn.hbm> to memref<128x2x128xbf16, strided<[128, 16384, 1]>, #trn.hbm>
  %stationary = trn.alloc : memref<128x2x128xbf16, #trn.sbuf>
  trn.dma_copy outs(%stationary : memref<128x2x128xbf16, #trn.sbuf>)
      ins(%lhs_rows : memref<128x2x128xbf16, strided<[128, 16384, 1]>, #trn.hbm>)
  %rhs_rows = memref.reinterpret_cast %rhs to offset: [0], sizes: [128, 2, 1024], strides: [1024, 131072, 1]
      : memref<256x1024xbf16, #trn.hbm> to memref<128x2x1024xbf16, strided<[1024, 131072, 1]>, #trn.hbm>
  %moving = trn.alloc : memref<128x2x1024xbf16, #trn.sbuf>
  trn.dma_copy outs(%moving : memref<128x2x1024xbf16, #trn.sbuf>)
      ins(%rhs_rows : memref<128x2x1024xbf16, strided<[1024, 131072, 1]>, #trn.hbm>)

  scf.for %n = %c0 to %c1024 step %c512 {
    %psum = trn.alloc : memref<128x512xf32, #trn.psum>
    scf.for %k = %c0 to %c2 step %c1 {
      %s = memref.subview %stationary[0, %k, 0] [128, 1, 128] [1, 1, 1]
          : memref<128x2x128xbf16, #trn.sbuf> to memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>
      %m = memref.subview %moving[0, %k, %n] [128, 1, 512] [1, 1, 1]
          : memref<128x2x1024xbf16, #trn.sbuf> to memref<128x512xbf16, strided<[2048, 1], offset: ?>, #trn.sbuf>
      %later = arith.cmpi ne, %k, %c0 : index
      trn.nc_matmul outs(%psum : memref<128x512xf32, #trn.psum>)
          ins(%s, %m : memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>,
                       memref<128x512xbf16, strided<[2048, 1], offset: ?>, #trn.sbuf>) accumulate_if(%later)
    }
    %result = trn.alloc : memref<128x512xf32, #trn.sbuf>
    trn.tensor_copy outs(%result : memref<128x512xf32, #trn.sbuf>) ins(%psum : memref<128x512xf32, #trn.psum>)
    %columns = memref.subview %out[0, %n] [128, 512] [1, 1]
        : memref<128x1024xf32, #trn.hbm> to memref<128x512xf32, strided<[1024, 1], offset: ?>, #trn.hbm>
    trn.dma_copy outs(%columns : memref<128x512xf32, strided<[1024, 1], offset: ?>, #trn.hbm>)
        ins(%result : memref<128x512xf32, #trn.sbuf>)
  }
  return
}
