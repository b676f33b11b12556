// Numbers the elements of a matrix.
func.func @iota(%y: memref<128x64xf32, #trn.hbm>) {
  %a = trn.alloc : memref<128x64xf32, #trn.sbuf>
  trn.iota outs(%a : memref<128x64xf32, #trn.sbuf>) {pattern = array<i64: 1, 64>, channel_multiplier = 64 : i32}
  trn.dma_copy outs(%y : memref<128x64xf32, #trn.hbm>) ins(%a : memref<128x64xf32, #trn.sbuf>)
  return
}
