//===- CheckTest.cpp - the static checker of executables ---------------------===//
//
// Tests runtime/check/Check.h: each kind of finding on the smallest program that shows it, and the same program without
// the fault passing.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Check.h"
#include "runtime/check/Stretches.h"
#include "test/unit/timing/ProgramBuilder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <functional>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;
using testing::HasSubstr;

static bool has(const CheckReport &report, FindingKind kind) {
  for (const Finding &finding : report.findings)
    if (finding.kind == kind)
      return true;
  return false;
}

static isa::Command &commandOf(exe::Executable &exe, Engine engine, unsigned index) {
  return exe.programs[static_cast<unsigned>(engine)].commands[index];
}

TEST(Check, CorrectProgramPasses) {
  for (const char *device : {"inf2", "trn1", "trn2", "trn3"}) {
    CheckReport report = check(smallProgram(device));
    EXPECT_TRUE(report.ok()) << device << "\n" << report.str();
    EXPECT_EQ(report.commands, 6u);
    EXPECT_GT(report.accesses, 5u);
  }
}

TEST(Check, EveryWaitOfTheSmallProgramIsNeeded) {
  exe::Executable good = smallProgram();
  for (size_t program = 0; program < good.programs.size(); ++program)
    for (size_t i = 0; i < good.programs[program].commands.size(); ++i) {
      if (!good.programs[program].commands[i].hasWait)
        continue;
      exe::Executable bad = good;
      bad.programs[program].commands[i].hasWait = false;
      CheckReport report = check(bad);
      EXPECT_FALSE(report.ok()) << "dropped wait of " << Commands(good).describe(Commands(good).id(program, i));
    }
}

TEST(Check, ReadAfterWriteNamesBothSidesAndTheNodes) {
  for (bool waits : {false, true}) {
    ProgramBuilder b;
    uint32_t conv = b.node("Conv_1", "Conv"), relu = b.node("Relu_2", "Relu");
    b.memset(Engine::DVE, sbuf(0, 128, 64)).signal(0).from(conv);
    Cmd copy = b.copy(Engine::POOL, sbuf(4096, 128, 32), sbuf(64, 128, 32)).from(relu);
    if (waits)
      copy.wait(0, 1);
    CheckReport report = check(b.exe);
    EXPECT_EQ(report.ok(), waits) << report.str();
    if (waits)
      continue;
    EXPECT_TRUE(has(report, FindingKind::ReadAfterWrite));
    EXPECT_THAT(report.str(), HasSubstr("the write of DVE #0 memset (node 'Conv_1', Conv) and the read of POOL #0 "
                                        "tensor_copy (node 'Relu_2', Relu) share sbuf bytes [64, 128)"));
  }
}

TEST(Check, OverwritingRaces) {
  ProgramBuilder b;
  b.memset(Engine::POOL, sbuf(8192, 128, 64)).signal(0);
  b.copy(Engine::ACT, sbuf(4096, 128, 64), sbuf(8192, 128, 64)).wait(0, 1);
  b.memset(Engine::DVE, sbuf(8192, 128, 32)).wait(0, 1); // while ACT may still read it
  b.memset(Engine::DVE, sbuf(4096, 128, 32));            // while ACT may still write it
  CheckReport report = check(b.exe);
  EXPECT_TRUE(has(report, FindingKind::WriteAfterRead)) << report.str();
  EXPECT_TRUE(has(report, FindingKind::WriteAfterWrite)) << report.str();
  EXPECT_EQ(report.errors, 2u) << report.str();
}

TEST(Check, DisjointPartitionsAndColumnsDoNotRace) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 64, 64));
  b.memset(Engine::POOL, sbuf(0, 64, 64, DType::BF16, 64));
  AP even = sbuf(1024, 128, 64), odd = sbuf(1026, 128, 64);
  even.dims[0].step = odd.dims[0].step = 2;
  b.memset(Engine::DVE, even);
  b.memset(Engine::POOL, odd);
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
}

TEST(Check, PartialPartitionOverlapRaces) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 64, 64));
  b.memset(Engine::POOL, sbuf(0, 128, 64));
  EXPECT_TRUE(has(check(b.exe), FindingKind::WriteAfterWrite));
}

