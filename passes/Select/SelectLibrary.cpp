//===- SelectLibrary.cpp - calls of library kernels -------------------------===//
// Owns the step from trn.kernel on buffers to the instruction of its record.
#include "dialects/Trn/TrnOps.h"
#include "passes/Select/Passes.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_SELECTLIBRARYPASS
#include "passes/Select/Passes.h.inc"

namespace {
struct SelectLibraryPass : impl::SelectLibraryPassBase<SelectLibraryPass> {
  void runOnOperation() override {
    getOperation().walk([](ir::KernelOp kernel) {
      OpBuilder builder(kernel);
      kernel.emitRemark("calls the library kernel '") << kernel.getKernel() << "'";
      kernel.createInstruction(builder, kernel.getOperands());
      kernel.erase();
    });
  }
};
} // namespace
} // namespace trn
