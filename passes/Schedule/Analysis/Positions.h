//===- Positions.h - the order in which a program is needed ---------------===//
//
// Owns the program order that the list scheduler starts from: the order of the program, with what only brings data
// moved to where that data is needed. It refuses to move anything that computes with more than one operand, and costs
// nothing: memory and engines are the scheduler's.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/Dependences.h"
#include <vector>

namespace trn {

/// Instructions in the order in which they are needed, a topological order of `graph`.
///
/// A load belongs just before its first use, wherever it was written. A *passage* is what brings data from HBM to HBM in
/// another order or type: its loads and stores and the instructions between them, which read nothing else. Passages belong
/// to where their results are loaded, too, but some time before, one behind the other.
std::vector<uint32_t> orderByNeed(const FlatProgram &program, const DependenceGraph &graph);

} // namespace trn