TEST(Check, OneEngineIsOrderedByItsQueue) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64));
  b.copy(Engine::DVE, sbuf(1024, 128, 64), sbuf(0, 128, 64));
  b.memset(Engine::DVE, sbuf(0, 128, 64), 2);
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
}

TEST(Check, TransferOfItsOwnEngineStillNeedsASemaphore) {
  ProgramBuilder b;
  uint32_t y = b.output("y", 128 * 64 * 2);
  b.memset(Engine::POOL, sbuf(0, 128, 64)).signal(0);
  b.dma(Engine::POOL, hbm(y, 128, 64), sbuf(0, 128, 64)).signal(1, 16);
  EXPECT_TRUE(has(check(b.exe), FindingKind::ReadAfterWrite));
  commandOf(b.exe, Engine::POOL, 1).hasWait = true;
  commandOf(b.exe, Engine::POOL, 1).wait = {0, 1};
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
}

TEST(Check, TransfersOfOneRingAreNotOrderedByIt) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 64 * 2);
  b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64)).signal(0, 16);
  b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64)).signal(1, 16);
  EXPECT_TRUE(has(check(b.exe), FindingKind::WriteAfterWrite));
}

/// Knowing a transfer complete implies the earlier ones of its ring.
TEST(Check, CompletedTransferImpliesItsRingsPrefix) {
  for (uint8_t ring : {0, 1}) {
    ProgramBuilder b;
    uint32_t x = b.input("x", 2 * 128 * 64 * 2);
    b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64), 0);
    b.dma(Engine::SP, sbuf(1024, 128, 64), hbm(x, 128, 64), ring).signal(0, 16);
    b.addTensors(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64), sbuf(1024, 128, 64)).wait(0, 16);
    EXPECT_EQ(check(b.exe).ok(), ring == 0) << check(b.exe).str();
  }
}

TEST(Check, TwoTransfersInFlightOnOneSemaphoreAreAmbiguous) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 2 * 128 * 64 * 2);
  b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64)).signal(0, 16);
  b.dma(Engine::SP, sbuf(1024, 128, 64), hbm(x, 128, 64)).signal(0, 16);
  b.copy(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64)).wait(0, 16);
  CheckReport report = check(b.exe);
  EXPECT_TRUE(has(report, FindingKind::AmbiguousCount)) << report.str();
  // Waiting for both is clear.
  commandOf(b.exe, Engine::DVE, 0).wait = {0, 32};
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
}

TEST(Check, SemaphoreReusedOnlyWhenThePreviousTransferIsKnownComplete) {
  for (bool knows : {false, true}) {
    ProgramBuilder b;
    uint32_t x = b.input("x", 2 * 128 * 64 * 2);
    b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64)).signal(0, 16);
    Cmd second = b.dma(Engine::SP, sbuf(1024, 128, 64), hbm(x, 128, 64)).signal(0, 16);
    if (knows)
      second.wait(0, 16);
    b.copy(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64)).wait(0, 16);
    b.copy(Engine::DVE, sbuf(3072, 128, 64), sbuf(1024, 128, 64)).wait(0, 32);
    EXPECT_EQ(has(check(b.exe), FindingKind::AmbiguousCount), !knows) << check(b.exe).str();
  }
}

/// A wait that was clear becomes ambiguous by a later signal that may come early.
TEST(Check, LateJoinerMakesAnEarlierWaitAmbiguous) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64)).signal(0);
  b.copy(Engine::DVE, sbuf(1024, 128, 64), sbuf(0, 128, 64));
  b.copy(Engine::ACT, sbuf(2048, 128, 64), sbuf(0, 128, 64)).wait(0, 1);
  b.memset(Engine::POOL, sbuf(4096, 128, 64)).signal(0); // may satisfy ACT's wait before DVE has written
  EXPECT_TRUE(has(check(b.exe), FindingKind::AmbiguousCount)) << check(b.exe).str();
}

TEST(Check, JoinOfSeveralEnginesIsClear) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64)).signal(0);
  b.memset(Engine::POOL, sbuf(1024, 128, 64)).signal(0);
  b.copy(Engine::ACT, sbuf(2048, 128, 64), sbuf(0, 128, 64)).wait(0, 2);
  b.copy(Engine::ACT, sbuf(3072, 128, 64), sbuf(1024, 128, 64));
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
}

