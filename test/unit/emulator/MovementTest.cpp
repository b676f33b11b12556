//===- MovementTest.cpp - instructions that rearrange elements ----------------===//
//
// Compares shuffles, transposes, gathers, index patterns and DMA with their definitions, element by element.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

using namespace trn;
using namespace trn::rt;
using isa::AluOp;
using isa::Engine;

namespace {

std::vector<uint64_t> contents(Machine &machine, const AP &ap) {
  std::vector<uint64_t> values;
  for (uint64_t p = 0; p < ap.partitions; ++p)
    for (uint64_t k = 0; k < ap.elements(); ++k)
      values.push_back(machine.raw(ap, p, k));
  return values;
}

TEST(StreamShuffle, permutesBroadcastsAndKeeps) {
  Machine machine;
  std::mt19937 random(31);
  isa::NcStreamShuffle inst;
  inst.src = operand(Space::SBUF, DType::BF16, kPlaceB, 0, 128, {5, 7}, Layout::Strided);
  inst.dst = operand(Space::SBUF, DType::BF16, kPlaceA, 0, 128, {35});
  for (int i = 0; i < 32; ++i)
    inst.mask[i] = i % 3 == 0 ? 255 : i % 3 == 1 ? 31 - i : 4;
  machine.fill(inst.src, random);
  machine.fill(inst.dst, random);
  std::vector<uint64_t> before = contents(machine, inst.dst), from = contents(machine, inst.src);
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
  for (uint64_t p = 0; p < 128; ++p)
    for (uint64_t k = 0; k < 35; ++k) {
      int entry = inst.mask[p % 32];
      uint64_t expected = entry == 255 ? before[p * 35 + k] : from[(p / 32 * 32 + entry) * 35 + k];
      ASSERT_EQ(expected, machine.raw(inst.dst, p, k));
    }
}

TEST(StreamShuffle, worksInPlace) {
  Machine machine;
  std::mt19937 random(32);
  isa::NcStreamShuffle inst;
  inst.src = inst.dst = operand(Space::SBUF, DType::F32, kPlaceB, 64, 64, {9});
  for (int i = 0; i < 32; ++i)
    inst.mask[i] = (i + 1) % 32;
  machine.fill(inst.src, random);
  std::vector<uint64_t> before = contents(machine, inst.src);
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
  for (uint64_t p = 0; p < 64; ++p)
    for (uint64_t k = 0; k < 9; ++k)
      ASSERT_EQ(before[(p / 32 * 32 + (p + 1) % 32) * 9 + k], machine.raw(inst.dst, p, k));
}

TEST(Transpose, exchangesPartitionsAndFreeElements) {
  Machine machine;
  std::mt19937 random(33);
  for (DType type : {DType::BF16, DType::F16, DType::F32}) {
    isa::NcTranspose inst;
    inst.src = operand(Space::SBUF, type, kPlaceB, 0, 77, {4, 25}, Layout::Strided);
    inst.dst = operand(Space::PSUM, type, 64, 0, 100, {77});
    machine.fill(inst.src, random);
    ASSERT_TRUE(machine.run(inst, Engine::PE).ok()) << machine.run(inst, Engine::PE);
    for (uint64_t p = 0; p < 77; ++p)
      for (uint64_t k = 0; k < 100; ++k)
        ASSERT_EQ(machine.raw(inst.src, p, k), machine.raw(inst.dst, k, p)) << "NaN payloads pass through";
  }
}

TEST(Transpose, ofBlocksOnTheVectorEngine) {
  Machine machine;
  std::mt19937 random(34);
  isa::NcTransposeDve inst;
  inst.src = operand(Space::SBUF, DType::F32, kPlaceB, 0, 64, {96});
  inst.dst = operand(Space::SBUF, DType::F32, kPlaceA, 64, 64, {96});
  machine.fill(inst.src, random);
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
  for (uint64_t q = 0; q < 2; ++q)
    for (uint64_t c = 0; c < 3; ++c)
      for (uint64_t i = 0; i < 32; ++i)
        for (uint64_t j = 0; j < 32; ++j)
          ASSERT_EQ(machine.raw(inst.src, 32 * q + j, 32 * c + i), machine.raw(inst.dst, 32 * q + i, 32 * c + j));
}

TEST(LocalGather, gathersByGroupsOfSixteen) {
  Machine machine;
  std::mt19937 random(35);
  isa::LocalGather inst;
  inst.elementsPerIndex = 4;
  inst.src = operand(Space::SBUF, DType::F16, kPlaceB, 0, 48, {400});
  inst.indices = operand(Space::SBUF, DType::U16, kPlaceC, 0, 48, {3});
  inst.dst = operand(Space::SBUF, DType::F16, kPlaceA, 0, 48, {16 * 3 * 4});
  machine.fill(inst.src, random);
  for (uint64_t p = 0; p < 48; ++p)
    for (uint64_t k = 0; k < 3; ++k)
      machine.setRaw(inst.indices, p, k, random() % 100);
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
  for (uint64_t p = 0; p < 48; ++p)
    for (uint64_t k = 0; k < 48; ++k)
      for (uint64_t e = 0; e < 4; ++e) {
        uint64_t index = machine.raw(inst.indices, p / 16 * 16 + k % 16, k / 16);
        ASSERT_EQ(machine.raw(inst.src, p, index * 4 + e), machine.raw(inst.dst, p, k * 4 + e));
      }
  machine.setRaw(inst.indices, 20, 1, 100);
  EXPECT_EQ(machine.run(inst, Engine::POOL).code(), absl::StatusCode::kOutOfRange);
}

TEST(Gather, alongTheRowChecksEveryIndex) {
  Machine machine;
  std::mt19937 random(36);
  isa::NcNGather inst;
  inst.src = operand(Space::SBUF, DType::F32, kPlaceB, 0, 100, {70}, Layout::Strided);
  inst.indices = operand(Space::SBUF, DType::I32, kPlaceC, 0, 100, {33});
  inst.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 100, {33});
  machine.fill(inst.src, random);
  for (uint64_t p = 0; p < 100; ++p)
    for (uint64_t k = 0; k < 33; ++k)
      machine.setRaw(inst.indices, p, k, random() % 70);
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  for (uint64_t p = 0; p < 100; ++p)
    for (uint64_t k = 0; k < 33; ++k)
      ASSERT_EQ(machine.raw(inst.src, p, machine.raw(inst.indices, p, k)), machine.raw(inst.dst, p, k));
  for (uint64_t bad : {uint64_t(70), uint64_t(uint32_t(-1))}) {
    machine.setRaw(inst.indices, 50, 7, bad);
    EXPECT_EQ(machine.run(inst, Engine::POOL).code(), absl::StatusCode::kOutOfRange);
  }
}

