//===- ReduceTest.cpp - reductions, statistics and scans -----------------------===//
//
// Compares with the documented orders of combination written plainly, bit for bit, and checks the sums of long rows
// against double precision. Then host paths and threads.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

using namespace trn;
using namespace trn::rt;
using isa::AluOp;
using isa::Engine;

namespace {

float identity(AluOp op) {
  return op == AluOp::Multiply || op == AluOp::LogicalAnd ? 1.0f
         : op == AluOp::Max                               ? -INFINITY
         : op == AluOp::Min                               ? INFINITY
                                                          : 0.0f;
}

float apply(AluOp op, float a, float b) {
  float y;
  scalarKernels().binary(op, &a, &b, &y, 1); // The operators themselves: ElementwiseTest.
  return y;
}

/// Sixteen lanes, then pairs; subtraction in order.
float reference(AluOp op, const std::vector<float> &x) {
  if (op == AluOp::Subtract) {
    float r = x[0];
    for (size_t i = 1; i < x.size(); ++i)
      r -= x[i];
    return r;
  }
  float lanes[16];
  for (float &lane : lanes)
    lane = identity(op);
  for (size_t i = 0; i < x.size(); ++i)
    lanes[i % 16] = apply(op, lanes[i % 16], x[i]);
  for (unsigned width = 8; width; width /= 2)
    for (unsigned i = 0; i < width; ++i)
      lanes[i] = apply(op, lanes[i], lanes[i + width]);
  return lanes[0];
}

struct ReduceCase {
  std::vector<uint32_t> counts;
  int axes;
};
const ReduceCase kReduceCases[] = {{{700}, 1},       {{5, 9}, 1},      {{3, 5, 3, 3}, 2}, {{33, 16}, 1}, {{600, 2}, 1},
                                   {{4, 17}, 1},     {{2, 3, 4, 5}, 4}, {{1}, 1},         {{9, 1}, 1},   {{2, 1030}, 1},
                                   {{7, 7, 2, 2}, 2}};
constexpr AluOp kReducing[] = {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Max,
                               AluOp::Min, AluOp::AbsMax,   AluOp::LogicalAnd, AluOp::LogicalOr, AluOp::LogicalXor};

isa::TensorReduce reduction(const ReduceCase &c, AluOp op, DType from, DType to, Layout layout) {
  isa::TensorReduce inst;
  inst.op = op;
  inst.axes = c.axes;
  std::vector<uint32_t> kept(c.counts.begin(), c.counts.end() - c.axes);
  inst.src = operand(Space::SBUF, from, kPlaceB, 0, 37, c.counts, layout);
  inst.dst = operand(Space::SBUF, to, kPlaceA, 32, 37, kept);
  inst.src.startPartition = 64;
  inst.dst.startPartition = 0;
  return inst;
}

TEST(TensorReduce, combinesInTheDocumentedOrder) {
  Machine machine;
  std::mt19937 random(21);
  for (const ReduceCase &c : kReduceCases)
    for (AluOp op : kReducing)
      for (Layout layout : {Layout::Contiguous, Layout::Strided, Layout::Reversed, Layout::Broadcast}) {
        constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::F16, DType::I16};
        isa::TensorReduce inst = reduction(c, op, kTypes[random() % 4], kTypes[random() % 2], layout);
        inst.negate = random() % 2;
        machine.fill(inst.src, random, random() % 2);
        absl::Status status = machine.run(inst, Engine::DVE);
        if (!isa::info(op).reducible) {
          EXPECT_FALSE(status.ok());
          continue;
        }
        ASSERT_TRUE(status.ok()) << status;
        uint64_t count = inst.src.elements() / inst.dst.elements();
        for (uint64_t p = 0; p < inst.dst.partitions; ++p)
          for (uint64_t k = 0; k < inst.dst.elements(); ++k) {
            std::vector<float> x;
            for (uint64_t i = 0; i < count; ++i)
              x.push_back(machine.value(inst.src, p, k * count + i));
            float expected = reference(op, x);
            expectElement(machine, inst.dst, p, k, inst.negate ? expected * -1.0f : expected, isa::name(op));
            if (HasFatalFailure())
              return;
          }
      }
}