TEST(Check, UnsetReads) {
  ProgramBuilder b;
  uint32_t s = b.scratch("s", 128 * 64 * 2);
  b.memset(Engine::DVE, sbuf(0, 128, 32));
  b.copy(Engine::DVE, sbuf(1024, 128, 64), sbuf(0, 128, 64));
  b.dma(Engine::SP, sbuf(8192, 128, 64), hbm(s, 128, 64)).signal(0, 16);
  CheckReport report = check(b.exe);
  EXPECT_THAT(report.str(), HasSubstr("bytes [64, 128)"));
  EXPECT_THAT(report.str(), HasSubstr("buffer 's'"));
  EXPECT_EQ(report.errors, 2u) << report.str();
}

TEST(Check, UnsetPartitions) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 64, 64));
  b.copy(Engine::DVE, sbuf(1024, 128, 64), sbuf(0, 128, 64));
  CheckReport report = check(b.exe);
  EXPECT_THAT(report.str(), HasSubstr("partitions [64, 128)"));
}

TEST(Check, ShufflesReadThePartitionsThatTheirMaskNames) {
  auto checkMask = [](int32_t last) {
    ProgramBuilder b;
    for (unsigned group = 0; group < 3; ++group)
      b.memset(Engine::DVE, sbuf(0, 1, 64, DType::BF16, 32 * group));
    isa::NcStreamShuffle shuffle;
    shuffle.dst = shuffle.src = sbuf(0, 96, 64);
    shuffle.mask.back() = last;
    b.add(Engine::DVE, shuffle);
    b.copy(Engine::DVE, sbuf(1024, 96, 64), sbuf(0, 96, 64));
    return check(b.exe);
  };
  EXPECT_TRUE(checkMask(0).ok()) << checkMask(0).str();
  EXPECT_THAT(checkMask(7).str(), HasSubstr("partitions [7, 8) (operand 'src'), which nothing has written"));
  EXPECT_THAT(checkMask(255).str(), HasSubstr("(operand 'dst'), which nothing has written"));
}

TEST(Check, AccumulatingNeedsAMatmulBefore) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 512)).signal(0);
  b.matmul(psum(0, 128, 128), sbuf(0, 128, 128), sbuf(0, 128, 128), true).wait(0, 1);
  EXPECT_TRUE(has(check(b.exe), FindingKind::UnsetRead));
  ProgramBuilder c;
  c.memset(Engine::DVE, sbuf(0, 128, 512));
  c.memset(Engine::DVE, psum(0, 128, 128)).signal(0);
  c.matmul(psum(0, 128, 128), sbuf(0, 128, 128), sbuf(0, 128, 128), true).wait(0, 1);
  EXPECT_TRUE(has(check(c.exe), FindingKind::WrongAccumulate)) << check(c.exe).str();
  c.exe.device = "trn3";
  EXPECT_TRUE(check(c.exe).ok()) << check(c.exe).str();
}

TEST(Check, OutputsMustBeWrittenWhole) {
  exe::Executable exe = smallProgram();
  exe.buffers[2].bytes += 4;
  CheckReport report = check(exe);
  EXPECT_TRUE(has(report, FindingKind::UnsetOutput)) << report.str();
  EXPECT_THAT(report.str(), HasSubstr("[131072, 131076)"));
}

TEST(Check, Bounds) {
  exe::Executable exe = smallProgram();
  exe.buffers[0].bytes -= 2;
  EXPECT_TRUE(has(check(exe), FindingKind::OutOfBounds));
  exe = smallProgram();
  std::get<isa::DmaCopy>(commandOf(exe, Engine::SP, 0).inst).src.buffer = 99;
  EXPECT_TRUE(has(check(exe), FindingKind::OutOfBounds));
  exe = smallProgram();
  std::get<isa::DmaCopy>(commandOf(exe, Engine::SP, 0).inst).dst.address = 212984 - 512;
  EXPECT_TRUE(has(check(exe), FindingKind::OutOfBounds));
  exe = smallProgram();
  std::get<isa::DmaCopy>(commandOf(exe, Engine::SP, 0).inst).dst.startPartition = 64;
  EXPECT_TRUE(has(check(exe), FindingKind::OutOfBounds));
}

