//===- PbqpTest.cpp - the solver against enumeration -----------------------===//
#include "passes/Tile/Pbqp.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using trn::PbqpProblem;

namespace {
struct Instance {
  std::vector<std::vector<double>> nodes;
  struct Edge {
    unsigned a, b;
    std::vector<double> costs;
  };
  std::vector<Edge> edges;

  PbqpProblem problem() const {
    PbqpProblem result;
    for (const std::vector<double> &costs : nodes)
      result.addNode(costs);
    for (const Edge &edge : edges)
      result.addEdge(edge.a, edge.b, edge.costs);
    return result;
  }
  double cost(const std::vector<unsigned> &choice) const {
    double sum = 0;
    for (size_t i = 0; i < nodes.size(); ++i)
      sum += nodes[i][choice[i]];
    for (const Edge &edge : edges)
      sum += edge.costs[choice[edge.a] * nodes[edge.b].size() + choice[edge.b]];
    return sum;
  }
  double best() const {
    std::vector<unsigned> choice(nodes.size(), 0);
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
      least = std::min(least, cost(choice));
      size_t i = 0;
      while (i < nodes.size() && ++choice[i] == nodes[i].size())
        choice[i++] = 0;
      if (i == nodes.size())
        return least;
    }
  }
};

/// Small integers, so that sums are exact.
Instance random(unsigned seed, unsigned nodes, const std::vector<std::pair<unsigned, unsigned>> &edges) {
  std::mt19937 engine(seed);
  auto draw = [&](unsigned limit) { return static_cast<double>(engine() % limit); };
  Instance instance;
  for (unsigned i = 0; i < nodes; ++i) {
    std::vector<double> costs(1 + engine() % 3);
    for (double &cost : costs)
      cost = draw(20);
    instance.nodes.push_back(costs);
  }
  for (auto [a, b] : edges) {
    std::vector<double> costs(instance.nodes[a].size() * instance.nodes[b].size());
    for (double &cost : costs)
      cost = draw(20);
    instance.edges.push_back({a, b, costs});
  }
  return instance;
}
} // namespace

TEST(Pbqp, ChainsTreesAndDiamondsAreSolvedExactly) {
  const std::vector<std::pair<unsigned, unsigned>> chain = {{0, 1}, {1, 2}, {2, 3}, {3, 4}},
                                                   tree = {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {3, 5}},
                                                   residual = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}};
  for (const auto &edges : {chain, tree, residual})
    for (unsigned seed = 0; seed < 100; ++seed) {
      Instance instance = random(seed, 6, edges);
      PbqpProblem::Solution solution = instance.problem().solve();
      EXPECT_TRUE(solution.exact);
      EXPECT_EQ(solution.cost, instance.best());
      EXPECT_EQ(instance.cost(solution.choice), solution.cost);
    }
}

TEST(Pbqp, DenseGraphsGetAnAnswerThatIsMarkedInexact) {
  std::vector<std::pair<unsigned, unsigned>> edges;
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = a + 1; b < 5; ++b)
      edges.push_back({a, b});
  double excess = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Instance instance = random(seed, 5, edges);
    PbqpProblem::Solution solution = instance.problem().solve();
    EXPECT_FALSE(solution.exact);
    EXPECT_EQ(instance.cost(solution.choice), solution.cost);
    EXPECT_GE(solution.cost, instance.best());
    excess += solution.cost / std::max(instance.best(), 1.0) - 1;
  }
  // The heuristic is within a tenth of the optimum on average.
  EXPECT_LT(excess / 100, 0.1);
}

TEST(Pbqp, ForbiddenPairsAreAvoided) {
  const double no = std::numeric_limits<double>::infinity();
  PbqpProblem problem;
  unsigned a = problem.addNode({0, 5}), b = problem.addNode({0, 5});
  problem.addEdge(a, b, {no, no, 0, no});
  PbqpProblem::Solution solution = problem.solve();
  EXPECT_EQ(solution.choice, (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(solution.cost, 5);
}

TEST(Pbqp, ParallelEdgesAddUp) {
  PbqpProblem problem;
  unsigned a = problem.addNode({0, 0}), b = problem.addNode({0});
  problem.addEdge(a, b, {1, 3});
  problem.addEdge(b, a, {4, 1});
  PbqpProblem::Solution solution = problem.solve();
  EXPECT_EQ(solution.choice[a], 1u);
  EXPECT_EQ(solution.cost, 4);
}
