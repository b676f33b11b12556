#include "passes/Schedule/Analysis/SchedulePlan.h"
#include "RandomProgram.h"
#include "passes/Schedule/Analysis/DemandProfile.h"
#include "gtest/gtest.h"

using namespace trn;
using test::ProgramBuilder;

namespace {

/// Order, engines and memory of a plan, checked from outside.
void expectValid(const FlatProgram &program, const DependenceGraph &graph, const Resources &resources,
                 uint64_t budget, const SchedulePlan &plan) {
  for (uint32_t node = 0; node < program.instructions.size(); ++node) {
    ASSERT_GE(plan.instructions[node].issue, 0);
    for (const Dependence &edge : graph.of(node)) {
      const ScheduledInstruction &first = plan.instructions[edge.node], &second = plan.instructions[node];
      bool dma = program.instructions[edge.node].isDma || program.instructions[node].isDma;
      if (dma || first.engine != second.engine)
        EXPECT_LE(first.completion, second.issue) << edge.node << " before " << node;
      else
        EXPECT_LE(first.issue, second.issue) << edge.node << " before " << node;
    }
  }
  // Live bytes and banks, by sweeping over begins and ends.
  struct Change {
    Ticks time;
    int64_t sbuf, banks;
  };
  std::vector<Change> changes;
  std::vector<std::pair<Ticks, Ticks>> lives(program.buffers.size(), {-1, -1});
  for (uint32_t node = 0; node < program.instructions.size(); ++node)
    for (const FlatAccess &access : program.accessesOf(node)) {
      auto &life = lives[access.buffer];
      const ScheduledInstruction &at = plan.instructions[node];
      life.first = life.first < 0 ? at.issue : std::min(life.first, at.issue);
      life.second = std::max(life.second, at.completion);
    }
  for (uint32_t id = 0; id < lives.size(); ++id) {
    const FlatBuffer &buffer = program.buffers[id];
    if (buffer.space == isa::Space::HBM || lives[id].first < 0)
      continue;
    int64_t sbuf = buffer.space == isa::Space::SBUF ? buffer.bytes : 0;
    int64_t banks = buffer.space == isa::Space::PSUM ? resources.banksOf(buffer.bytes) : 0;
    changes.push_back({lives[id].first, sbuf, banks});
    changes.push_back({lives[id].second, -sbuf, -banks});
  }
  std::sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) {
    return std::make_pair(a.time, a.sbuf + a.banks) < std::make_pair(b.time, b.sbuf + b.banks);
  });
  int64_t sbuf = 0, banks = 0;
  for (const Change &change : changes) {
    sbuf += change.sbuf;
    banks += change.banks;
    EXPECT_LE(sbuf, int64_t(budget));
    EXPECT_LE(banks, int64_t(resources.psumBanks));
  }
}

TEST(DemandProfile, AgreesWithAPlainArray) {
  std::mt19937 random(11);
  DemandProfile profile(37);
  std::vector<int64_t> plain(37, 0);
  for (unsigned trial = 0; trial < 500; ++trial) {
    uint32_t begin = random() % 38, end = begin + random() % (38 - begin);
    int64_t amount = int64_t(random() % 100) - 30;
    profile.add(begin, end, amount);
    for (uint32_t i = begin; i < end; ++i)
      plain[i] += amount;
    uint32_t from = random() % 37, to = from + 1 + random() % (37 - from);
    EXPECT_EQ(profile.max(from, to), *std::max_element(plain.begin() + from, plain.begin() + to));
  }
}

TEST(SchedulePlan, LayersRunUnderTightMemory) {
  Resources resources = test::testResources();
  for (uint64_t budget : {12000u, 20000u, 60000u}) {
    ProgramBuilder builder = test::layeredProgram(6, 4, 1024);
    DependenceGraph graph = computeDependences(builder.program);
    SchedulePlan plan;
    CapacityProblem problem;
    ASSERT_TRUE(computeSchedule(builder.program, graph, resources, {budget, 0.125}, plan, problem));
    expectValid(builder.program, graph, resources, budget, plan);
  }
}

