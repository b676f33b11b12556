//===- Passes.td - passes of stage buffered -> selected -------------------===//
// Declares instruction selection. Each pass handles the operations of one kind and leaves what it cannot do, with an
// error that says why; trn-verify-selected then fails, so that all problems of a module are reported in one run.
#ifndef TRN_PASSES_SELECT_PASSES
#define TRN_PASSES_SELECT_PASSES

include "mlir/Pass/PassBase.td"

class SelectPass<string mnemonic> : Pass<mnemonic, "mlir::func::FuncOp"> {
  let dependentDialects = ["::trn::ir::TrnDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::arith::ArithDialect", "mlir::affine::AffineDialect"];
}

def SelectContractionsPass : SelectPass<"trn-select-contractions"> {
  let summary = "Contractions and partition transposes to instructions of the PE";
  let description = [{
    *Contract in*: stage `buffered`; a contraction's chunks and taps are loops around it, its accumulator is filled with
    zero before them.

    *Contract out*: `trn.nc_matmul`, which overwrites PSUM in the first step of its reduction loops and accumulates in
    the others (`accumulate_if`); the fill is gone, because PSUM that no matmul wrote cannot be accumulated onto
    (ISA32 nc_matmul). `trn.nc_transpose` for an exchange of partition and free dimension.

    *Example*: `linalg.fill(0, %psum); scf.for %k { linalg.generic {contraction} outs(%psum) }` becomes
    `scf.for %k { %p = arith.cmpi ne, %k, %first; trn.nc_matmul outs(%psum) … accumulate_if(%p) }`.

    *Not done*: `load_stationary`; the scheduler clears it where the array already holds the operand.
  }];
}

def ExpandScalarsPass : SelectPass<"trn-expand-scalars"> {
  let summary = "Compose scalar operations that no instruction computes";
  let description = [{
    *Contract in*: stage `buffered`.

    *Contract out*: every scalar operation of a body that has a composition is replaced by it: functions without an
    activation table (tan, asin, acos, asinh, acosh, atanh, cosh, log1p), functions whose table covers a part of the
    domain (sin, cos, atan, log, sqrt, rsqrt), unordered comparisons, division of integers, and integers of fewer than 32
    bits that wrap around where a write would saturate. Once per function: what
    it makes of `math.log` is a `math.log` of a scaled argument.

    *Example*: `arith.cmpf ueq, %a, %b` becomes `arith.xori (arith.ori (olt, ogt)), true`.

    *Not done*: floats of 64 bits.
  }];
}

def SelectLibraryPass : SelectPass<"trn-select-library"> {
  let summary = "Calls of library kernels to instructions of POOL";
  let description = [{
    *Contract in*: stage `buffered`; operands of `trn.kernel` are whole buffers in HBM.

    *Contract out*: the instruction of each call's record; a remark names the kernel, so that nobody takes a library call
    for compiled code.

    *Example*: `trn.kernel "library_loops" ins(%a : …) outs(%b : …) parameters {…}` becomes
    `trn.library_loops outs(%b : …) source0(%a : …) {…}`.

    *Not done*: anything about the numbers that a call carries; the record's rules are checked by the instruction.
  }];
}

def SelectElementwisePass : SelectPass<"trn-select-elementwise"> {
  let summary = "Elementwise operations to instructions of ACT, DVE and POOL";
  let description = [{
    *Contract in*: stage `buffered`; maps over one device tile.

    *Contract out*: the body's DAG is covered by as few instructions as its shapes allow: `trn.activation` with scale
    and bias, `trn.tensor_scalar` with two operators, `trn.scalar_tensor_tensor`, `trn.tensor_tensor`, `trn.select`.
    Values that depend on the partition only are computed once per partition. Temporaries are SBUF buffers of the tile.

    *Example*: `max(x + bias, 0)` out of PSUM becomes one `trn.activation … bias(%b) {func = relu}`.

    *Not done*: the engine; instructions that several engines have are left to the scheduler.
  }];
  let options = [Option<"device", "device", "std::string", "\"trn2\"",
                        "Target device: some operands need a later core version">];
}

def SelectReductionsPass : SelectPass<"trn-select-reductions"> {
  let summary = "Reductions over free dimensions to tensor_reduce";
  let description = [{
    *Contract in*: stage `buffered`; the partition iterator is parallel.

    *Contract out*: `trn.tensor_reduce` over the innermost dimensions of a view; a window is a view with overlapping
    rows. An elementwise part of the body is computed first, into a temporary. The fill with the reduction's identity
    is gone: tensor_reduce overwrites; any other initial value is combined afterwards. A sum over weighted taps is
    accumulated tap by tap instead: the weight is one scalar per partition, the product passes through PSUM.

    *Example*: a 3x3 max pool is one `trn.tensor_reduce` of a `[P, y, x, 3, 3]` view with `axes = 2`.

    *Not done*: reductions over partitions; layout turns them into contractions with ones.
  }];
  let options = [Option<"device", "device", "std::string", "\"trn2\"", "Target device">];
}

def SelectMovementPass : SelectPass<"trn-select-movement"> {
  let summary = "Copies, fills and free transposes to DMA and copy instructions";
  let description = [{
    *Contract in*: stage `buffered`; the spaces of both sides say who can move.

    *Contract out*: `trn.dma_copy` where HBM is on one side, `trn.tensor_copy` on chip, `trn.memset` for fills.
    Transfers with more than four free dimensions are loops over the outer ones.

    *Example*: `linalg.copy` from `#trn.hbm` to `#trn.sbuf` becomes `trn.dma_copy`.

    *Not done*: splitting of transfers over rings; the scheduler does that.
  }];
}

def SpreadLoadsPass : Pass<"trn-spread-loads", "mlir::ModuleOp"> {
  let summary = "Load rows that every partition reads once, and spread them on chip";
  let description = [{
    *Contract in*: stage `selected`; `trn.dma_copy` whose source steps over partitions by 0.

    *Contract out*: where such rows are a good part of all bytes between HBM and the chip, each is loaded to the first of
    every 32 partitions and spread by `trn.nc_stream_shuffle`; a remark says how much they are.

    *Example*: a bias of 768 features that 128 tokens add takes 4 transfers of 3 KiB and one shuffle, not one of 384 KiB.

    *Not done*: values that the program has computed on one partition; PE spreads them.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def FuseReductionsPass : Pass<"trn-fuse-reductions", "mlir::func::FuncOp"> {
  let summary = "Let reductions ride on other instructions";
  let description = [{
    *Contract in*: stage `selected`, equal views merged.

    *Contract out*: the row sum of what an activation writes in fp32 is the activation's `reduce` operand, which costs a
    read-out of 64 cycles instead of another pass; a multiplication by -1 of a reduction's result is its `negate`.

    *Example*: softmax's `exp(x - max)` and `sum` become one `trn.activation … reduce(%sum)`, and `-max` one
    `trn.tensor_reduce {negate}`.

    *Not done*: sums of rounded (16-bit) results, which the instruction would take before rounding.
  }];
}

def VerifySelectedPass : Pass<"trn-verify-selected", "mlir::ModuleOp"> {
  let summary = "Check the contract of stage selected";
  let description = [{
    *Contract in*: any module.

    *Contract out*: unchanged, or an error for every operation that is no instruction, no loop with constant bounds, no
    index arithmetic and no view.

    *Example*: a `linalg.generic` that selection could not cover is an error that names the ONNX node.

    *Not done*: shapes; the instruction verifiers check them.
  }];
}

#endif
