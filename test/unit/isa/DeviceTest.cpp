//===- DeviceTest.cpp - the device table ----------------------------------===//
#include "dialects/Trn/ISA/ISA.h"
#include "gtest/gtest.h"

using namespace trn::isa;

namespace {

TEST(Devices, FourTargetsByName) {
  EXPECT_EQ(allDevices().size(), 4u);
  for (const char *name : {"inf2", "trn1", "trn2", "trn3"}) {
    ASSERT_NE(device(name), nullptr) << name;
    EXPECT_STREQ(device(name)->name, name);
  }
  EXPECT_EQ(device("trn4"), nullptr);
}

TEST(Devices, EveryClockPeriodIsAWholeNumberOfTicks) {
  for (const DeviceInfo *info : allDevices())
    for (unsigned i = 0; i < kNumEngines; ++i) {
      Engine engine = static_cast<Engine>(i);
      EXPECT_EQ(info->ticksPerCycle(engine) * info->clockHz(engine), kTicksPerSecond)
          << info->name << " " << name(engine);
    }
  // Device guide 9.10.
  EXPECT_EQ(device("trn1")->ticksPerCycle(Engine::PE), 12);
  EXPECT_EQ(device("trn1")->ticksPerCycle(Engine::DVE), 30);
  EXPECT_EQ(device("trn2")->ticksPerCycle(Engine::PE), 14);
  EXPECT_EQ(device("trn2")->ticksPerCycle(Engine::DVE), 35);
  EXPECT_EQ(device("trn3")->ticksPerCycle(Engine::ACT), 28);
}

TEST(Devices, LimitsGrowWithTheCoreVersion) {
  const DeviceInfo *previous = nullptr;
  for (const DeviceInfo *info : allDevices()) {
    if (previous) {
      EXPECT_GE(info->version, previous->version);
      EXPECT_GE(info->sbufBytesUsable, previous->sbufBytesUsable);
      EXPECT_GE(info->matmulMovingMax, previous->matmulMovingMax);
      EXPECT_GE(info->psumBytes(), previous->psumBytes());
      EXPECT_GE(info->sbufFreeMax, previous->sbufFreeMax);
    }
    EXPECT_LT(info->sbufBytesUsable, info->sbufBytes);
    EXPECT_EQ(info->psumBytes(), 16384);
    previous = info;
  }
  EXPECT_STREQ(widestDevice().name, "trn3");
}

TEST(Devices, UnitsConvert) {
  const DeviceInfo &trn2 = *device("trn2");
  EXPECT_EQ(trn2.cycles(Engine::PE, 1000), 2400);
  EXPECT_EQ(trn2.cycles(Engine::DVE, 157), 151);
  EXPECT_EQ(DeviceInfo::ticks(1000), 33600);
  EXPECT_EQ(DeviceInfo::ticksOfPicoseconds(7200), 242);
  EXPECT_DOUBLE_EQ(DeviceInfo::nanoseconds(336), 10.0);
}

TEST(ScalarOps, TableIsSortedAndFindsEveryRow) {
  const ScalarOpInfo *previous = nullptr;
  for (const ScalarOpInfo &row : allScalarOps()) {
    EXPECT_EQ(scalarOp(row.key), &row);
    EXPECT_TRUE(row.alu || row.activation) << row.key;
    EXPECT_EQ(row.aluImmediate.has_value(), row.alu.has_value() && row.arity == 1) << row.key;
    if (previous)
      EXPECT_LT(std::string_view(previous->key), std::string_view(row.key));
    previous = &row;
  }
  EXPECT_EQ(scalarOp("arith.addf")->alu, AluOp::Add);
  EXPECT_EQ(scalarOp("math.exp")->activation, ActivationFunc::Exp);
  EXPECT_EQ(scalarOp("trn.scalar.gelu_tanh")->activation, ActivationFunc::GeluTanh);
  EXPECT_EQ(scalarOp("arith.cmpf.olt")->alu, AluOp::IsLt);
  EXPECT_EQ(scalarOp("arith.cmpf.ult"), nullptr) << "the ALU is false with NaN";
  EXPECT_EQ(scalarOp("math.cos"), nullptr);
}

TEST(Instructions, TablesAgree) {
  EXPECT_EQ(allInstructions().size(), kNumOpcodes);
  for (const InstInfo &inst : allInstructions()) {
    EXPECT_EQ(parseOpcode(inst.mnemonic), inst.opcode);
    EXPECT_EQ(&info(inst.opcode), &inst);
    Instruction made;
    ASSERT_TRUE(makeInstruction(static_cast<uint16_t>(inst.opcode), made));
    EXPECT_EQ(opcode(made), inst.opcode);
    EXPECT_NE(inst.engines, 0);
  }
  Instruction made;
  EXPECT_FALSE(makeInstruction(0, made));
  EXPECT_EQ(parseOpcode("frobnicate"), std::nullopt);
}

} // namespace
