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

// expected-error @+1 {{stage graph, M6: expected a tensor of static shape, but got 'tensor<?xf32>'}}
func.func @main(%x: tensor<?xf32> {onnx.name = "x"}) -> (tensor<?xf32> {onnx.name = "y"}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{stage graph, M7: expected inputs and outputs that are tensors or sequences of them, but got 'f32'}}
func.func @main(%x: f32 {onnx.name = "x"}, %y: tensor<2xf32> {onnx.name = "y"}) -> (tensor<2xf32> {onnx.name = "z"}) {
  return %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M6: expected a tensor of static shape, but got '!onnx.seq<f32>'}}
func.func @main(%x: !onnx.seq<f32> {onnx.name = "x"}, %y: tensor<2xf32> {onnx.name = "y"}) -> (tensor<2xf32> {onnx.name = "z"}) {
  return %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M7: expected a body that ends in 'func.return'}}
func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  onnx.yield %x : tensor<2xf32> loc("end")
}

// -----

// expected-error @+1 {{stage graph, M8: expected the number of an output as 'onnx.count' of output #0}}
func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y", onnx.count = 1, onnx.count_dim = 0}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{stage graph, M8: expected one 32-bit integer as the count of output #0, but got 'tensor<2xi32>'}}
func.func @main(%x: tensor<2xf32> {onnx.name = "x"}, %n: tensor<2xi32> {onnx.name = "n"})
    -> (tensor<2xf32> {onnx.name = "y", onnx.count = 1, onnx.count_dim = 0}, tensor<2xi32> {onnx.name = "m"}) {
  return %x, %n : tensor<2xf32>, tensor<2xi32>
}
