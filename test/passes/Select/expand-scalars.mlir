// RUN: trn-opt %s --trn-expand-scalars --canonicalize --split-input-file | FileCheck-22 %s

#id = affine_map<(p, n) -> (p, n)>
// The table of the logarithm covers a part of the domain: the argument is scaled into it. Halves are computed in fp32.
// CHECK-LABEL: func @log_half
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.cmpf olt
// CHECK:         arith.cmpf ogt
// CHECK:         math.log %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @log_half(%x: memref<128x64xf16, #trn.sbuf>, %y: memref<128x64xf16, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf16, #trn.sbuf>) outs(%y : memref<128x64xf16, #trn.sbuf>) {
  ^bb0(%a: f16, %o: f16):
    %0 = math.log %a : f16
    linalg.yield %0 : f16
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// x + 1e-5 is never a tiny positive number: the root stays one instruction.
// CHECK-LABEL: func @root_of_sum
// CHECK:         arith.addf
// CHECK-NEXT:    math.rsqrt
// CHECK-NEXT:    linalg.yield
func.func @root_of_sum(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  %c = arith.constant 1.0e-5 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    %1 = math.rsqrt %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// CHECK-LABEL: func @unordered
// CHECK-SAME:    (
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK:         %[[GE:.*]] = arith.cmpf oge, %[[A]], %[[B]]
// CHECK:         arith.select %[[GE]], %[[B]], %[[A]]
// CHECK-LABEL: func @bytes
// CHECK:         %[[Q:.*]] = arith.divf
// CHECK:         %[[W:.*]] = arith.fptosi %[[Q]] : f32 to i32
// CHECK:         arith.trunci %[[W]] : i32 to i8
func.func @unordered(%x: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xf32, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xf32, #trn.sbuf>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf ult, %a, %o : f32
    %1 = arith.select %0, %a, %o : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @bytes(%x: memref<128x64xi8, #trn.sbuf>, %y: memref<128x64xi8, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xi8, #trn.sbuf>) outs(%y : memref<128x64xi8, #trn.sbuf>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.divsi %a, %o : i8
    linalg.yield %0 : i8
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// Bytes wrap around, but writing one saturates: 32 bits are computed, through the sum between, and the low ones kept.
// CHECK-LABEL: func @wrap_around
// CHECK-DAG:     %[[A:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-DAG:     %[[B:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-DAG:     %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK-DAG:     %[[PRODUCT:.*]] = arith.muli %[[SUM]], %{{.*}} : i32
// CHECK:         %[[R:.*]] = arith.trunci %[[PRODUCT]] : i32 to i8
// CHECK-NEXT:    linalg.yield %[[R]] : i8
func.func @wrap_around(%x: memref<128x64xi8, #trn.sbuf>, %y: memref<128x64xi8, #trn.sbuf>, %z: memref<128x64xi8, #trn.sbuf>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x64xi8, #trn.sbuf>, memref<128x64xi8, #trn.sbuf>) outs(%z : memref<128x64xi8, #trn.sbuf>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %0 = arith.addi %a, %b : i8
    %1 = arith.muli %0, %b : i8
    linalg.yield %1 : i8
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
#col = affine_map<(p, n) -> (p)>
// max(round(x + b), 0) = round(max(x + b, 0)), which is one instruction. A bound that bf16 cannot hold, and a sum of two
// tensors, which is an instruction by itself, stay as they are.
// CHECK-LABEL: func @rounded_last
// CHECK:         %[[S:.*]] = arith.addf
// CHECK-NEXT:    %[[M:.*]] = arith.maximumf %[[S]]
// CHECK-NEXT:    %[[R:.*]] = arith.truncf %[[M]]
// CHECK-NEXT:    linalg.yield %[[R]]
// CHECK:         arith.addf
// CHECK-NEXT:    arith.truncf
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    arith.maximumf
// CHECK:         arith.addf
// CHECK-NEXT:    arith.truncf
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    arith.maximumf
func.func @rounded_last(%x: memref<128x64xf32, #trn.psum>, %b: memref<128xf32, #trn.sbuf>, %z: memref<128x64xf32, #trn.sbuf>, %y: memref<128x64xbf16, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  %odd = arith.constant 0.1 : f32
  linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<128x64xf32, #trn.psum>, memref<128xf32, #trn.sbuf>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %c: f32, %o: bf16):
    %s = arith.addf %a, %c : f32
    %t = arith.truncf %s : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    %m = arith.maximumf %w, %zero : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<128x64xf32, #trn.psum>, memref<128xf32, #trn.sbuf>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %c: f32, %o: bf16):
    %s = arith.addf %a, %c : f32
    %t = arith.truncf %s : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    %m = arith.maximumf %w, %odd : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : memref<128x64xf32, #trn.psum>, memref<128x64xf32, #trn.sbuf>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %c: f32, %o: bf16):
    %s = arith.addf %a, %c : f32
    %t = arith.truncf %s : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    %m = arith.maximumf %w, %zero : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  }
  return
}

// -----

#id = affine_map<(p, n) -> (p, n)>
// One tensor that is read many times is one tensor, and however often is no matter of time.
// CHECK-LABEL: func @rounded_last_of_doublings
// CHECK-COUNT-40: arith.addf
// CHECK-NEXT:     %[[M:.*]] = arith.maximumf
// CHECK-NEXT:     %[[R:.*]] = arith.truncf %[[M]]
// CHECK-NEXT:     linalg.yield %[[R]]
func.func @rounded_last_of_doublings(%x: memref<128x64xf32, #trn.psum>, %y: memref<128x64xbf16, #trn.sbuf>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x64xf32, #trn.psum>) outs(%y : memref<128x64xbf16, #trn.sbuf>) {
  ^bb0(%a: f32, %o: bf16):
    %s1 = arith.addf %a, %a : f32
    %s2 = arith.addf %s1, %s1 : f32
    %s3 = arith.addf %s2, %s2 : f32
    %s4 = arith.addf %s3, %s3 : f32
    %s5 = arith.addf %s4, %s4 : f32
    %s6 = arith.addf %s5, %s5 : f32
    %s7 = arith.addf %s6, %s6 : f32
    %s8 = arith.addf %s7, %s7 : f32
    %s9 = arith.addf %s8, %s8 : f32
    %s10 = arith.addf %s9, %s9 : f32
    %s11 = arith.addf %s10, %s10 : f32
    %s12 = arith.addf %s11, %s11 : f32
    %s13 = arith.addf %s12, %s12 : f32
    %s14 = arith.addf %s13, %s13 : f32
    %s15 = arith.addf %s14, %s14 : f32
    %s16 = arith.addf %s15, %s15 : f32
    %s17 = arith.addf %s16, %s16 : f32
    %s18 = arith.addf %s17, %s17 : f32
    %s19 = arith.addf %s18, %s18 : f32
    %s20 = arith.addf %s19, %s19 : f32
    %s21 = arith.addf %s20, %s20 : f32
    %s22 = arith.addf %s21, %s21 : f32
    %s23 = arith.addf %s22, %s22 : f32
    %s24 = arith.addf %s23, %s23 : f32
    %s25 = arith.addf %s24, %s24 : f32
    %s26 = arith.addf %s25, %s25 : f32
    %s27 = arith.addf %s26, %s26 : f32
    %s28 = arith.addf %s27, %s27 : f32
    %s29 = arith.addf %s28, %s28 : f32
    %s30 = arith.addf %s29, %s29 : f32
    %s31 = arith.addf %s30, %s30 : f32
    %s32 = arith.addf %s31, %s31 : f32
    %s33 = arith.addf %s32, %s32 : f32
    %s34 = arith.addf %s33, %s33 : f32
    %s35 = arith.addf %s34, %s34 : f32
    %s36 = arith.addf %s35, %s35 : f32
    %s37 = arith.addf %s36, %s36 : f32
    %s38 = arith.addf %s37, %s37 : f32
    %s39 = arith.addf %s38, %s38 : f32
    %s40 = arith.addf %s39, %s39 : f32
    %t = arith.truncf %s40 : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    %m = arith.maximumf %w, %zero : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  }
  return
}
