#include "passes/Schedule/Analysis/AccessHistory.h"
#include "RandomProgram.h"
#include "gtest/gtest.h"
#include <chrono>
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

/// Whether two regions have a byte in common, run by run.
bool shareByte(const ByteRegion &a, const ByteRegion &b) {
  bool shared = false;
  if (a.partitions.intersects(b.partitions))
    a.forEachRun(1000, [&](uint64_t begin, uint64_t end) {
      b.forEachRun(1000, [&](uint64_t from, uint64_t to) { shared |= begin < to && from < end; });
    });
  return shared;
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
        if (!shareByte(region, accesses[earlier].region))
          continue;
        EXPECT_TRUE(before[node][earlier]) << earlier << " before " << node << (fold ? ", folded" : "");
      }
    }
  }
}

/// Rows of several planes, as a picture's tiles are: each conflicts with what touches the same rows only, and costs no more
/// when there are many.
TEST(AccessHistory, RowsOfPlanesCostWhatTheyTouch) {
  constexpr unsigned kRows = 20000, kPlanes = 3, kRowBytes = 4096;
  auto rows = [](unsigned first, unsigned count) {
    ByteRegion region = box(0, 128, uint64_t(first) * kRowBytes, uint64_t(first + count) * kRowBytes);
    region.rank = 1;
    region.dims[0] = {int64_t(kRows) * kRowBytes, kPlanes};
    region.end += uint64_t(kRows) * kRowBytes * (kPlanes - 1);
    return region;
  };
  AccessHistory history;
  auto start = std::chrono::steady_clock::now();
  for (unsigned row = 0; row < kRows; ++row)
    EXPECT_TRUE(conflicts(history, row, rows(row, 1), false, true).empty()) << row;
  for (unsigned row = 0; row + 1 < kRows; ++row) {
    EXPECT_EQ(conflicts(history, kRows + row, rows(row, 2), true, false), (std::set<uint32_t>{row, row + 1}));
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 5.0); // measured 0.1 s; a minute when each row looks at all others
}

} // namespace