TEST(TensorReduce, combinesRawBits) {
  Machine machine;
  std::mt19937 random(22);
  for (AluOp op : {AluOp::BitwiseAnd, AluOp::BitwiseOr, AluOp::BitwiseXor}) {
    isa::TensorReduce inst = reduction({{5, 600}, 1}, op, DType::U16, DType::U16, Layout::Contiguous);
    machine.fill(inst.src, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
    for (uint64_t k = 0; k < 5; ++k) {
      uint64_t expected = machine.raw(inst.src, 3, k * 600);
      for (uint64_t i = 1; i < 600; ++i) {
        uint64_t x = machine.raw(inst.src, 3, k * 600 + i);
        expected = op == AluOp::BitwiseAnd ? expected & x : op == AluOp::BitwiseOr ? expected | x : expected ^ x;
      }
      EXPECT_EQ(expected, machine.raw(inst.dst, 3, k));
    }
  }
}

TEST(TensorReduce, sumsLongRowsAccurately) {
  Machine machine;
  std::mt19937 random(23);
  isa::TensorReduce inst = reduction({{8000}, 1}, AluOp::Add, DType::F32, DType::F32, Layout::Contiguous);
  machine.fill(inst.src, random, false);
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
  double sum = 0, magnitude = 0;
  for (uint64_t i = 0; i < 8000; ++i) {
    sum += machine.value(inst.src, 5, i);
    magnitude += std::fabs(machine.value(inst.src, 5, i));
  }
  // 500 additions a lane and 4 levels: far below the bound of 504 half ulps of the magnitude.
  EXPECT_NEAR(machine.value(inst.dst, 5, 0), sum, magnitude * 504 * 0x1p-24);
}

TEST(PartitionReduce, combinesAcrossPartitions) {
  Machine machine;
  std::mt19937 random(24);
  for (AluOp op : {AluOp::Add, AluOp::Average, AluOp::Max}) {
    isa::PartitionReduce inst;
    inst.op = op;
    inst.src = operand(Space::SBUF, DType::BF16, kPlaceB, 0, 100, {3, 200}, Layout::Strided);
    inst.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 1, {600});
    machine.fill(inst.src, random);
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    for (uint64_t k = 0; k < 600; ++k) {
      float expected = machine.value(inst.src, 0, k);
      for (uint64_t p = 1; p < 100; ++p)
        expected = apply(op == AluOp::Max ? op : AluOp::Add, expected, machine.value(inst.src, p, k));
      expectElement(machine, inst.dst, 0, k, op == AluOp::Average ? expected / 100 : expected, isa::name(op));
    }
  }
  isa::PartitionReduce bits;
  bits.op = AluOp::BitwiseOr;
  bits.src = operand(Space::SBUF, DType::U8, kPlaceB, 0, 128, {700});
  bits.dst = operand(Space::SBUF, DType::U8, kPlaceA, 0, 1, {700});
  for (uint64_t p = 0; p < 128; ++p)
    for (uint64_t k = 0; k < 700; ++k)
      machine.setRaw(bits.src, p, k, p == k % 128 ? 1 << k % 8 : 0);
  ASSERT_TRUE(machine.run(bits, Engine::POOL).ok());
  for (uint64_t k = 0; k < 700; ++k)
    EXPECT_EQ(machine.raw(bits.dst, 0, k), uint64_t(1 << k % 8));
}

