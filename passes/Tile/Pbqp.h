//===- Pbqp.h - partitioned boolean quadratic problems ---------------------===//
// Owns the solver behind the choice of layouts: every node takes one of its alternatives; a node has a cost per
// alternative, an edge a cost per pair. Nodes of degree 0, 1 and 2 are removed exactly; when none is left, the node of
// the highest degree is fixed by its best local alternative (the only inexact step; `exact` tells whether it was
// needed). Trees and series-parallel graphs, which most networks are, are solved optimally. Infinite costs are allowed.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace trn {

class PbqpProblem {
public:
  /// Adds a node with the given costs, at least one; returns its number.
  unsigned addNode(std::vector<double> costs);
  /// Adds costs `[alternative of a][alternative of b]`, row-major. Edges between the same nodes add up.
  void addEdge(unsigned a, unsigned b, const std::vector<double> &costs);

  struct Solution {
    std::vector<unsigned> choice; ///< per node
    double cost = 0;
    bool exact = true;
  };
  Solution solve() const;

private:
  struct Matrix {
    unsigned rows = 0, columns = 0;
    std::vector<double> values;
    double at(unsigned row, unsigned column) const { return values[row * columns + column]; }
    Matrix transposed() const;
    void add(const Matrix &other);
  };
  struct Node {
    std::vector<double> costs;
    /// Rows are this node's alternatives. Ordered, so that solutions do not depend on addresses.
    std::map<unsigned, Matrix> edges;
  };
  std::vector<Node> nodes;
  friend class PbqpSolver;
};

} // namespace trn