isa::Pattern pattern(std::vector<isa::Dim> dims) {
  isa::Pattern result;
  result.rank = uint8_t(dims.size());
  std::copy(dims.begin(), dims.end(), result.dims);
  return result;
}

TEST(Iota, countsInInt32) {
  Machine machine;
  for (DType type : {DType::I32, DType::F32, DType::BF16, DType::U8}) {
    isa::Iota inst;
    inst.dst = operand(Space::SBUF, type, kPlaceA, 0, 128, {600});
    inst.pattern = pattern({{-7, 20}, {1000, 3}, {1, 10}});
    inst.offset = 16000000;
    inst.channelMultiplier = 3001;
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
    for (int p = 0; p < 128; ++p)
      for (int k = 0; k < 600; ++k) {
        int32_t value = 16000000 + p * 3001 + -7 * (k / 30) + 1000 * (k / 10 % 3) + k % 10;
        if (type == DType::I32)
          ASSERT_EQ(machine.raw(inst.dst, p, k), uint64_t(value));
        else
          expectElement(machine, inst.dst, p, k, float(value), isa::name(type));
      }
  }
}

TEST(AffineSelect, makesCausalMasks) {
  Machine machine;
  std::mt19937 random(37);
  for (AluOp compare : {AluOp::IsGe, AluOp::IsGt, AluOp::IsEq, AluOp::IsNe}) {
    isa::AffineSelect inst;
    inst.onTrue = operand(Space::SBUF, DType::BF16, kPlaceB, 0, 128, {128});
    inst.dst = operand(Space::SBUF, DType::F32, kPlaceA, 0, 128, {128});
    inst.pattern = pattern({{-1, 128}});
    inst.channelMultiplier = 1; // p - k
    inst.compare = compare;
    inst.onFalse = -1e30f;
    machine.fill(inst.onTrue, random);
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    for (int p = 0; p < 128; ++p)
      for (int k = 0; k < 128; ++k) {
        bool holds = compare == AluOp::IsGe ? p >= k : compare == AluOp::IsGt ? p > k : (p == k) == (compare == AluOp::IsEq);
        expectElement(machine, inst.dst, p, k, holds ? machine.value(inst.onTrue, p, k) : -1e30f, isa::name(compare));
      }
  }
}

//===----------------------------------------------------------------------===//
// DMA
//===----------------------------------------------------------------------===//

