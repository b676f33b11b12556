// Negates four doubles, twice.
func.func @negate(%x: memref<4xf64, #trn.hbm>, %y: memref<4xf64, #trn.hbm>) {
  %a = trn.alloc : memref<4xf64, #trn.hbm>
  trn.library_loops outs(%a : memref<4xf64, #trn.hbm>) source0(%x : memref<4xf64, #trn.hbm>)
      {bounds = array<i32: 4>, offsets = array<i32: 0, 0>, strides = array<i32: 1, 1>, program = array<i32: 2, 17, 9252, 0, 0, 0>} loc("negate")
  trn.library_loops outs(%y : memref<4xf64, #trn.hbm>) source0(%a : memref<4xf64, #trn.hbm>)
      {bounds = array<i32: 4>, offsets = array<i32: 0, 0>, strides = array<i32: 1, 1>, program = array<i32: 2, 17, 9252, 0, 0, 0>} loc("negate")
  return
}
