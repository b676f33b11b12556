//===- ModelWork.cpp - the algorithmic work of a model --------------------===//
#include "passes/Tensor/ModelWork.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace mlir;

namespace trn {

/// True when the body adds products of inputs to its accumulator.
static bool reducesProducts(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() >= 2 &&
         llvm::any_of(*op.getBlock(), [](Operation &inner) { return llvm::isa<arith::MulFOp, arith::MulIOp>(inner); });
}

uint64_t modelMacs(Operation *root) {
  uint64_t total = 0;
  root->walk([&](linalg::LinalgOp op) {
    if (!reducesProducts(op))
      return;
    uint64_t work = 1;
    for (int64_t range : op.getStaticLoopRanges())
      work *= ShapedType::isDynamic(range) ? 0 : range;
    total += work;
  });
  return total;
}

void setModelMacs(ModuleOp module) {
  if (uint64_t macs = modelMacs(module))
    module->setAttr(ir::kModelMacs, Builder(module.getContext()).getI64IntegerAttr(static_cast<int64_t>(macs)));
}

} // namespace trn
