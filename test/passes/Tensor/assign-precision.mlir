// RUN: trn-opt %s -tensor-assign-precision="auto-cast=matmult" | %FileCheck %s --check-prefix=MATMULT
// RUN: trn-opt %s -tensor-assign-precision="auto-cast=all auto-cast-type=fp16" | %FileCheck %s --check-prefix=ALL
// RUN: trn-opt %s -tensor-assign-precision | %FileCheck %s --check-prefix=NONE
// RUN: %not trn-opt %s -tensor-assign-precision="auto-cast=some" 2>&1 | %FileCheck %s --check-prefix=ERROR

// ERROR: expected auto-cast none, matmult or all but got 'some'
// NONE-NOT: bf16

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
// The signature stays.
// MATMULT-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x2xf32>) -> tensor<4x2xf32>
// ALL-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x2xf32>) -> tensor<4x2xf32>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  // MATMULT: ins(%{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%{{.*}} : tensor<4x2xf32>)
  // MATMULT: arith.extf %{{.*}} : bf16 to f32
  // ALL: ins(%{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x2xf16>) outs(%{{.*}} : tensor<4x2xf32>)
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  // MATMULT: outs(%{{.*}} : tensor<4x2xf32>)
  // MATMULT: math.exp %{{.*}} : f32
  // ALL: ins(%{{.*}} : tensor<4x2xf32>) outs(%{{.*}} : tensor<4x2xf16>)
  // ALL: math.exp %{{.*}} : f32
  // ALL: arith.truncf %{{.*}} : f32 to f16
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
