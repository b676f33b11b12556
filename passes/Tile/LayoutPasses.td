//===- LayoutPasses.td - passes of stage tensor -> grouped ----------------===//
// Declares the passes that give tensors a layout and gather operations into groups. The plan is an analysis
// (LayoutPlan.h).
#ifndef TRN_PASSES_TILE_LAYOUTPASSES
#define TRN_PASSES_TILE_LAYOUTPASSES

include "mlir/Pass/PassBase.td"
include "passes/Target.td"

/// Both passes of a plan ask for it with the same options.
defvar residentPercent = "85";
def ResidentPercentOption : Option<
    "residentPercent", "resident-percent", "unsigned", residentPercent,
    "Share of the smallest SBUF of all devices that whole tensors may take; default " # residentPercent # ": the rest is "
    "for tiles of weights and temporaries">;

def CrowdedNodesOption : ListOption<
    "crowdedNodes", "crowded-nodes", "std::string",
    "Nodes at which a program has exceeded SBUF: whole tensors may take less of it there (LayoutOptions::kCrowdedPercent) "
    "for each time that a node is named; default none">;

def NormalizeStructurePass : Pass<"tile-normalize-structure", "mlir::func::FuncOp"> {
  let summary = "Bring the operations of stage tensor to the few forms that layouts are chosen for";
  let description = [{
    *Contract in*: stage `tensor`.

    *Contract out*: stage `tensor`; named linalg operations are `linalg.generic` (fill, copy and transposes of constants
    excepted), transposes are composed into the maps of the generics that read them, contractions and reductions start
    from a constant, a gather of rows is an operation of its own that computes nothing. Tensors of rank 0 have one
    dimension of one element, but for inputs, outputs and constants.

    *Example*:
    ```mlir
    %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, ...]} ins(%t : tensor<8x4xf32>) ...
    ```
    becomes
    ```mlir
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, ...]} ins(%x : tensor<4x8xf32>) ...
    ```

    *Not done*: anything that changes a number.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def SplitPlanesPass : Pass<"tile-split-planes", "mlir::func::FuncOp"> {
  let summary = "Compute big planes band by band where SBUF has no room for them whole";
  let description = [{
    Few channels leave most partitions empty, and their big planes fill the few: whole tensors of them find no room in
    SBUF and would pass through HBM. Around such a tensor the operations that make and read it, and their neighbours as
    far as tensors are wide, are computed band by band: rows of the outputs, and of everything between what these rows
    need. At the border of two bands a few rows are computed in both, nothing is moved between partitions. Of 1, 2, 4, 8
    and 16 bands that is taken whose layout plan costs least, transfers of what stays in HBM included.

    *Contract in*: stage `tensor`, normalised.

    *Contract out*: stage `tensor`; an output of a region is the concatenation of its bands.

    *Example*: for a 3x3 convolution, a ReLU and a pool of `tensor<1x24x320x320xf32>`, with `print-plan`:
    ```
    planes of 'conv1' to 'pool1' (4 operations): 4 bands, 61.0 us with 0 bytes by way of HBM, instead of 88.1 us with 19660800
    ```

    *Not done*: regions that a reduction over the rows interrupts, across it; two dimensions at once.
  }];
  let options = [
    TargetOption<>, ResidentPercentOption, CrowdedNodesOption,
    Option<"foldsTaps", "folds-taps", "bool", /*default=*/"true", "whether tile-fold-taps follows: it is planned for; default true">,
    Option<"printPlan", "print-plan", "bool", /*default=*/"false", "print decisions to the error stream, for tests">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def FoldTapsPass : Pass<"tile-fold-taps", "mlir::func::FuncOp"> {
  let summary = "Put kernel taps beside the channels of a convolution with few channels";
  let description = [{
    A contraction over 3 channels uses 3 of the 128 rows of the PE array. Here kernel rows, and as many kernel columns as
    pay, are gathered into the partitions when the tensor is loaded: one copy per tap, with the strides of the rows and a
    shift of the columns, so that what moves stays contiguous. Taken where the PE time that it saves is more than the DMA
    time that it costs. A large picture is folded in strips of rows, each small in SBUF: products of one strip hide the
    load of the next. The maps that read the result are repeated for every strip, and a concatenation, inside which the
    strips are made, puts them side by side.

    Of a tensor made on chip, taps in a row of one kernel dimension join the channels by copies from partition to
    partition, where PE gains more than they cost: with 64 channels, two rows of a 3x3 kernel.

    *Contract in*: stage `tensor`, normalised.

    *Contract out*: stage `tensor`.

    *Example*: a 3x3 convolution of `tensor<3x30x30xf32>` becomes one over `tensor<27x28x28xf32>`, the concatenation of
    nine slices. Of a 7x7 kernel with stride 2, four columns are folded: the result reads `tensor<84x112x227xbf16>` at
    columns `2 * x + 4 * tap`, and the kernel, padded to eight columns, has two taps left.

    *Not done*: taps of both kernel dimensions of a tensor made on chip; grouped convolutions.
  }];
  let options = [TargetOption<>];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def ChooseLayoutPass : Pass<"tile-choose-layout", "mlir::func::FuncOp"> {
  let summary = "Plan the layout of every tensor, and report the plan";
  let description = [{
    *Contract in*: stage `tensor`, normalised.

    *Contract out*: the same IR. The plan is the analysis `LayoutAnalysis`; this pass computes it, keeps it for
    `tile-apply-layout`, reports conversions and spills as remarks, and fails with one error per operation that has no
    layout.

    *Example*: with `print-plan`, for a convolution:
    ```
    layout plan: 2.1 us, optimal, peak 1024 of 117964 bytes per partition
      linalg.generic 'conv1': contraction holding operand 1, contracted d4, operands (dim 1, dim 1) -> dim 1 [96x2x30x30] halo
    ```

    *Not done*: loop tiles (tile-plan-schedule).
  }];
  let options = [
    TargetOption<>, ResidentPercentOption, CrowdedNodesOption,
    Option<"printPlan", "print-plan", "bool", /*default=*/"false", "print the plan to the error stream, for tests">
  ];
}

def ApplyLayoutPass : Pass<"tile-apply-layout", "mlir::ModuleOp"> {
  let summary = "Rewrite @main from logical to physical tensors";
  let description = [{
    *Contract in*: stage `tensor`, normalised; every operation has a layout.

    *Contract out*: `@main` has no arguments and no results: they are `trn.global`s, as are weights, laid out by
    `transforms`. On-chip tensors are partition first with space `#trn.sbuf` (`#trn.hbm` when spilled); other tensors are
    row-major in `#trn.hbm`. What is spilled, but lies in HBM in row-major order anyway, stays as it is: readers load it by
    `linalg.transpose` into a tensor without a space, and what is made on chip is stored there by one. Uneven partitions are peeled, pads are halos of their source, a change of layout is a
    `linalg.copy` or `linalg.transpose` per block, accumulators of contractions have no space and leave through
    `linalg.copy` or a map.

    *Example*:
    ```mlir
    %r = linalg.generic {map over (n, c, h, w)} ins(%x : tensor<1x256x14x14xf32>) ...
    ```
    becomes
    ```mlir
    %r = linalg.generic {map over (lane, chunk, h, w)} ins(%x : tensor<128x2x14x14xf32, #trn.sbuf>) ...
    ```

    *Not done*: groups.
  }];
  let options = [TargetOption<>, ResidentPercentOption, CrowdedNodesOption];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect",
                           "mlir::bufferization::BufferizationDialect", "mlir::memref::MemRefDialect", "::trn::ir::TrnDialect"];
}

def FormGroupsPass : Pass<"tile-form-groups", "mlir::ModuleOp"> {
  let summary = "Gather the operations of @main into private functions in destination style";
  let description = [{
    *Contract in*: `tile-apply-layout`'s.

    *Contract out*: stage `grouped`: every structured operation is in a group function; equal groups are one symbol;
    tensors made and used inside one group have no space.

    *Example*:
    ```mlir
    %c = linalg.generic {contraction} ... outs(%f : tensor<128x14x14xf32>)
    %d = linalg.copy ins(%c) outs(%e : tensor<128x14x14xf32, #trn.sbuf>)
    %r = linalg.generic {bias and ReLU} ins(%d, ...) ...
    ```
    becomes `%r = call @g0(%x, %w, %b, %e)`, in which the map reads the accumulator.

    *Not done*: fusing a reduction into the contraction before it.
  }];
  let options = [
    Option<"printPlan", "print-plan", "bool", /*default=*/"false", "print the groups to the error stream, for tests">
  ];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::tensor::TensorDialect"];
}

def AccumulateAddendsPass : Pass<"tile-accumulate-addends", "mlir::ModuleOp"> {
  let summary = "Let PE add a tensor to an accumulator before it is emptied";
  let description = [{
    A residual connection adds a tensor to the result of a contraction. DVE would read both for it; PE adds the product
    of the tensor with the identity to what PSUM holds, at one column per cycle, and the map that empties PSUM has one
    operand less. The product is exact where no element is infinite (0 times infinity reaches every lane): tensors that may
    be, inputs of the model and what derives from infinite constants, stay with DVE. Taken for 16-bit tensors where PE
    then is not longer at work than DVE was.

    *Contract in*: stage `grouped`.

    *Contract out*: stage `grouped`; the identity is one more argument of such groups, loaded once. In `a + b + r` the
    addend `r` joins the first sum, and what was rounded in front of its addition is rounded once, behind it.

    *Example*:
    ```mlir
    %c = linalg.generic {contraction} ... outs(%zero : tensor<128x14x14xf32>)
    %y = linalg.generic {relu(c + bias + r)} ins(%c, %bias, %r : ..., tensor<128x14x14xbf16, #trn.sbuf>) ...
    ```
    becomes
    ```mlir
    %c = linalg.generic {contraction} ... outs(%zero : tensor<128x14x14xf32>)
    %d = linalg.generic {contraction} ins(%r, %identity : ...) outs(%c : tensor<128x14x14xf32>)
    %y = linalg.generic {relu(d + bias)} ins(%d, %bias : ...) ...
    ```

    *Not done*: differences; addends in other orders of their elements.
  }];
  let options = [TargetOption<>];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect",
                           "mlir::bufferization::BufferizationDialect", "::trn::ir::TrnDialect"];
}

def VerifyGroupedPass : Pass<"tile-verify-grouped", "mlir::ModuleOp"> {
  let summary = "Check the contract of stage grouped";
  let description = [{
    *Contract in*: any module.

    *Contract out*: the same module; an error for each breach, by rule (`GroupedContract.h`).

    *Example*: a group with `tensor.extract_slice %x[16, 0] [64, 8] [1, 1]` of a tensor in SBUF is refused:
    `stage grouped, G5: expected adjacent partitions from 0, 32, 64 or 96 on, but got offset 16 and stride 1`.

    *Not done*: whether operations fit the device's tiles (stage `tiled`).
  }];
}

#endif
