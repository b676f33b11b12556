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
