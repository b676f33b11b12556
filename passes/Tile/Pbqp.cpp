//===- Pbqp.cpp - partitioned boolean quadratic problems -------------------===//
// Implements Pbqp.h by graph reduction and back-substitution.
#include "passes/Tile/Pbqp.h"
#include <algorithm>
#include <cassert>
#include <limits>
#include <set>

namespace trn {

PbqpProblem::Matrix PbqpProblem::Matrix::transposed() const {
  Matrix result{columns, rows, std::vector<double>(values.size())};
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column)
      result.values[column * rows + row] = at(row, column);
  return result;
}

void PbqpProblem::Matrix::add(const Matrix &other) {
  if (values.empty()) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += other.values[i];
}

unsigned PbqpProblem::addNode(std::vector<double> costs) {
  assert(!costs.empty() && "a node needs an alternative");
  nodes.push_back({std::move(costs), {}});
  return nodes.size() - 1;
}

void PbqpProblem::addEdge(unsigned a, unsigned b, const std::vector<double> &costs) {
  assert(costs.size() == nodes[a].costs.size() * nodes[b].costs.size() && "one cost per pair of alternatives");
  Matrix matrix{static_cast<unsigned>(nodes[a].costs.size()), static_cast<unsigned>(nodes[b].costs.size()), costs};
  if (a == b) {
    for (unsigned i = 0; i < matrix.rows; ++i)
      nodes[a].costs[i] += matrix.at(i, i);
    return;
  }
  nodes[a].edges[b].add(matrix);
  nodes[b].edges[a].add(matrix.transposed());
}

/// Works on a copy of the problem.
class PbqpSolver {
public:
  explicit PbqpSolver(const PbqpProblem &problem) : nodes(problem.nodes), original(problem) {
    for (unsigned node = 0; node < nodes.size(); ++node)
      byDegree.insert({nodes[node].edges.size(), node});
  }

  PbqpProblem::Solution run() {
    while (!byDegree.empty())
      reduceNext();
    PbqpProblem::Solution solution;
    solution.exact = exact;
    solution.choice.assign(nodes.size(), 0);
    for (auto it = removed.rbegin(); it != removed.rend(); ++it)
      solution.choice[*it] = best(*it, solution.choice);
    solution.cost = costOf(solution.choice);
    return solution;
  }

private:
  using Matrix = PbqpProblem::Matrix;

  void reduceNext() {
    auto [degree, node] = *byDegree.begin();
    if (degree > 2) {
      node = byDegree.rbegin()->second;
      fix(node);
      return;
    }
    detach(node);
    // `node` keeps its edges for back-substitution; its neighbours have lost theirs to it.
    auto edge = nodes[node].edges.begin();
    if (degree == 1)
      foldIntoNode(node, edge->first, edge->second);
    else if (degree == 2)
      foldIntoEdge(node, edge->first, edge->second, std::next(edge)->first, std::next(edge)->second);
  }

  void reinsert(unsigned node, size_t oldDegree) {
    byDegree.erase({oldDegree, node});
    byDegree.insert({nodes[node].edges.size(), node});
  }

  /// Removes `node` from the graph.
  void detach(unsigned node) {
    byDegree.erase({nodes[node].edges.size(), node});
    removed.push_back(node);
    for (auto &[neighbour, matrix] : nodes[node].edges) {
      size_t old = nodes[neighbour].edges.size();
      nodes[neighbour].edges.erase(node);
      reinsert(neighbour, old);
    }
  }

  void foldIntoNode(unsigned node, unsigned neighbour, const Matrix &edge) {
    for (unsigned j = 0; j < edge.columns; ++j) {
      double least = nodes[node].costs[0] + edge.at(0, j);
      for (unsigned i = 1; i < edge.rows; ++i)
        least = std::min(least, nodes[node].costs[i] + edge.at(i, j));
      nodes[neighbour].costs[j] += least;
    }
  }

  void foldIntoEdge(unsigned node, unsigned a, const Matrix &toA, unsigned b, const Matrix &toB) {
    Matrix folded{toA.columns, toB.columns, std::vector<double>(toA.columns * toB.columns)};
    for (unsigned i = 0; i < toA.columns; ++i)
      for (unsigned j = 0; j < toB.columns; ++j) {
        double least = nodes[node].costs[0] + toA.at(0, i) + toB.at(0, j);
        for (unsigned k = 1; k < toA.rows; ++k)
          least = std::min(least, nodes[node].costs[k] + toA.at(k, i) + toB.at(k, j));
        folded.values[i * folded.columns + j] = least;
      }
    size_t oldA = nodes[a].edges.size(), oldB = nodes[b].edges.size();
    nodes[b].edges[a].add(folded.transposed());
    nodes[a].edges[b].add(folded);
    reinsert(a, oldA);
    reinsert(b, oldB);
  }

  /// Fixes a node of degree three or more at its best local alternative.
  void fix(unsigned node) {
    exact = false;
    std::vector<double> local = nodes[node].costs;
    for (unsigned i = 0; i < local.size(); ++i)
      for (auto &[neighbour, matrix] : nodes[node].edges) {
        double least = matrix.at(i, 0) + nodes[neighbour].costs[0];
        for (unsigned j = 1; j < matrix.columns; ++j)
          least = std::min(least, matrix.at(i, j) + nodes[neighbour].costs[j]);
        local[i] += least;
      }
    unsigned choice = std::min_element(local.begin(), local.end()) - local.begin();
    for (auto &[neighbour, matrix] : nodes[node].edges)
      for (unsigned j = 0; j < matrix.columns; ++j)
        nodes[neighbour].costs[j] += matrix.at(choice, j);
    detach(node);
    nodes[node].edges.clear();
    double cost = nodes[node].costs[choice];
    nodes[node].costs.assign(nodes[node].costs.size(), std::numeric_limits<double>::infinity());
    nodes[node].costs[choice] = cost;
  }

  unsigned best(unsigned node, const std::vector<unsigned> &choice) const {
    unsigned bestChoice = 0;
    double least = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < nodes[node].costs.size(); ++i) {
      double cost = nodes[node].costs[i];
      for (auto &[neighbour, matrix] : nodes[node].edges)
        cost += matrix.at(i, choice[neighbour]);
      if (cost < least) {
        least = cost;
        bestChoice = i;
      }
    }
    return bestChoice;
  }

  double costOf(const std::vector<unsigned> &choice) const {
    double cost = 0;
    for (unsigned node = 0; node < original.nodes.size(); ++node) {
      cost += original.nodes[node].costs[choice[node]];
      for (auto &[neighbour, matrix] : original.nodes[node].edges)
        if (neighbour > node)
          cost += matrix.at(choice[node], choice[neighbour]);
    }
    return cost;
  }

  std::vector<PbqpProblem::Node> nodes;
  const PbqpProblem &original;
  std::set<std::pair<size_t, unsigned>> byDegree;
  std::vector<unsigned> removed;
  bool exact = true;
};

PbqpProblem::Solution PbqpProblem::solve() const { return PbqpSolver(*this).run(); }

} // namespace trn