TEST(Check, WeightsAndInputsAreReadOnly) {
  exe::Executable exe = smallProgram();
  std::get<isa::DmaCopy>(commandOf(exe, Engine::SP, 2).inst).dst.buffer = 0;
  EXPECT_TRUE(has(check(exe), FindingKind::ReadOnlyWrite));
}

TEST(Check, InPlaceOnlyElementByElement) {
  for (unsigned shift : {0u, 2u, 128u}) {
    ProgramBuilder b;
    b.memset(Engine::DVE, sbuf(0, 128, 256), 1);
    b.copy(Engine::DVE, sbuf(shift, 128, 64), sbuf(0, 128, 64));
    EXPECT_EQ(has(check(b.exe), FindingKind::SelfOverlap), shift == 2) << check(b.exe).str();
  }
}

TEST(Check, ActivationTables) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64)).signal(0);
  isa::ActTableLoad load;
  load.set = isa::info(isa::ActivationFunc::Exp).tableSet;
  b.add(Engine::ACT, load).wait(0, 1);
  b.activate(isa::ActivationFunc::Exp, sbuf(1024, 128, 64), sbuf(0, 128, 64));
  b.activate(isa::ActivationFunc::Copy, sbuf(2048, 128, 64), sbuf(0, 128, 64));
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
  b.activate(isa::ActivationFunc::Sigmoid, sbuf(3072, 128, 64), sbuf(0, 128, 64));
  EXPECT_TRUE(has(check(b.exe), FindingKind::WrongTable));
}

TEST(Check, StationaryOperandMustBeInTheArray) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 1024)).signal(0);
  b.matmul(psum(0, 128, 128), sbuf(0, 128, 128), sbuf(1024, 128, 128)).wait(0, 1);
  b.matmul(psum(1, 128, 128), sbuf(0, 128, 128), sbuf(1280, 128, 128), false, false);
  EXPECT_TRUE(check(b.exe).ok()) << check(b.exe).str();
  b.matmul(psum(2, 128, 128), sbuf(256, 128, 128), sbuf(1024, 128, 128), false, false);
  EXPECT_TRUE(has(check(b.exe), FindingKind::WrongStationary));
}

TEST(Check, IllegalInstructions) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 1024)).signal(0);
  b.matmul(psum(0, 128, 600), sbuf(0, 128, 128), sbuf(0, 128, 600)).wait(0, 1);
  EXPECT_TRUE(has(check(b.exe), FindingKind::IllegalInstruction));
  CheckOptions options;
  options.legality = false;
  EXPECT_FALSE(has(check(b.exe, options), FindingKind::IllegalInstruction));
}

TEST(Check, DeadlockPrintsTheCycle) {
  ProgramBuilder b;
  uint32_t conv = b.node("Conv_1", "Conv"), relu = b.node("Relu_2", "Relu");
  b.memset(Engine::DVE, sbuf(0, 128, 8)).wait(0, 1).signal(1).from(conv);
  b.memset(Engine::POOL, sbuf(64, 128, 8)).wait(1, 1).signal(0).from(relu);
  CheckReport report = check(b.exe);
  ASSERT_TRUE(has(report, FindingKind::Deadlock));
  EXPECT_THAT(report.str(), HasSubstr("Conv_1"));
  EXPECT_THAT(report.str(), HasSubstr("Relu_2"));
}

TEST(Check, UpdatesThatCannotCount) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 64 * 2);
  b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64)).signal(0, 1);
  EXPECT_TRUE(has(check(b.exe), FindingKind::BadUpdate));
  ProgramBuilder c;
  c.memset(Engine::DVE, sbuf(0, 128, 8)).signal(0, -1);
  EXPECT_TRUE(has(check(c.exe), FindingKind::BadUpdate));
  ProgramBuilder d;
  for (int i = 0; i < 3; ++i)
    d.memset(Engine::DVE, sbuf(0, 128, 8)).signal(0, 30000);
  EXPECT_TRUE(has(check(d.exe), FindingKind::BadUpdate));
}

