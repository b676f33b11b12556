//===- FootprintTest.cpp - the bytes that an operand touches -----------------===//
//
// Tests runtime/timing/Footprint.h against a set of every touched byte.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Footprint.h"
#include "test/unit/timing/ProgramBuilder.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;

static std::set<int64_t> everyByte(const AP &ap) {
  std::set<int64_t> bytes;
  const int64_t size = isa::byteSize(ap.dtype);
  const unsigned rows = ap.space == isa::Space::HBM ? ap.partitions : 1;
  for (unsigned row = 0; row < rows; ++row)
    for (uint64_t k = 0; k < ap.elements(); ++k) {
      int64_t offset = row * ap.partitionStep;
      uint64_t rest = k;
      for (int d = ap.rank - 1; d >= 0; --d) {
        offset += static_cast<int64_t>(rest % ap.dims[d].count) * ap.dims[d].step;
        rest /= ap.dims[d].count;
      }
      for (int64_t b = 0; b < size; ++b)
        bytes.insert(static_cast<int64_t>(ap.address) + offset * size + b);
    }
  return bytes;
}

static AP randomPattern(std::mt19937 &random) {
  AP ap;
  ap.space = random() % 3 ? isa::Space::SBUF : isa::Space::HBM;
  ap.dtype = random() % 2 ? DType::BF16 : DType::F32;
  ap.rank = static_cast<uint8_t>(random() % 5);
  ap.address = 2000 + random() % 64;
  ap.partitions = static_cast<uint16_t>(1 + random() % 4);
  ap.partitionStep = ap.space == isa::Space::HBM ? static_cast<int64_t>(random() % 40) : 0;
  for (unsigned i = 0; i < ap.rank; ++i)
    ap.dims[i] = {static_cast<int32_t>(random() % 21) - 6, 1 + static_cast<uint32_t>(random() % 4)};
  return ap;
}

TEST(Footprint, RunsAreExactlyTheTouchedBytes) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const AP ap = randomPattern(random);
    const std::set<int64_t> expected = everyByte(ap);
    std::set<int64_t> got;
    int64_t last = INT64_MIN;
    for (const ByteRun &run : byteRuns(ap)) {
      EXPECT_GT(run.begin, last) << "runs must be maximal and sorted: " << ap.str();
      last = run.end;
      for (int64_t b = run.begin; b < run.end; ++b)
        got.insert(b);
    }
    ASSERT_EQ(got, expected) << ap.str();
    const Box box = boundingBox(ap);
    EXPECT_EQ(box.begin, *expected.begin());
    EXPECT_EQ(box.end, *expected.rbegin() + 1);
  }
}

TEST(Footprint, OverlapIsASharedByte) {
  std::mt19937 random(2);
  int shared = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    AP a = randomPattern(random), b = randomPattern(random);
    a.space = b.space = isa::Space::SBUF;
    const std::set<int64_t> left = everyByte(a);
    bool expected = false;
    for (int64_t byte : everyByte(b))
      expected |= left.count(byte) != 0;
    shared += expected;
    ASSERT_EQ(overlaps(a, b), expected) << a.str() << " and " << b.str();
  }
  EXPECT_GT(shared, 100);
  EXPECT_LT(shared, 2900);
}

TEST(Footprint, PartitionsAndSpacesSeparate) {
  AP a = sbuf(0, 32, 16), b = sbuf(0, 32, 16, DType::BF16, 32);
  EXPECT_FALSE(overlaps(a, b));
  b.startPartition = 31;
  EXPECT_TRUE(overlaps(a, b));
  EXPECT_FALSE(overlaps(sbuf(0, 128, 16), psum(0, 128, 16)));
  EXPECT_FALSE(overlaps(hbm(0, 4, 16), hbm(1, 4, 16)));
  EXPECT_TRUE(overlaps(hbm(1, 4, 16), hbm(1, 4, 16)));
}

TEST(Footprint, InterleavedColumnsDoNotOverlap) {
  AP even = sbuf(0, 128, 64), odd = sbuf(2, 128, 64);
  even.dims[0].step = odd.dims[0].step = 2;
  EXPECT_TRUE(boundingBox(even).overlaps(boundingBox(odd)));
  EXPECT_FALSE(overlaps(even, odd));
}

TEST(Footprint, AbsurdPatternsStayCheap) {
  AP ap;
  ap.rank = 4;
  for (auto &dim : ap.dims)
    dim = {0, 1};
  ap.dims[0] = {1 << 20, 60000};
  ap.dims[1] = {7, 60000};
  EXPECT_EQ(byteRuns(ap).size(), 1u);
}
