// RUN: trn-opt %s --split-input-file --verify-diagnostics --trn-verify-stage=stage=tensor

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %w = onnx.weight dense<[1.0, 2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %0 = linalg.map ins(%x, %w : tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<2xf32>) (%a: f32, %b: f32, %out: f32) {
    %1 = trn.scalar sigmoid %a : f32
    %2 = arith.mulf %1, %b : f32
    linalg.yield %2 : f32
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  // expected-error @+1 {{stage tensor, T1: expected linalg, tensor, arith, math, scf, library kernels and weights only, but got 'onnx.Relu'}}
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage tensor, T2: expected a tensor without a place in memory, but got 'tensor<2xf32, #trn.sbuf>'}}
func.func @main(%x: tensor<2xf32, #trn.sbuf> {onnx.name = "x"}) {
  return
}

// -----

// Reshapes of what library kernels compute are views; nothing else touches integers of 64 bits.
func.func @main(%x: tensor<2xi64> {onnx.name = "x"}) {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
  // expected-error @+1 {{stage tensor, T3: expected elements of at most 32 bits that the device has (64 bits: in library kernels), but got 'tensor<1x1xi64>'}}
  %1 = tensor.extract_slice %0[0, 0] [1, 1] [1, 1] : tensor<2x1xi64> to tensor<1x1xi64>
  return
}

// -----

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) {
  %0 = arith.constant 0.0 : f32
  // expected-error @+1 {{stage tensor, T3: expected elements of at most 32 bits that the device has (64 bits: in library kernels), but got 'tensor<2xi1>'}}
  %1 = tensor.empty() : tensor<2xi1>
  return
}

// -----

// What has no elements is a constant: the structure of an operation on nothing is not defined.
func.func @main(%x: tensor<0x4xf32> {onnx.name = "x"}) -> (tensor<0x4xf32> {onnx.name = "y"}) {
  %0 = tensor.empty() : tensor<0x4xf32>
  // expected-error @+1 {{stage tensor, T4: expected tensors with elements in 'linalg.copy'}}
  %1 = linalg.copy ins(%x : tensor<0x4xf32>) outs(%0 : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %1 : tensor<0x4xf32>
}