TEST(Check, RingsBelongToOneEngine) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 64 * 2);
  b.dma(Engine::SP, sbuf(0, 128, 64), hbm(x, 128, 64), 3).signal(0, 16);
  b.dma(Engine::ACT, sbuf(1024, 128, 64), hbm(x, 128, 64), 3).signal(1, 16);
  EXPECT_TRUE(has(check(b.exe), FindingKind::SharedRing));
}

TEST(Check, SignalsThatNobodyWaitsForAreNotes) {
  CheckReport report = check(smallProgram());
  EXPECT_TRUE(has(report, FindingKind::LeftoverSemaphore));
  EXPECT_TRUE(report.ok());
}

TEST(Check, WrongDataIsFoundByTheExpectedFlow) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64), 1);
  b.memset(Engine::DVE, sbuf(1024, 128, 64), 2);
  b.copy(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64));
  CheckOptions record;
  record.recordFlow = true;
  DataFlow flow = check(b.exe, record).flow;
  ASSERT_EQ(flow.size(), 1u);
  CheckOptions expect;
  expect.expectedFlow = &flow;
  EXPECT_TRUE(check(b.exe, expect).ok());
  // The second constant lands on the first: no race, but the copy reads the wrong one.
  std::get<isa::Memset>(commandOf(b.exe, Engine::DVE, 1).inst).dst.address = 0;
  EXPECT_TRUE(check(b.exe).ok());
  EXPECT_TRUE(has(check(b.exe, expect), FindingKind::WrongFlow));
}

TEST(Check, AnExecutableIsHeldToItsOwnFlow) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64), 1);
  b.memset(Engine::DVE, sbuf(1024, 128, 64), 2);
  b.copy(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64));
  CheckOptions record;
  record.recordFlow = true;
  b.exe.flow = check(b.exe, record).flow;
  EXPECT_TRUE(check(b.exe).ok());
  std::get<isa::Memset>(commandOf(b.exe, Engine::DVE, 1).inst).dst.address = 0;
  CheckReport report = check(b.exe);
  EXPECT_TRUE(has(report, FindingKind::WrongFlow));
  EXPECT_NE(report.str().find("DVE #2 tensor_copy reads what DVE #1 memset"), std::string::npos) << report.str();
}

TEST(Check, BuffersApartMeanWhatTheirNamesSay) {
  // Two buffers at one address: with addresses the copy reads the second constant, by name the first.
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64), 1);
  b.memset(Engine::DVE, sbuf(0, 128, 64), 2);
  b.copy(Engine::DVE, sbuf(2048, 128, 64), sbuf(0, 128, 64));
  std::get<isa::Memset>(commandOf(b.exe, Engine::DVE, 0).inst).dst.buffer = 1;
  std::get<isa::Memset>(commandOf(b.exe, Engine::DVE, 1).inst).dst.buffer = 2;
  std::get<isa::TensorCopy>(commandOf(b.exe, Engine::DVE, 2).inst).src.buffer = 1;
  CheckOptions options;
  options.recordFlow = true;
  ASSERT_EQ(check(b.exe, options).flow.size(), 1u);
  EXPECT_EQ(check(b.exe, options).flow[0].writer, 1u);
  options.buffersApart = true;
  ASSERT_EQ(check(b.exe, options).flow.size(), 1u);
  EXPECT_EQ(check(b.exe, options).flow[0].writer, 0u);
}

TEST(Check, UnsupportedProgramsAreRefused) {
  ProgramBuilder b;
  b.add(Engine::SP, isa::Branch{}); // to itself, always
  EXPECT_TRUE(has(check(b.exe), FindingKind::Unsupported));
  ProgramBuilder c("trn9");
  EXPECT_TRUE(has(check(c.exe), FindingKind::Unsupported));
  ProgramBuilder d;
  d.exe.programs.push_back({Engine::PE, {}});
  EXPECT_TRUE(has(check(d.exe), FindingKind::Unsupported));
  ProgramBuilder e;
  e.memset(Engine::DVE, sbuf(0, 128, 8)).signal(256);
  EXPECT_TRUE(has(check(e.exe), FindingKind::Unsupported));
}