TEST(SchedulePlan, WeightsArePrefetchedWhenMemoryAllows) {
  Resources resources = test::testResources();
  ProgramBuilder builder = test::layeredProgram(6, 4, 1024);
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan tight, wide;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, resources, {12000, 0.125}, tight, problem));
  ASSERT_TRUE(computeSchedule(builder.program, graph, resources, {60000, 0.125}, wide, problem));
  EXPECT_LT(wide.makespan, tight.makespan);
}

TEST(SchedulePlan, WhatDoesNotFitIsNamed) {
  ProgramBuilder builder = test::layeredProgram(2, 4, 1024);
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  EXPECT_FALSE(computeSchedule(builder.program, graph, test::testResources(), {6000, 0.125}, plan, problem));
  EXPECT_EQ(problem.space, isa::Space::SBUF);
  EXPECT_GT(problem.needed, 6000u);
  uint64_t live = 0;
  for (uint32_t id : problem.live)
    live += builder.program.buffers[id].bytes;
  EXPECT_EQ(live, problem.needed);
}

TEST(SchedulePlan, LoadsWrittenFirstSinkToTheirUse) {
  // All loads stand at the top, as hoisting leaves them; together they exceed the budget.
  ProgramBuilder builder;
  uint32_t weights = builder.buffer(isa::Space::HBM, 1 << 20, true);
  std::vector<uint32_t> tiles;
  for (unsigned i = 0; i < 10; ++i) {
    tiles.push_back(builder.buffer(isa::Space::SBUF, 4096));
    builder.dma(5000, {weights}, {tiles.back()});
  }
  uint32_t sum = builder.buffer(isa::Space::SBUF, 64);
  for (unsigned i = 0; i < 10; ++i)
    builder.compute(isa::Engine::DVE, 5000, 7000, {tiles[i]}, {sum}, i != 0);
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {9000, 0.0}, plan, problem));
  expectValid(builder.program, graph, test::testResources(), 9000, plan);
}

TEST(SchedulePlan, TablesAreExchangedOncePerGroup) {
  ProgramBuilder builder;
  std::vector<uint32_t> tiles;
  for (unsigned i = 0; i < 8; ++i) {
    uint32_t tile = builder.buffer(isa::Space::SBUF, 64), result = builder.buffer(isa::Space::SBUF, 64);
    builder.compute(isa::Engine::DVE, 10, 20, {}, {tile});
    uint32_t node = builder.compute(isa::Engine::ACT, 5000, 9000, {tile}, {result});
    builder.program.instructions[node].tableSet = i % 2;
  }
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {60000, 0.0}, plan, problem));
  EXPECT_EQ(plan.tableLoads.size(), 2u) << "alternating sets must be grouped";
}

TEST(SchedulePlan, TwoEnginesShareEqualWork) {
  ProgramBuilder builder;
  for (unsigned i = 0; i < 40; ++i) {
    uint32_t tile = builder.buffer(isa::Space::SBUF, 64);
    uint32_t node = builder.compute(isa::Engine::ACT, 1000, 2000, {}, {tile});
    builder.program.instructions[node].choices.push_back({isa::Engine::DVE, 1000, 2000});
  }
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {60000, 0.0}, plan, problem));
  EXPECT_EQ(plan.busy[unsigned(isa::Engine::ACT)], 20000);
  EXPECT_EQ(plan.busy[unsigned(isa::Engine::DVE)], 20000);
}

TEST(SchedulePlan, TransfersToOtherPartitionsOverlap) {
  auto distance = [](unsigned secondEngine) {
    ProgramBuilder builder;
    uint32_t weights = builder.buffer(isa::Space::HBM, 1 << 20, true);
    for (unsigned engine : {0u, secondEngine}) {
      uint32_t tile = builder.buffer(isa::Space::SBUF, 64);
      uint32_t node = builder.dma(100000, {weights}, {tile});
      builder.program.instructions[node].transfer.byEngine.assign(16, 0);
      builder.program.instructions[node].transfer.byEngine[engine] = 100000;
    }
    DependenceGraph graph = computeDependences(builder.program);
    SchedulePlan plan;
    CapacityProblem problem;
    EXPECT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {60000, 0.0}, plan, problem));
    return plan.instructions[1].completion - plan.instructions[0].completion;
  };
  EXPECT_EQ(distance(0), 100000) << "one engine moves one transfer after the other";
  EXPECT_EQ(distance(1), 2000) << "two engines move at the same time; only the issue is in order";
}

