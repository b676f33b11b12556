//===- HostileTest.cpp - checker and simulation on damaged programs ----------===//
//
// Damages correct programs at random and runs checker, simulation and reports on the result. Nothing may crash, hang or
// overflow (the sanitizer build sees to the latter), and what the checker passes must have ordered conflicts.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Check.h"
#include "runtime/check/Faults.h"
#include "runtime/profile/Profile.h"
#include "test/unit/profile/ModelPrograms.h"
#include "gtest/gtest.h"
#include <random>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;

namespace {

using Random = std::mt19937;

int64_t oddNumber(Random &random) {
  static const int64_t numbers[] = {0,   1,   -1,  2,    15,    16,    17,      127,   128,
                                    129, 255, 512, 2048, 32767, 65535, 1 << 20, -32768};
  return numbers[random() % std::size(numbers)];
}

/// Changes one field of one access pattern, keeping it well formed: the loader admits nothing else.
void damage(AP &ap, Random &random) {
  const AP before = ap;
  switch (random() % 8) {
  case 0:
    ap.address = static_cast<uint64_t>(std::abs(oddNumber(random))) * (1 + random() % 9);
    break;
  case 1:
    ap.startPartition = static_cast<uint16_t>(32 * (random() % 5));
    break;
  case 2:
    ap.partitions = static_cast<uint16_t>(oddNumber(random));
    break;
  case 3:
    ap.buffer = static_cast<uint32_t>(random() % 9);
    break;
  case 4:
    ap.partitionStep = oddNumber(random);
    break;
  case 5:
    ap.dtype = random() % 2 ? DType::F32 : DType::U8;
    break;
  case 6:
    ap.rank = static_cast<uint8_t>(random() % 5);
    break;
  case 7:
    ap.dims[random() % 4] = {static_cast<int32_t>(oddNumber(random)), static_cast<uint32_t>(oddNumber(random))};
    break;
  }
  if (!ap.wellFormed())
    ap = before;
}

void damage(isa::Command &command, Random &random) {
  switch (random() % 6) {
  case 0:
    command.hasWait = !command.hasWait;
    break;
  case 1:
    command.wait.value = static_cast<uint32_t>(oddNumber(random));
    break;
  case 2:
    command.wait.semaphore = command.update.semaphore = static_cast<uint16_t>(oddNumber(random));
    break;
  case 3:
    command.update.add = static_cast<int32_t>(oddNumber(random));
    break;
  case 4:
    command.ring = static_cast<uint8_t>(random());
    break;
  case 5:
    command.debug = random();
    break;
  }
}

} // namespace

TEST(Hostile, NothingCrashes) {
  Random random(3);
  unsigned passed = 0, simulated = 0;
  for (int trial = 0; trial < 600; ++trial) {
    exe::Executable exe = matrixChain(trial % 2 ? "trn2" : "trn1", {2, 2, 64});
    const unsigned changes = 1 + random() % 3;
    for (unsigned i = 0; i < changes; ++i) {
      auto &commands = exe.programs[random() % 5].commands;
      if (commands.empty())
        continue;
      isa::Command &command = commands[random() % commands.size()];
      if (random() % 2) {
        damage(command, random);
        continue;
      }
      std::vector<AP *> operands;
      isa::forEachOperand(command.inst, [&](AP &ap, const isa::OperandInfo &) { operands.push_back(&ap); });
      if (!operands.empty())
        damage(*operands[random() % operands.size()], random);
    }
    CheckReport report = check(exe);
    EXPECT_EQ(report.ok(), report.errors == 0);
    if (report.ok()) {
      ++passed;
      EXPECT_TRUE(allConflictsOrdered(exe)) << trial;
    }
    TimingOptions options;
    options.maxPackets = 200'000;
    absl::StatusOr<Timeline> timeline = simulate(exe, options);
    if (!timeline.ok())
      continue;
    ++simulated;
    Profile profile = summarize(exe, *timeline);
    EXPECT_FALSE(writeJson(profile).empty());
    EXPECT_FALSE(writeHtml(exe, *timeline, profile).empty());
  }
  EXPECT_GT(passed, 20u);
  EXPECT_GT(simulated, 100u);
}