/// DVE writes a tile three times in a loop, ACT reads it three times: each time after all writes, or after as many as it
/// has read before.
static ProgramBuilder loops(bool waitsForAll) {
  ProgramBuilder b;
  isa::RegisterMove trips;
  trips.value = 3;
  isa::Loop back;
  back.target = 1;
  b.add(Engine::DVE, trips);
  b.memset(Engine::DVE, sbuf(0, 128, 8)).signal(0);
  b.add(Engine::DVE, back);
  for (uint32_t round = 1; round <= 3; ++round)
    b.copy(Engine::ACT, sbuf(64 * round, 128, 8), sbuf(0, 128, 8)).wait(0, waitsForAll ? 3 : round);
  return b;
}

TEST(Check, LoopsAreUnrolled) {
  // All writes are over before the first read.
  CheckReport report = check(loops(true).exe);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(report.commands, 1u + 3 * 2 + 3);
  // Later writes may overtake the first read.
  report = check(loops(false).exe);
  EXPECT_TRUE(has(report, FindingKind::WriteAfterRead) || has(report, FindingKind::ReadAfterWrite)) << report.str();
  EXPECT_THAT(report.str(), HasSubstr("DVE #1 memset"));
}

/// What can be wrong with a loop whose rounds memory decides.
enum class LoopFault { None, KeepsSbuf, LeavesTransfer, WritesInLoopOnly };

/// n rounds of y = x, through SBUF; n is read from memory. All queues meet before the loop and at the end of each round.
static ProgramBuilder countedCopies(LoopFault fault) {
  ProgramBuilder b;
  const uint32_t n = b.input("n", 4), x = b.input("x", 128 * 8 * 4), y = b.output("y", 128 * 8 * 4);
  const AP tile = sbuf(0, 128, 8, DType::F32);
  isa::RegisterLoad load;
  load.src = hbm(n, 1, 1, DType::I32);
  isa::Branch none;
  none.compare = isa::AluOp::IsLe;
  isa::Loop back;
  for (Engine engine : {Engine::PE, Engine::ACT, Engine::DVE, Engine::POOL, Engine::SP}) {
    auto &commands = b.exe.programs[size_t(engine)].commands;
    const bool copies = engine == Engine::SP;
    if (copies && fault != LoopFault::WritesInLoopOnly) {
      b.dma(engine, tile, hbm(x, 128, 8, DType::F32)).signal(0, 16);
      b.dma(engine, hbm(y, 128, 8, DType::F32), tile, 1).wait(0, 16).signal(1, 16);
      b.add(engine, isa::SemaphoreWait{}).wait(1, 16);
    }
    b.add(engine, isa::Barrier{});
    b.add(engine, load);
    b.add(engine, none);
    const size_t exit = commands.size() - 1;
    back.target = int32_t(commands.size());
    if (copies) {
      if (fault != LoopFault::KeepsSbuf)
        b.dma(engine, tile, hbm(x, 128, 8, DType::F32)).signal(0, 16);
      else
        b.add(engine, isa::Nop{}).signal(0, 16);
      b.dma(engine, hbm(y, 128, 8, DType::F32), tile, 1).wait(0, 16).signal(1, 16);
      if (fault != LoopFault::LeavesTransfer)
        b.add(engine, isa::SemaphoreWait{}).wait(1, 16);
    }
    b.add(engine, isa::Barrier{});
    b.add(engine, back);
    std::get<isa::Branch>(commands[exit].inst).target = int32_t(commands.size());
  }
  return b;
}

TEST(Check, RoundsThatDataDecidesAreCheckedOnAllPaths) {
  CheckReport report = check(countedCopies(LoopFault::None).exe);
  EXPECT_TRUE(report.ok()) << report.str();
  report = check(countedCopies(LoopFault::KeepsSbuf).exe);
  EXPECT_TRUE(has(report, FindingKind::UnsetRead)) << report.str();
  report = check(countedCopies(LoopFault::LeavesTransfer).exe);
  EXPECT_TRUE(has(report, FindingKind::OverBarrier)) << report.str();
  report = check(countedCopies(LoopFault::WritesInLoopOnly).exe); // nothing writes y when n is 0
  EXPECT_TRUE(has(report, FindingKind::UnsetOutput)) << report.str();
}

