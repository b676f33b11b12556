// A program, at stage graph, whose branch is decided by many floats.
module {
  module @first {
    func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}) -> (tensor<4x8xf32> {onnx.name = "many"}) {
      %y = onnx.Tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("first")
      return %y : tensor<4x8xf32>
    }
  }
  module @then {
    func.func @main(%x: tensor<4x8xf32> {onnx.name = "many"}) -> (tensor<4x8xf32> {onnx.name = "y"}) {
      %y = onnx.Neg(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("then")
      return %y : tensor<4x8xf32>
    }
  }
  trn.program inputs(["x"]) outputs(["y"]) {
    trn.run @first
    trn.either condition("many") {
      trn.run @then
    } else {
      trn.run @then
    }
  }
}
