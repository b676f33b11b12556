#include "passes/Schedule/Analysis/ByteRegion.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace trn;

namespace {

isa::AP pattern(isa::Space space, unsigned start, unsigned partitions, uint64_t address,
                std::initializer_list<isa::Dim> dims, int64_t partitionStep = 0) {
  isa::AP ap;
  ap.space = space;
  ap.dtype = isa::DType::BF16;
  ap.startPartition = start;
  ap.partitions = partitions;
  ap.address = address;
  ap.partitionStep = partitionStep;
  for (isa::Dim dim : dims)
    ap.dims[ap.rank++] = dim;
  return ap;
}

/// The touched bytes of one row, found by visiting every element.
std::set<int64_t> bytesOf(const isa::AP &ap) {
  std::set<int64_t> bytes;
  unsigned rows = ap.space == isa::Space::HBM ? ap.partitions : 1;
  for (unsigned row = 0; row < rows; ++row)
    for (uint64_t n = 0; n < ap.elements(); ++n) {
      int64_t element = row * ap.partitionStep;
      uint64_t rest = n;
      for (int d = ap.rank - 1; d >= 0; --d) {
        element += int64_t(rest % ap.dims[d].count) * ap.dims[d].step;
        rest /= ap.dims[d].count;
      }
      for (unsigned b = 0; b < ap.bytes(); ++b)
        bytes.insert(int64_t(ap.address) + element * ap.bytes() + b);
    }
  return bytes;
}

TEST(PartitionMask, RangesCrossTheWordBorder) {
  PartitionMask mask = PartitionMask::range(60, 8);
  EXPECT_EQ(mask.bits[0], 0xF000000000000000u);
  EXPECT_EQ(mask.bits[1], 0xFu);
  EXPECT_TRUE(PartitionMask::all() == PartitionMask::range(0, 128));
  EXPECT_FALSE(PartitionMask::range(0, 32).intersects(PartitionMask::range(32, 32)));
  EXPECT_TRUE(PartitionMask::range(0, 0).empty());
}

TEST(ByteRegion, ContiguousDimensionsBecomeOneRun) {
  ByteRegion region = ByteRegion::of(pattern(isa::Space::SBUF, 32, 32, 64, {{16, 4}, {1, 16}}));
  EXPECT_TRUE(region.dense());
  EXPECT_EQ(region.begin, 64u);
  EXPECT_EQ(region.end, 64u + 4 * 16 * 2);
}

TEST(ByteRegion, NegativeStepsAndBroadcastsStayInside) {
  ByteRegion region = ByteRegion::of(pattern(isa::Space::SBUF, 0, 1, 100, {{0, 7}, {-2, 5}}));
  EXPECT_EQ(region.begin, 100u - 4 * 2 * 2);
  EXPECT_EQ(region.end, 102u);
  EXPECT_FALSE(region.dense());
}

TEST(ByteRegion, ColumnsOfOnePitchAreSeparate) {
  ByteRegion left = ByteRegion::of(pattern(isa::Space::SBUF, 0, 128, 0, {{32, 8}, {1, 16}}));
  ByteRegion right = ByteRegion::of(pattern(isa::Space::SBUF, 0, 128, 32, {{32, 8}, {1, 16}}));
  EXPECT_FALSE(left.mayOverlap(right));
  EXPECT_TRUE(left.mayOverlap(left));
}

TEST(ByteRegion, RowsOfHbmAreADimension) {
  ByteRegion region = ByteRegion::of(pattern(isa::Space::HBM, 0, 4, 8, {{1, 10}}, 100));
  EXPECT_EQ(region.begin, 8u);
  EXPECT_EQ(region.end, 8u + 3 * 200 + 20);
  EXPECT_EQ(region.run, 20u);
}

/// Never "separate" when a byte is shared; runs are exactly the bytes.
TEST(ByteRegion, RandomPatternsAgreeWithVisitingEveryElement) {
  std::mt19937 random(7);
  auto pick = [&](int lo, int hi) { return lo + int(random() % (hi - lo + 1)); };
  unsigned separated = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    isa::AP aps[2];
    for (isa::AP &ap : aps) {
      bool hbm = pick(0, 3) == 0;
      ap = pattern(hbm ? isa::Space::HBM : isa::Space::SBUF, 0, hbm ? pick(1, 3) : 128, 1000 + 2 * pick(0, 60), {},
                   hbm ? pick(0, 40) : 0);
      for (int d = pick(0, 3); d > 0; --d)
        ap.dims[ap.rank++] = {pick(-20, 40), uint32_t(pick(1, 4))};
    }
    ByteRegion a = ByteRegion::of(aps[0]), b = ByteRegion::of(aps[1]);
    std::set<int64_t> bytesA = bytesOf(aps[0]), bytesB = bytesOf(aps[1]);
    EXPECT_EQ(int64_t(a.begin), *bytesA.begin());
    EXPECT_EQ(int64_t(a.end), *bytesA.rbegin() + 1);
    std::set<int64_t> runs;
    ASSERT_TRUE(a.forEachRun(100000, [&](uint64_t begin, uint64_t end) {
      for (uint64_t byte = begin; byte < end; ++byte)
        runs.insert(byte);
    }));
    EXPECT_EQ(runs, bytesA);
    bool shared = std::any_of(bytesA.begin(), bytesA.end(), [&](int64_t byte) { return bytesB.count(byte); });
    if (shared)
      EXPECT_TRUE(a.mayOverlap(b)) << aps[0].str() << " and " << aps[1].str();
    separated += !a.mayOverlap(b);
  }
  EXPECT_GT(separated, 400u) << "the generator no longer makes separable patterns";
}

TEST(RegionSet, HoldsWhatWasAddedAndNotRemoved) {
  RegionSet set;
  set.add(ByteRegion::of(pattern(isa::Space::SBUF, 0, 128, 0, {{1, 32}})));
  set.remove(ByteRegion::of(pattern(isa::Space::SBUF, 0, 64, 0, {{1, 32}})));
  EXPECT_FALSE(set.empty());
  EXPECT_FALSE(set.intersects(ByteRegion::of(pattern(isa::Space::SBUF, 0, 64, 10, {{1, 4}}))));
  EXPECT_TRUE(set.intersects(ByteRegion::of(pattern(isa::Space::SBUF, 64, 32, 10, {{1, 4}}))));
  // Two interleaved column blocks cover the rest.
  set.remove(ByteRegion::of(pattern(isa::Space::SBUF, 64, 64, 0, {{8, 4}, {1, 4}})));
  EXPECT_FALSE(set.empty());
  set.remove(ByteRegion::of(pattern(isa::Space::SBUF, 64, 64, 8, {{8, 4}, {1, 4}})));
  EXPECT_TRUE(set.empty());
}

} // namespace
