// A hand-written kernel: a 3x3 convolution of 64 channels to 128 on 14x14 pixels with padding 1, bias and ReLU.
//
// Channels are partitions. The input is copied into the middle of a zeroed 16x16 tile, so that each of the nine taps is a
// shifted 14x14 window of it; the nine matmuls accumulate in one PSUM bank (196 of 512 columns). ACT empties the bank and
// applies bias and ReLU in the same instruction.
func.func @conv3x3(%x: memref<64x14x14xbf16, #trn.hbm>, %w: memref<64x3x3x128xbf16, #trn.hbm>,
                   %bias: memref<128x1xf32, #trn.hbm>, %y: memref<128x14x14xf32, #trn.hbm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index

  %padded = trn.alloc : memref<64x16x16xbf16, #trn.sbuf>
  trn.memset outs(%padded : memref<64x16x16xbf16, #trn.sbuf>) {value = 0.0 : f32}
  %middle = memref.subview %padded[0, 1, 1] [64, 14, 14] [1, 1, 1]
      : memref<64x16x16xbf16, #trn.sbuf> to memref<64x14x14xbf16, strided<[256, 16, 1], offset: 17>, #trn.sbuf>
  trn.dma_copy outs(%middle : memref<64x14x14xbf16, strided<[256, 16, 1], offset: 17>, #trn.sbuf>)
      ins(%x : memref<64x14x14xbf16, #trn.hbm>)
  %weights = trn.alloc : memref<64x3x3x128xbf16, #trn.sbuf>
  trn.dma_copy outs(%weights : memref<64x3x3x128xbf16, #trn.sbuf>) ins(%w : memref<64x3x3x128xbf16, #trn.hbm>)
  %b = trn.alloc : memref<128x1xf32, #trn.sbuf>
  trn.dma_copy outs(%b : memref<128x1xf32, #trn.sbuf>) ins(%bias : memref<128x1xf32, #trn.hbm>)

  %psum = trn.alloc : memref<128x14x14xf32, #trn.psum>
  scf.for %r = %c0 to %c3 step %c1 {
    scf.for %s = %c0 to %c3 step %c1 {
      %tap = memref.subview %weights[0, %r, %s, 0] [64, 1, 1, 128] [1, 1, 1, 1]
          : memref<64x3x3x128xbf16, #trn.sbuf> to memref<64x128xbf16, strided<[1152, 1], offset: ?>, #trn.sbuf>
      %window = memref.subview %padded[0, %r, %s] [64, 14, 14] [1, 1, 1]
          : memref<64x16x16xbf16, #trn.sbuf> to memref<64x14x14xbf16, strided<[256, 16, 1], offset: ?>, #trn.sbuf>
      %later_row = arith.cmpi ne, %r, %c0 : index
      %later_column = arith.cmpi ne, %s, %c0 : index
      %later = arith.ori %later_row, %later_column : i1
      trn.nc_matmul outs(%psum : memref<128x14x14xf32, #trn.psum>)
          ins(%tap, %window : memref<64x128xbf16, strided<[1152, 1], offset: ?>, #trn.sbuf>,
                              memref<64x14x14xbf16, strided<[256, 16, 1], offset: ?>, #trn.sbuf>) accumulate_if(%later)
    }
  }
  %result = trn.alloc : memref<128x14x14xf32, #trn.sbuf>
  trn.activation outs(%result : memref<128x14x14xf32, #trn.sbuf>) ins(%psum : memref<128x14x14xf32, #trn.psum>)
      bias(%b : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<relu>}
  trn.dma_copy outs(%y : memref<128x14x14xf32, #trn.hbm>) ins(%result : memref<128x14x14xf32, #trn.sbuf>)
  return
}
