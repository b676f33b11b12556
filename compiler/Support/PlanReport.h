//===- PlanReport.h - plans as remarks ------------------------------------===//
//
// Owns the way of a planner's printed plan to people: one remark at what was planned. `trnc explain` shows it at its
// stage, `trn-opt` on the error stream.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace trn {

/// Reports `plan`, which prints itself to a stream, at `planned`.
template <typename Plan> void reportPlan(mlir::Operation *planned, const Plan &plan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  plan.print(os);
  mlir::emitRemark(planned->getLoc()) << llvm::StringRef(text).rtrim();
}

} // namespace trn
