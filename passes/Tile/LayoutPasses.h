//===- LayoutPasses.h - passes of stage tensor -> grouped ------------------===//
// Owns the entry points; one pass per file of this folder, documented in LayoutPasses.td.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace trn {
#define GEN_PASS_DECL
#include "passes/Tile/LayoutPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Tile/LayoutPasses.h.inc"

/// What whole tensors may take of SBUF: a share of it, and less at nodes at which programs have exceeded it.
struct Residency {
  unsigned percent = ChooseLayoutPassOptions().residentPercent;
  std::vector<std::string> crowdedNodes;
};

struct LayoutPipelineOptions {
  std::string target = "trn2";
  bool printPlans = false;
  bool foldTaps = true; ///< whether tile-fold-taps runs
  Residency residency;
};

/// The passes from stage `tensor` to stage `grouped`, in order.
void addLayoutPasses(mlir::OpPassManager &manager, const LayoutPipelineOptions &options = {});
} // namespace trn