constexpr Engine kQueues[] = {Engine::PE, Engine::ACT, Engine::DVE, Engine::POOL, Engine::SP};

static void addToQueues(ProgramBuilder &b, const isa::Instruction &inst) {
  for (Engine queue : kQueues)
    b.add(queue, inst);
}

/// SP copies a buffer, and all queues meet behind it.
static void copyPart(ProgramBuilder &b, uint32_t to, uint32_t from, bool isComplete = true) {
  b.dma(Engine::SP, hbm(to, 128, 8, DType::F32), hbm(from, 128, 8, DType::F32)).signal(0, 16);
  if (isComplete)
    b.add(Engine::SP, isa::SemaphoreWait{}).wait(0, 16);
  addToQueues(b, isa::Barrier{});
}

/// A branch that has another in each body, `depth` deep in all. `body` adds the innermost bodies, each of which has the
/// decisions that lead to it for a name, behind `way`: 1 for a first body, 0 for a second one.
static void addBranches(ProgramBuilder &b, unsigned depth, const std::string &way,
                        const std::function<void(const std::string &)> &body) {
  if (depth == 0)
    return body(way);
  auto here = [&] {
    std::vector<size_t> positions;
    for (Engine queue : kQueues)
      positions.push_back(b.exe.programs[size_t(queue)].commands.size());
    return positions;
  };
  auto leadTo = [&](const std::vector<size_t> &branches, const std::vector<size_t> &targets) {
    for (size_t i = 0; i < branches.size(); ++i)
      std::get<isa::Branch>(commandOf(b.exe, kQueues[i], unsigned(branches[i])).inst).target = int32_t(targets[i]);
  };
  isa::RegisterLoad load;
  load.src = hbm(b.input("if " + way, 4), 1, 1, DType::I32);
  addToQueues(b, load);
  isa::Branch toSecond;
  toSecond.compare = isa::AluOp::IsEq;
  const std::vector<size_t> begin = here();
  addToQueues(b, toSecond);
  addBranches(b, depth - 1, way + "1", body);
  const std::vector<size_t> middle = here();
  addToQueues(b, isa::Branch{});
  leadTo(begin, here());
  addBranches(b, depth - 1, way + "0", body);
  leadTo(middle, here());
}

TEST(Check, EveryBodyOfNestedBranchesIsChecked) {
  // Four deep: up to three, each body is on a way with at most one decision unlike all others.
  std::vector<std::string> ways = {"none"};
  for (unsigned number = 0; number < 16; ++number) {
    ways.push_back("");
    for (unsigned bit = 0; bit < 4; ++bit)
      ways.back() += (number >> bit) & 1 ? "1" : "0";
  }
  for (const std::string &faulty : ways) {
    ProgramBuilder b;
    const uint32_t x = b.input("x", 128 * 8 * 4), y = b.output("y", 128 * 8 * 4);
    addBranches(b, 4, "", [&](const std::string &way) { copyPart(b, y, x, way != faulty); });
    const CheckReport report = check(b.exe);
    EXPECT_EQ(has(report, FindingKind::OverBarrier), faulty != "none") << faulty << ": " << report.str();
    EXPECT_EQ(report.ok(), faulty == "none") << faulty << ": " << report.str();
  }
}

TEST(Check, WhatLateBodiesReadMustBeWrittenOnAllWays) {
  // The body 0101 alone reads what a branch before writes: in both bodies, in the first or in the second.
  for (const char *writers : {"10", "1", "0"}) {
    ProgramBuilder b;
    const uint32_t x = b.input("x", 128 * 8 * 4), kept = b.scratch("kept", 128 * 8 * 4);
    const uint32_t other = b.scratch("other", 128 * 8 * 4), y = b.output("y", 128 * 8 * 4);
    addBranches(b, 1, "", [&](const std::string &way) {
      copyPart(b, std::string(writers).find(way) != std::string::npos ? kept : other, x);
    });
    addBranches(b, 4, "", [&](const std::string &way) { copyPart(b, y, way == "0101" ? kept : x); });
    const CheckReport report = check(b.exe);
    EXPECT_EQ(has(report, FindingKind::UnsetRead), std::string(writers) != "10") << writers << ": " << report.str();
  }
}

