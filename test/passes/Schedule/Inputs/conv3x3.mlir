// A 3x3 convolution with ReLU as nine shifted matmuls per tile of 7 rows: x is [64, 16, 16] with its border of zeros
// already in place, w is [64, 3, 3, 64], y is [64, 14, 14]. One group function, called once per tile.
func.func private @rows(%x: memref<64x16x16xbf16, #trn.sbuf>, %w: memref<64x3x3x64xbf16, #trn.sbuf>,
                        %y: memref<64x14x14xbf16, #trn.sbuf>, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %acc = memref.alloc() : memref<64x7x14xf32, #trn.psum>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %row = arith.addi %first, %i : index
      %window = memref.subview %x[0, %row, %j] [64, 7, 14] [1, 1, 1]
        : memref<64x16x16xbf16, #trn.sbuf> to memref<64x7x14xbf16, strided<[256, 16, 1], offset: ?>, #trn.sbuf>
      %tap = memref.subview %w[0, %i, %j, 0] [64, 1, 1, 64] [1, 1, 1, 1]
        : memref<64x3x3x64xbf16, #trn.sbuf> to memref<64x64xbf16, strided<[576, 1], offset: ?>, #trn.sbuf>
      %ij = affine.apply affine_map<(i, j) -> (i * 3 + j)>(%i, %j)
      %later = arith.cmpi ugt, %ij, %c0 : index
      trn.nc_matmul outs(%acc : memref<64x7x14xf32, #trn.psum>)
                    ins(%tap, %window : memref<64x64xbf16, strided<[576, 1], offset: ?>, #trn.sbuf>,
                                        memref<64x7x14xbf16, strided<[256, 16, 1], offset: ?>, #trn.sbuf>)
                    accumulate_if(%later)
    }
  }
  %to = memref.subview %y[0, %first, 0] [64, 7, 14] [1, 1, 1]
    : memref<64x14x14xbf16, #trn.sbuf> to memref<64x7x14xbf16, strided<[196, 14, 1], offset: ?>, #trn.sbuf>
  trn.activation outs(%to : memref<64x7x14xbf16, strided<[196, 14, 1], offset: ?>, #trn.sbuf>)
                 ins(%acc : memref<64x7x14xf32, #trn.psum>) {func = #trn.act<relu>}
  return
}
func.func @conv(%x: memref<64x16x16xbf16, #trn.hbm> {trn.name = "x"},
                %w: memref<64x3x3x64xbf16, #trn.hbm> {trn.name = "w"},
                %y: memref<64x14x14xbf16, #trn.hbm> {trn.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c14 = arith.constant 14 : index
  %xs = memref.alloc() : memref<64x16x16xbf16, #trn.sbuf>
  %ws = memref.alloc() : memref<64x3x3x64xbf16, #trn.sbuf>
  %ys = memref.alloc() : memref<64x14x14xbf16, #trn.sbuf>
  trn.dma_copy outs(%xs : memref<64x16x16xbf16, #trn.sbuf>) ins(%x : memref<64x16x16xbf16, #trn.hbm>)
  trn.dma_copy outs(%ws : memref<64x3x3x64xbf16, #trn.sbuf>) ins(%w : memref<64x3x3x64xbf16, #trn.hbm>)
  scf.for %first = %c0 to %c14 step %c7 {
    func.call @rows(%xs, %ws, %ys, %first) : (memref<64x16x16xbf16, #trn.sbuf>, memref<64x3x3x64xbf16, #trn.sbuf>,
                                              memref<64x14x14xbf16, #trn.sbuf>, index) -> ()
  }
  trn.dma_copy outs(%y : memref<64x14x14xbf16, #trn.hbm>) ins(%ys : memref<64x14x14xbf16, #trn.sbuf>)
  return
}
