// RUN: trn-opt %s --trn-select-reductions --trn-select-movement --cse --canonicalize --split-input-file --verify-diagnostics | FileCheck-22 %s

#x = affine_map<(p, y, x, r, s) -> (p, y * 2 + r, x * 2 + s)>
#window = affine_map<(p, y, x, r, s) -> (r, s)>
#y = affine_map<(p, y, x, r, s) -> (p, y, x)>
// A 3x3 window of stride 2 is a view whose rows overlap: one instruction, and the fill is gone.
// CHECK-LABEL: func @max_pool
// CHECK-NOT:     {{memref.alloc|trn.memset}}
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [64, 7, 7, 3, 3], strides: [225, 30, 2, 15, 1]
// CHECK:         trn.tensor_reduce outs(%{{.*}} : memref<64x7x7xf32, {{.*}}) ins(%[[V]] : {{.*}}) {axes = 2 : i32, op = #trn.alu<max>}
func.func @max_pool(%x: memref<64x15x15xf32, #trn.sbuf>, %y: memref<64x7x7xf32, #trn.sbuf>) {
  %window = memref.alloc() : memref<3x3xf32, #trn.sbuf>
  %low = arith.constant 0xFF800000 : f32
  linalg.fill ins(%low : f32) outs(%y : memref<64x7x7xf32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %window : memref<64x15x15xf32, #trn.sbuf>, memref<3x3xf32, #trn.sbuf>) outs(%y : memref<64x7x7xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %w: f32, %acc: f32):
    %0 = arith.maximumf %acc, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(p, n) -> (p, n)>
#y = affine_map<(p, n) -> (p)>
// The sum of squares is ACT's square with its row sum.
// CHECK-LABEL: func @squares
// CHECK:         trn.activation outs(%{{.*}} : {{.*}}) ins(%{{.*}} : {{.*}}) reduce(%{{.*}} : memref<128x1xf32, {{.*}}) {func = #trn.act<square>}
// CHECK-NEXT:    return
func.func @squares(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128xf32, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<128xf32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#x = affine_map<(p, n) -> (p, n)>
#y = affine_map<(p, n) -> (p)>
// An initial value that is no identity is combined.
// CHECK-LABEL: func @from_one
// CHECK:         trn.memset outs({{.*}}) {value = 1.000000e+00 : f32}
// CHECK:         trn.tensor_reduce outs(%[[T:.*]] : {{.*}}) {{.*}} {op = #trn.alu<add>}
// CHECK:         trn.tensor_tensor outs(%[[Y:.*]] : {{.*}}) ins(%[[Y]], %[[T]] : {{.*}}) {op = #trn.alu<add>}
func.func @from_one(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128xf32, #trn.sbuf>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%y : memref<128xf32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %acc: f32):
    %1 = arith.addf %acc, %a : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#x = affine_map<(p, n) -> (p, n)>
#y = affine_map<(p, n) -> (p)>
func.func @no_reduction(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128xf32, #trn.sbuf>) {
  // expected-error @below {{cannot be a reduction: expected a body that combines its accumulator}}
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %acc: f32):
    %1 = arith.subf %acc, %a : f32
    linalg.yield %1 : f32
  }
  return
}
