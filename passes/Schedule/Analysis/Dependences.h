//===- Dependences.h - which instruction must follow which ----------------===//
//
// Owns the dependence graph of a flat program in program order (RAW, WAR, WAW on the bytes of its buffers), before
// addresses exist. Order that comes from address reuse is SyncPlan's.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/Program.h"

namespace trn {

struct Dependence {
  uint32_t node;
  /// The later one reads what the earlier one wrote; otherwise order alone matters.
  bool data;
};

struct DependenceGraph {
  /// CSR: predecessors of i are predecessors[first[i] .. first[i + 1]), each once.
  std::vector<uint32_t> first;
  std::vector<Dependence> predecessors;

  llvm::ArrayRef<Dependence> of(uint32_t node) const {
    return llvm::ArrayRef<Dependence>(predecessors).slice(first[node], first[node + 1] - first[node]);
  }
  /// The same edges the other way round: `of(i)` are then the successors of i, in ascending order.
  DependenceGraph reversed() const;
};

DependenceGraph computeDependences(const FlatProgram &program);

} // namespace trn
