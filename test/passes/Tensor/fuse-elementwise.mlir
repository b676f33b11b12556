// RUN: trn-opt %s -split-input-file -tensor-fuse-elementwise -canonicalize | %FileCheck %s

#id = affine_map<(d0) -> (d0)>
// One user: fused.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A sum of two tensors with two users is kept: repeating it would read two tensors instead of one.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @residual
// CHECK-COUNT-3: linalg.generic
func.func @residual(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A contraction with a uniform weight stays a contraction; a map with a uniform operand has it in its body.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @uniform_weight
// CHECK-DAG: %[[WEIGHT:.+]] = onnx.weight dense<2.000000e-02> : tensor<8x16xf32>
// CHECK-DAG: %[[SCALAR:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %[[WEIGHT]] : tensor<4x8xf32>, tensor<8x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.+}} : tensor<4x16xf32>)
// CHECK: arith.mulf %{{.+}}, %[[SCALAR]]
func.func @uniform_weight(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %weight = onnx.weight dense<2.000000e-02> : tensor<8x16xf32>
  %three = onnx.weight dense<3.0> : tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %weight : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %three : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
// A uniform unsigned weight becomes a signless constant of the body.
// CHECK-LABEL: func.func @unsigned_weight
// CHECK-DAG: %[[SCALAR:.+]] = arith.constant -128 : i8
// CHECK: linalg.generic {{.*}} ins(%{{.+}} : tensor<16xui8>)
// CHECK: arith.subi %{{.+}}, %[[SCALAR]]
func.func @unsigned_weight(%x: tensor<16xui8>) -> tensor<16xi8> {
  %point = onnx.weight dense<128> : tensor<ui8>
  %e = tensor.empty() : tensor<16xi8>
  %0 = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]}
      ins(%x, %point : tensor<16xui8>, tensor<ui8>) outs(%e : tensor<16xi8>) {
  ^bb0(%a: ui8, %b: ui8, %o: i8):
    %c = builtin.unrealized_conversion_cast %a : ui8 to i8
    %d = builtin.unrealized_conversion_cast %b : ui8 to i8
    %s = arith.subi %c, %d : i8
    linalg.yield %s : i8
  } -> tensor<16xi8>
  return %0 : tensor<16xi8>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
// What adds to its destination is no map, though it has nothing to add up: it keeps its one result.
// CHECK-LABEL: func.func @adds_to_destination
// CHECK: arith.addf
// CHECK: -> tensor<4x16xf32>
// CHECK: math.exp
// CHECK: -> tensor<4x16xf32>
func.func @adds_to_destination(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x16xf32>) outs(%f : tensor<4x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