TEST(EightAtATime, findReplaceAndRepeatValues) {
  Machine machine;
  std::mt19937 random(25);
  isa::Max8 max;
  max.src = operand(Space::SBUF, DType::F32, kPlaceB, 0, 128, {10, 30});
  max.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 128, {8});
  for (uint64_t p = 0; p < 128; ++p)
    for (uint64_t k = 0; k < 300; ++k)
      machine.set(max.src, p, k, int(random() % 40)); // Many equal ones.
  ASSERT_TRUE(machine.run(max, Engine::DVE).ok());
  isa::FindIndex8 find;
  find.src = max.src;
  find.values = max.dst;
  find.dst = operand(Space::SBUF, DType::U32, kPlaceC, 0, 128, {8});
  ASSERT_TRUE(machine.run(find, Engine::DVE).ok());
  isa::MatchReplace8 replace;
  replace.src = max.src;
  replace.values = max.dst;
  replace.replacement = -100;
  replace.dst = operand(Space::SBUF, DType::F32, 160 * 1024, 0, 128, {300});
  ASSERT_TRUE(machine.run(replace, Engine::DVE).ok());
  for (uint64_t p = 0; p < 128; ++p) {
    std::vector<float> row;
    for (uint64_t k = 0; k < 300; ++k)
      row.push_back(machine.value(max.src, p, k));
    std::vector<float> sorted = row;
    std::sort(sorted.rbegin(), sorted.rend());
    for (int v = 0; v < 8; ++v) {
      ASSERT_EQ(sorted[v], machine.value(max.dst, p, v));
      // The position is that of the (number of earlier equal values)-th match.
      auto at = row.begin() - 1;
      for (int e = 0; e <= v; ++e)
        if (sorted[e] == sorted[v])
          at = std::find(at + 1, row.end(), sorted[v]);
      ASSERT_EQ(uint64_t(at - row.begin()), machine.raw(find.dst, p, v));
      row[machine.raw(find.dst, p, v)] = sorted[v]; // Unchanged here; replaced below.
    }
    for (int v = 0; v < 8; ++v)
      row[machine.raw(find.dst, p, v)] = -100;
    for (uint64_t k = 0; k < 300; ++k)
      ASSERT_EQ(row[k], machine.value(replace.dst, p, k)) << k;
  }
}

TEST(EightAtATime, missAValueThatIsNotThere) {
  Machine machine;
  isa::FindIndex8 find;
  find.src = operand(Space::SBUF, DType::F32, kPlaceB, 0, 1, {8});
  find.values = operand(Space::SBUF, DType::F32, kPlaceA, 0, 1, {8});
  find.dst = operand(Space::SBUF, DType::U16, kPlaceC, 0, 1, {8});
  for (uint64_t k = 0; k < 8; ++k) {
    machine.set(find.src, 0, k, k == 6 ? 5 : 1);
    machine.set(find.values, 0, k, k == 0 ? 7 : 5);
  }
  ASSERT_TRUE(machine.run(find, Engine::DVE).ok());
  EXPECT_EQ(machine.raw(find.dst, 0, 0), 0xffffu);
  EXPECT_EQ(machine.raw(find.dst, 0, 1), 6u);
  EXPECT_EQ(machine.raw(find.dst, 0, 2), 0xffffu) << "the only match is taken";
}

TEST(BatchStatistics, aggregateToMeanAndVariance) {
  Machine machine;
  std::mt19937 random(26);
  // Three pieces of a row of 1,237 elements; an odd and a short one among them.
  const uint32_t sizes[] = {512, 512, 213};
  isa::BnAggr aggregate;
  aggregate.src = operand(Space::SBUF, DType::F32, kPlaceC, 0, 128, {18});
  aggregate.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 128, {2});
  std::vector<double> row;
  for (int piece = 0; piece < 3; ++piece) {
    isa::BnStats stats;
    stats.src = operand(Space::SBUF, DType::BF16, kPlaceB + piece * 2048, 0, 128, {sizes[piece]});
    stats.dst = operand(Space::SBUF, DType::F32, kPlaceC + piece * 24, 0, 128, {6});
    machine.fill(stats.src, random, false);
    ASSERT_TRUE(machine.run(stats, Engine::DVE).ok());
    EXPECT_EQ(machine.value(stats.dst, 3, 0), float((sizes[piece] + 1) / 2));
    EXPECT_EQ(machine.value(stats.dst, 3, 3), float(sizes[piece] / 2));
    for (uint64_t k = 0; k < sizes[piece]; ++k)
      row.push_back(machine.value(stats.src, 3, k));
  }
  ASSERT_TRUE(machine.run(aggregate, Engine::DVE).ok());
  double mean = 0, variance = 0;
  for (double x : row)
    mean += x / double(row.size());
  for (double x : row)
    variance += (x - mean) * (x - mean) / double(row.size());
  // fp32 sums of about a thousand numbers of size 2.
  EXPECT_NEAR(machine.value(aggregate.dst, 3, 0), mean, 2e-6);
  EXPECT_NEAR(machine.value(aggregate.dst, 3, 1), variance, variance * 2e-6);
}

