#include "passes/Schedule/Analysis/Positions.h"
#include "RandomProgram.h"
#include "gtest/gtest.h"

using namespace trn;
using test::ProgramBuilder;

namespace {

/// Where each instruction is in the order; checks that it is one, and that nothing comes before what it waits for.
std::vector<uint32_t> positions(const FlatProgram &program) {
  DependenceGraph graph = computeDependences(program);
  std::vector<uint32_t> order = orderByNeed(program, graph);
  std::vector<uint32_t> positionOf(program.instructions.size(), ~0u);
  for (uint32_t position = 0; position < order.size(); ++position)
    positionOf[order[position]] = position;
  for (uint32_t node = 0; node < positionOf.size(); ++node) {
    EXPECT_NE(positionOf[node], ~0u) << node;
    for (const Dependence &edge : graph.of(node))
      EXPECT_LT(positionOf[edge.node], positionOf[node]) << edge.node << " before " << node;
  }
  return positionOf;
}

/// Rows of `source` turned on PE on their way to `target`, both in HBM; returns the first and the last instruction.
std::pair<uint32_t, uint32_t> turn(ProgramBuilder &builder, uint32_t source, uint32_t target) {
  uint32_t loaded = builder.buffer(isa::Space::SBUF, 1024), bank = builder.buffer(isa::Space::PSUM, 2048),
           turned = builder.buffer(isa::Space::SBUF, 1024);
  uint32_t first = builder.dma(5000, {source}, {loaded});
  builder.compute(isa::Engine::PE, 4000, 8000, {loaded}, {bank});
  builder.compute(isa::Engine::ACT, 9000, 12000, {bank}, {turned});
  return {first, builder.dma(5000, {turned}, {target}, 1)};
}

/// `count` products with what is loaded from `rows`; returns the first of them.
uint32_t multiply(ProgramBuilder &builder, uint32_t rows, uint32_t weight, uint32_t result, unsigned count) {
  uint32_t tile = builder.buffer(isa::Space::SBUF, 1024);
  builder.dma(5000, {rows}, {tile});
  uint32_t first = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t bank = builder.buffer(isa::Space::PSUM, 2048), drained = builder.buffer(isa::Space::SBUF, 1024);
    uint32_t product = builder.compute(isa::Engine::PE, 7000, 12000, {tile, weight}, {bank});
    first = i == 0 ? product : first;
    builder.compute(isa::Engine::ACT, 9000, 12000, {bank}, {drained});
    builder.dma(5000, {drained}, {result}, 1);
  }
  return first;
}

TEST(Positions, LoadsComeJustBeforeTheirUse) {
  ProgramBuilder builder;
  uint32_t input = builder.buffer(isa::Space::HBM, 1 << 20, true);
  uint32_t a = builder.buffer(isa::Space::SBUF, 1024), b = builder.buffer(isa::Space::SBUF, 1024),
           sum = builder.buffer(isa::Space::SBUF, 1024);
  uint32_t loadLate = builder.dma(5000, {input}, {b}), load = builder.dma(5000, {input}, {a});
  uint32_t use = builder.compute(isa::Engine::DVE, 4000, 8000, {a}, {sum});
  uint32_t useLate = builder.compute(isa::Engine::DVE, 4000, 8000, {b, sum}, {sum});
  std::vector<uint32_t> at = positions(builder.program);
  EXPECT_EQ(at[load], 0u);
  EXPECT_EQ(at[use], 1u);
  EXPECT_EQ(at[loadLate], 2u);
  EXPECT_EQ(at[useLate], 3u);
}

TEST(Positions, PassagesComeWhileTheOnesBeforeAreUsed) {
  ProgramBuilder builder;
  uint32_t input = builder.buffer(isa::Space::HBM, 1 << 20, true), output = builder.buffer(isa::Space::HBM, 1 << 20, true);
  uint32_t weight = builder.buffer(isa::Space::SBUF, 1024);
  builder.dma(5000, {input}, {weight});
  constexpr unsigned kBlocks = 4, kProducts = 60;
  std::vector<uint32_t> turnedRows;
  std::vector<std::pair<uint32_t, uint32_t>> passages;
  for (unsigned block = 0; block < kBlocks; ++block) {
    turnedRows.push_back(builder.buffer(isa::Space::HBM, 1 << 17));
    passages.push_back(turn(builder, input, turnedRows.back()));
  }
  std::vector<uint32_t> products;
  for (uint32_t rows : turnedRows)
    products.push_back(multiply(builder, rows, weight, output, kProducts));
  std::vector<uint32_t> at = positions(builder.program);
  // The first at once; each other one while the block before it is multiplied.
  EXPECT_LT(at[passages[0].second], at[products[0]]);
  for (unsigned block = 1; block < kBlocks; ++block) {
    EXPECT_GT(at[passages[block].first], at[products[block - 1]]) << block;
    EXPECT_LT(at[passages[block].second] + 4, at[products[block]]) << block;
  }
}

TEST(Positions, WhatStaysOnChipIsNoPassage) {
  ProgramBuilder builder;
  uint32_t input = builder.buffer(isa::Space::HBM, 1 << 20, true), output = builder.buffer(isa::Space::HBM, 1 << 20, true);
  uint32_t loaded = builder.buffer(isa::Space::SBUF, 1024), turned = builder.buffer(isa::Space::SBUF, 1024),
           weight = builder.buffer(isa::Space::SBUF, 1024);
  builder.dma(5000, {input}, {loaded});
  uint32_t convert = builder.compute(isa::Engine::DVE, 4000, 8000, {loaded}, {turned});
  builder.dma(5000, {input}, {weight});
  uint32_t other = builder.buffer(isa::Space::HBM, 1 << 17);
  auto passage = turn(builder, input, other);
  uint32_t first = multiply(builder, input, weight, output, 40);
  uint32_t result = builder.buffer(isa::Space::SBUF, 1024);
  uint32_t bank = builder.buffer(isa::Space::PSUM, 2048);
  builder.compute(isa::Engine::PE, 7000, 12000, {turned, weight}, {bank});
  builder.compute(isa::Engine::ACT, 9000, 12000, {bank}, {result});
  builder.dma(5000, {result}, {output}, 1);
  multiply(builder, other, weight, output, 1);
  std::vector<uint32_t> at = positions(builder.program);
  EXPECT_LT(at[convert], at[first]);
  EXPECT_GT(at[passage.first], at[first]);
}

TEST(Positions, LayersAreATopologicalOrder) { positions(test::layeredProgram(6, 4, 512).program); }

} // namespace
