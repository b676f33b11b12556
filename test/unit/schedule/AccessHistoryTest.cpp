#include "passes/Schedule/Analysis/AccessHistory.h"
#include "RandomProgram.h"
#include "gtest/gtest.h"
#include <set>

using namespace trn;
using test::box;

namespace {

std::set<uint32_t> conflicts(AccessHistory &history, uint32_t node, const ByteRegion &region, bool reads, bool writes) {
  std::set<uint32_t> found;
  history.access(node, 0, region, reads, writes, [&](uint32_t earlier, Conflict) { found.insert(earlier); });
  return found;
}

TEST(AccessHistory, ReadsDoNotConflictWithReads) {
  AccessHistory history;
  EXPECT_TRUE(conflicts(history, 0, box(0, 128, 0, 64), true, false).empty());
  EXPECT_TRUE(conflicts(history, 1, box(0, 128, 0, 64), true, false).empty());
}

TEST(AccessHistory, AWriteForgetsWhatItCovers) {
  AccessHistory history;
  conflicts(history, 0, box(0, 128, 0, 64), false, true);
  conflicts(history, 1, box(0, 128, 0, 64), false, true);
  EXPECT_EQ(conflicts(history, 2, box(0, 128, 0, 8), true, false), (std::set<uint32_t>{1}));
}

TEST(AccessHistory, PartitionsSeparate) {
  AccessHistory history;
  conflicts(history, 0, box(0, 64, 0, 64), false, true);
  conflicts(history, 1, box(64, 64, 0, 64), false, true);
  EXPECT_EQ(conflicts(history, 2, box(64, 32, 0, 8), true, false), (std::set<uint32_t>{1}));
  EXPECT_EQ(conflicts(history, 3, box(0, 128, 32, 40), true, false), (std::set<uint32_t>{0, 1}));
}

/// Every pair that shares a byte of which the later is not already ordered through writers in between must be
/// reachable through reported conflicts, in both modes.
TEST(AccessHistory, EveryConflictIsReachable) {
  for (bool fold : {false, true}) {
    std::mt19937 random(fold ? 3 : 4);
    constexpr unsigned kNodes = 400;
    AccessHistory history(fold);
    std::vector<std::vector<bool>> before(kNodes, std::vector<bool>(kNodes, false));
    struct Access {
      ByteRegion region;
      bool reads, writes;
      unsigned thread;
    };
    std::vector<Access> accesses;
    for (uint32_t node = 0; node < kNodes; ++node) {
      uint64_t begin = 4 * (random() % 40);
      ByteRegion region = box(32 * (random() % 4), 32, begin, begin + 4 * (1 + random() % 12));
      if (random() % 3 == 0) { // strided: two runs
        region.rank = 1;
        region.dims[0] = {int64_t(region.run) + 8, 2};
        region.end += region.run + 8;
      }
      bool writes = random() % 4 == 0, reads = !writes || random() % 3 == 0;
      unsigned thread = random() % 3;
      history.access(node, thread, region, reads, writes, [&](uint32_t earlier, Conflict) {
        before[node][earlier] = true;
        for (uint32_t i = 0; i < kNodes; ++i)
          before[node][i] = before[node][i] || before[earlier][i];
      });
      if (fold) // readers of one thread complete in order
        for (uint32_t i = node; i-- > 0;)
          if (accesses[i].thread == thread) {
            before[node][i] = true;
            for (uint32_t j = 0; j < i; ++j)
              before[node][j] = before[node][j] || before[i][j];
          }
      accesses.push_back({region, reads, writes, thread});
      for (uint32_t earlier = 0; earlier < node; ++earlier) {
        if (!writes && !accesses[earlier].writes)
          continue;
        if (!region.mayOverlap(accesses[earlier].region))
          continue;
        EXPECT_TRUE(before[node][earlier]) << earlier << " before " << node << (fold ? ", folded" : "");
      }
    }
  }
}

} // namespace