TEST(SchedulePlan, AnUrgentLoadDoesNotQueueBehindEarlyOnes) {
  ProgramBuilder builder;
  uint32_t weights = builder.buffer(isa::Space::HBM, 1 << 20, true), scratch = builder.buffer(isa::Space::HBM, 64);
  uint32_t made = builder.buffer(isa::Space::SBUF, 64), back = builder.buffer(isa::Space::SBUF, 64),
           sum = builder.buffer(isa::Space::SBUF, 64);
  builder.compute(isa::Engine::DVE, 300000, 300000, {}, {made});
  builder.dma(1000, {made}, {scratch});
  uint32_t urgent = builder.dma(1000, {scratch}, {back});
  builder.compute(isa::Engine::DVE, 100, 100, {back}, {sum});
  constexpr Ticks kEarly = 50000;
  for (unsigned i = 0; i < 50; ++i) {
    uint32_t tile = builder.buffer(isa::Space::SBUF, 64);
    builder.dma(kEarly, {weights}, {tile});
    builder.compute(isa::Engine::DVE, 100, 100, {tile}, {sum}, true);
  }
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {60000, 0.0}, plan, problem));
  expectValid(builder.program, graph, test::testResources(), 60000, plan);
  const ScheduledInstruction &load = plan.instructions[urgent];
  EXPECT_LE(load.completion - load.issue, 2000 + 44000 + 12000 + 1000 + 2 * kEarly);
  // The engines stay busy all the same: 50 early loads one after the other, and little more.
  EXPECT_LE(plan.makespan, 51 * kEarly + 200000);
}

TEST(SchedulePlan, WhatIsStoredIsLoadedWhenItIsNeeded) {
  // A panel that has been stored is needed again after many tiles. Loaded as soon as it is there, it would leave no room
  // to load a tile while the one before it is in use.
  ProgramBuilder builder;
  constexpr uint64_t kTile = 1000, kPanel = 5000, kBudget = kPanel + 2 * kTile + 500;
  constexpr Ticks kTime = 200000;
  uint32_t weights = builder.buffer(isa::Space::HBM, 1 << 20, true), scratch = builder.buffer(isa::Space::HBM, kPanel);
  uint32_t made = builder.buffer(isa::Space::SBUF, 64), sum = builder.buffer(isa::Space::SBUF, 64);
  builder.compute(isa::Engine::DVE, 100, 100, {}, {made});
  builder.dma(1000, {made}, {scratch});
  for (unsigned i = 0; i < 20; ++i) {
    uint32_t tile = builder.buffer(isa::Space::SBUF, kTile), other = builder.buffer(isa::Space::SBUF, kTile);
    builder.dma(kTime / 2, {weights}, {tile});
    builder.dma(kTime / 2, {weights}, {other});
    builder.compute(isa::Engine::DVE, kTime, kTime, {tile}, {sum}, true);
    builder.compute(isa::Engine::DVE, kTime, kTime, {other}, {sum}, true);
  }
  uint32_t panel = builder.buffer(isa::Space::SBUF, kPanel);
  uint32_t load = builder.dma(kTime, {scratch}, {panel});
  builder.compute(isa::Engine::DVE, 100, 100, {panel}, {sum}, true);
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan plan;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(builder.program, graph, test::testResources(), {kBudget, 0.0}, plan, problem));
  expectValid(builder.program, graph, test::testResources(), kBudget, plan);
  // Behind the loads of all tiles, and while the last of them are computed.
  EXPECT_GE(plan.instructions[load].issue, 35 * kTime);
  EXPECT_LE(plan.makespan, 43 * kTime);
}

} // namespace
