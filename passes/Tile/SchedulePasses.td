//===- SchedulePasses.td - passes of stage grouped -> tiled ---------------===//
// Declares the passes that turn a group function into device tiles. The plan itself is an analysis (TilePlan.h).
#ifndef TRN_PASSES_TILE_SCHEDULEPASSES
#define TRN_PASSES_TILE_SCHEDULEPASSES

include "mlir/Pass/PassBase.td"
include "passes/Target.td"

def StageTransfersPass : Pass<"tile-stage-transfers", "mlir::func::FuncOp"> {
  let summary = "Write every crossing between memories of a group as an operation";
  let description = [{
    *Contract in*: stage `grouped`: structured operations read HBM arguments directly, write HBM destinations directly,
    and the result of a contraction or partition transpose may have any consumer.

    *Contract out*: an HBM operand reaches a structured operation through `linalg.copy` (or `linalg.broadcast`, when the
    operand has no partition iterator and every partition needs it); an HBM destination is written by `linalg.copy`
    only; an on-chip operand that lies on one partition and that every partition reads is spread by a
    product with ones; the result of every operation that the PE writes has exactly one consumer, and that consumer is a map or a
    `linalg.copy` (the *drain*). Identity generics are `linalg.copy`, which canonicalisation keeps.

    *Example*:
    ```mlir
    %c = linalg.generic {contraction} ins(%x, %w : tensor<128x14xf32, #trn.sbuf>, tensor<128x64xf32, #trn.hbm>) ...
    ```
    becomes
    ```mlir
    %e = tensor.empty() : tensor<128x64xf32>
    %l = linalg.copy ins(%w : tensor<128x64xf32, #trn.hbm>) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
    %c = linalg.generic {contraction} ins(%x, %l : tensor<128x14xf32, #trn.sbuf>, tensor<128x64xf32>) ...
    ```

    *Not done*: choosing residency; the caller's destinations say where whole tensors live.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect"];
}

def PlanSchedulePass : Pass<"tile-plan-schedule", "mlir::func::FuncOp"> {
  let summary = "Plan tiles and loop order of a group, and report the plan";
  let description = [{
    *Contract in*: a group after `tile-stage-transfers`.

    *Contract out*: the same IR. The plan is the analysis `TilePlanAnalysis`; this pass computes it, keeps it for
    `tile-apply-schedule`, and reports it as one `analysis` remark per nest.

    *Example*: remark of a 3x3 convolution with bias and ReLU on 56x56:
    `nest of linalg.generic: tile [0, 1, 8, 0], order [0, 1, 2, 3], fused: linalg.generic, linalg.fill, linalg.copy`.

    *Not done*: no search; the rules are in TilePlan.cpp with their sources.
  }];
  let options = [TargetOption<>];
}

def ApplySchedulePass : Pass<"tile-apply-schedule", "mlir::func::FuncOp"> {
  let summary = "Tile a group by its plan";
  let description = [{
    *Contract in*: a group after `tile-stage-transfers`.

    *Contract out*: every structured operation is one device tile with static sizes. Ragged edges are operations of
    their own (split before tiling, so that no size is ever dynamic). Reduction loops of a contraction are innermost and
    carry its accumulator; loads that do not depend on a loop are outside it.

    *Example*: `linalg.generic` over `(m1: 128, m0: 2, y: 56, x: 56, k1: 128, k0: 2)` with a drain becomes
    `scf.for m0 { scf.for y step 8 { scf.for k0 { generic } ; drain } }`.

    *Not done*: multi-buffering; the scheduler gives every iteration its own buffers.
  }];
  let options = [TargetOption<>];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect",
                           "mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
                           "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
}

def PlacePass : Pass<"tile-place", "mlir::func::FuncOp"> {
  let summary = "Give every tensor of a group its memory";
  let description = [{
    *Contract in*: a tiled group whose signature has spaces and whose inner tensors have none.

    *Contract out*: every tensor type has an encoding. What the PE writes is `#trn.psum`; what is tied to an argument has
    the argument's space; all else is `#trn.sbuf`. An operation that cannot reach an operand where it lies is an error
    that names the ONNX node.

    *Example*: `tensor.empty() : tensor<128x49xf32>` under a contraction becomes
    `tensor.empty() : tensor<128x49xf32, #trn.psum>`.

    *Not done*: no operation is added; a missing crossing is an error here, not a repair.
  }];
}

def ReuseDestinationsPass : Pass<"tile-reuse-destinations", "mlir::func::FuncOp"> {
  let summary = "Compute into the tensor that a value is inserted into";
  let description = [{
    *Contract in*: placed tensors, destinations used once.

    *Contract out*: a `tensor.empty` whose value is only inserted into, or copied to, a tensor in the same memory is that
    tensor's slice. The copy is gone: its users read the value.

    *Example*: the drain of a convolution writes the interior of the next layer's padded input, without a copy.

    *Not done*: anything across memories.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::tensor::TensorDialect"];
}

def SplitDestinationsPass : Pass<"tile-split-destinations", "mlir::func::FuncOp"> {
  let summary = "Give every use of a destination a destination of its own";
  let description = [{
    *Contract in*: tensors in destination style; equal `tensor.empty` and `linalg.fill` may be shared (CSE merges them).

    *Contract out*: every `tensor.empty` and every `linalg.fill` of one has one use, in the block of its definition. No
    CSE may run between this pass and bufferisation: merged destinations make one buffer hold two values, which costs
    copies or, across spaces, is wrong.

    *Example*: one `tensor.empty` used as destination by two maps becomes two.

    *Not done*: destinations that are arguments stay shared: the caller decided that.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

#endif
