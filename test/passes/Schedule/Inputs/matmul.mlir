// c[128, 1024] = a[128, 256] * b[256, 1024]; `at` is a transposed. Two tiles of 512 columns, two steps of K.
func.func @matmul(%at: memref<256x128xbf16, #trn.hbm> {trn.name = "at"},
                  %b: memref<256x1024xbf16, #trn.hbm> {trn.name = "b"},
                  %c: memref<128x1024xf32, #trn.hbm> {trn.name = "c"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = memref.alloc() : memref<128x2x128xbf16, #trn.sbuf>
  scf.for %k = %c0 to %c2 step %c1 {
    %row = affine.apply affine_map<(d0) -> (d0 * 128)>(%k)
    %from = memref.subview %at[%row, 0] [128, 128] [1, 1]
      : memref<256x128xbf16, #trn.hbm> to memref<128x128xbf16, strided<[128, 1], offset: ?>, #trn.hbm>
    %to = memref.subview %s[0, %k, 0] [128, 1, 128] [1, 1, 1]
      : memref<128x2x128xbf16, #trn.sbuf> to memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>
    trn.dma_copy outs(%to : memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>)
                 ins(%from : memref<128x128xbf16, strided<[128, 1], offset: ?>, #trn.hbm>)
  }
  scf.for %n = %c0 to %c2 step %c1 {
    %column = affine.apply affine_map<(d0) -> (d0 * 512)>(%n)
    %acc = memref.alloc() : memref<128x512xf32, #trn.psum>
    scf.for %k = %c0 to %c2 step %c1 {
      %row = affine.apply affine_map<(d0) -> (d0 * 128)>(%k)
      %tile = memref.alloc() : memref<128x512xbf16, #trn.sbuf>
      %from = memref.subview %b[%row, %column] [128, 512] [1, 1]
        : memref<256x1024xbf16, #trn.hbm> to memref<128x512xbf16, strided<[1024, 1], offset: ?>, #trn.hbm>
      trn.dma_copy outs(%tile : memref<128x512xbf16, #trn.sbuf>)
                   ins(%from : memref<128x512xbf16, strided<[1024, 1], offset: ?>, #trn.hbm>)
      %stationary = memref.subview %s[0, %k, 0] [128, 1, 128] [1, 1, 1]
        : memref<128x2x128xbf16, #trn.sbuf> to memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>
      %later = arith.cmpi ne, %k, %c0 : index
      trn.nc_matmul outs(%acc : memref<128x512xf32, #trn.psum>)
                    ins(%stationary, %tile : memref<128x128xbf16, strided<[256, 1], offset: ?>, #trn.sbuf>,
                                             memref<128x512xbf16, #trn.sbuf>) accumulate_if(%later)
    }
    %out = memref.alloc() : memref<128x512xf32, #trn.sbuf>
    trn.tensor_copy outs(%out : memref<128x512xf32, #trn.sbuf>) ins(%acc : memref<128x512xf32, #trn.psum>)
    %to = memref.subview %c[0, %column] [128, 512] [1, 1]
      : memref<128x1024xf32, #trn.hbm> to memref<128x512xf32, strided<[1024, 1], offset: ?>, #trn.hbm>
    trn.dma_copy outs(%to : memref<128x512xf32, strided<[1024, 1], offset: ?>, #trn.hbm>)
                 ins(%out : memref<128x512xf32, #trn.sbuf>)
  }
  return
}
