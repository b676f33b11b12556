// RUN: not trnc compile %s --start-from tensor -o %t.trnx > %t.out 2>&1
// RUN: FileCheck-22 %s --implicit-check-not=error: < %t.out

// The verifiers of MLIR's reshapes accept dimensions that there are not.
// CHECK: error: {{.*}}reassociation.mlir:[[#@LINE + 2]]:{{[0-9]+}}: 'tensor.expand_shape' op expected the dimensions 0 to 1 in their order, each once, but got {{\[\[}}4294967296, 1]]
func.func @main(%x: tensor<3xf32> {onnx.name = "x"}) -> (tensor<3x1xf32> {onnx.name = "y"}) {
  %0 = tensor.expand_shape %x [[4294967296, 1]] output_shape [3, 1] : tensor<3xf32> into tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// One element has no dimensions to name.
func.func @scalar(%x: tensor<f32>) -> tensor<1x1xf32> {
  %0 = tensor.expand_shape %x [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
