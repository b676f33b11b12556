//===- Passes.td - passes of stage graph ----------------------------------===//
//
// Owns the declarations and documentation of the passes on the onnx dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_PASSES_GRAPH_PASSES
#define TRN_PASSES_GRAPH_PASSES

include "mlir/Pass/PassBase.td"

def InferFoldPass : Pass<"onnx-infer-fold", "::mlir::func::FuncOp"> {
  let summary = "Infer shapes and fold constants, in one fixpoint";
  let description = [{
    **Contract in**: stage `imported`. **Contract out**: every value has a static, ranked type; attributes are
    normalised; no operand of a record's `moves` is left.

    One walk in order moves constant operands into attributes, runs the shape rule and folds what has become constant;
    it repeats until nothing changes. A splat stays a splat whatever its size; other results are folded when they have
    at most `max-elements` elements or no more than the largest operand. Every value without a static type at the end
    is an error at the operation that causes it.

    A result whose size data decides has its largest size; how much of it is valid is a count, which ends as a result of its
    own (`onnx.count` and `onnx.count_dim` of the function's results).

    **Example**
    ```mlir
    %s = onnx.Shape(%x) : (tensor<1x16x4x4xf32>) -> tensor<?xi64>
    %y = onnx.Reshape(%w, %s) : (tensor<256xf32>, tensor<?xi64>) -> tensor<*xf32>
    // →
    %y = onnx.Reshape(%w) {shape = array<i64: 1, 16, 4, 4>} : (tensor<256xf32>) -> tensor<1x16x4x4xf32>
    ```
    **Not done**: folding of operators that `onnx-decompose` has to write out first.
  }];
  let options = [Option<"maxElements", "max-elements", "int64_t", "65536",
                        "largest folded result that is larger than its operands (64 Ki keeps shape tables and masks)">,
                 Option<"target", "target", "std::string", "\"trn2\"",
                        "device whose times decide whether an If is a branch or a selection; default trn2">];
  // Constants are evaluated through their lowering.
  let dependentDialects = ["::trn::onnx::ONNXDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::trn::ir::TrnDialect"];
}

def BoundInputsPass : Pass<"onnx-bound-inputs", "::mlir::func::FuncOp"> {
  let summary = "Say which inputs are positions";
  let description = [{
    **Contract in**, **out**: static types. An input of 64-bit integers all of whose elements are positions in a dimension
    (the operands that a record names `indexOperands`; reshapes and transposes in between keep all elements) gets the
    attribute `onnx.range` with the positions that there are: a number outside of them is an error of whoever runs the
    model. Such inputs have 32 bits on the device, and the runtime refuses numbers that do not fit. Where the reader is in
    a loop or branch, which may not run, the range is that of 32 bits.

    **Example**: an embedding of 30522 words
    ```mlir
    func.func @main(%ids: tensor<1x128xi64> {onnx.name = "ids"}) …
      %y = onnx.Gather(%table, %ids) … : (tensor<30522x768xf32>, tensor<1x128xi64>) -> tensor<1x128x768xf32>
    // →
    func.func @main(%ids: tensor<1x128xi64> {onnx.name = "ids", onnx.range = array<i64: -30522, 30521>}) …
    ```
    **Not done**: inputs of which a part is a position.
  }];
}

def SplitControlPass : Pass<"onnx-split-control", "::mlir::ModuleOp"> {
  let summary = "Split a model at the loops and branches of the device";
  let description = [{
    **Contract in**: static types, loops and branches of the device as `onnx.repeat` and `onnx.branch`. **Contract out**: a module without one is
    unchanged; otherwise modules `@part0`, `@part1`, … with a function `@main` each, and a `trn.program` that says their
    order. What crosses from part to part does so in device memory, by the names of inputs and outputs.

    **Example**
    ```mlir
    %r:2 = onnx.repeat(%n, %zero, %x) {
    ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
      …
    } {limit = 2147483647 : i64, …}
    // →
    module @part0 { … }  // puts %n, %zero and %x into loop0.count, loop0.0 and loop0.1
    module @part1 { … }  // takes loop0.0 and loop0.1, leaves loop0.0.next and loop0.1.next
    trn.program inputs(["n", "x"]) outputs(["y"]) {
      trn.run @part0
      trn.repeat count("loop0.count") limit(2147483647) carried(["loop0.0", "loop0.1"]) { trn.run @part1 }
      …
    }
    ```
    **Not done**: values that stay in SBUF across the border of a part.
  }];
  let dependentDialects = ["::trn::onnx::ONNXDialect", "::trn::ir::TrnDialect"];
}

def SimplifyPass : Pass<"onnx-simplify", "::mlir::func::FuncOp"> {
  let summary = "Remove operations that do nothing, and use cheaper equals";
  let description = [{
    **Contract in**, **out**: static types. Removes Identity, casts to the own type, reshapes,
    transposes, slices, pads, expands and concatenations without effect; merges chains of Reshape and of Transpose; turns
    division by powers of two into multiplication, and small constant powers into products. The numbers stay the same.

    **Example**
    ```mlir
    %c = onnx.weight dense<8.0> : tensor<f32>
    %y = onnx.Div(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // → onnx.Mul(%x, 0.125)
    ```
    **Not done**: rewriting integer division; division by a number without an inverse of its type (x / 41 is 1 for 41, and
    x · (1 / 41) is not); one product for (x · c) · d, whose range is another.
  }];
  let dependentDialects = ["::trn::onnx::ONNXDialect"];
}

def FoldNormalizationPass : Pass<"onnx-fold-normalization", "::mlir::func::FuncOp"> {
  let summary = "Fold BatchNormalization into the weights before it";
  let description = [{
    **Contract in**, **out**: static types. BatchNormalization with constant statistics behind a Conv, ConvTranspose or Gemm
    with constant weights goes into its weights and bias, where these stay in the range of their type; a constant by channel
    that is added to one without a bias becomes its bias.

    **Example**: `BatchNormalization(Conv(x, w), …)` → `Conv(x, w · s, t)`.

    **Not done**: types of less than 32 bits, where the result of the convolution is rounded before it is normalised; other
    scales, and shifts behind a bias, whose order of roundings is the model's (an engine applies them to what it takes from
    the convolution anyway); moving a scale forward into the next convolution (padding would see the shift).
  }];
  let dependentDialects = ["::trn::onnx::ONNXDialect"];
}

