//===- CostTest.cpp - cost functions against documents and measurements ---===//
//
// Numbers in ns are those of the device guide, sections 11.3 (Trn2) and 11.4 (Inf2); tolerances state how far the model
// may be from one measurement.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "gtest/gtest.h"

using namespace trn::isa;

namespace {

AP tile(Space space, DType type, uint32_t elements, uint32_t partitions = 128) {
  AP ap;
  ap.space = space;
  ap.dtype = type;
  ap.partitions = partitions;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}

double ns(int64_t cycles, const char *target, Engine engine) {
  return DeviceInfo::nanoseconds(cycles * device(target)->ticksPerCycle(engine));
}
double latencyNs(const Instruction &inst, const char *target, Engine engine) {
  return ns(cost(inst, *device(target), engine).latency, target, engine);
}
double intervalNs(const Instruction &inst, const char *target, Engine engine) {
  return ns(cost(inst, *device(target), engine).occupancy, target, engine);
}

NcMatmul matmul(DType type, uint32_t columns) {
  NcMatmul x;
  x.dst = tile(Space::PSUM, DType::F32, columns);
  x.stationary = tile(Space::SBUF, type, 128);
  x.moving = tile(Space::SBUF, type, columns);
  return x;
}

TEST(Cost, MatmulOnTrn2) {
  EXPECT_EQ(cost(matmul(DType::BF16, 512), *device("trn2"), Engine::PE).occupancy, 512);
  EXPECT_EQ(cost(matmul(DType::BF16, 8), *device("trn2"), Engine::PE).occupancy, 64);
  EXPECT_EQ(cost(matmul(DType::F32, 512), *device("trn2"), Engine::PE).occupancy, 4 * 512);
  EXPECT_NEAR(latencyNs(matmul(DType::BF16, 512), "trn2", Engine::PE), 379, 8);
  EXPECT_NEAR(intervalNs(matmul(DType::BF16, 512), "trn2", Engine::PE), 216, 4);
  EXPECT_NEAR(intervalNs(matmul(DType::F32, 512), "trn2", Engine::PE), 2 * 428.5, 8);
  EXPECT_NEAR(latencyNs(matmul(DType::BF16, 512), "inf2", Engine::PE), 350, 25);
}

TEST(Cost, TransposeOnTrn2) {
  NcTranspose x;
  x.src = tile(Space::SBUF, DType::F32, 128);
  x.dst = tile(Space::PSUM, DType::F32, 128);
  EXPECT_NEAR(latencyNs(x, "trn2", Engine::PE), 270, 6);
  EXPECT_NEAR(intervalNs(x, "trn2", Engine::PE), 109, 4);
  x.src.dtype = x.dst.dtype = DType::BF16;
  EXPECT_NEAR(latencyNs(x, "trn2", Engine::PE), 216, 4);
  EXPECT_NEAR(intervalNs(x, "trn2", Engine::PE), 56, 4);
}

TEST(Cost, ScalarEngine) {
  Activation x;
  x.dst = tile(Space::SBUF, DType::F32, 512);
  x.src = tile(Space::PSUM, DType::F32, 512);
  EXPECT_NEAR(latencyNs(x, "trn2", Engine::ACT), 585, 3);
  EXPECT_NEAR(latencyNs(x, "inf2", Engine::ACT), 453, 3);
  x.func = ActivationFunc::Exp;
  x.src.space = Space::SBUF;
  EXPECT_NEAR(latencyNs(x, "trn2", Engine::ACT), 705, 4);
  int64_t plain = cost(x, *device("trn2"), Engine::ACT).occupancy;
  x.reduce = tile(Space::SBUF, DType::F32, 1);
  EXPECT_EQ(cost(x, *device("trn2"), Engine::ACT).occupancy, plain + 64) << "read-out of the sums";
  ActTableLoad load;
  EXPECT_NEAR(latencyNs(load, "trn2", Engine::ACT), 1283, 1);
  EXPECT_NEAR(latencyNs(load, "trn1", Engine::ACT), 368, 1);
}

TEST(Cost, VectorEngineOnTrn2) {
  TensorCopy copy;
  copy.dst = tile(Space::SBUF, DType::F32, 512);
  copy.src = tile(Space::PSUM, DType::F32, 512);
  EXPECT_NEAR(latencyNs(copy, "trn2", Engine::DVE), 690, 5);
  copy.dst = tile(Space::SBUF, DType::F32, 128);
  copy.src = tile(Space::PSUM, DType::F32, 128);
  EXPECT_NEAR(latencyNs(copy, "trn2", Engine::DVE), 291, 3);

  TensorReduce reduce;
  reduce.src = tile(Space::SBUF, DType::F32, 512);
  reduce.dst = tile(Space::SBUF, DType::F32, 1);
  EXPECT_NEAR(latencyNs(reduce, "trn2", Engine::DVE), 680, 14);

  TensorScalar scale;
  scale.op0 = AluOp::Multiply;
  scale.dst = scale.src = tile(Space::SBUF, DType::F32, 512);
  // One measurement, 481: the mode halves the work; the fixed part of this instruction is longer than a copy's.
  EXPECT_NEAR(latencyNs(scale, "trn2", Engine::DVE), 481, 60);

  Reciprocal reciprocal;
  reciprocal.dst = reciprocal.src = tile(Space::SBUF, DType::F32, 4);
  EXPECT_NEAR(latencyNs(reciprocal, "trn2", Engine::DVE), 178, 14);
}

TEST(Cost, VectorPerformanceModes) {
  auto copy = [](const char *target, DType type, Space from, int32_t step) {
    TensorCopy x;
    x.dst = tile(Space::SBUF, type, 512);
    x.src = tile(from, type, 512);
    x.src.dims[0].step = step;
    return cost(x, *device(target), Engine::DVE).occupancy;
  };
  EXPECT_EQ(copy("trn2", DType::BF16, Space::SBUF, 1), 128);
  EXPECT_EQ(copy("trn2", DType::BF16, Space::SBUF, 2), 256);
  EXPECT_EQ(copy("trn2", DType::BF16, Space::PSUM, 1), 256);
  EXPECT_EQ(copy("trn2", DType::F32, Space::SBUF, 1), 256);
  EXPECT_EQ(copy("trn2", DType::F32, Space::PSUM, 1), 512);
  EXPECT_EQ(copy("trn1", DType::BF16, Space::SBUF, 1), 512);
  EXPECT_EQ(copy("trn1", DType::F32, Space::SBUF, 5), 1024) << "a 20-byte stride halves the rate";
}

TEST(Cost, TwoInputs) {
  auto add = [](const char *target, DType type, Space right, AluOp op = AluOp::Add) {
    TensorTensor x;
    x.op = op;
    x.dst = x.lhs = tile(Space::SBUF, type, 512);
    x.rhs = tile(right, type, 512);
    return cost(x, *device(target), Engine::DVE).occupancy;
  };
  EXPECT_EQ(add("trn1", DType::F32, Space::SBUF), 1024);
  EXPECT_EQ(add("trn1", DType::F32, Space::PSUM), 512);
  EXPECT_EQ(add("trn1", DType::BF16, Space::SBUF), 512);
  EXPECT_EQ(add("trn1", DType::BF16, Space::SBUF, AluOp::Max), 1024);
  EXPECT_EQ(add("trn2", DType::BF16, Space::SBUF, AluOp::Max), 512);
  EXPECT_EQ(add("trn2", DType::F16, Space::SBUF), 512);
}

/// Every record has a positive cost on each of its engines and none on the others.
TEST(Cost, OfEveryInstructionOnEveryEngine) {
  for (const InstInfo &record : allInstructions()) {
    Instruction inst;
    ASSERT_TRUE(makeInstruction(static_cast<uint16_t>(record.opcode), inst));
    for (const DeviceInfo *target : allDevices())
      for (unsigned i = 0; i < kNumEngines; ++i) {
        Engine engine = static_cast<Engine>(i);
        Cost c = cost(inst, *target, engine);
        bool legal = record.engines & maskOf(engine);
        EXPECT_EQ(c.occupancy > 0, legal) << record.mnemonic << " on " << name(engine);
        EXPECT_EQ(c.latency > 0, legal) << record.mnemonic << " on " << name(engine);
      }
  }
}

} // namespace
