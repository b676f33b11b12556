//===- Dependences.cpp - which instruction must follow which --------------===//
//
// Owns the walk in program order over one access history per buffer.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/Dependences.h"
#include "passes/Schedule/Analysis/AccessHistory.h"
#include <numeric>

using namespace trn;

DependenceGraph DependenceGraph::reversed() const {
  DependenceGraph graph;
  graph.first.assign(first.size(), 0);
  for (const Dependence &edge : predecessors)
    ++graph.first[edge.node + 1];
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.predecessors.resize(predecessors.size());
  std::vector<uint32_t> fill(graph.first.begin(), graph.first.end() - 1);
  for (uint32_t node = 0; node + 1 < first.size(); ++node)
    for (const Dependence &edge : of(node))
      graph.predecessors[fill[edge.node]++] = {node, edge.data};
  return graph;
}

DependenceGraph trn::computeDependences(const FlatProgram &program) {
  DependenceGraph graph;
  uint32_t count = program.instructions.size();
  graph.first.reserve(count + 1);
  graph.first.push_back(0);

  std::vector<bool> written(program.buffers.size(), false);
  for (const FlatAccess &access : program.accesses)
    if (access.writes)
      written[access.buffer] = true;

  std::vector<AccessHistory> histories(program.buffers.size());
  // Where the current node's edge to an earlier node lies, so that each pair has one edge.
  std::vector<uint32_t> edgeOf(count, ~0u);
  for (uint32_t node = 0; node < count; ++node) {
    uint32_t begin = graph.predecessors.size();
    for (const FlatAccess &access : program.accessesOf(node)) {
      if (!written[access.buffer])
        continue;
      histories[access.buffer].access(
          node, 0, access.region, access.reads, access.writes, [&](uint32_t earlier, Conflict kind) {
            bool data = kind == Conflict::ReadAfterWrite;
            uint32_t &edge = edgeOf[earlier];
            if (edge != ~0u && edge >= begin) {
              graph.predecessors[edge].data |= data;
              return;
            }
            edge = graph.predecessors.size();
            graph.predecessors.push_back({earlier, data});
          });
    }
    graph.first.push_back(graph.predecessors.size());
  }
  return graph;
}
