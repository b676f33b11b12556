//===- ElementwiseTest.cpp - elementwise instructions --------------------------===//
//
// Runs every elementwise instruction with random types, shapes and layouts and compares each element, bit for bit, with
// the operator written plainly on fp32 (results are correctly rounded, so equality is exact). Then the same programs
// on every host path: the whole memories must be equal.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include <cfloat>

using namespace trn;
using namespace trn::rt;
using isa::AluOp;
using isa::Engine;

namespace {

constexpr AluOp kArithmetic[] = {AluOp::Add,  AluOp::Subtract, AluOp::Multiply, AluOp::Max,        AluOp::Min,
                                 AluOp::Divide, AluOp::Mod,    AluOp::AbsMax,   AluOp::IsEq,       AluOp::IsNe,
                                 AluOp::IsGt, AluOp::IsGe,     AluOp::IsLt,     AluOp::IsLe,       AluOp::LogicalAnd,
                                 AluOp::LogicalOr, AluOp::LogicalXor};
constexpr AluOp kBitwise[] = {AluOp::BitwiseAnd, AluOp::BitwiseOr,  AluOp::BitwiseXor,
                              AluOp::ShiftLeft,  AluOp::ShiftRight, AluOp::ShiftRightArith};
constexpr DType kIntegers[] = {DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32};

float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

float apply(AluOp op, float a, float b) {
  switch (op) {
  case AluOp::Add:
    return a + b;
  case AluOp::Subtract:
    return a - b;
  case AluOp::Multiply:
    return a * b;
  case AluOp::Max:
    return larger(a, b);
  case AluOp::Min:
    return -larger(-a, -b);
  case AluOp::Divide:
    return a / b;
  case AluOp::Mod: {
    double r = std::fmod(double(a), double(b));
    return float(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  }
  case AluOp::AbsMax:
    return larger(std::fabs(a), std::fabs(b));
  case AluOp::Power:
    return float(std::pow(double(a), double(b)));
  case AluOp::IsEq:
    return a == b;
  case AluOp::IsNe:
    return a != b;
  case AluOp::IsGt:
    return a > b;
  case AluOp::IsGe:
    return a >= b;
  case AluOp::IsLt:
    return a < b;
  case AluOp::IsLe:
    return a <= b;
  case AluOp::LogicalAnd:
    return a != 0 && b != 0;
  case AluOp::LogicalOr:
    return a != 0 || b != 0;
  case AluOp::LogicalXor:
    return (a != 0) != (b != 0);
  default:
    ADD_FAILURE() << "operator without a reference";
    return 0;
  }
}

uint64_t applyBits(AluOp op, DType type, uint64_t a, uint64_t b) {
  unsigned width = 8 * isa::byteSize(type);
  uint64_t mask = (1ull << width) - 1;
  int64_t wide = int64_t(a << (64 - width)) >> (64 - width);
  switch (op) {
  case AluOp::BitwiseAnd:
    return a & b;
  case AluOp::BitwiseOr:
    return a | b;
  case AluOp::BitwiseXor:
    return a ^ b;
  case AluOp::ShiftLeft:
    return b >= width ? 0 : (a << b) & mask;
  case AluOp::ShiftRight:
    return b >= width ? 0 : a >> b;
  case AluOp::ShiftRightArith:
    return uint64_t(wide >> std::min<uint64_t>(b, 63)) & mask;
  default:
    ADD_FAILURE() << "operator without a reference";
    return 0;
  }
}

/// One random shape: partitions with a legal start, free dimensions.
struct Shape {
  unsigned start, partitions;
  std::vector<uint32_t> counts;
};
Shape randomShape(std::mt19937 &random) {
  static const Shape shapes[] = {{0, 128, {}},        {0, 128, {1}},      {0, 100, {700}},    {64, 33, {3, 5, 7}},
                                 {96, 32, {2, 3, 2, 9}}, {32, 17, {513}}, {0, 65, {4, 129}},  {0, 1, {1024}},
                                 {64, 64, {31, 16}},  {0, 128, {512}},    {32, 3, {17, 1, 5}}};
  return shapes[random() % std::size(shapes)];
}
Layout randomLayout(std::mt19937 &random, bool isInput) {
  constexpr Layout kLayouts[] = {Layout::Contiguous, Layout::Strided, Layout::Reversed, Layout::Broadcast};
  return kLayouts[random() % (isInput ? 4 : 3)];
}
DType randomType(std::mt19937 &random) { return kComputeTypes[random() % std::size(kComputeTypes)]; }

/// Runs `body` with many seeds; the core's memories are large, so one machine serves all.
template <typename Body> void forSeeds(unsigned seeds, Body body) {
  Machine machine;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    body(machine, random);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Programs: one random instruction each. They return what a reference needs.
//===----------------------------------------------------------------------===//

isa::TensorTensor randomTensorTensor(Machine &machine, std::mt19937 &random) {
  Shape s = randomShape(random);
  isa::TensorTensor inst;
  inst.op = kArithmetic[random() % std::size(kArithmetic)];
  inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
  inst.lhs = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.rhs = operand(Space::SBUF, randomType(random), kPlaceC, s.start, s.partitions, s.counts, randomLayout(random, true));
  machine.fill(inst.lhs, random);
  machine.fill(inst.rhs, random);
  return inst;
}

isa::Scalar randomScalar(Machine &machine, std::mt19937 &random, const Shape &s, uint64_t address) {
  if (random() % 2)
    return isa::Scalar::constant(float(int(random() % 64) - 30) / 8);
  isa::Scalar scalar = isa::Scalar::at(operand(Space::SBUF, DType::F32, address, s.start, s.partitions, {1}));
  machine.fill(scalar.pointer, random, false);
  return scalar;
}
float scalarValue(Machine &machine, const isa::Scalar &scalar, uint64_t p) {
  return scalar.isPointer ? machine.value(scalar.pointer, p, 0) : scalar.immediate;
}

isa::TensorScalar randomTensorScalar(Machine &machine, std::mt19937 &random) {
  Shape s = randomShape(random);
  isa::TensorScalar inst;
  inst.op0 = kArithmetic[random() % std::size(kArithmetic)];
  inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
  inst.src = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.operand0 = randomScalar(machine, random, s, kPlaceC);
  inst.reverse0 = random() % 2;
  if (random() % 2) {
    inst.op1 = kArithmetic[random() % std::size(kArithmetic)];
    inst.operand1 = randomScalar(machine, random, s, kPlaceC + 8);
    inst.reverse1 = random() % 2;
  }
  machine.fill(inst.src, random);
  return inst;
}

isa::ScalarTensorTensor randomScalarTensorTensor(Machine &machine, std::mt19937 &random) {
  Shape s = randomShape(random);
  isa::ScalarTensorTensor inst;
  inst.op0 = kArithmetic[random() % std::size(kArithmetic)];
  inst.op1 = kArithmetic[random() % std::size(kArithmetic)];
  inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
  inst.src = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.rhs = operand(Space::SBUF, randomType(random), kPlaceC, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.operand0 = randomScalar(machine, random, s, 256);
  inst.reverse0 = random() % 2;
  inst.reverse1 = random() % 2;
  machine.fill(inst.src, random);
  machine.fill(inst.rhs, random);
  return inst;
}

isa::Activation randomActivation(Machine &machine, std::mt19937 &random) {
  Shape s = randomShape(random);
  isa::Activation inst;
  inst.func = isa::ActivationFunc(random() % 21);
  inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
  inst.src = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.scale = randomScalar(machine, random, s, kPlaceC);
  inst.bias = randomScalar(machine, random, s, kPlaceC + 8);
  if (random() % 2)
    inst.reduce = operand(Space::SBUF, DType::F32, kPlaceC + 16, s.start, s.partitions, {1});
  machine.fill(inst.src, random, random() % 2);
  return inst;
}

constexpr AluOp kCompares[] = {AluOp::IsEq, AluOp::IsNe, AluOp::IsGt, AluOp::IsGe, AluOp::IsLt, AluOp::IsLe};
constexpr DType kFloatTypes[] = {DType::F32,  DType::BF16, DType::F16,  DType::TF32,
                                 DType::F8E3, DType::F8E4, DType::F8E5, DType::F8E4FN};

/// Bounds among the positions, and some that are none of them.
isa::RangeSelect randomRangeSelect(Machine &machine, std::mt19937 &random) {
  Shape s = randomShape(random);
  isa::RangeSelect inst;
  inst.compare0 = kCompares[random() % std::size(kCompares)];
  inst.compare1 = kCompares[random() % std::size(kCompares)];
  inst.dst = operand(Space::SBUF, kFloatTypes[random() % 8], kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
  inst.onTrue = operand(Space::SBUF, kFloatTypes[random() % 8], kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
  inst.bound0 = isa::Scalar::at(operand(Space::SBUF, DType::F32, kPlaceC, s.start, s.partitions, {1}));
  inst.bound1 = isa::Scalar::at(operand(Space::SBUF, DType::F32, kPlaceC + 8, s.start, s.partitions, {1}));
  if (random() % 2)
    inst.reduce = operand(Space::SBUF, DType::F32, kPlaceC + 16, s.start, s.partitions, {1});
  uint64_t elements = inst.dst.elements();
  inst.rangeStart = random() % 3 ? int32_t(random() % 1000) : int32_t((1 << 24) - elements);
  machine.fill(inst.onTrue, random, random() % 2);
  for (const isa::Scalar *bound : {&inst.bound0, &inst.bound1})
    for (uint64_t p = 0; p < s.partitions; ++p) {
      double at = double(inst.rangeStart) + double(random() % (elements + 2)) - 1;
      machine.set(bound->pointer, p, 0, random() % 8 ? at : random() % 2 ? at + 0.5 : NAN);
    }
  return inst;
}

float apply(AluOp op, float a, float b, bool reverse) { return reverse ? apply(op, b, a) : apply(op, a, b); }

//===----------------------------------------------------------------------===//
// Against the reference
//===----------------------------------------------------------------------===//

TEST(TensorTensor, computesInFp32) {
  forSeeds(150, [](Machine &machine, std::mt19937 &random) {
    isa::TensorTensor inst = randomTensorTensor(machine, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        expectElement(machine, inst.dst, p, k,
                      apply(inst.op, machine.value(inst.lhs, p, k), machine.value(inst.rhs, p, k)), isa::name(inst.op));
  });
}

TEST(TensorTensor, worksOnPsumAndInPlace) {
  Machine machine;
  std::mt19937 random(5);
  AP psum = operand(Space::PSUM, DType::F32, 2048, 0, 128, {512}), sbuf = operand(Space::SBUF, DType::BF16, kPlaceA, 0, 128, {512});
  machine.fill(psum, random, false);
  machine.fill(sbuf, random, false);
  std::vector<float> expected;
  for (uint64_t k = 0; k < 512; ++k)
    expected.push_back(machine.value(psum, 127, k) + machine.value(sbuf, 127, k));
  isa::TensorTensor inst;
  inst.dst = inst.lhs = psum;
  inst.rhs = sbuf;
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
  for (uint64_t k = 0; k < 512; ++k)
    expectElement(machine, psum, 127, k, expected[k], "in place");
}

TEST(TensorTensor, combinesRawBits) {
  forSeeds(60, [](Machine &machine, std::mt19937 &random) {
    Shape s = randomShape(random);
    DType type = kIntegers[random() % std::size(kIntegers)];
    isa::TensorTensor inst;
    inst.op = kBitwise[random() % std::size(kBitwise)];
    inst.dst = operand(Space::SBUF, type, kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
    inst.lhs = operand(Space::SBUF, type, kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
    inst.rhs = operand(Space::SBUF, type, kPlaceC, s.start, s.partitions, s.counts);
    machine.fill(inst.lhs, random);
    for (uint64_t p = 0; p < s.partitions; ++p)
      for (uint64_t k = 0; k < inst.rhs.elements(); ++k)
        machine.setRaw(inst.rhs, p, k, random() % 40); // Shifts beyond the width too.
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
    for (uint64_t p = 0; p < s.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        ASSERT_EQ(applyBits(inst.op, type, machine.raw(inst.lhs, p, k), machine.raw(inst.rhs, p, k)),
                  machine.raw(inst.dst, p, k))
            << isa::name(inst.op) << " " << isa::name(type);
  });
}

TEST(TensorTensor, isExactOnPoolAndPassesThroughFp32OnDve) {
  Machine machine;
  isa::TensorTensor inst;
  inst.op = AluOp::Add;
  inst.dst = operand(Space::SBUF, DType::I32, kPlaceA, 0, 1, {2});
  inst.lhs = operand(Space::SBUF, DType::I32, kPlaceB, 0, 1, {2});
  inst.rhs = operand(Space::SBUF, DType::I32, kPlaceC, 0, 1, {2});
  machine.setRaw(inst.lhs, 0, 0, (1 << 24) + 1);
  machine.setRaw(inst.lhs, 0, 1, INT32_MAX);
  machine.setRaw(inst.rhs, 0, 0, 2);
  machine.setRaw(inst.rhs, 0, 1, 1);
  ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
  EXPECT_EQ(machine.raw(inst.dst, 0, 0), uint64_t((1 << 24) + 3));
  EXPECT_EQ(machine.raw(inst.dst, 0, 1), 0x80000000u) << "wraps around";
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
  EXPECT_EQ(machine.raw(inst.dst, 0, 0), uint64_t((1 << 24) + 2)) << "2^24 + 1 is no fp32";
  EXPECT_EQ(machine.raw(inst.dst, 0, 1), uint64_t(INT32_MAX)) << "saturates";
}

TEST(TensorTensor, raisesToAPowerOnPool) {
  forSeeds(20, [](Machine &machine, std::mt19937 &random) {
    isa::TensorTensor inst = randomTensorTensor(machine, random);
    inst.op = AluOp::Power;
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    for (uint64_t p = 0; p < inst.dst.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        expectElement(machine, inst.dst, p, k,
                      apply(AluOp::Power, machine.value(inst.lhs, p, k), machine.value(inst.rhs, p, k)), "power");
  });
}

TEST(TensorScalar, appliesBothStages) {
  forSeeds(150, [](Machine &machine, std::mt19937 &random) {
    isa::TensorScalar inst = randomTensorScalar(machine, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k) {
        float x = apply(inst.op0, machine.value(inst.src, p, k), scalarValue(machine, inst.operand0, p), inst.reverse0);
        if (inst.operand1)
          x = apply(inst.op1, x, scalarValue(machine, *inst.operand1, p), inst.reverse1);
        expectElement(machine, inst.dst, p, k, x, isa::name(inst.op0));
      }
  });
}

TEST(TensorScalar, combinesRawBitsWithAScalar) {
  Machine machine;
  std::mt19937 random(9);
  isa::TensorScalar inst;
  inst.dst = operand(Space::SBUF, DType::U16, kPlaceA, 0, 128, {33});
  inst.src = operand(Space::SBUF, DType::U16, kPlaceB, 0, 128, {33});
  inst.op0 = AluOp::ShiftRight;
  inst.operand0 = isa::Scalar::constant(3.0f);
  inst.op1 = AluOp::BitwiseAnd;
  inst.operand1 = isa::Scalar::constant(255.0f);
  machine.fill(inst.src, random);
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
  for (uint64_t k = 0; k < 33; ++k)
    EXPECT_EQ(machine.raw(inst.dst, 77, k), machine.raw(inst.src, 77, k) >> 3 & 255);
}

TEST(ScalarTensorTensor, appliesBothOperators) {
  forSeeds(100, [](Machine &machine, std::mt19937 &random) {
    isa::ScalarTensorTensor inst = randomScalarTensorTensor(machine, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k) {
        float x = apply(inst.op0, machine.value(inst.src, p, k), scalarValue(machine, inst.operand0, p), inst.reverse0);
        expectElement(machine, inst.dst, p, k, apply(inst.op1, x, machine.value(inst.rhs, p, k), inst.reverse1),
                      isa::name(inst.op1));
      }
  });
}

TEST(Activation, scalesBiasesAndSums) {
  forSeeds(100, [](Machine &machine, std::mt19937 &random) {
    isa::Activation inst = randomActivation(machine, random);
    ASSERT_TRUE(machine.run(inst, Engine::ACT).ok()) << machine.run(inst, Engine::ACT);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p) {
      // The documented order of sums: 16 lanes, then pairs.
      float lanes[16] = {};
      for (uint64_t k = 0; k < inst.dst.elements(); ++k) {
        float x = std::fma(machine.value(inst.src, p, k), scalarValue(machine, inst.scale, p),
                           scalarValue(machine, inst.bias, p));
        float y;
        scalarKernels().activation(inst.func, &x, 1.0f, 0.0f, &y, 1); // Its accuracy: ActivationKernelTest.
        lanes[k % 16] += y;
        expectElement(machine, inst.dst, p, k, y, isa::name(inst.func));
      }
      if (!inst.reduce)
        continue;
      for (unsigned width = 8; width; width /= 2)
        for (unsigned i = 0; i < width; ++i)
          lanes[i] += lanes[i + width];
      expectElement(machine, *inst.reduce, p, 0, lanes[0], "row sum");
    }
  });
}

TEST(TensorCopy, copiesBitsOfEqualTypesAndConvertsOthers) {
  constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::F16, DType::F8E4, DType::U8, DType::I32, DType::I64, DType::F32R};
  forSeeds(100, [&](Machine &machine, std::mt19937 &random) {
    Shape s = randomShape(random);
    isa::TensorCopy inst;
    DType from = kTypes[random() % 8], to = random() % 2 ? from : kTypes[random() % 6];
    if (to != from && (from == DType::I64 || from == DType::F32R))
      from = DType::F16;
    inst.dst = operand(Space::SBUF, to, kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
    inst.src = operand(Space::SBUF, from, kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
    machine.fill(inst.src, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        if (from == to)
          ASSERT_EQ(machine.raw(inst.src, p, k), machine.raw(inst.dst, p, k));
        else
          expectElement(machine, inst.dst, p, k, machine.value(inst.src, p, k), "copy");
  });
}

TEST(TensorCopy, movesBetweenQuadrants) {
  Machine machine;
  std::mt19937 random(1);
  isa::TensorCopy inst;
  inst.src = operand(Space::SBUF, DType::BF16, kPlaceA, 32, 32, {20});
  inst.dst = operand(Space::PSUM, DType::BF16, 64, 96, 32, {20}, Layout::Strided);
  machine.fill(inst.src, random);
  ASSERT_TRUE(machine.run(inst, Engine::ACT).ok()) << machine.run(inst, Engine::ACT);
  for (uint64_t p = 0; p < 32; ++p)
    for (uint64_t k = 0; k < 20; ++k)
      ASSERT_EQ(machine.raw(inst.src, p, k), machine.raw(inst.dst, p, k));
}

TEST(Memset, fillsAndTouchesNothingElse) {
  for (DType type : kComputeTypes) {
    Machine machine, untouched;
    isa::Memset inst;
    inst.dst = operand(Space::SBUF, type, kPlaceA, 64, 50, {3, 70}, Layout::Strided);
    inst.value = -2.5f;
    ASSERT_TRUE(machine.run(inst, Engine::POOL).ok());
    for (uint64_t p = 0; p < 50; ++p)
      for (uint64_t k = 0; k < 210; ++k) {
        expectElement(machine, inst.dst, p, k, -2.5f, isa::name(type));
        untouched.set(inst.dst, p, k, -2.5f);
      }
    expectSameMemories(untouched, machine);
  }
}

TEST(Reciprocal, isCorrectlyRounded) {
  forSeeds(40, [](Machine &machine, std::mt19937 &random) {
    Shape s = randomShape(random);
    isa::Reciprocal inst;
    inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts);
    inst.src = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
    machine.fill(inst.src, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok());
    for (uint64_t p = 0; p < s.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        expectElement(machine, inst.dst, p, k, 1.0f / machine.value(inst.src, p, k), "reciprocal");
  });
}

TEST(Select, choosesByThePredicate) {
  forSeeds(60, [](Machine &machine, std::mt19937 &random) {
    Shape s = randomShape(random);
    isa::Select inst;
    inst.dst = operand(Space::SBUF, randomType(random), kPlaceA, s.start, s.partitions, s.counts, randomLayout(random, false));
    inst.predicate = operand(Space::SBUF, random() % 2 ? DType::U8 : DType::I32, 170 * 1024, s.start, s.partitions, s.counts);
    inst.onTrue = operand(Space::SBUF, randomType(random), kPlaceB, s.start, s.partitions, s.counts, randomLayout(random, true));
    inst.onFalse = operand(Space::SBUF, randomType(random), kPlaceC, s.start, s.partitions, s.counts);
    machine.fill(inst.onTrue, random);
    machine.fill(inst.onFalse, random);
    for (uint64_t p = 0; p < s.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        machine.setRaw(inst.predicate, p, k, random() % 3 ? random() & 0xff : 0);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < s.partitions; ++p)
      for (uint64_t k = 0; k < inst.dst.elements(); ++k)
        expectElement(machine, inst.dst, p, k,
                      machine.raw(inst.predicate, p, k) ? machine.value(inst.onTrue, p, k)
                                                        : machine.value(inst.onFalse, p, k),
                      "select");
  });
}

TEST(CopyPredicated, keepsWhereThePredicateFails) {
  for (bool reverse : {false, true}) {
    Machine machine;
    std::mt19937 random(4);
    isa::CopyPredicated inst;
    inst.dst = operand(Space::SBUF, DType::BF16, kPlaceA, 0, 65, {4, 33}, Layout::Strided);
    inst.src = operand(Space::SBUF, DType::BF16, kPlaceB, 0, 65, {4, 33}, Layout::Broadcast);
    inst.predicate = operand(Space::SBUF, DType::U16, kPlaceC, 0, 65, {4, 33});
    inst.reverse = reverse;
    machine.fill(inst.dst, random);
    machine.fill(inst.src, random);
    std::vector<uint64_t> expected;
    for (uint64_t p = 0; p < 65; ++p)
      for (uint64_t k = 0; k < 132; ++k) {
        bool holds = random() % 2;
        machine.setRaw(inst.predicate, p, k, holds * 256);
        expected.push_back(machine.raw(holds != reverse ? inst.src : inst.dst, p, k));
      }
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < 65; ++p)
      for (uint64_t k = 0; k < 132; ++k)
        ASSERT_EQ(expected[p * 132 + k], machine.raw(inst.dst, p, k));
  }
}

TEST(RangeSelect, choosesByThePositionAndTakesTheMaximum) {
  forSeeds(100, [](Machine &machine, std::mt19937 &random) {
    isa::RangeSelect inst = randomRangeSelect(machine, random);
    ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
    for (uint64_t p = 0; p < inst.dst.partitions; ++p) {
      float maximum = -INFINITY;
      for (uint64_t k = 0; k < inst.dst.elements(); ++k) {
        float position = float(inst.rangeStart + int64_t(k));
        bool holds = apply(inst.compare0, position, machine.value(inst.bound0.pointer, p, 0)) != 0 &&
                     apply(inst.compare1, position, machine.value(inst.bound1.pointer, p, 0)) != 0;
        float x = holds ? machine.value(inst.onTrue, p, k) : -FLT_MAX;
        maximum = larger(maximum, x);
        expectElement(machine, inst.dst, p, k, x, "range_select");
      }
      if (inst.reduce)
        expectElement(machine, *inst.reduce, p, 0, maximum, "row maximum");
    }
  });
}

TEST(RangeSelect, masksRowsOfTheirOwnLengthsInPlace) {
  Machine machine;
  isa::RangeSelect inst;
  inst.compare0 = AluOp::IsGe;
  inst.compare1 = AluOp::IsLt;
  inst.dst = inst.onTrue = operand(Space::PSUM, DType::BF16, 0, 0, 3, {6});
  inst.bound0 = isa::Scalar::at(operand(Space::SBUF, DType::F32, kPlaceB, 0, 3, {1}));
  inst.bound1 = isa::Scalar::at(operand(Space::SBUF, DType::F32, kPlaceC, 0, 3, {1}));
  inst.reduce = operand(Space::SBUF, DType::F32, kPlaceA, 0, 3, {1});
  inst.rangeStart = 10;
  const double bounds[3][2] = {{11, 13}, {0, 100}, {16, 20}};
  for (uint64_t p = 0; p < 3; ++p) {
    for (uint64_t k = 0; k < 6; ++k)
      machine.set(inst.dst, p, k, double(k) - 4);
    machine.set(inst.bound0.pointer, p, 0, bounds[p][0]);
    machine.set(inst.bound1.pointer, p, 0, bounds[p][1]);
  }
  ASSERT_TRUE(machine.run(inst, Engine::DVE).ok()) << machine.run(inst, Engine::DVE);
  const float rows[3][6] = {{-INFINITY, -3, -2, -INFINITY, -INFINITY, -INFINITY},
                            {-4, -3, -2, -1, 0, 1},
                            {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY}};
  const float maxima[] = {-2, 1, -FLT_MAX}; // fp32: an empty row is no NaN after its maximum is subtracted.
  for (uint64_t p = 0; p < 3; ++p) {
    for (uint64_t k = 0; k < 6; ++k)
      EXPECT_EQ(machine.value(inst.dst, p, k), rows[p][k]) << p << " " << k;
    EXPECT_EQ(machine.value(*inst.reduce, p, 0), maxima[p]) << p;
  }
}

//===----------------------------------------------------------------------===//
// Host paths and threads
//===----------------------------------------------------------------------===//

/// The same random instructions on two machines.
void compareMachines(Machine &expected, Machine &got, unsigned seeds) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for (Machine *machine : {&expected, &got}) {
      std::mt19937 random(seed);
      ASSERT_TRUE(machine->run(randomTensorTensor(*machine, random), Engine::DVE).ok());
      ASSERT_TRUE(machine->run(randomTensorScalar(*machine, random), Engine::DVE).ok());
      ASSERT_TRUE(machine->run(randomScalarTensorTensor(*machine, random), Engine::DVE).ok());
      ASSERT_TRUE(machine->run(randomActivation(*machine, random), Engine::ACT).ok());
      isa::TensorTensor power = randomTensorTensor(*machine, random);
      power.op = AluOp::Power;
      ASSERT_TRUE(machine->run(power, Engine::POOL).ok());
      ASSERT_TRUE(machine->run(randomRangeSelect(*machine, random), Engine::DVE).ok());
    }
    if (seed % 10 == 9)
      expectSameMemories(expected, got);
    if (testing::Test::HasFailure())
      return;
  }
}

class ElementwisePaths : public HostPathTest {};

TEST_P(ElementwisePaths, equalTheScalarPathBitForBit) {
  Machine expected, got(GetParam());
  compareMachines(expected, got, 40);
}

INSTANTIATE_TEST_SUITE_P(Paths, ElementwisePaths, testing::ValuesIn(vectorPaths()), pathName);

TEST(ElementwiseThreads, doNotChangeResults) {
  Machine expected, got(HostPath::Scalar, /*threads=*/3);
  compareMachines(expected, got, 20);
}

} // namespace
