// RUN: trn-opt %s --split-input-file --verify-diagnostics --trn-verify-stage=stage=graph

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("relu")
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M1: expected a function @main}}
module {}

// -----

// expected-error @+1 {{stage graph, M1: expected one function @main and nothing beside it}}
func.func @other() {
  return
}

// -----

// expected-error @+1 {{stage graph, M2: expected a name of output #0 ('onnx.name')}}
func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M2: expected inputs of different names, but two are named 'x'}}
func.func @main(%x: tensor<2xf32> {onnx.name = "x"}, %y: tensor<2xf32> {onnx.name = "x"}) {
  return
}

// -----

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  // expected-error @+1 {{stage graph, M3: expected operations of ONNX only, but got 'math.sqrt'}}
  %0 = math.sqrt %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  // expected-error @+1 {{stage graph, M4: expected the name of the ONNX node in the location of 'onnx.Relu'}}
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M6: expected a static shape, but got 'tensor<?xf32>'}}
func.func @main(%x: tensor<?xf32> {onnx.name = "x"}) -> (tensor<?xf32> {onnx.name = "y"}) {
  return %x : tensor<?xf32>
}