TEST(Check, WhatSeveralDecisionsTogetherLeaveUnsetIsFound) {
  // Four branches; `kept` is unset on one of sixteen ways only, which is two decisions away from all or none taken.
  for (bool isWritten : {false, true}) {
    ProgramBuilder b;
    const uint32_t x = b.input("x", 128 * 8 * 4), kept = b.scratch("kept", 128 * 8 * 4);
    const uint32_t other = b.scratch("other", 128 * 8 * 4), y = b.output("y", 128 * 8 * 4);
    if (isWritten)
      copyPart(b, kept, x);
    for (const char *writer : {"1", "1", "0", "0"})
      addBranches(b, 1, "", [&](const std::string &way) { copyPart(b, way == writer ? kept : other, x); });
    copyPart(b, y, kept);
    const CheckReport report = check(b.exe);
    EXPECT_EQ(report.ok(), isWritten) << report.str();
    EXPECT_EQ(has(report, FindingKind::UnsetRead), !isWritten) << report.str();
  }
}

TEST(Check, OutputsAreWholeOnAllWaysTogether) {
  // y is written by the first bodies of two branches and by the second ones of two others, or on all ways.
  for (bool isWritten : {false, true}) {
    ProgramBuilder b;
    const uint32_t x = b.input("x", 128 * 8 * 4), y = b.output("y", 128 * 8 * 4), other = b.scratch("other", 128 * 8 * 4);
    for (const char *writer : {"1", "1", "0", "0"})
      addBranches(b, 1, "", [&](const std::string &way) { copyPart(b, way == writer ? y : other, x); });
    addBranches(b, 1, "", [&](const std::string &) { copyPart(b, isWritten ? y : other, x); });
    const CheckReport report = check(b.exe);
    EXPECT_EQ(has(report, FindingKind::UnsetOutput), !isWritten) << report.str();
    EXPECT_EQ(report.ok(), isWritten) << report.str();
  }
}

TEST(Stretches, BytesThatAllWaysHaveWritten) {
  ByteSet set;
  for (ByteRun run : {ByteRun{10, 20}, ByteRun{30, 40}, ByteRun{20, 25}, ByteRun{5, 5}})
    set.add(run);
  EXPECT_FALSE(set.missing({10, 25}));
  EXPECT_FALSE(set.missing({50, 50}));
  EXPECT_EQ(set.missing({12, 31})->begin, 25);
  EXPECT_EQ(set.missing({12, 31})->end, 30);
  EXPECT_EQ(set.missing({0, 12})->end, 10);
  EXPECT_EQ(set.missing({39, 60})->begin, 40);
  ByteSet other;
  other.add({15, 35});
  set.intersect(other);
  EXPECT_FALSE(set.missing({15, 25}));
  EXPECT_FALSE(set.missing({30, 35}));
  EXPECT_EQ(set.missing({14, 16})->begin, 14);
  EXPECT_EQ(set.missing({30, 36})->begin, 35);
}

TEST(Check, AProgramWithoutQueuesEnds) {
  exe::Executable exe;
  exe.device = "trn2";
  EXPECT_TRUE(check(exe).ok());
}

TEST(Check, QueuesThatMissABarrierAreDeadlocks) {
  ProgramBuilder b;
  b.add(Engine::DVE, isa::Barrier{});
  CheckReport report = check(b.exe);
  EXPECT_TRUE(has(report, FindingKind::Deadlock)) << report.str();
  EXPECT_THAT(report.str(), HasSubstr("ends without a barrier"));
}

TEST(Check, FindingsAreBounded) {
  ProgramBuilder b;
  for (unsigned i = 0; i < 200; ++i)
    b.copy(Engine::DVE, sbuf(8192, 128, 8), sbuf(16 * i, 128, 8));
  CheckReport report = check(b.exe);
  EXPECT_EQ(report.findings.size(), 64u);
  EXPECT_EQ(report.errors, 200u);
  EXPECT_THAT(report.str(), HasSubstr("136 more"));
}
