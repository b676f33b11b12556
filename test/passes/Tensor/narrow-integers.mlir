// RUN: trn-opt %s -tensor-narrow-integers | %FileCheck %s
// RUN: trn-opt %s -tensor-narrow-integers 2>&1 >/dev/null | %FileCheck %s --check-prefix=REMARK
// RUN: trn-opt %s -tensor-narrow-integers=print-ranges=true 2>&1 >/dev/null | %FileCheck %s --check-prefix=RANGE

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// Products of bytes and constants: 32 bits have them. The constant has them, too.
// REMARK: remark: 'i64' is stored as 'i32': -1016 to 1024
// RANGE: remark: 'onnx.weight': 'i64' from -8 to 7
// RANGE: remark: 'arith.muli': 'i64' from -1016 to 1024
// CHECK-LABEL: func @proved
// CHECK-SAME: -> (tensor<2xi32> {onnx.host_type = i64})
// CHECK: onnx.weight dense<[7, -8]> : tensor<2xi32>
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %{{.*}} : i32
func.func @proved(%x: tensor<2xi8>) -> tensor<2xi64> {
  %w = onnx.weight dense<[7, -8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %w : tensor<2xi8>, tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i8, %b: i64, %o: i64):
    %c = arith.extsi %a : i8 to i64
    %d = arith.muli %c, %b : i64
    linalg.yield %d : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// An input may have any number: the sum stays, and the constant of 32 bits is widened where it is read.
// REMARK: remark: input 'ids': 'i64' stays
// REMARK: remark: computes with integers of 64 bits in library kernels: an operand has numbers that do not fit 32 bits
// CHECK-LABEL: func @wide
// CHECK: ^bb0(%[[A:.*]]: i64, %[[B:.*]]: i32, %{{.*}}: i64):
// CHECK: %[[C:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK: arith.addi %[[A]], %[[C]] : i64
func.func @wide(%ids: tensor<2xi64> {onnx.name = "ids"}) -> tensor<2xi64> {
  %w = onnx.weight dense<[7, -8]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%ids, %w : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %c = arith.addi %a, %b : i64
    linalg.yield %c : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// Positions are of 32 bits, and their bounds are none: what is left is the input itself.
// REMARK: remark: input 'positions': 'i64' is stored as 'i32': as an index it is -9 to 8
// CHECK-LABEL: func @positions
// CHECK-SAME: (%[[X:.*]]: tensor<2xi32> {onnx.host_type = i64, onnx.name = "positions"
// CHECK-NEXT: return %[[X]] : tensor<2xi32>
func.func @positions(%x: tensor<2xi64> {onnx.name = "positions", onnx.range = array<i64: -9, 8>}) -> tensor<2xi32> {
  %low = arith.constant -2147483648 : i64
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xi64>) outs(%e : tensor<2xi32>) {
  ^bb0(%a: i64, %o: i32):
    %b = arith.maxsi %a, %low : i64
    %c = arith.trunci %b : i64 to i32
    linalg.yield %c : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// A sum of 10 numbers of at most 100 is at most 1000; a maximum starts at the end of 32 bits.
// CHECK-LABEL: func @reductions
// CHECK: linalg.fill ins(%{{.*}} : i32)
// CHECK: arith.addi %{{.*}} : i32
// CHECK: arith.constant -2147483648 : i32
// CHECK: arith.maxsi %{{.*}} : i32
func.func @reductions(%x: tensor<2x10xi8>) -> (tensor<2xi64>, tensor<2xi64>) {
  %zero = arith.constant 0 : i64
  %least = arith.constant -9223372036854775808 : i64
  %e = tensor.empty() : tensor<2xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<2xi64>) -> tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x10xi8>) outs(%f : tensor<2xi64>) {
  ^bb0(%a: i8, %o: i64):
    %b = arith.extsi %a : i8 to i64
    %c = arith.addi %o, %b : i64
    linalg.yield %c : i64
  } -> tensor<2xi64>
  %g = linalg.fill ins(%least : i64) outs(%e : tensor<2xi64>) -> tensor<2xi64>
  %1 = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x10xi8>) outs(%g : tensor<2xi64>) {
  ^bb0(%a: i8, %o: i64):
    %b = arith.extsi %a : i8 to i64
    %c = arith.maxsi %o, %b : i64
    linalg.yield %c : i64
  } -> tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}

// The sum of 2 numbers of 32 bits needs 33, but its half does not: the body has 64 bits, memory 32.
// CHECK-LABEL: func @inner
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi32>)
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32):
// CHECK: arith.addi %{{.*}} : i64
// CHECK: %[[R:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: linalg.yield %[[R]] : i32
func.func @inner(%x: tensor<2xi32>) -> tensor<2xi64> {
  %one = arith.constant 1 : i64
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xi32>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i32, %o: i64):
    %b = arith.extsi %a : i32 to i64
    %c = arith.addi %b, %b : i64
    %d = arith.shrsi %c, %one : i64
    linalg.yield %d : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// A constant that 32 bits do not have stays, alone or among others.
// REMARK: remark: computes with integers of 64 bits in library kernels: an operand has numbers that do not fit 32 bits
// CHECK-LABEL: func @constants
// CHECK: onnx.weight dense<[7, 2147483648]> : tensor<2xi64>
// CHECK: %[[C:.*]] = arith.constant -2147483649 : i64
// CHECK: arith.muli %{{.*}}, %[[C]] : i64
func.func @constants(%x: tensor<2xi8>) -> tensor<2xi64> {
  %w = onnx.weight dense<[7, 2147483648]> : tensor<2xi64>
  %c = arith.constant -2147483649 : i64
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %w : tensor<2xi8>, tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i8, %b: i64, %o: i64):
    %d = arith.extsi %a : i8 to i64
    %s = arith.muli %d, %c : i64
    %t = arith.muli %s, %b : i64
    linalg.yield %t : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// An unsigned division of a number that may be negative is another one in 32 bits, though its result fits.
// CHECK-LABEL: func @unsigned
// CHECK: arith.remui %{{.*}} : i64
func.func @unsigned(%x: tensor<2xi8>) -> tensor<2xi64> {
  %c = arith.constant 10 : i64
  %e = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xi8>) outs(%e : tensor<2xi64>) {
  ^bb0(%a: i8, %o: i64):
    %d = arith.extsi %a : i8 to i64
    %s = arith.remui %d, %c : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
