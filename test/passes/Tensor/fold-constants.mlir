// RUN: trn-opt %s -split-input-file -tensor-fold-constants | %FileCheck %s

// CHECK-LABEL: func.func @reshape
// CHECK-NEXT: %[[W:.*]] = onnx.weight dense<{{.*}}> : tensor<4xf32>
// CHECK-NEXT: return %[[W]]
func.func @reshape() -> tensor<4xf32> {
  %w = onnx.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = tensor.collapse_shape %w [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A body is computed, with the constants that it captures; a splat stays one.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @compute
// CHECK: onnx.weight dense<3.000000e+00> : tensor<1000000xf32>
// CHECK-NOT: linalg.generic
func.func @compute() -> tensor<1000000xf32> {
  %w = onnx.weight dense<1.0> : tensor<1000000xf32>
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<1000000xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<1000000xf32>) outs(%e : tensor<1000000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %two : f32
    linalg.yield %s : f32
  } -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}

// -----

// What depends on an argument stays, and so does the weight that it reads.
// CHECK-LABEL: func.func @dynamic
// CHECK: onnx.weight
// CHECK: tensor.concat
func.func @dynamic(%x: tensor<2xf32>) -> tensor<4xf32> {
  %w = onnx.weight dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tensor.concat dim(0) %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is packed stays packed: fields of a large weight are taken out by the device.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @packed
// CHECK: %[[W:.*]] = onnx.weight dense<17> : tensor<8192xi8>
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<8192xi8>)
// CHECK: arith.shrsi
func.func @packed() -> tensor<8192xi8> {
  %w = onnx.weight dense<17> : tensor<8192xi8>
  %four = arith.constant 4 : i8
  %e = tensor.empty() : tensor<8192xi8>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<8192xi8>) outs(%e : tensor<8192xi8>) {
  ^bb0(%a: i8, %o: i8):
    %s = arith.shrsi %a, %four : i8
    linalg.yield %s : i8
  } -> tensor<8192xi8>
  return %0 : tensor<8192xi8>
}
