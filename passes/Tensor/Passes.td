//===- Passes.td - passes of stage tensor ---------------------------------===//
//
// Owns the declarations and documentation of the passes between stage `graph` and stage `tensor`.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_PASSES_TENSOR_PASSES
#define TRN_PASSES_TENSOR_PASSES

include "mlir/Pass/PassBase.td"

def OnnxToLinalgPass : Pass<"onnx-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower ONNX operations to linalg on tensors";
  let description = [{
    **Contract in**: stage `graph` (static ranked types, normalised attributes). **Contract out**: the only operation of the
    onnx dialect is `onnx.weight`; every structured operation is a map, a reduction or a sum of products; locations are
    those of the ONNX operations.

    An elementwise operator whose record names one scalar operation for its element type becomes a map with that
    operation; every other operator has one function in passes/Tensor/OnnxToLinalg. All operations that have no lowering
    are reported in one run.

    **Example**
    ```mlir
    %y = onnx.Sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // →
    %e = tensor.empty() : tensor<4x8xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = trn.scalar sigmoid %in : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    ```
    **Not done**: control flow; results whose size depends on data.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::trn::ir::TrnDialect",
                           "::trn::onnx::ONNXDialect"];
}

def SimplifyMovementPass : Pass<"tensor-simplify-movement", "::mlir::func::FuncOp"> {
  let summary = "Cancel reshapes, transposes and slices";
  let description = [{
    **Contract in**, **out**: stage `tensor`. Chains of reshapes, of transposes and of slices become one or none; a reshape
    that adds unit dimensions moves behind the maps that read it, to where it cancels.

    **Example**: squeeze and excitation keeps [1, C] through its activations
    ```mlir
    %0 = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [1, 96, 1, 1] : tensor<1x96xf32> into tensor<1x96x1x1xf32>
    %1 = linalg.generic … ins(%0 : tensor<1x96x1x1xf32>) …
    %2 = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<1x96x1x1xf32> into tensor<1x96xf32>
    // →
    %2 = linalg.generic … ins(%x : tensor<1x96xf32>) …
    ```
    **Not done**: composing transposes into indexing maps (tile-normalize-structure does, when the layout is known to want it).
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldConstantsPass : Pass<"tensor-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute what depends on weights only";
  let description = [{
    **Contract in**, **out**: stage `tensor`. An operation on constants is replaced by an `onnx.weight` with its value, as the
    reference evaluator computes it, when the result has at most `max-elements` elements or no more than its largest operand.
    Reshapes of weights share the weight's bytes. Shifts and masks of large weights stay: they take apart what is packed.
    Large transposes, slices and casts of weights stay: the layout makes them
    part of the weight's lazy transforms.

    **Example**
    ```mlir
    %w = onnx.weight dense_resource<conv1.weight> : tensor<64x3x1x1xf32>
    %0 = tensor.collapse_shape %w [[0], [1, 2, 3]] : tensor<64x3x1x1xf32> into tensor<64x3xf32>
    // →
    %0 = onnx.weight dense_resource<conv1.weight> : tensor<64x3xf32>
    ```
    **Not done**: loops.
  }];
  let options = [Option<"maxElements", "max-elements", "int64_t", "65536",
                        "largest computed weight that is larger than its operands (64 Ki keeps tables and masks)">];
  let dependentDialects = ["::trn::onnx::ONNXDialect"];
}

def NarrowIntegersPass : Pass<"tensor-narrow-integers", "::mlir::func::FuncOp"> {
  let summary = "Compute integers of 64 bits in 32, where that is proved";
  let description = [{
    **Contract in**: stage `tensor`. **Contract out**: a tensor of integers of 64 bits, and a body with such scalars, is one
    that needs them: what is left is computed by library kernels (`tensor-call-library`). An argument or result whose
    element type changed keeps what the caller sees as the attribute `onnx.host_type`.

    The proof is an interval for each scalar and for the elements of each tensor (`IntegerRanges`): of constants, element
    types, positions, reductions over so many elements. A structured operation computes in 32 bits when all of its numbers
    have them and each scalar operation gives the same there; otherwise its body stays, and tensors that have 32 bits are
    widened where they enter it. Bounds of minima and maxima, and where such reductions start, go to the nearest end, which
    means the same. Movement keeps the width of what it moves.

    An argument is narrow when its attribute `onnx.range` says so (`onnx-bound-inputs`: positions, which the runtime
    checks). Parts of a program share `onnx.range` on both sides of their border, and 64 bits without one. Every tensor that
    changes, with its range, and every operation that needs 64 bits is a remark.

    **Example**
    ```mlir
    %w = onnx.weight dense<[7, -8]> : tensor<2xi64>
    ^bb0(%a: i8, %b: i64, %o: i64):
      %c = arith.extsi %a : i8 to i64
      %d = arith.muli %c, %b : i64
      linalg.yield %d : i64
    // →
    ^bb0(%a: i8, %b: i32, %o: i32):
      %c = arith.extsi %a : i8 to i32
      %d = arith.muli %c, %b : i32
      linalg.yield %d : i32
    ```
    **Not done**: bounds that follow from comparisons; ranges across parts other than those that `onnx.range` says.
  }];
  let options = [Option<"printRanges", "print-ranges", "bool", "false",
                        "a remark with the range of every integer of 64 bits; off: what changes is reported">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::trn::onnx::ONNXDialect"];
}

def NarrowTypesPass : Pass<"tensor-narrow-types", "::mlir::func::FuncOp"> {
  let summary = "Store elements as types that the device has";
  let description = [{
    **Contract in**: stage `tensor`. **Contract out**: no value is an integer of less than a byte or a float of at most 8
    bits; no tensor holds booleans (scalars in bodies still do). A function's argument or result whose element type changed keeps what the caller sees as the attribute
    `onnx.host_type`.

    Small integers are bytes; small floats are fp16, powers of two bf16, which have all their values: bodies round before
    they store. A boolean in memory is 0 or 1: bodies compare what they read with 0 and extend what they store. Each
    argument and result that changes is a remark.

    **Example**
    ```mlir
    ^bb0(%a: i32, %b: i32, %o: i1):
      %c = arith.cmpi eq, %a, %b : i32
      linalg.yield %c : i1
    // →
    ^bb0(%a: i32, %b: i32, %o: i8):
      %c = arith.cmpi eq, %a, %b : i32
      %d = arith.extui %c : i1 to i8
      linalg.yield %d : i8
    ```
    **Not done**: numbers of 64 bits (`tensor-narrow-integers`, `tensor-call-library`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::trn::onnx::ONNXDialect"];
}

def CallLibraryPass : Pass<"tensor-call-library", "::mlir::func::FuncOp"> {
  let summary = "Compute with library kernels what the engines have no arithmetic for";
  let description = [{
    **Contract in**: stage `tensor`, types narrowed. **Contract out**: numbers of 64 bits are operands and results of
    `trn.kernel`, of reshapes and of constants only.

    By type, not by operator: every structured operation that touches or computes such a number (maps, reductions, sums of
    products, gathers) becomes one call of `library_loops`, whose loops are its iterators, whose strides are its indexing maps and
    whose program is its body. So does movement: slices, pads, concatenations, transposes. Reshapes stay views. A parallel
    iterator goes innermost where a reduction would be: the order in which an element sums its terms stays.

    **Example**
    ```mlir
    %y = linalg.generic … ins(%a, %b : tensor<4xf64>, tensor<4xf64>) … { %s = arith.addf %x, %y : f64  linalg.yield %s : f64 }
    // →
    %y = trn.kernel "library_loops" ins(%a, %b : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>)
        parameters {bounds = array<i32: 4>, offsets = array<i32: 0, 0, 0>, …} -> tensor<4xf64>
    ```
    **Not done**: indexing maps with divisions, more than six operands: refused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::trn::ir::TrnDialect"];
}

def AssignPrecisionPass : Pass<"tensor-assign-precision", "::mlir::func::FuncOp"> {
  let summary = "Use narrower floats where --auto-cast asks for them";
  let description = [{
    **Contract in**, **out**: stage `tensor`. Arguments and results of the function keep their types.

    With `matmult`, what sums of products multiply is rounded to the narrow type; with `all`, what maps store is too (not the
    results of reductions and sums of products, which are f32, and not what becomes a position in a tensor). Arithmetic is
    f32 in every mode: bodies widen what they read and round what they store. Casts of weights are folded; casts of activations fuse into the maps that make them, also
    through padding, slices and transposes that only sums of products read.

    **Example**, `auto-cast=matmult auto-cast-type=bf16`
    ```mlir
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
    // → both operands cast to tensor<…xbf16>, and
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %p = arith.mulf %0, %1 : f32
      %s = arith.addf %o, %p : f32
    ```
    **Not done**: keeping sensitive operations in f32 by themselves; tf32 and 8-bit floats.
  }];
  let options = [Option<"autoCast", "auto-cast", "std::string", "\"none\"", "none, matmult or all">,
                 Option<"autoCastType", "auto-cast-type", "std::string", "\"bf16\"", "bf16 or fp16">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::trn::onnx::ONNXDialect"];
}

def FuseElementwisePass : Pass<"tensor-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse maps into the maps that use them";
  let description = [{
    **Contract in**, **out**: stage `tensor`. A map is fused into a map that uses it when it has one user, or when it is
    cheap (at most `max-cheap-ops` scalar operations, none of them a function of math or trn.scalar), all its users are maps
    and it reads one tensor of its size: then no tensor is made where two would be read. Contractions and reductions keep their inputs: the layout decides what they are fed with.

    **Example**: an addition of a bias, then a ReLU
    ```mlir
    %0 = linalg.generic … { %s = arith.addf %in, %b : f32 linalg.yield %s : f32 }
    %1 = linalg.generic … ins(%0) { %m = arith.maximumf %in, %zero : f32 linalg.yield %m : f32 }
    // →
    %1 = linalg.generic … { %s = arith.addf %in, %b : f32  %m = arith.maximumf %s, %zero : f32  linalg.yield %m : f32 }
    ```
    **Not done**: fusing producers of several results; duplicating work that is not cheap.
  }];
  let options = [Option<"maxCheapOps", "max-cheap-ops", "unsigned", "2",
                        "scalar operations that may be computed twice (an affine scale and shift)">,
                 Option<"maxBodyOps", "max-body-ops", "unsigned", "256",
                        "scalar operations, and inputs, of one map: fusing costs their square">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ReadFixedRowsPass : Pass<"tensor-read-fixed-rows", "::mlir::func::FuncOp"> {
  let summary = "Read with an operand what lies at a known place";
  let description = [{
    **Contract in**, **out**: stage `tensor`. A map that reads a table at iterators and at constant places (a Gather of equal
    indices, once its index is a number in the body) has a slice of it as an operand instead: nothing is gathered then.

    **Example**
    ```mlir
    %0 = linalg.generic … { %j = linalg.index 1 : index  %e = tensor.extract %x[%c1, %j]  linalg.yield %e : f32 }
    // →
    %s = tensor.extract_slice %x[1, 0] [1, 7] [1, 1] : tensor<3x7xf32> to tensor<7xf32>
    %0 = linalg.generic {indexing_maps = [(d0, d1) -> (d1), …]} ins(%s) { linalg.yield %in : f32 }
    ```
    **Not done**: places that are sums of iterators, and places outside of the table.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif
