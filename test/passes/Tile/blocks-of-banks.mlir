// RUN: sed 's/SIZE/1024/g' %s > %t.full.mlir
// RUN: trnc compile %t.full.mlir --start-from tensor --stop-after tiled -o %t.out.mlir
// RUN: FileCheck-22 %s --check-prefix=FULL < %t.out.mlir
// RUN: sed 's/SIZE/896/g' %s > %t.part.mlir
// RUN: trnc compile %t.part.mlir --start-from tensor --stop-after tiled -o %t.out.mlir
// RUN: FileCheck-22 %s --check-prefix=PART < %t.out.mlir

// Both operands of the product exceed half of SBUF: four blocks of 512 columns, a bank each, share what a tile loads. 896
// columns are two tiles of 448, which fill no bank: each block is a tile of its own.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
// FULL: tensor<128x4x512xf32, #trn.psum>
// PART-NOT: tensor<128x{{[2-9]}}x448xf32, #trn.psum>
// PART: tensor<128x1x448xf32, #trn.psum>
func.func @main(%x: tensor<SIZExSIZE0xbf16>, %y: tensor<SIZE0xSIZExbf16>) -> tensor<SIZExSIZExf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<SIZExSIZExf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<SIZExSIZExf32>) -> tensor<SIZExSIZExf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<SIZExSIZE0xbf16>, tensor<SIZE0xSIZExbf16>) outs(%f : tensor<SIZExSIZExf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %pw = arith.extf %p : bf16 to f32
      %qw = arith.extf %q : bf16 to f32
      %m = arith.mulf %pw, %qw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<SIZExSIZExf32> loc("product")
  return %r : tensor<SIZExSIZExf32>
}
