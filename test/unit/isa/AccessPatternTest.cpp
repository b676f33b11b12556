//===- AccessPatternTest.cpp - arithmetic of access patterns --------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "gtest/gtest.h"

using namespace trn::isa;

namespace {

AP pattern(std::initializer_list<Dim> dims) {
  AP ap;
  for (Dim dim : dims)
    ap.dims[ap.rank++] = dim;
  return ap;
}

TEST(AccessPattern, ElementsAndOffsets) {
  EXPECT_EQ(AP().elements(), 1u);
  AP ap = pattern({{-16, 3}, {2, 4}});
  EXPECT_EQ(ap.elements(), 12u);
  EXPECT_EQ(ap.minOffset(), -32);
  EXPECT_EQ(ap.maxOffset(), 6);
  EXPECT_EQ(ap.innerStep(), 2);
  EXPECT_EQ(pattern({{7, 5}, {3, 1}}).innerStep(), 7);
}

TEST(AccessPattern, Contiguous) {
  EXPECT_TRUE(AP().contiguous());
  EXPECT_TRUE(pattern({{8, 4}, {1, 8}}).contiguous());
  EXPECT_TRUE(pattern({{99, 1}, {8, 4}, {5, 1}, {1, 8}}).contiguous());
  EXPECT_FALSE(pattern({{9, 4}, {1, 8}}).contiguous());
  EXPECT_FALSE(pattern({{1, 4}, {4, 8}}).contiguous());
  EXPECT_FALSE(pattern({{0, 4}}).contiguous());
}

TEST(AccessPattern, WellFormedRefusesWhatCouldOverflow) {
  EXPECT_TRUE(pattern({{1, 65536}}).wellFormed());
  EXPECT_FALSE(pattern({{1, 0}}).wellFormed());
  EXPECT_FALSE(pattern({{INT32_MIN, UINT32_MAX}}).wellFormed());
  EXPECT_FALSE(pattern({{0, UINT32_MAX}, {0, UINT32_MAX}}).wellFormed());
  AP ap;
  ap.rank = 5;
  EXPECT_FALSE(ap.wellFormed());
  ap = AP();
  ap.partitionStep = 1;
  EXPECT_FALSE(ap.wellFormed()) << "on chip";
  ap.space = Space::HBM;
  EXPECT_TRUE(ap.wellFormed());
  ap.partitions = UINT32_MAX;
  ap.partitionStep = 1 << 20;
  EXPECT_FALSE(ap.wellFormed()) << "rows reach beyond 2^40";
  ap.partitionStep = 1;
  EXPECT_FALSE(ap.wellFormed()) << "rows do not fit an int";
  ap.partitions = INT32_MAX;
  EXPECT_TRUE(ap.wellFormed());
  ap.partitions = 1;
  ap.startPartition = 32;
  EXPECT_FALSE(ap.wellFormed()) << "HBM has no start partition";
}

TEST(AccessPattern, EqualityIgnoresUnusedDimensions) {
  AP a = pattern({{1, 8}}), b = a;
  b.dims[3] = {5, 5};
  EXPECT_EQ(a, b);
  b.dims[0].count = 9;
  EXPECT_NE(a, b);
}

TEST(AccessPattern, NamesOfTypes) {
  for (unsigned code = 0; code < 64; ++code) {
    DType type = static_cast<DType>(code);
    EXPECT_EQ(isKnown(type), byteSize(type) != 0);
    if (isKnown(type)) {
      EXPECT_EQ(parseDType(name(type)), type);
      EXPECT_NE(isFloat(type), isInteger(type));
    }
  }
  EXPECT_EQ(byteSize(DType::BF16), 2u);
  EXPECT_TRUE(isHostOnly(DType::I4));
  EXPECT_FALSE(isHostOnly(DType::F64));
  EXPECT_FALSE(isHostOnly(static_cast<DType>(0)));
  EXPECT_EQ(parseEngine("DVE"), Engine::DVE);
  EXPECT_EQ(parseSpace("psum"), Space::PSUM);
  EXPECT_EQ(parseSpace("PSUM"), std::nullopt);
}

TEST(AccessPattern, NoInstructionTakesATypeOfTheHost) {
  for (const InstInfo &inst : allInstructions())
    for (const OperandInfo &operand : inst.operands)
      for (unsigned code = 0; code < 64; ++code)
        if (DType type = static_cast<DType>(code); isHostOnly(type)) {
          EXPECT_FALSE(operand.dtypes & maskOf(type)) << inst.mnemonic << " " << operand.name << " " << name(type);
        }
}

TEST(Scalar, ImmediatesCompareByBits) {
  EXPECT_EQ(Scalar::constant(0.0f), Scalar::constant(0.0f));
  EXPECT_NE(Scalar::constant(0.0f), Scalar::constant(-0.0f));
  EXPECT_EQ(Scalar::constant(__builtin_nanf("")), Scalar::constant(__builtin_nanf("")));
  EXPECT_NE(Scalar::constant(0.0f), Scalar::at(AP()));
}

} // namespace
