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

#x = affine_map<(p, y, x, r) -> (p, y, x + r)>
#w = affine_map<(p, y, x, r) -> (p, r)>
#y = affine_map<(p, y, x, r) -> (p, y, x)>
// A depthwise convolution is accumulated tap by tap: weights are scalars of the partition, products pass through PSUM.
// 16 x 64 elements are two blocks of one bank, whose sums grow in turns: an addition need not wait for the one before it.
// CHECK-LABEL: func @depthwise
// CHECK-DAG:     %[[X0:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [96, 8, 64], strides: [1056, 66, 1]
// CHECK-DAG:     %[[Y0:.*]] = memref.reinterpret_cast %arg2 to offset: [0], sizes: [96, 8, 64], strides: [1024, 64, 1]
// CHECK-DAG:     %[[Y1:.*]] = memref.reinterpret_cast %arg2 to offset: [512], sizes: [96, 8, 64]
// CHECK:         trn.tensor_scalar outs(%[[Y0]] : {{.*}}) ins(%[[X0]] : {{.*}}) operand0(%{{.*}} : memref<96x1xf32, {{.*}}) {op0 = #trn.alu<multiply>}
// CHECK:         trn.tensor_scalar outs(%[[Y1]] : {{.*}})
// CHECK:         %[[W1:.*]] = memref.reinterpret_cast %arg1 to offset: [1], sizes: [96, 1], strides: [3, 1]
// CHECK:         trn.tensor_scalar outs(%[[P:.*]] : memref<96x8x64xf32, #trn.psum>) ins(%{{.*}} : {{.*}}) operand0(%[[W1]] : {{.*}}) {op0 = #trn.alu<multiply>}
// CHECK-NEXT:    trn.tensor_tensor outs(%[[Y0]] : {{.*}}) ins(%[[Y0]], %[[P]] : {{.*}}) {op = #trn.alu<add>}
// CHECK:         trn.tensor_tensor outs(%[[Y1]] : {{.*}}) {op = #trn.alu<add>}
// CHECK:         trn.tensor_tensor outs(%[[Y0]] : {{.*}}) {op = #trn.alu<add>}
// CHECK:         trn.tensor_tensor outs(%[[Y1]] : {{.*}}) {op = #trn.alu<add>}
// CHECK-NOT:     {{trn.tensor_reduce|trn.memset|trn.tensor_tensor}}
// CHECK:         return
func.func @depthwise(%x: memref<96x16x66xf32, #trn.sbuf>, %w: memref<96x3xf32, #trn.sbuf>, %y: memref<96x16x64xf32, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<96x16x64xf32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<96x16x66xf32, #trn.sbuf>, memref<96x3xf32, #trn.sbuf>) outs(%y : memref<96x16x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#x = affine_map<(p, c, x, r) -> (p, c, x + r)>
#w = affine_map<(p, c, x, r) -> (p, c, r)>
#y = affine_map<(p, c, x, r) -> (p, c, x)>
// Every chunk has weights of its own; narrow weights become the fp32 that scalar operands are; sums stay fp32 until the
// last. One block of eight taps is summed in two parts, so that an addition need not wait for the one before.
// CHECK-LABEL: func @chunks
// CHECK:         scf.for
// CHECK:           trn.tensor_copy outs(%[[W:.*]] : memref<128x8xf32, #trn.sbuf>)
// CHECK-COUNT-2:   trn.tensor_scalar outs(%{{.*}} : memref<128x40xf32, #trn.sbuf>)
// CHECK-COUNT-6:   trn.tensor_scalar outs(%{{.*}} : memref<128x40xf32, #trn.psum>)
// CHECK:           trn.tensor_tensor outs(%{{.*}} : memref<128x40xbf16, {{.*}}) ins(%{{.*}}, %{{.*}} : memref<128x40xf32, #trn.sbuf>, memref<128x40xf32, #trn.sbuf>)
// CHECK-NOT:       trn.tensor_reduce
// CHECK:         return
func.func @chunks(%x: memref<128x2x47xbf16, #trn.sbuf>, %w: memref<128x2x8xbf16, #trn.sbuf>, %y: memref<128x2x40xbf16, #trn.sbuf>) {
  %zero = arith.constant 0.0 : bf16
  linalg.fill ins(%zero : bf16) outs(%y : memref<128x2x40xbf16, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<128x2x47xbf16, #trn.sbuf>, memref<128x2x8xbf16, #trn.sbuf>) outs(%y : memref<128x2x40xbf16, #trn.sbuf>) {
  ^bb0(%a: bf16, %b: bf16, %acc: bf16):
    %0 = arith.mulf %a, %b : bf16
    %1 = arith.addf %acc, %0 : bf16
    linalg.yield %1 : bf16
  }
  return
}

// -----

#x = affine_map<(p, x, r) -> (p, x + r)>
#w = affine_map<(p, x, r) -> (p, r)>
#y = affine_map<(p, x, r) -> (p, x)>
// Short rows: one product and one reduction of all taps.
// CHECK-LABEL: func @short_rows
// CHECK:         trn.tensor_tensor
// CHECK:         trn.tensor_reduce
func.func @short_rows(%x: memref<128x10xf32, #trn.sbuf>, %w: memref<128x3xf32, #trn.sbuf>, %y: memref<128x8xf32, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<128x8xf32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<128x10xf32, #trn.sbuf>, memref<128x3xf32, #trn.sbuf>) outs(%y : memref<128x8xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
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

// -----

#in = affine_map<(p, r) -> (p, r)>
#out = affine_map<(p, r) -> (p)>
// No instruction multiplies words along a row: POOL multiplies halves of it.
// CHECK-LABEL: func @product_of_words
// CHECK-NOT:     trn.tensor_reduce
// CHECK-COUNT-3: trn.tensor_tensor {{.*}} {engine = #trn.engine<POOL>, op = #trn.alu<multiply>}
func.func @product_of_words(%x: memref<64x5xi32, #trn.sbuf>, %y: memref<64xi32, #trn.sbuf>) {
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%y : memref<64xi32, #trn.sbuf>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x5xi32, #trn.sbuf>) outs(%y : memref<64xi32, #trn.sbuf>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.muli %a, %o : i32
    linalg.yield %s : i32
  }
  return
}