TEST(DmaCopy, visitsElementsPartitionByPartition) {
  struct Case {
    AP dst, src;
  };
  auto hbm = [](DType type, uint64_t address, unsigned rows, int64_t step, std::vector<uint32_t> counts) {
    AP ap = operand(Space::HBM, type, address, 0, rows, counts);
    ap.partitionStep = step;
    ap.buffer = 1;
    return ap;
  };
  auto sbuf = [](DType type, unsigned partitions, std::vector<uint32_t> counts, Layout layout) {
    return operand(Space::SBUF, type, layout == Layout::Contiguous ? kPlaceA : kPlaceB, 0, partitions, counts, layout);
  };
  const Case cases[] = {
      {sbuf(DType::BF16, 128, {300}, Layout::Contiguous), hbm(DType::BF16, 10, 128, 300, {300})},       // plain load
      {sbuf(DType::F32, 100, {3, 40}, Layout::Strided), hbm(DType::F32, 4, 100, 1, {120})},             // overlapping rows
      {sbuf(DType::F32, 128, {33}, Layout::Contiguous), hbm(DType::F32, 0, 128, 0, {33})},              // broadcast
      {sbuf(DType::BF16, 128, {64}, Layout::Contiguous), hbm(DType::F32, 0, 128, 64, {64})},            // converting
      {hbm(DType::U8, 3, 17, 1000, {600}), sbuf(DType::F16, 17, {20, 30}, Layout::Reversed)},           // converting store
      {hbm(DType::F32, 0, 1, 0, {60 * 100}), sbuf(DType::F32, 60, {100}, Layout::Contiguous)},          // other row length
      {sbuf(DType::I64, 30, {14}, Layout::Strided), hbm(DType::I64, 8, 7, 61, {60})},                   // ragged against it
      {sbuf(DType::F32, 128, {9}, Layout::Contiguous), sbuf(DType::F32, 9, {8, 16}, Layout::Strided)},  // repartition
  };
  std::mt19937 random(38);
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    Machine machine(HostPath::Scalar, 2), expected;
    isa::DmaCopy inst;
    inst.dst = cases[i].dst;
    inst.src = cases[i].src;
    machine.fill(inst.src, random);
    expected.hbm[1] = machine.hbm[1];
    uint64_t dstRow = inst.dst.elements(), srcRow = inst.src.elements();
    for (uint64_t k = 0; k < inst.src.totalElements(); ++k) {
      uint64_t bits = machine.raw(inst.src, k / srcRow, k % srcRow);
      expected.setRaw(inst.src, k / srcRow, k % srcRow, bits);
      if (inst.dst.dtype != inst.src.dtype)
        bits = encodeElement(inst.dst.dtype, machine.value(inst.src, k / srcRow, k % srcRow));
      expected.setRaw(inst.dst, k / dstRow, k % dstRow, bits);
    }
    absl::Status status = machine.run(inst, Engine::SP);
    ASSERT_TRUE(status.ok()) << status;
    expectSameMemories(expected, machine);
  }
}

TEST(DmaGather, readsRowsAndRefusesOthers) {
  Machine machine;
  std::mt19937 random(39);
  isa::DmaGather inst;
  inst.table = operand(Space::HBM, DType::BF16, 64, 0, 500, {96});
  inst.table.partitionStep = 100;
  inst.indices = operand(Space::SBUF, DType::I32, kPlaceC, 0, 77, {1});
  inst.dst = operand(Space::SBUF, DType::BF16, kPlaceA, 0, 77, {96});
  machine.fill(inst.table, random);
  for (uint64_t p = 0; p < 77; ++p)
    machine.setRaw(inst.indices, p, 0, random() % 500);
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
  for (uint64_t p = 0; p < 77; ++p)
    for (uint64_t k = 0; k < 96; ++k)
      ASSERT_EQ(machine.raw(inst.table, machine.raw(inst.indices, p, 0), k), machine.raw(inst.dst, p, k));
  for (uint64_t bad : {uint64_t(500), uint64_t(uint32_t(-1)), uint64_t(INT32_MAX)}) {
    machine.setRaw(inst.indices, 40, 0, bad);
    absl::Status status = machine.run(inst, Engine::POOL);
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  }
}

TEST(DmaScatter, writesRowsInOrderAndRefusesOthers) {
  Machine machine;
  std::mt19937 random(40);
  isa::DmaScatter inst;
  inst.table = operand(Space::HBM, DType::F32, 0, 0, 60, {50});
  inst.indices = operand(Space::SBUF, DType::U32, kPlaceC, 0, 128, {1});
  inst.src = operand(Space::SBUF, DType::F32, kPlaceA, 0, 128, {50});
  machine.fill(inst.src, random);
  std::vector<int> writer(60, -1);
  for (int p = 0; p < 128; ++p) {
    uint64_t row = random() % 55;
    machine.setRaw(inst.indices, p, 0, row);
    writer[row] = p; // The last one stays.
  }
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok()) << machine.run(inst, Engine::POOL);
  for (uint64_t row = 0; row < 60; ++row)
    for (uint64_t k = 0; k < 50; ++k)
      ASSERT_EQ(machine.raw(inst.table, row, k), writer[row] < 0 ? 0 : machine.raw(inst.src, writer[row], k));
  machine.setRaw(inst.indices, 3, 0, 60);
  EXPECT_EQ(machine.run(inst, Engine::POOL).code(), absl::StatusCode::kOutOfRange);
}

} // namespace
