//===- Passes.td - passes of stage tiled -> buffered ----------------------===//
// Declares the passes that turn tensors into buffers. The analysis is MLIR's one-shot bufferisation.
#ifndef TRN_PASSES_BUFFER_PASSES
#define TRN_PASSES_BUFFER_PASSES

include "mlir/Pass/PassBase.td"

def BufferizePass : Pass<"buffer-bufferize", "mlir::ModuleOp"> {
  let summary = "Turn tensors into memrefs whose memory space is the tensor's encoding";
  let description = [{
    *Contract in*: stage `tiled`: every tensor type of a group has a space; every destination is used once.

    *Contract out*: memrefs only. A function writes its results through its destination arguments. A copy that
    bufferisation needs is a `memref.copy`.

    *Example*: `func @g(%d: tensor<128x4xf32, #trn.sbuf>) -> tensor<128x4xf32, #trn.sbuf>` becomes
    `func @g(%d: memref<128x4xf32, #trn.sbuf>)`.

    *Not done*: reuse of buffers; the allocator does that on modelled time.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
                           "mlir::memref::MemRefDialect"];
}

def CopiesToMovementPass : Pass<"buffer-copies-to-movement", "mlir::func::FuncOp"> {
  let summary = "Replace memref.copy by linalg.copy and drop copies of a buffer to itself";
  let description = [{
    *Contract in*: buffers with spaces.

    *Contract out*: no `memref.copy`. Movement selection then decides by the two spaces who copies.

    *Example*: `memref.copy %a, %b` becomes `linalg.copy ins(%a) outs(%b)`.

    *Not done*: copies are not avoided here; a copy between two SBUF buffers that a different destination would have
    made unnecessary gets a remark.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def VerifyBufferedPass : Pass<"buffer-verify", "mlir::ModuleOp"> {
  let summary = "Check the contract of stage buffered";
  let description = [{
    *Contract in*: any module.

    *Contract out*: unchanged, or an error for every operation that breaks a rule: every memref has a space; no tensors;
    no `memref.copy`; computation reads and writes on-chip memory only; the PE reads SBUF and writes PSUM; DMA does not
    reach PSUM; PSUM is filled with zero only, under a contraction.

    *Example*: `linalg.copy` from HBM to PSUM is an error: load to SBUF first.

    *Not done*: shapes are checked by the instruction verifiers after selection.
  }];
}

#endif
