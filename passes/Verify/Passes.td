//===- Passes.td - proofs about placed programs ----------------*- tablegen -*-===//
//
// Owns the declarations of the passes that check stage contracts and change nothing.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_PASSES_VERIFY_PASSES_TD
#define TRN_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def TrnVerifySync : Pass<"trn-verify-sync", "::mlir::ModuleOp"> {
  let summary = "Prove that guaranteed order excludes deadlocks and races";
  let description = [{
    *Contract in*: stage `synced`.

    *Contract out*: the same module. Every conflict of two instructions on SBUF, PSUM or HBM is ordered by queues,
    rings and semaphores in every run that the machine allows; nothing reads bytes that nothing wrote; no wait is out of
    reach; no count is ambiguous. It is the runtime's checker (runtime/check) on the encoded program.

    *Example*: `error: 'trn.activation' op race-read-after-write: …` names both instructions and their nodes.

    *Not done*: values of data (indices of gathers) are the loader's and the device's business.
  }];
  let options = [Option<"target", "target", "std::string", "\"trn2\"", "Device whose rules count; default trn2">];
}

def TrnVerifyStage : Pass<"trn-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check the contract of a stage";
  let description = [{
    *Contract in*: a module of the stage named by `stage`.

    *Contract out*: the same module; an error for each broken rule of the stage; from `scheduled` on at most 16.

    *Example*: `--trn-verify-stage=stage=tiled`: `stage tiled, L4: expected at most 2048 bytes per partition, one bank of
    PSUM, but got 4096 of tensor<128x1024xf32, #trn.psum>`.

    *Not done*: `encoded`, whose rules are those of the file format; the loader checks them.
  }];
  let options = [Option<"target", "target", "std::string", "\"trn2\"", "Device whose rules count; default trn2">,
                 Option<"stage", "stage", "std::string", "\"scheduled\"", "The stage's name; default scheduled">];
}

#endif // TRN_PASSES_VERIFY_PASSES_TD
