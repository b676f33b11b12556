//===- LayoutPasses.h - passes of stage tensor -> grouped ------------------===//
// Owns the entry points; one pass per file of this folder, documented in LayoutPasses.td.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class OpPassManager;
}

namespace trn {
#define GEN_PASS_DECL
#include "passes/Tile/LayoutPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Tile/LayoutPasses.h.inc"

/// The shares of SBUF that whole tensors may take, in percent: the first one is tried first, the others one after the
/// other when the program has exceeded SBUF.
inline constexpr unsigned kResidentPercents[] = {60, 55, 50, 40, 30, 15, 0};

/// The passes from stage `tensor` to stage `grouped` for `target`, in order.
void addLayoutPasses(mlir::OpPassManager &manager, llvm::StringRef target = "trn2", bool printPlans = false,
                     unsigned residentPercent = kResidentPercents[0]);
} // namespace trn