TEST(BatchStatistics, ofOneElementHaveAnEmptySecondHalf) {
  Machine machine;
  isa::BnStats stats;
  stats.src = operand(Space::SBUF, DType::F32, kPlaceB, 0, 1, {1});
  stats.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 1, {6});
  machine.set(stats.src, 0, 0, 4.5);
  ASSERT_TRUE(machine.run(stats, Engine::DVE).ok());
  const float expected[] = {1, 4.5, 0, 0, 0, 0};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(machine.value(stats.dst, 0, i), expected[i]);
}

TEST(Scan, carriesItsStateAcrossTheRow) {
  Machine machine;
  std::mt19937 random(27);
  isa::TensorTensorScan scan;
  scan.op0 = AluOp::Multiply;
  scan.op1 = AluOp::Add;
  scan.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 128, {2, 650}, Layout::Strided);
  scan.lhs = operand(Space::SBUF, DType::BF16, kPlaceB, 0, 128, {1300});
  scan.rhs = operand(Space::SBUF, DType::F32, kPlaceC, 0, 128, {1300}, Layout::Broadcast);
  scan.initial = isa::Scalar::at(operand(Space::SBUF, DType::F32, 170 * 1024, 0, 128, {1}));
  machine.fill(scan.lhs, random, false);
  machine.fill(scan.rhs, random, false);
  machine.fill(scan.initial.pointer, random, false);
  ASSERT_TRUE(machine.run(scan, Engine::DVE).ok()) << machine.run(scan, Engine::DVE);
  for (uint64_t p = 0; p < 128; ++p) {
    float state = machine.value(scan.initial.pointer, p, 0);
    for (uint64_t k = 0; k < 1300; ++k) {
      state = machine.value(scan.lhs, p, k) * state;
      state = state + machine.value(scan.rhs, p, k);
      expectElement(machine, scan.dst, p, k, state, "scan");
    }
  }
}

void runAll(Machine &machine) {
  std::mt19937 random(28);
  for (const ReduceCase &c : kReduceCases)
    for (AluOp op : {AluOp::Add, AluOp::Max, AluOp::Multiply}) {
      isa::TensorReduce inst = reduction(c, op, DType::BF16, DType::F32, Layout::Strided);
      inst.dst.address += (random() % 64) * 256;
      machine.fill(inst.src, random);
      ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
    }
  isa::PartitionReduce across;
  across.op = AluOp::Add;
  across.src = operand(Space::SBUF, DType::F16, kPlaceB, 0, 128, {700});
  across.dst = operand(Space::SBUF, DType::F32, kPlaceC, 0, 1, {700});
  machine.fill(across.src, random);
  ASSERT_TRUE(machine.run(across, Engine::POOL).ok());
}

class ReducePaths : public HostPathTest {};

TEST_P(ReducePaths, equalTheScalarPathBitForBit) {
  Machine expected, got(GetParam(), /*threads=*/2);
  runAll(expected);
  runAll(got);
  expectSameMemories(expected, got);
}

INSTANTIATE_TEST_SUITE_P(Paths, ReducePaths, testing::ValuesIn(vectorPaths()), pathName);

} // namespace
