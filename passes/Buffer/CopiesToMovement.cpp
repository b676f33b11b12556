//===- CopiesToMovement.cpp - every copy is movement ------------------------===//
// Owns the replacement of memref.copy. Refuses to decide who copies: movement selection does.
#include "passes/Buffer/Passes.h"
#include "passes/Tile/Spaces.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_COPIESTOMOVEMENTPASS
#include "passes/Buffer/Passes.h.inc"

namespace {
struct CopiesToMovementPass : impl::CopiesToMovementPassBase<CopiesToMovementPass> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      if (copy.getSource() != copy.getTarget()) {
        OpBuilder builder(copy);
        linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
        if (isInSbuf(copy.getSource()) && isInSbuf(copy.getTarget()))
          copy.emitRemark("copies inside SBUF; the producer could have written the destination");
      }
      copy.erase();
    });
  }
};
} // namespace
} // namespace trn
