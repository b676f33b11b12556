// RUN: trnc compile %s --start-from tensor --stop-after grouped -o %t.mlir
// RUN: FileCheck-22 %s < %t.mlir

// A 7x7 convolution of a picture with stride 2 reads planes of it from HBM, where they have padding. They are stored
// with room for it at once: what is padded is no copy of what was stored.
// CHECK:       linalg.fill {{.*}} outs(%{{.*}} : tensor<1x3x2x2x116x116xbf16, #trn.hbm>)
// CHECK:       linalg.transpose ins(%{{.*}}, #trn.sbuf>) outs(%{{.*}} : tensor<{{.*}}x112x112xbf16, #trn.hbm>)
// CHECK-NOT:   linalg.copy ins(%{{.*}} : tensor<{{.*}}112x112xbf16, #trn.hbm>)
#in = affine_map<(n, o, y, x, c, r, s) -> (n, c, y * 2 + r, x * 2 + s)>
#w = affine_map<(n, o, y, x, c, r, s) -> (o, c, r, s)>
#id = affine_map<(n, c, y, x) -> (n, c, y, x)>
#out = affine_map<(n, o, y, x, c, r, s) -> (n, o, y, x)>
func.func @main(%x: tensor<1x3x224x224xf32> {onnx.name = "x"}) -> (tensor<1x64x112x112xf32> {onnx.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %w = arith.constant dense<1.0> : tensor<64x3x7x7xbf16>
  %h = tensor.empty() : tensor<1x3x224x224xbf16>
  %xh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x224x224xf32>) outs(%h : tensor<1x3x224x224xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x3x224x224xbf16>
  %p = tensor.pad %xh low[0, 0, 3, 3] high[0, 0, 3, 3] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %none : bf16
  } : tensor<1x3x224x224xbf16> to tensor<1x3x230x230xbf16>
  %e = tensor.empty() : tensor<1x64x112x112xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x112x112xf32>) -> tensor<1x64x112x112xf32>
  %y = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x3x230x230xbf16>, tensor<64x3x7x7xbf16>) outs(%f : tensor<1x64x112x112xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %m = arith.mulf %a32, %b32 : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x64x112x112xf32>
  return %y : tensor<1x64x112x112xf32>
}
