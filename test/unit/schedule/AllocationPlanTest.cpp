#include "passes/Schedule/Analysis/AllocationPlan.h"
#include "RandomProgram.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

using namespace trn;

namespace {

void expectDisjoint(llvm::ArrayRef<Interval> intervals, const Placement &placement, uint64_t capacity) {
  std::vector<bool> failed(intervals.size(), false);
  for (uint32_t id : placement.failed)
    failed[id] = true;
  for (uint32_t a = 0; a < intervals.size(); ++a) {
    if (failed[a])
      continue;
    EXPECT_LE(placement.addresses[a] + intervals[a].bytes, capacity);
    for (uint32_t b = a + 1; b < intervals.size(); ++b) {
      bool together = intervals[a].begin < intervals[b].end && intervals[b].begin < intervals[a].end;
      if (failed[b] || !together)
        continue;
      EXPECT_TRUE(placement.addresses[a] + intervals[a].bytes <= placement.addresses[b] ||
                  placement.addresses[b] + intervals[b].bytes <= placement.addresses[a])
          << a << " and " << b;
    }
  }
}

uint64_t livePeak(llvm::ArrayRef<Interval> intervals) {
  std::map<Ticks, int64_t> change;
  for (const Interval &i : intervals) {
    change[i.begin] += i.bytes;
    change[i.end] -= i.bytes;
  }
  int64_t live = 0, peak = 0;
  for (auto [time, delta] : change)
    peak = std::max(peak, live += delta);
  return peak;
}

std::vector<Interval> randomIntervals(unsigned seed, unsigned count) {
  std::mt19937 random(seed);
  std::vector<Interval> intervals;
  for (unsigned i = 0; i < count; ++i) {
    Ticks begin = random() % 10000;
    intervals.push_back({32 * (1 + random() % 64), begin, begin + 1 + Ticks(random() % 600)});
  }
  return intervals;
}

TEST(PlaceRanges, LiveRangesAreDisjointAndCompact) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<Interval> intervals = randomIntervals(seed, 300);
    Placement placement = placeRanges(intervals, 1 << 20, 32);
    EXPECT_TRUE(placement.failed.empty());
    expectDisjoint(intervals, placement, 1 << 20);
    EXPECT_LE(placement.peak, livePeak(intervals) * 5 / 4) << "more than 25 % lost to fragmentation";
  }
}

TEST(PlaceRanges, TightCapacityIsRepairedOrReported) {
  unsigned fits = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<Interval> intervals = randomIntervals(100 + seed, 300);
    uint64_t capacity = llvm::alignTo(livePeak(intervals) * 21 / 20, 32);
    Placement placement = placeRanges(intervals, capacity, 32);
    expectDisjoint(intervals, placement, capacity);
    fits += placement.failed.empty();
  }
  EXPECT_GE(fits, 15u) << "5 % above the live peak is usually enough";
}

TEST(PlaceRanges, VeryManyRangesArePlacedInTime) {
  std::mt19937 random(9);
  std::vector<Interval> intervals;
  for (unsigned i = 0; i < 10000; ++i) {
    Ticks begin = i * 10 + random() % 50;
    intervals.push_back({4 + random() % 900, begin, begin + 1 + Ticks(random() % 2000)});
  }
  uint64_t capacity = livePeak(intervals) * 3 / 2;
  Placement placement = placeRanges(intervals, capacity, 32);
  EXPECT_TRUE(placement.failed.empty());
  EXPECT_STREQ(placement.strategy, "in time");
  expectDisjoint(intervals, placement, capacity);
}

TEST(PlaceRanges, WhatCannotFitIsReported) {
  Placement placement = placeRanges({{64, 0, 10}, {64, 5, 15}}, 100, 32);
  EXPECT_EQ(placement.failed.size(), 1u);
}

TEST(PlaceBanks, TheBankReleasedLongestAgoIsTaken) {
  // Three short lives leave banks released at 10, 5 and 7; the fourth begins at 20.
  Placement placement = placeBanks({{1, 0, 10}, {1, 1, 5}, {1, 2, 7}, {1, 20, 30}}, 3);
  EXPECT_TRUE(placement.failed.empty());
  EXPECT_EQ(placement.addresses[3], placement.addresses[1]);
}

TEST(PlaceBanks, RunsOfBanksAreContiguous) {
  Placement placement = placeBanks({{1, 0, 100}, {2, 0, 100}, {2, 10, 50}}, 4);
  EXPECT_EQ(placement.failed, (std::vector<uint32_t>{2})) << "one free bank is not two";
  placement = placeBanks({{1, 0, 100}, {2, 0, 100}, {2, 10, 50}}, 5);
  EXPECT_TRUE(placement.failed.empty());
}

TEST(AllocationPlan, AScheduleUnderItsBudgetIsPlaced) {
  Resources resources = test::testResources();
  test::ProgramBuilder builder = test::layeredProgram(8, 4, 1024);
  DependenceGraph graph = computeDependences(builder.program);
  SchedulePlan schedule;
  CapacityProblem problem;
  uint64_t budget = resources.sbufBytes * 9 / 10;
  ASSERT_TRUE(computeSchedule(builder.program, graph, resources, {budget, 0.125}, schedule, problem));
  AllocationPlan plan = computeAllocation(builder.program, schedule.instructions, resources);
  EXPECT_TRUE(plan.ok());
  EXPECT_LE(plan.sbufPeak, resources.sbufBytes);
}

} // namespace
