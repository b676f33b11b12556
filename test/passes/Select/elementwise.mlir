// RUN: trn-opt %s --trn-select-elementwise --cse --canonicalize --split-input-file --verify-diagnostics | FileCheck-22 %s
// RUN: trn-opt %s --trn-select-elementwise=device=trn1 --cse --canonicalize --split-input-file --verify-diagnostics | FileCheck-22 %s --check-prefixes=V2

#id = affine_map<(p, n) -> (p, n)>
#col = affine_map<(p, n) -> (p)>
// Scale, bias per partition and ReLU out of PSUM are one activation.
// CHECK-LABEL: func @drain
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xf32, #trn.psum>, %[[B:.*]]: memref<128x1xf32, #trn.sbuf>, %[[Y:.*]]: memref<128x64xbf16, #trn.sbuf>)
// CHECK-NEXT:    trn.activation outs(%[[Y]] : {{.*}}) ins(%[[X]] : {{.*}}) bias(%[[B]] : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<relu>, scale_imm = 5.000000e-01 : f32}
// CHECK-NEXT:    return
func.func @drain(%x: memref<128x64xf32, #trn.psum>, %b: memref<128x1xf32, #trn.sbuf>, %y: memref<128x64xbf16, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#id, affine_map<(p, n) -> (p, 0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<128x64xf32, #trn.psum>, memref<128x1xf32, #trn.sbuf>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %c: f32, %o: bf16):
    %0 = arith.mulf %a, %half : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// Two scalar operators are one tensor_scalar; a scalar operator and a tensor one are one scalar_tensor_tensor.
// CHECK-LABEL: func @chains
// CHECK:         trn.scalar_tensor_tensor outs(%[[T:.*]] : {{.*}}) ins(%{{.*}}, %{{.*}} : {{.*}}) {op0 = #trn.alu<multiply>, op1 = #trn.alu<add>, operand0_imm = 5.000000e-01 : f32}
// CHECK-NEXT:    trn.tensor_scalar outs(%{{.*}} : {{.*}}) ins(%[[T]] : {{.*}}) {op0 = #trn.alu<max>, op1 = #trn.alu<min>, operand0_imm = 0.000000e+00 : f32, operand1_imm = 6.000000e+00 : f32}
// CHECK-NEXT:    return
func.func @chains(%x: memref<128x64xf32, #trn.sbuf>, %r: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<128x64xf32, #trn.sbuf>, memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %half : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.minimumf %2, %six : f32
    linalg.yield %3 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
#col = affine_map<(p, n) -> (p)>
// What depends on the partition only is computed on one element of each.
// CHECK-LABEL: func @columns
// CHECK:         trn.tensor_scalar outs(%[[M:.*]] : memref<128x1xf32, #trn.sbuf>) {{.*}} {op0 = #trn.alu<divide>, operand0_imm = 6.400000e+01 : f32}
// CHECK:         trn.activation outs(%[[S:.*]] : memref<128x1xf32, #trn.sbuf>) ins(%[[M]] : {{.*}}) {bias_imm = 9.99999974E-6 : f32, func = #trn.act<rsqrt>}
// CHECK:         trn.tensor_scalar outs(%{{.*}} : memref<128x64xf32, #trn.sbuf>) ins(%{{.*}} : {{.*}}) operand0(%[[S]] : {{.*}}) {op0 = #trn.alu<multiply>}
// Core version 2 takes a bias from memory only.
// V2-LABEL:      func @columns
// V2:            trn.memset outs(%[[E:.*]] : memref<128x1xf32, #trn.sbuf>) {value = 9.99999974E-6 : f32}
// V2:            trn.activation {{.*}} bias(%[[E]] : memref<128x1xf32, #trn.sbuf>) {func = #trn.act<rsqrt>}
func.func @columns(%x: memref<128x64xf32, #trn.sbuf>, %v: memref<128xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : memref<128x64xf32, #trn.sbuf>, memref<128xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// CHECK-LABEL: func @select
// CHECK:         trn.tensor_scalar outs(%[[P:.*]] : memref<128x64xi8, #trn.sbuf>) {{.*}} {op0 = #trn.alu<is_gt>, operand0_imm = 0.000000e+00 : f32}
// CHECK:         trn.activation outs(%[[E:.*]] : memref<128x64xf32, #trn.sbuf>) {{.*}} {func = #trn.act<exp>}
// CHECK:         trn.select outs(%{{.*}} : {{.*}}) ins(%[[P]], %{{.*}}, %[[E]] : {{.*}})
func.func @select(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf ogt, %a, %zero : f32
    %1 = math.exp %a : f32
    %2 = arith.select %0, %a, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// floor(x): int32 rounds to nearest, one comparison corrects it; what has no fraction, and NaN, is kept.
// CHECK-LABEL: func @floor
// CHECK:         trn.tensor_copy outs(%[[R:.*]] : memref<128x64xi32, #trn.sbuf>)
// CHECK:         trn.tensor_tensor outs(%[[W:.*]] : {{.*}}) ins(%[[R]], %[[X:.*]] : {{.*}}) {op = #trn.alu<is_gt>}
// CHECK:         trn.tensor_tensor outs(%[[F:.*]] : {{.*}}) ins(%[[R]], %[[W]] : {{.*}}) {op = #trn.alu<subtract>}
// CHECK:         trn.tensor_scalar outs(%[[A:.*]] : memref<128x64xi8, #trn.sbuf>) ins(%[[X]] : {{.*}}) {op0 = #trn.alu<is_gt>, operand0_imm = 0xCB000000
// CHECK:         trn.scalar_tensor_tensor outs(%[[B:.*]] : {{.*}}) ins(%[[X]], %[[A]] : {{.*}}) {op0 = #trn.alu<is_lt>, op1 = #trn.alu<logical_and>
// CHECK:         trn.copy_predicated outs(%[[F]] : {{.*}}) ins(%[[X]], %[[B]] : {{.*}}) {reverse}
func.func @floor(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.floor %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(p, a, b, c, d, e) -> (p, a, b, c, d, e)>
#t = affine_map<(p, a, b, c, d, e) -> (p, e, d, c, b, a)>
// An access pattern has four free dimensions: the fifth is a loop.
// CHECK-LABEL: func @five
// CHECK:         scf.for
// CHECK:           trn.tensor_tensor outs(%{{.*}} : memref<128x3x4x5x6xf32,
func.func @five(%x: memref<128x6x5x4x3x2xf32, #trn.sbuf>, %y: memref<128x2x3x4x5x6xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<128x6x5x4x3x2xf32, #trn.sbuf>) outs(%y : memref<128x2x3x4x5x6xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
func.func @unknown(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  // expected-error @below {{cannot be computed elementwise: no instruction computes 'math.acosh'}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.acosh %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// Words are exact on POOL only; a comparison with what fp32 holds, and small products, stay on DVE.
// CHECK-LABEL: func @words
// CHECK:         trn.tensor_tensor outs(%[[S:.*]] : memref<128x64xi32, #trn.sbuf>) {{.*}} {engine = #trn.engine<POOL>, op = #trn.alu<add>}
// CHECK:         trn.tensor_scalar outs(%[[P:.*]] : memref<128x64xi8, #trn.sbuf>) ins(%[[S]] : {{.*}}) {op0 = #trn.alu<is_lt>, operand0_imm = 0.000000e+00 : f32}
// CHECK:         trn.tensor_copy outs(%[[T:.*]] : memref<128x64xi32, #trn.sbuf>) ins(%[[S]] : {{.*}})
// CHECK:         trn.copy_predicated outs(%[[T]] : {{.*}}) ins(%{{.*}}, %[[P]] : {{.*}})
func.func @words(%x: memref<128x64xi32, #trn.sbuf>, %y: memref<128x64xi32, #trn.sbuf>, %z: memref<128x64xi32, #trn.sbuf>) {
  %zero = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x64xi32, #trn.sbuf>, memref<128x64xi32, #trn.sbuf>) outs(%z : memref<128x64xi32, #trn.sbuf>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.addi %a, %b : i32
    %1 = arith.cmpi slt, %0, %zero : i32
    %2 = arith.select %1, %b, %0 : i32
    linalg.yield %2 : i32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// CHECK-LABEL: func @bytes
// CHECK-NOT:     POOL
// CHECK:         trn.scalar_tensor_tensor {{.*}} {op0 = #trn.alu<multiply>, op1 = #trn.alu<add>
func.func @bytes(%x: memref<128x64xui8, #trn.sbuf>, %y: memref<128x64xi8, #trn.sbuf>, %z: memref<128x64xi32, #trn.sbuf>) {
  %three = arith.constant 3 : i32
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x64xui8, #trn.sbuf>, memref<128x64xi8, #trn.sbuf>) outs(%z : memref<128x64xi32, #trn.sbuf>) {
  ^bb0(%u: ui8, %b: i8, %o: i32):
    %a = builtin.unrealized_conversion_cast %u : ui8 to i8
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %three : i32
    %3 = arith.addi %2, %1 : i32
    linalg.yield %3 : i32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// What is read through a narrower float is rounded to it, whatever it is written to: between two conversions ...
// CHECK-LABEL: func @rounded
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xf32, #trn.sbuf>, %[[Y:.*]]: memref<128x64xf32, #trn.sbuf>)
// CHECK:         trn.tensor_scalar outs(%[[H:.*]] : memref<128x64xf16, #trn.sbuf>) ins(%[[X]] : {{.*}}) {op0 = #trn.alu<multiply>
// CHECK-NEXT:    trn.tensor_copy outs(%[[Y]] : memref<128x64xf32, #trn.sbuf>) ins(%[[H]] :
func.func @rounded(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %three = arith.constant 3.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %three : f32
    %1 = arith.truncf %0 : f32 to f16
    %2 = arith.extf %1 : f16 to f32
    linalg.yield %2 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// ... to another float of as many bits ...
// CHECK-LABEL: func @rounded_twice
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xf32, #trn.sbuf>, %[[Y:.*]]: memref<128x64xbf16, #trn.sbuf>)
// CHECK:         trn.tensor_copy outs(%[[H:.*]] : memref<128x64xf16, #trn.sbuf>) ins(%[[X]] :
// CHECK-NEXT:    trn.tensor_copy outs(%[[Y]] : {{.*}}) ins(%[[H]] :
func.func @rounded_twice(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xbf16, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to f16
    %1 = arith.extf %0 : f16 to f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// ... inside a chain of the narrow type, of which no instruction computes two steps (the larger one of two is no step that
// rounds) ...
// CHECK-LABEL: func @narrow_chain
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xf16, #trn.sbuf>, %[[Y:.*]]: memref<128x64xf32, #trn.sbuf>)
// CHECK:         trn.tensor_scalar outs(%[[P:.*]] : memref<128x64xf16, #trn.sbuf>) ins(%[[X]] : {{.*}}) {op0 = #trn.alu<max>, op1 = #trn.alu<multiply>
// CHECK-NEXT:    trn.activation outs(%[[S:.*]] : memref<128x64xf16, #trn.sbuf>) ins(%[[P]] : {{.*}}) {func = #trn.act<sqrt>}
// CHECK-NEXT:    trn.tensor_copy outs(%[[Y]] : memref<128x64xf32, #trn.sbuf>) ins(%[[S]] :
func.func @narrow_chain(%x: memref<128x64xf16, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %one = arith.constant 1.0 : f16
  %three = arith.constant 3.0 : f16
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf16, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.maximumf %a, %one : f16
    %1 = arith.mulf %0, %three : f16
    %2 = math.sqrt %1 : f16
    %3 = arith.extf %2 : f16 to f32
    linalg.yield %3 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// ... and of integers that the float does not have. It has all bytes.
// CHECK-LABEL: func @rounded_integers
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xi32, #trn.sbuf>, %[[B:.*]]: memref<128x64xi8, #trn.sbuf>, %[[Y:.*]]: memref<128x64xf32, #trn.sbuf>)
// CHECK:         trn.tensor_copy outs(%[[H:.*]] : memref<128x64xf16, #trn.sbuf>) ins(%[[X]] :
// CHECK-NEXT:    trn.tensor_tensor outs(%[[Y]] : {{.*}}) ins(%[[H]], %[[B]] :
func.func @rounded_integers(%x: memref<128x64xi32, #trn.sbuf>, %b: memref<128x64xi8, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<128x64xi32, #trn.sbuf>, memref<128x64xi8, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: i32, %c: i8, %o: f32):
    %0 = arith.sitofp %a : i32 to f16
    %1 = arith.sitofp %c : i8 to bf16
    %2 = arith.extf %0 : f16 to f32
    %3 = arith.extf %1 : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// A column is read where its view lies, with the other sign, too.
// CHECK-LABEL: func @unsigned_column
// CHECK:         %[[C:.*]] = memref.reinterpret_cast %{{.*}} to offset: [1], sizes: [64, 3], strides: [2, 0]
// CHECK:         trn.bitcast %[[C]] :
func.func @unsigned_column(%x: memref<64x3xui32, #trn.sbuf>, %c: memref<64x2xi32, #trn.sbuf>, %y: memref<64x3xi8, #trn.sbuf>) {
  %column = memref.subview %c[0, 1] [64, 1] [1, 1] : memref<64x2xi32, #trn.sbuf> to memref<64xi32, strided<[2], offset: 1>, #trn.sbuf>
  linalg.generic {indexing_maps = [#id, affine_map<(p, n) -> (p)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %column : memref<64x3xui32, #trn.sbuf>, memref<64xi32, strided<[2], offset: 1>, #trn.sbuf>) outs(%y : memref<64x3xi8, #trn.sbuf>) {
  ^bb0(%a: ui32, %b: i32, %o: i8):
    %0 = builtin.unrealized_conversion_cast %a : ui32 to i32
    %1 = arith.cmpi ult, %0, %b : i32
    %2 = arith.extui %1 : i1 to i8
    linalg.yield %2 : i8
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// The reader of an integer says what its bits are: the larger of two unsigned words is made as one, and read as a signed
// number from where it lies.
// CHECK-LABEL: func @signed_reader
// CHECK:         trn.copy_predicated outs(%[[MAX:.*]] : memref<128x64xui32, #trn.sbuf>)
// CHECK:         %[[BITS:.*]] = trn.bitcast %{{.*}} : memref<128x64xui32, #trn.sbuf> to memref<128x64xi32, #trn.sbuf>
// CHECK:         trn.tensor_copy outs(%{{.*}} : memref<128x64xf32, #trn.sbuf>) ins(%[[BITS]] :
func.func @signed_reader(%x: memref<128x64xui32, #trn.sbuf>, %y: memref<128x64xui32, #trn.sbuf>, %z: memref<128x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x64xui32, #trn.sbuf>, memref<128x64xui32, #trn.sbuf>) outs(%z : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: ui32, %b: ui32, %o: f32):
    %0 = builtin.unrealized_conversion_cast %a : ui32 to i32
    %1 = builtin.unrealized_conversion_cast %b : ui32 to i32
    %2 = arith.maxui %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f32
    linalg.yield %3 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// Each reader has its sign; the bytes are not copied for it.
// CHECK-LABEL: func @two_readers
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xi8, #trn.sbuf>, %[[Y:.*]]: memref<128x64xf32, #trn.sbuf>)
// CHECK-DAG:     %[[U:.*]] = trn.bitcast %[[X]] : memref<128x64xi8, #trn.sbuf> to memref<128x64xui8, #trn.sbuf>
// CHECK:         trn.tensor_tensor outs(%[[Y]] : {{.*}}) ins(%[[X]], %[[U]] : {{.*}}) {op = #trn.alu<multiply>}
func.func @two_readers(%x: memref<128x64xi8, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xi8, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.uitofp %a : i8 to f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// Both sides of an equality are read with one sign, and the chosen sign is one that fp32 holds.
// CHECK-LABEL: func @equal_bytes
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xui8, #trn.sbuf>, %[[Y:.*]]: memref<128x64xi8, #trn.sbuf>, %[[Z:.*]]: memref<128x64xi8, #trn.sbuf>)
// CHECK:         %[[B:.*]] = trn.bitcast %[[X]] : memref<128x64xui8, #trn.sbuf> to memref<128x64xi8, #trn.sbuf>
// CHECK-NEXT:    trn.tensor_tensor outs(%[[Z]] : {{.*}}) ins(%[[B]], %[[Y]] : {{.*}}) {op = #trn.alu<is_eq>}
func.func @equal_bytes(%x: memref<128x64xui8, #trn.sbuf>, %y: memref<128x64xi8, #trn.sbuf>, %z: memref<128x64xi8, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x64xui8, #trn.sbuf>, memref<128x64xi8, #trn.sbuf>) outs(%z : memref<128x64xi8, #trn.sbuf>) {
  ^bb0(%a: ui8, %b: i8, %o: i8):
    %0 = builtin.unrealized_conversion_cast %a : ui8 to i8
    %1 = arith.cmpi eq, %0, %b : i8
    %2 = arith.extui %1 : i1 to i8
    linalg.yield %2 : i8
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// A number that the narrow type has needs no mask.
// CHECK-LABEL: func @fitting
// CHECK-SAME:    (%[[X:.*]]: memref<128x64xi16, #trn.sbuf>, %[[Y:.*]]: memref<128x64xi8, #trn.sbuf>)
// CHECK-NOT:     bitwise_and
// CHECK:         trn.tensor_scalar outs(%[[Y]] : {{.*}}) ins(%[[X]] : {{.*}}) {op0 = #trn.alu<max>, op1 = #trn.alu<min>
func.func @fitting(%x: memref<128x64xi16, #trn.sbuf>, %y: memref<128x64xi8, #trn.sbuf>) {
  %low = arith.constant -128 : i16
  %high = arith.constant 127 : i16
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xi16, #trn.sbuf>) outs(%y : memref<128x64xi8, #trn.sbuf>) {
  ^bb0(%a: i16, %o: i8):
    %0 = arith.maxsi %a, %low : i16
    %1 = arith.minsi %0, %high : i16
    %2 = arith.trunci %1 : i16 to i8
    linalg.yield %2 : i8
  }
  return
}
