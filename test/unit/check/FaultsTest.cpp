//===- FaultsTest.cpp - would the checker notice? ----------------------------===//
//
// Tests runtime/check/Faults.h, and through it the checker: of all planted faults at least 99 in 100 must be noticed or
// proved harmless, and none may be missed.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Faults.h"
#include "test/unit/profile/ModelPrograms.h"
#include "gtest/gtest.h"

using namespace trn;
using namespace trn::rt;
using namespace trn::test;

TEST(Faults, ChainPassesTheCheck) {
  for (const char *device : {"trn1", "trn2", "trn3"}) {
    exe::Executable exe = matrixChain(device, {5, 4, 256});
    CheckReport report = check(exe);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(allConflictsOrdered(exe));
  }
}

TEST(Faults, PlantedFaultsAreNoticedOrHarmless) {
  FaultCounts sum;
  for (ChainShape shape : {ChainShape{2, 2, 128}, ChainShape{5, 4, 256}, ChainShape{6, 3, 512}}) {
    absl::StatusOr<FaultReport> planted = plantFaults(matrixChain("trn2", shape));
    ASSERT_TRUE(planted.ok()) << planted.status();
    const FaultReport &report = *planted;
    for (unsigned kind = 0; kind < kFaultKinds; ++kind)
      EXPECT_GT(report.counts[kind].planted, 0u) << name(FaultKind(kind));
    const FaultCounts total = report.total();
    EXPECT_EQ(total.missed, 0u) << report.str();
    sum.planted += total.planted;
    sum.caught += total.caught + total.caughtByFlow;
    sum.harmless += total.harmless;
    RecordProperty("report", report.str());
    std::printf("%s", report.str().c_str());
  }
  EXPECT_GT(sum.planted, 100u);
  EXPECT_EQ(sum.caught + sum.harmless, sum.planted);
  // The chain has few waits to spare.
  EXPECT_GT(sum.caught, sum.planted * 8 / 10);
}

TEST(Faults, EveryKindIsWhatItSays) {
  exe::Executable exe = smallProgram();
  std::vector<Fault> faults = enumerateFaults(exe);
  unsigned waits = 0, loads = 0;
  for (const Fault &fault : faults) {
    exe::Executable broken = plant(exe, fault);
    Commands before(exe), after(broken);
    switch (fault.kind) {
    case FaultKind::DropWait:
      ++waits;
      EXPECT_TRUE(before[fault.command].hasWait);
      EXPECT_FALSE(after[fault.command].hasWait);
      break;
    case FaultKind::RemoveLoad:
      ++loads;
      EXPECT_TRUE(std::holds_alternative<isa::Nop>(after[fault.command].inst));
      EXPECT_FALSE(check(broken).ok()) << "nothing loads the operand";
      break;
    case FaultKind::MoveBuffer:
      EXPECT_NE(fault.move, 0);
      break;
    }
  }
  EXPECT_EQ(waits, 4u);
  EXPECT_EQ(loads, 2u);
}

TEST(Faults, ABrokenProgramIsNotMeasured) {
  exe::Executable exe = smallProgram();
  exe.programs[0].commands[0].hasWait = false;
  EXPECT_EQ(plantFaults(exe).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Faults, AProgramWithoutAnEndIsNotMeasured) {
  exe::Executable exe = smallProgram();
  isa::Command back;
  back.inst = isa::Branch{}; // to the beginning, always
  back.engine = exe.programs[0].engine;
  exe.programs[0].commands.push_back(back);
  EXPECT_EQ(plantFaults(exe).status().code(), absl::StatusCode::kResourceExhausted);
}

/// The proof by all pairs must itself fail where the checker does.
TEST(Faults, AllPairsProofSeesRaces) {
  exe::Executable exe = smallProgram();
  EXPECT_TRUE(allConflictsOrdered(exe));
  exe.programs[2].commands[0].hasWait = false;
  EXPECT_FALSE(allConflictsOrdered(exe));
}
