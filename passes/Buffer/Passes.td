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

def PsumSlotsPass : Pass<"buffer-psum-slots", "mlir::func::FuncOp"> {
  let summary = "Give narrow elements of PSUM the room of an address";
  let description = [{
    *Contract in*: buffers with spaces.

    *Contract out*: a part of a PSUM buffer begins at a multiple of PSUM's alignment (4 bytes) whatever its elements are. A
    buffer that is written or read in parts gets as many elements per value as fill one address, of which the first is
    used. A bank still holds what a plan puts there: plans count at most 512 values of any type.

    *Example*: two transposes beside each other
    ```mlir
    %a = memref.alloc() : memref<64x32x2xbf16, #trn.psum>
    %0 = memref.subview %a[0, 0, %i] [64, 32, 1] [1, 1, 1] : … to memref<64x32x1xbf16, strided<[64, 2, 1], offset: ?>, #trn.psum>
    // →
    %s = memref.alloc() : memref<64x32x2x2xbf16, #trn.psum>
    %a = memref.subview %s[0, 0, 0, 0] [64, 32, 2, 1] [1, 1, 1, 1] : … to memref<64x32x2xbf16, strided<[128, 4, 2]>, #trn.psum>
    %0 = memref.subview %a[0, 0, %i] [64, 32, 1] [1, 1, 1] : … to memref<64x32x1xbf16, strided<[128, 4, 2], offset: ?>, #trn.psum>
    ```
    *Not done*: an order of the parts in which they would be aligned without room in between.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
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
