//===- MatmulTest.cpp - the arithmetic contract of the matrix engine -----------===//
//
// Pins the contract of performance.md 5.5.6 with plain loops: bf16 and fp8 as two chains per 32 contraction elements with
// denormals flushed, everything else as one chain that continues across instructions. Every host path must give these
// bits, for ragged sizes, strided operands, denormals, infinities and NaNs.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "runtime/emulator/FpControl.h"
#include "runtime/emulator/Matmul.h"

using namespace trn;
using namespace trn::rt;
using isa::Engine;

namespace {

bool isPair(DType type) { return isa::byteSize(type) == 1 || type == DType::BF16; }

/// What dst must hold afterwards, [m][n] as fp32.
std::vector<float> reference(Machine &machine, const isa::NcMatmul &inst) {
  bool pairs = isPair(inst.stationary.dtype) && isPair(inst.moving.dtype);
  uint64_t K = inst.stationary.partitions, M = inst.dst.partitions, N = inst.dst.elements();
  std::vector<float> a(K * M), b(K * N), c(M * N, 0.0f);
  for (uint64_t k = 0; k < K; ++k) {
    for (uint64_t m = 0; m < M; ++m)
      a[k * M + m] = machine.value(inst.stationary, k, m);
    for (uint64_t n = 0; n < N; ++n)
      b[k * N + n] = machine.value(inst.moving, k, n);
  }
  if (inst.accumulate)
    for (uint64_t m = 0; m < M; ++m)
      for (uint64_t n = 0; n < N; ++n)
        c[m * N + n] = machine.value(inst.dst, m, n);
  ScopedFpControl control(pairs ? kFpFlush : kFpDefault);
  for (uint64_t m = 0; m < M; ++m)
    for (uint64_t n = 0; n < N; ++n) {
      float &sum = c[m * N + n];
      if (!pairs) {
        for (uint64_t k = 0; k < K; ++k)
          sum = std::fma(a[k * M + m], b[k * N + n], sum);
        continue;
      }
      for (uint64_t group = 0; group < K; group += 32) {
        float chain[2] = {0.0f, 0.0f};
        for (uint64_t k = group; k < std::min(group + 32, K); ++k)
          chain[k & 1] = std::fma(a[k * M + m], b[k * N + n], chain[k & 1]);
        sum += chain[0] + chain[1];
      }
    }
  return c;
}

void expectReference(Machine &machine, const isa::NcMatmul &inst) {
  std::vector<float> expected = reference(machine, inst);
  absl::Status status = machine.run(inst, Engine::PE);
  ASSERT_TRUE(status.ok()) << status;
  for (uint64_t m = 0; m < inst.dst.partitions; ++m)
    for (uint64_t n = 0; n < inst.dst.elements(); ++n)
      expectElement(machine, inst.dst, m, n, expected[m * inst.dst.elements() + n], "product");
}

isa::NcMatmul matmul(unsigned K, unsigned M, const std::vector<uint32_t> &N, DType left, DType right,
                     Layout layout = Layout::Contiguous) {
  isa::NcMatmul inst;
  inst.stationary = operand(Space::SBUF, left, kPlaceA, 0, K, {M}, layout);
  inst.moving = operand(Space::SBUF, right, kPlaceB, 0, K, N, layout);
  inst.dst = operand(Space::PSUM, DType::F32, 0, 0, M, N);
  return inst;
}

class MatmulPaths : public HostPathTest {};

TEST_P(MatmulPaths, followTheContractForAllTypesAndRaggedSizes) {
  Machine machine(GetParam());
  std::mt19937 random(11);
  const std::pair<DType, DType> types[] = {{DType::BF16, DType::BF16}, {DType::F32, DType::F32},   {DType::F16, DType::F16},
                                           {DType::F8E4, DType::BF16}, {DType::F8E5, DType::F8E3}, {DType::TF32, DType::F32},
                                           {DType::F16, DType::BF16},  {DType::F8E4FN, DType::F8E4FN}};
  struct Size {
    unsigned K, M;
    std::vector<uint32_t> N;
  };
  const Size sizes[] = {{128, 128, {512}}, {69, 100, {77}}, {1, 1, {1}},      {31, 7, {17}}, {33, 13, {5, 9}},
                        {128, 64, {14, 14}}, {64, 128, {7, 7}}, {97, 11, {33}}};
  for (auto [left, right] : types)
    for (const Size &size : sizes)
      for (bool special : {false, true}) {
        SCOPED_TRACE(testing::Message() << isa::name(left) << " x " << isa::name(right) << " K=" << size.K
                                        << " M=" << size.M << " special=" << special);
        isa::NcMatmul inst = matmul(size.K, size.M, size.N, left, right);
        machine.fill(inst.stationary, random, special);
        machine.fill(inst.moving, random, special);
        expectReference(machine, inst);
        inst.accumulate = true;
        expectReference(machine, inst);
        if (HasFatalFailure())
          return;
      }
}

TEST_P(MatmulPaths, flushDenormalsOfBf16AndKeepThoseOfFp32) {
  Machine machine(GetParam());
  for (DType type : {DType::BF16, DType::F32}) {
    isa::NcMatmul inst = matmul(3, 2, {19}, type, type);
    for (uint64_t k = 0; k < 3; ++k) {
      for (uint64_t m = 0; m < 2; ++m)
        machine.set(inst.stationary, k, m, m ? 0x1p-100 : 1.0);
      for (uint64_t n = 0; n < 19; ++n)
        machine.set(inst.moving, k, n, n % 2 ? 0x1p-130 : 0x1p-40);
    }
    expectReference(machine, inst);
    bool keeps = type == DType::F32;
    EXPECT_EQ(machine.value(inst.dst, 0, 1), keeps ? 3 * 0x1p-130f : 0.0f) << "denormal operand";
    EXPECT_EQ(machine.value(inst.dst, 1, 0), keeps ? 3 * 0x1p-140f : 0.0f) << "denormal result";
  }
}

TEST_P(MatmulPaths, readAndWriteStridedOperands) {
  Machine machine(GetParam());
  std::mt19937 random(12);
  for (Layout layout : {Layout::Strided, Layout::Reversed, Layout::Broadcast})
    for (DType type : {DType::BF16, DType::F32}) {
      isa::NcMatmul inst = matmul(50, 40, {6, 11}, type, type, layout);
      machine.fill(inst.stationary, random);
      machine.fill(inst.moving, random);
      inst.dst = operand(Space::PSUM, DType::F32, 16, 0, 40, {6, 11}, layout == Layout::Strided ? Layout::Strided : Layout::Contiguous);
      expectReference(machine, inst);
      inst.accumulate = true;
      expectReference(machine, inst);
    }
}

TEST_P(MatmulPaths, roundABf16ResultAfterEveryInstruction) {
  Machine machine(GetParam());
  std::mt19937 random(13);
  isa::NcMatmul inst = matmul(77, 20, {45}, DType::BF16, DType::BF16);
  inst.dst.dtype = DType::BF16;
  machine.fill(inst.stationary, random, false);
  machine.fill(inst.moving, random, false);
  expectReference(machine, inst);
  inst.accumulate = true;
  expectReference(machine, inst);
}

TEST_P(MatmulPaths, giveTheSameForAJoinedChainAsForItsInstructions) {
  for (DType type : {DType::BF16, DType::F32}) {
    Machine joined(GetParam(), /*threads=*/2), single;
    // Nine taps and two operands used twice, so that the cache of packed operands is hit; the last tap comes again.
    std::vector<isa::NcMatmul> chain;
    for (unsigned tap = 0; tap < 11; ++tap) {
      isa::NcMatmul inst = matmul(128, 96, {14, 14}, type, type);
      inst.stationary.address += (tap % 9) * 512;
      inst.moving.address += (tap % 3) * inst.moving.bytes() + (tap / 3) * 16 * inst.moving.bytes();
      inst.moving.dims[0].step = 16;
      inst.accumulate = tap > 0;
      chain.push_back(inst);
    }
    for (Machine *machine : {&joined, &single}) {
      std::mt19937 random(14);
      machine->fill(operand(Space::SBUF, type, kPlaceA, 0, 128, {4096}), random);
      machine->fill(operand(Space::SBUF, type, kPlaceB, 0, 128, {512}), random);
    }
    PackCache cache(1 << 20);
    std::vector<MatmulOp> ops;
    for (const isa::NcMatmul &inst : chain) {
      auto op = decodeMatmul(*joined.core, inst, cache);
      ASSERT_TRUE(op.ok()) << op.status();
      EXPECT_EQ(!ops.empty(), !ops.empty() && op->continues(ops.back()));
      ops.push_back(*op);
    }
    runMatmuls(*joined.core, cache, ops.data(), ops.size());
    for (const isa::NcMatmul &inst : chain)
      ASSERT_TRUE(single.run(inst, Engine::PE).ok());
    expectSameMemories(single, joined);
    // New contents in the same place must not meet old packed copies.
    for (Machine *machine : {&joined, &single}) {
      isa::Memset change;
      change.dst = operand(Space::SBUF, type, kPlaceB, 0, 128, {100});
      change.value = 0.75f;
      ASSERT_TRUE(machine->run(change, Engine::DVE).ok());
    }
    runMatmuls(*joined.core, cache, ops.data(), ops.size());
    for (const isa::NcMatmul &inst : chain)
      ASSERT_TRUE(single.run(inst, Engine::PE).ok());
    expectSameMemories(single, joined);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, MatmulPaths, testing::ValuesIn(allPaths()), pathName);

TEST(Matmul, leavesTheCallersFloatingPointControlAlone) {
  Machine machine;
  std::mt19937 random(15);
  isa::NcMatmul inst = matmul(32, 16, {16}, DType::BF16, DType::BF16);
  machine.fill(inst.stationary, random, false);
  machine.fill(inst.moving, random, false);
  ScopedFpControl control(kFpDefault | 0x6000); // Round towards zero, as an embedder might.
  std::vector<float> expected;
  {
    ScopedFpControl nearest(kFpDefault);
    expected = reference(machine, inst);
  }
  ASSERT_TRUE(machine.run(inst, Engine::PE).ok());
  EXPECT_EQ(_mm_getcsr() & 0xffc0u, (kFpDefault | 0x6000) & 0xffc0u);
  for (uint64_t n = 0; n < 16; ++n)
    EXPECT_EQ(expected[n], machine.value(inst.dst, 0, n));
}

TEST(PackCache, dropsTheLeastRecentlyUsedBeyondItsBudget) {
  Machine machine;
  PackCache cache(2 * 4096);
  auto slot = [&](uint64_t address) {
    auto view = machine.core->view(operand(Space::SBUF, DType::F32, address, 0, 8, {128}), AccessMode::Read);
    EXPECT_TRUE(view.ok());
    cache.slotOf(*view, false);
    return cache.slotOf(*view, false); // Named twice: worth keeping.
  };
  uint32_t a = slot(0), b = slot(4096), c = slot(8192);
  EXPECT_NE(a, b);
  auto acquire = [&](uint32_t which, uint64_t version) {
    cache.newEpisode();
    return cache.acquire(which, version, 1024, 0).valid;
  };
  EXPECT_FALSE(acquire(a, 1));
  EXPECT_FALSE(acquire(b, 1));
  EXPECT_TRUE(acquire(a, 1));
  EXPECT_FALSE(acquire(a, 2)) << "written since";
  EXPECT_FALSE(acquire(c, 1)) << "b goes";
  EXPECT_TRUE(acquire(a, 2));
  EXPECT_FALSE(acquire(b, 1));
}

} // namespace
