// RUN: trn-opt %s -onnx-to-linalg | %FileCheck %s

// One scalar operation, from the record.
// CHECK-LABEL: func.func @sigmoid
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[Y:.*]] = trn.scalar sigmoid %[[X]] : f32
// CHECK-NEXT: linalg.yield %[[Y]] : f32
func.func @sigmoid(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = onnx.Sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Broadcast dimensions of extent 1 are dropped: indexing maps are projected permutations.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[V:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<4x1xf32> into tensor<4xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}]{{.*}} ins(%{{.*}}, %[[V]] : tensor<4x8xf32>, tensor<4xf32>)
func.func @broadcast(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %y = onnx.Mul(%x, %s) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A 1x1 convolution has no tap iterators; the location is the node's.
// CHECK-LABEL: func.func @pointwise
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @pointwise(%x: tensor<1x16x7x7xf32>, %w: tensor<32x16x1x1xf32>) -> tensor<1x32x7x7xf32> {
  %y = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
      : (tensor<1x16x7x7xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x7x7xf32>
  return %y : tensor<1x32x7x7xf32>
}

// Half precision multiplies in the narrow type and accumulates in f32.
// CHECK-LABEL: func.func @half
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3xf16>, tensor<3x4xf16>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4xf16>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) -> tensor<2x4xf16> {
  %y = onnx.MatMul(%a, %b) : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// Weights stay.
// CHECK-LABEL: func.func @weight
// CHECK: onnx.weight dense<1.000000e+00> : tensor<4xf32>
func.func @weight() -> tensor<4xf32> {
  %w = onnx.weight dense<1.0> : tensor<4xf32>
  return %w : tensor<4xf32>
}

// Elements are squared once, in front of the windows, not once per window that they are in.
// CHECK-LABEL: func.func @neighbours
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK: arith.mulf
// CHECK: tensor.pad
// CHECK: linalg.generic {{.*}}"reduction"]
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: "reduction"
// CHECK: return
func.func @neighbours(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %y = onnx.LRN(%x) {size = 5 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// Weights of 4 bits stay in their bytes, as differences from 8: -7 is 9, twice in a byte. Both fields are shifted out with
// their signs, scaled, and multiplied; the zero points' differences from 8 multiply with the sums of the other operand.
// CHECK-LABEL: func.func @packed
// CHECK: onnx.weight dense<5.000000e-01> : tensor<2x2xf32>
// CHECK: %[[W:.*]] = onnx.weight dense<-103> : tensor<2x8x2xi8>
// CHECK: ins(%[[W]] :
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: ins(%[[W]] :
// CHECK-NOT: arith.shli
// CHECK: arith.shrsi
// CHECK: tensor.concat dim(1)
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK: onnx.weight dense<-2.500000e+00> : tensor<2x2xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.subf
func.func @packed(%a: tensor<3x32xf32>) -> tensor<3x2xf32> {
  %w = onnx.weight dense<17> : tensor<2x1x16xui8>
  %s = onnx.weight dense<0.5> : tensor<2x1xf32>
  %z = onnx.weight dense<3> : tensor<2x1xui8>
  %y = onnx.microsoft.MatMulNBits(%a, %w, %s, %z) {K = 32 : i64, N = 2 : i64, bits = 4 : i64, block_size = 32 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
      : (tensor<3x32xf32>, tensor<2x1x16xui8>, tensor<2x1xf32>, tensor<2x1xui8>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