def RecomposePass : Pass<"onnx-recompose", "::mlir::func::FuncOp"> {
  let summary = "Recognise composites that an exporter spread over nodes";
  let description = [{
    **Contract in**, **out**: static types. LayerNormalization from ReduceMean, Sub, Pow, Sqrt and Div with its scale and
    bias; Gelu (erf and tanh forms), Swish, HardSwish, Mish; Softmax from Exp, ReduceSum and Div.

    **Example**: `Mul(Mul(x, Add(Erf(Mul(x, 0.70710678)), 1)), 0.5)` → `Gelu(x)`.

    **Not done**: attention and rotary embeddings.
  }];
  let dependentDialects = ["::trn::onnx::ONNXDialect"];
}

def DecomposePass : Pass<"onnx-decompose", "::mlir::func::FuncOp"> {
  let summary = "Express operators that have no lowering of their own by others";
  let description = [{
    **Contract in**: static types. **Contract out**: no Flatten, Squeeze, Unsqueeze, Dropout,
    OneHot, Trilu, CenterCropPad, no BatchNormalization in training, no attention, loss or optimiser; LSTM and
    LinearAttention of at most `max-steps` steps are unrolled.

    **Example**: `Trilu(x)` → `Where([[1, 1], [0, 1]], x, 0)`.

    **Not done**: GRU and RNN; what has a lowering to linalg, which is its one meaning.
  }];
  let options = [Option<"maxSteps", "max-steps", "int64_t", "128",
                        "longest recurrence that is unrolled (the instructions grow with the steps)">];
  let dependentDialects = ["::trn::onnx::ONNXDialect"];
}

#endif
