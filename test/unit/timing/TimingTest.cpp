//===- TimingTest.cpp - when each command runs -------------------------------===//
//
// Tests runtime/timing/Timing.h: queues, semaphores, interlock, ports, ramp, DMA sharing, errors. Expected times are
// sums of the device's own constants, so that a change of a number in Devices.td does not break them.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Timing.h"
#include "runtime/timing/Unroll.h"
#include "test/unit/timing/ProgramBuilder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace trn;
using namespace trn::rt;
using namespace trn::test;
using testing::HasSubstr;

static Timeline run(const exe::Executable &exe, TimingOptions options = {}) {
  absl::StatusOr<Timeline> timeline = simulate(exe, options);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.ok() ? *timeline : Timeline();
}

static TimingOptions noRamp() {
  TimingOptions options;
  options.peRamp = false;
  return options;
}

static CommandTime timeOf(const ProgramBuilder &b, const Timeline &timeline, Engine engine, unsigned index) {
  return timeline.commands[Commands(b.exe).id(static_cast<unsigned>(engine), index)];
}

static const CostModel &model(const char *device = "trn2") {
  static const CostModel trn2(*isa::device("trn2")), trn1(*isa::device("trn1"));
  return std::string_view(device) == "trn2" ? trn2 : trn1;
}

TEST(Timing, ClocksAreWholeTicks) {
  EXPECT_EQ(model().cycle(Engine::PE), 14);
  EXPECT_EQ(model().cycle(Engine::ACT), 28);
  EXPECT_EQ(model().cycle(Engine::DVE), 35);
  EXPECT_EQ(model("trn1").cycle(Engine::PE), 12);
  EXPECT_EQ(model("trn1").cycle(Engine::ACT), 24);
  EXPECT_EQ(model("trn1").cycle(Engine::DVE), 30);
}

TEST(Timing, QueueIssuesAtTheInterval) {
  ProgramBuilder b;
  for (int i = 0; i < 4; ++i)
    b.matmul(psum(i, 128, 512), sbuf(0, 128, 128), sbuf(1024, 128, 512));
  Timeline timeline = run(b.exe, noRamp());
  const Ticks interval = timeOf(b, timeline, Engine::PE, 2).start - timeOf(b, timeline, Engine::PE, 1).start;
  EXPECT_EQ(interval, 512 * 14);                                // the weight load hides behind the matmul before
  EXPECT_EQ(timeOf(b, timeline, Engine::PE, 0).start, 32 * 14); // nothing hides the first one
  EXPECT_EQ(timeOf(b, timeline, Engine::PE, 0).stall, Stall::WeightLoad);
}

TEST(Timing, WeightLoadShowsBehindShortMatmuls) {
  ProgramBuilder b;
  for (int i = 0; i < 3; ++i)
    b.matmul(psum(i, 128, 64), sbuf(0, 128, 128), sbuf(1024, 128, 64));
  TimingOptions options = noRamp();
  options.weightLoads = WeightLoads::Measured;
  Timeline documented = run(b.exe, noRamp()), measured = run(b.exe, options);
  auto interval = [&](const Timeline &timeline) {
    return timeOf(b, timeline, Engine::PE, 2).start - timeOf(b, timeline, Engine::PE, 1).start;
  };
  EXPECT_EQ(interval(documented), 64 * 14);
  EXPECT_EQ(interval(measured), nsToTicks(95));
}

TEST(Timing, SemaphoreHandsOverAfterItsLatency) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 512), 1).signal(0);
  b.copy(Engine::ACT, sbuf(4096, 128, 512), sbuf(0, 128, 512)).wait(0, 1).signal(1);
  b.matmul(psum(0, 128, 128), sbuf(4096, 128, 128), sbuf(4096, 128, 128)).wait(1, 1);
  Timeline timeline = run(b.exe, noRamp());
  const CommandTime set = timeOf(b, timeline, Engine::DVE, 0), copy = timeOf(b, timeline, Engine::ACT, 0),
                    matmul = timeOf(b, timeline, Engine::PE, 0);
  EXPECT_EQ(copy.start, set.end + nsToTicks(35));
  EXPECT_EQ(copy.stall, Stall::Semaphore);
  EXPECT_EQ(copy.blocker, Commands(b.exe).id(2, 0));
  EXPECT_EQ(matmul.start, copy.end + nsToTicks(53) + 32 * 14);
}

TEST(Timing, AnOldSignalCostsNothing) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 64), 1).signal(0);
  b.memset(Engine::POOL, sbuf(8192, 128, 4096), 1);
  b.copy(Engine::POOL, sbuf(4096, 128, 64), sbuf(0, 128, 64)).wait(0, 1);
  Timeline timeline = run(b.exe);
  const CommandTime copy = timeOf(b, timeline, Engine::POOL, 1);
  EXPECT_EQ(copy.start, copy.ready);
  EXPECT_EQ(copy.stall, Stall::None);
}

TEST(Timing, DependentInstructionsOfOneEngineWait) {
  ProgramBuilder b;
  b.copy(Engine::ACT, sbuf(0, 128, 64, DType::F32), sbuf(8192, 128, 64, DType::F32));
  b.copy(Engine::ACT, sbuf(1024, 128, 64, DType::F32), sbuf(0, 128, 64, DType::F32));    // reads what the first wrote
  b.copy(Engine::ACT, sbuf(2048, 128, 64, DType::F32), sbuf(8192, 128, 64, DType::F32)); // independent
  Timeline timeline = run(b.exe);
  const CommandTime first = timeOf(b, timeline, Engine::ACT, 0), second = timeOf(b, timeline, Engine::ACT, 1),
                    third = timeOf(b, timeline, Engine::ACT, 2);
  EXPECT_EQ(second.start, first.end + nsToTicks(35));
  EXPECT_EQ(second.stall, Stall::Dependence);
  EXPECT_EQ(third.start, second.busyUntil);
}

TEST(Timing, InterlockComparesBytesNotBoxes) {
  ProgramBuilder b;
  AP even = sbuf(0, 128, 64), odd = sbuf(2, 128, 64);
  even.dims[0].step = odd.dims[0].step = 2;
  b.copy(Engine::DVE, even, sbuf(8192, 128, 64));
  b.copy(Engine::DVE, sbuf(1024, 128, 64), odd);
  Timeline timeline = run(b.exe);
  EXPECT_EQ(timeOf(b, timeline, Engine::DVE, 1).start, timeOf(b, timeline, Engine::DVE, 0).busyUntil);
}

TEST(Timing, PsumPortIsSharedOnVersion2Only) {
  for (const char *device : {"trn1", "trn2"}) {
    ProgramBuilder b(device);
    isa::Activation act;
    act.func = isa::ActivationFunc::Copy;
    act.dst = sbuf(0, 128, 512);
    act.src = psum(0, 128, 512);
    b.add(Engine::ACT, act);
    b.copy(Engine::DVE, sbuf(4096, 128, 512), psum(1, 128, 512));
    Timeline timeline = run(b.exe);
    const CommandTime first = timeOf(b, timeline, Engine::ACT, 0), second = timeOf(b, timeline, Engine::DVE, 0);
    if (std::string_view(device) == "trn1") {
      EXPECT_EQ(second.start, first.busyUntil);
      EXPECT_EQ(second.stall, Stall::Port);
    } else {
      EXPECT_EQ(second.start, 0);
    }
  }
}

TEST(Timing, FastVectorModesBorrowTheGpSimdBus) {
  for (DType dtype : {DType::BF16, DType::I32}) {
    ProgramBuilder b;
    b.copy(Engine::DVE, sbuf(0, 128, 2048, dtype), sbuf(16384, 128, 2048, dtype));
    b.memset(Engine::POOL, sbuf(65536, 128, 128), 0);
    Timeline timeline = run(b.exe);
    const CommandTime pool = timeOf(b, timeline, Engine::POOL, 0);
    if (dtype == DType::BF16)
      EXPECT_EQ(pool.start, timeOf(b, timeline, Engine::DVE, 0).busyUntil);
    else
      EXPECT_EQ(pool.start, 0);
  }
}

TEST(Timing, TensorEngineRampsUp) {
  ProgramBuilder b;
  for (int i = 0; i < 60; ++i)
    b.matmul(psum(i % 8, 128, 512), sbuf(0, 128, 128), sbuf(1024, 128, 512), false, i == 0);
  Timeline timeline = run(b.exe);
  const Ticks window = 8192 * 14;
  for (int i = 0; i < 60; ++i) {
    const CommandTime time = timeOf(b, timeline, Engine::PE, i);
    EXPECT_EQ(time.busyUntil - time.start, (time.start < window ? 2 : 1) * 512 * 14) << i;
  }
  ASSERT_EQ(timeline.halfClock.size(), 1u);
  EXPECT_GE(timeline.halfClock[0].end, window);
  EXPECT_EQ(run(b.exe, noRamp()).halfClock.size(), 0u);
}

TEST(Timing, IdleTensorEngineFallsBack) {
  ProgramBuilder b;
  for (int i = 0; i < 40; ++i)
    b.matmul(psum(i % 8, 128, 512), sbuf(0, 128, 128), sbuf(1024, 128, 512), false, i == 0);
  b.memset(Engine::DVE, sbuf(8192, 128, 20000), 1).signal(0); // more than 20 us
  b.matmul(psum(0, 128, 512), sbuf(0, 128, 128), sbuf(1024, 128, 512), false, false).wait(0, 1);
  Timeline timeline = run(b.exe);
  const CommandTime last = timeOf(b, timeline, Engine::PE, 40);
  EXPECT_EQ(last.busyUntil - last.start, 2 * 512 * 14);
  const CommandTime warm = timeOf(b, timeline, Engine::PE, 39);
  EXPECT_EQ(warm.busyUntil - warm.start, 512 * 14);
}

TEST(Timing, Version2HasNoRamp) {
  ProgramBuilder b("trn1");
  b.matmul(psum(0, 128, 512), sbuf(0, 128, 128), sbuf(1024, 128, 512));
  Timeline timeline = run(b.exe);
  EXPECT_EQ(timeline.halfClock.size(), 0u);
}

TEST(Timing, LoneTransferTakesItsModelledTime) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 4096);
  b.dma(Engine::SP, sbuf(0, 128, 2048), hbm(x, 128, 2048)).signal(0, 16);
  b.semaphoreWait(Engine::DVE).wait(0, 16);
  Timeline timeline = run(b.exe);
  const DmaCost cost = model().dma(b.exe.programs[4].commands[0].inst, Engine::SP);
  EXPECT_EQ(timeOf(b, timeline, Engine::SP, 0).end, cost.latency());
  EXPECT_EQ(timeOf(b, timeline, Engine::SP, 0).busyUntil, cost.issue);
  // From the last packet to the released engine: the measured completion.
  EXPECT_EQ(timeOf(b, timeline, Engine::DVE, 0).start - timeline.transfers[0].lastPacket, nsToTicks(380));
  EXPECT_EQ(timeline.transfers[0].firstPacket, nsToTicks(1330));
  EXPECT_EQ(timeline.transfers[0].packets, 128u);
  EXPECT_EQ(timeline.dmaPackets, 128u + 16);
}

TEST(Timing, SoftwareDescriptorsStartEarlier) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 128 * 4096);
  b.dma(Engine::POOL, sbuf(0, 128, 2048), hbm(x, 128, 2048)).signal(0, 16);
  Timeline timeline = run(b.exe);
  EXPECT_EQ(timeline.transfers[0].firstPacket, nsToTicks(695));
  EXPECT_TRUE(timeline.transfers[0].software);
}

TEST(Timing, RingsShareTheEnginesByPacket) {
  ProgramBuilder one, two;
  for (ProgramBuilder *b : {&one, &two}) {
    uint32_t x = b->input("x", 2 * 128 * 65536);
    const bool shared = b == &one;
    b->dma(Engine::SP, sbuf(0, 128, 32768), hbm(x, 128, 32768), 0).signal(0, 16);
    b->dma(Engine::ACT, sbuf(65536, 128, 32768), hbm(x, 128, 32768, DType::BF16, 128 * 65536), shared ? 0 : 1)
        .signal(1, 16);
  }
  Timeline queued = run(one.exe), parallel = run(two.exe);
  // In one ring the first goes first; in two rings both get half the rate and end together.
  EXPECT_LT(queued.transfers[0].lastPacket, queued.transfers[1].lastPacket / 2 + nsToTicks(2000));
  EXPECT_LT(std::abs(parallel.transfers[0].lastPacket - parallel.transfers[1].lastPacket), nsToTicks(600));
  // The work is the same.
  EXPECT_NEAR(static_cast<double>(queued.end), static_cast<double>(parallel.end), 100 * kTicksPerNs);
  EXPECT_EQ(queued.dmaPackets, parallel.dmaPackets);
}

/// A lone ring is advanced in closed form; a late one must cut in as packet by packet arbitration has it.
TEST(Timing, LateRingCutsInAtAPacketBorder) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 1 << 24);
  b.dma(Engine::SP, sbuf(0, 128, 20000), hbm(x, 128, 20000), 0).signal(0, 16);
  b.memset(Engine::POOL, sbuf(131072, 128, 1000));
  b.dma(Engine::POOL, sbuf(65536, 128, 300), hbm(x, 128, 300), 1).signal(1, 16);
  TimingOptions options;
  options.recordPackets = true;
  Timeline timeline = run(b.exe, options);
  ASSERT_EQ(timeline.transfers[0].ring, 0);
  std::vector<DmaPacket> packets;
  for (const DmaPacket &packet : timeline.packets)
    if (packet.engine == 3)
      packets.push_back(packet);
  ASSERT_EQ(packets.size(), 8u * 10 + 8 + 2); // 40,000 bytes are ten packets; one signal per transfer
  size_t first = 0;
  while (packets[first].ring == 0)
    ++first;
  ASSERT_GE(first, 1u);
  for (size_t i = 0; i < packets.size(); ++i) {
    if (i)
      EXPECT_GE(packets[i].begin, packets[i - 1].end) << "packets of one engine must not overlap";
    // From the arrival on both rings alternate until the short one is done.
    EXPECT_EQ(packets[i].ring, i >= first && i < first + 18 ? (i - first) % 2 == 0 : 0) << i;
  }
  // It arrives while a packet is on its way and starts at the next border.
  EXPECT_LE(packets[first - 1].begin, timeline.transfers[1].firstPacket);
  EXPECT_GE(packets[first].begin, timeline.transfers[1].firstPacket);
  EXPECT_LT(timeline.transfers[1].lastPacket, timeline.transfers[0].lastPacket);
}

TEST(Timing, RecordingPacketsDoesNotChangeTimes) {
  exe::Executable exe = smallProgram();
  TimingOptions options;
  options.recordPackets = true;
  Timeline plain = run(exe), recorded = run(exe, options);
  ASSERT_EQ(plain.end, recorded.end);
  EXPECT_EQ(plain.dmaPacketTime, recorded.dmaPacketTime);
  for (size_t i = 0; i < plain.commands.size(); ++i)
    EXPECT_EQ(plain.commands[i].end, recorded.commands[i].end);
}

TEST(Timing, SmallProgramAddsUp) {
  Timeline timeline = run(smallProgram());
  for (const EngineTime &engine : timeline.engines)
    EXPECT_GE(engine.idle(timeline.end), 0);
  EXPECT_EQ(timeline.transfers.size(), 3u);
  EXPECT_GT(timeline.dmaActive, 0);
  EXPECT_LE(timeline.dmaActive, timeline.end);
  EXPECT_GT(timeline.launch, 0);
}

TEST(Timing, DeadlockNamesTheCycleAndTheNodes) {
  ProgramBuilder b;
  uint32_t conv = b.node("Conv_1", "Conv"), relu = b.node("Relu_2", "Relu");
  b.memset(Engine::DVE, sbuf(0, 128, 8)).wait(0, 1).signal(1).from(conv);
  b.memset(Engine::POOL, sbuf(64, 128, 8)).wait(1, 1).signal(0).from(relu);
  absl::StatusOr<Timeline> timeline = simulate(b.exe);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(std::string(timeline.status().message()), HasSubstr("deadlock"));
  EXPECT_THAT(std::string(timeline.status().message()), HasSubstr("Conv_1"));
  EXPECT_THAT(std::string(timeline.status().message()), HasSubstr("Relu_2"));
}

TEST(Timing, CountOutOfReachIsADeadlock) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 8)).signal(1);
  b.memset(Engine::POOL, sbuf(64, 128, 8)).wait(1, 3);
  absl::StatusOr<Timeline> timeline = simulate(b.exe);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(std::string(timeline.status().message()), HasSubstr("reach only 1"));
}

TEST(Timing, RefusesWhatItDoesNotDefine) {
  ProgramBuilder loop;
  loop.add(Engine::SP, isa::Loop{});
  EXPECT_EQ(simulate(loop.exe).status().code(), absl::StatusCode::kInvalidArgument); // not unrolled
  ProgramBuilder negative;
  negative.memset(Engine::DVE, sbuf(0, 128, 8)).signal(1, -1);
  EXPECT_EQ(simulate(negative.exe).status().code(), absl::StatusCode::kInvalidArgument);
  ProgramBuilder partial;
  uint32_t x = partial.input("x", 4096);
  partial.dma(Engine::SP, sbuf(0, 1, 8), hbm(x, 1, 8)).signal(0, 1);
  EXPECT_EQ(simulate(partial.exe).status().code(), absl::StatusCode::kInvalidArgument);
  ProgramBuilder unknown("trn9");
  EXPECT_EQ(simulate(unknown.exe).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Timing, HostileTransfersAreBounded) {
  ProgramBuilder b;
  uint32_t x = b.input("x", 1ull << 40);
  AP slow = sbuf(0, 128, 60000, DType::U8), from = hbm(x, 128, 60000, DType::U8);
  from.dims[0].step = 2; // one byte per descriptor
  for (int i = 0; i < 50; ++i) {
    b.dma(Engine::SP, slow, from, 0);
    b.dma(Engine::ACT, slow, from, 1);
  }
  TimingOptions options;
  options.maxPackets = 1'000'000;
  EXPECT_EQ(simulate(b.exe, options).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Timing, IsDeterministic) {
  exe::Executable exe = smallProgram("trn1");
  Timeline first = run(exe), second = run(exe);
  ASSERT_EQ(first.commands.size(), second.commands.size());
  for (size_t i = 0; i < first.commands.size(); ++i) {
    EXPECT_EQ(first.commands[i].start, second.commands[i].start);
    EXPECT_EQ(first.commands[i].end, second.commands[i].end);
  }
}

/// A memset in a loop of `trips` rounds.
static ProgramBuilder memsetLoop(int32_t trips) {
  ProgramBuilder b;
  isa::RegisterMove count;
  count.value = trips;
  isa::Loop back;
  back.target = 1;
  b.add(Engine::DVE, count);
  b.memset(Engine::DVE, sbuf(0, 128, 512));
  b.add(Engine::DVE, back);
  return b;
}

TEST(Timing, LoopsTakeTheTimeOfTheirRounds) {
  Ticks ends[2];
  for (int i : {0, 1}) {
    absl::StatusOr<exe::Executable> unrolled = unroll(memsetLoop(2 + i).exe);
    ASSERT_TRUE(unrolled.ok()) << unrolled.status();
    EXPECT_EQ(unrolled->programs[size_t(Engine::DVE)].commands.size(), size_t(1 + 2 * (2 + i)));
    ends[i] = run(*unrolled).end;
    EXPECT_EQ(Commands(*unrolled).describe(3), "DVE #1 memset"); // executed as the fourth, second in the program
  }
  // One more round is one more memset and the loop's own instruction.
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 512));
  const isa::Command &memset = b.exe.programs[size_t(Engine::DVE)].commands[0];
  const Ticks own = model().compute(memset.inst, Engine::DVE).occupancy;
  EXPECT_GE(ends[1] - ends[0], own);
  EXPECT_LE(ends[1] - ends[0], own + 2 * model().compute(isa::Instruction(isa::Loop{}), Engine::DVE).latency + own);
}

TEST(Timing, BarriersWaitForTheLastQueue) {
  ProgramBuilder b;
  b.memset(Engine::DVE, sbuf(0, 128, 4096)).signal(0);
  for (Engine engine : {Engine::PE, Engine::ACT, Engine::DVE, Engine::POOL, Engine::SP})
    b.add(engine, isa::Barrier{});
  b.memset(Engine::POOL, sbuf(16384, 128, 8)).signal(0);
  b.add(Engine::ACT, isa::SemaphoreWait{}).wait(0, 1); // counted from 0 behind the barrier
  Timeline timeline = run(b.exe);
  const Commands ids(b.exe);
  const CommandTime &memset = timeline.commands[ids.id(unsigned(Engine::DVE), 0)];
  for (unsigned program = 0; program < ids.programs(); ++program)
    EXPECT_GE(timeline.commands[ids.id(program, program == unsigned(Engine::DVE))].start, memset.end);
  EXPECT_GE(timeline.commands[ids.id(unsigned(Engine::ACT), 1)].start,
            timeline.commands[ids.id(unsigned(Engine::POOL), 1)].end);
}

TEST(Timing, LoopsThatDataDecidesTakeTheRoundsOfThePath) {
  ProgramBuilder b;
  const uint32_t n = b.input("n", 4);
  isa::RegisterLoad count;
  count.src = hbm(n, 1, 1, DType::I32);
  isa::Loop back;
  back.target = 1;
  b.add(Engine::DVE, count);
  b.memset(Engine::DVE, sbuf(0, 128, 512));
  b.add(Engine::DVE, back);
  for (uint32_t rounds : {1, 4}) {
    Path path;
    path.dataRounds = rounds;
    absl::StatusOr<exe::Executable> unrolled = unroll(b.exe, path);
    ASSERT_TRUE(unrolled.ok()) << unrolled.status();
    EXPECT_EQ(unrolled->programs[size_t(Engine::DVE)].commands.size(), 1 + 2 * rounds);
  }
}

TEST(Timing, PathsOfRunsTakeWhatTheirLoadsFound) {
  // A loop that data counts, of rounds in each of which data skips the first memset or the second.
  ProgramBuilder b;
  const uint32_t n = b.input("n", 4), flag = b.input("flag", 4);
  isa::RegisterLoad count, condition;
  count.src = hbm(n, 1, 1, DType::I32);
  condition.src = hbm(flag, 1, 1, DType::I32);
  condition.reg = 1;
  isa::Branch toSecond, toEnd;
  toSecond.compare = isa::AluOp::IsEq;
  toSecond.reg = 1;
  toSecond.target = 5;
  toEnd.target = 6;
  isa::Loop back;
  back.target = 1;
  b.add(Engine::DVE, count);
  b.add(Engine::DVE, condition);
  b.add(Engine::DVE, toSecond);
  b.memset(Engine::DVE, sbuf(0, 128, 512));
  b.add(Engine::DVE, toEnd);
  b.memset(Engine::DVE, sbuf(0, 128, 8));
  b.add(Engine::DVE, back);
  Path path;
  path.found.resize(b.exe.programs.size());
  path.found[size_t(Engine::DVE)] = {3, 1, 0, 1}; // three rounds: first, second, first
  absl::StatusOr<exe::Executable> unrolled = unroll(b.exe, path);
  ASSERT_TRUE(unrolled.ok()) << unrolled.status();
  EXPECT_THAT(unrolled->programs[size_t(Engine::DVE)].positions,
              testing::ElementsAre(0, 1, 2, 3, 4, 6, 1, 2, 5, 6, 1, 2, 3, 4, 6));
}

TEST(Timing, BranchesInLoopsOfKnownLengthDoNotShortenThem) {
  ProgramBuilder b;
  const uint32_t flag = b.input("flag", 4);
  isa::RegisterMove rounds;
  rounds.value = 4;
  isa::RegisterLoad condition;
  condition.src = hbm(flag, 1, 1, DType::I32);
  condition.reg = 1;
  isa::Branch skip;
  skip.compare = isa::AluOp::IsEq;
  skip.reg = 1;
  skip.target = 4;
  isa::Loop back;
  back.target = 1;
  b.add(Engine::DVE, rounds);
  b.add(Engine::DVE, condition);
  b.add(Engine::DVE, skip);
  b.memset(Engine::DVE, sbuf(0, 128, 512));
  b.add(Engine::DVE, back);
  for (bool taken : {true, false}) {
    Path path;
    path.others = taken;
    absl::StatusOr<exe::Executable> unrolled = unroll(b.exe, path);
    ASSERT_TRUE(unrolled.ok()) << unrolled.status();
    EXPECT_EQ(unrolled->programs[size_t(Engine::DVE)].commands.size(), taken ? 1u + 4 * 4 : 1u + 4 * 3);
  }
}

TEST(Timing, LoopsMustBeUnrolledAndEnd) {
  EXPECT_THAT(std::string(simulate(memsetLoop(2).exe).status().message()), HasSubstr("expected an unrolled program"));
  ProgramBuilder b;
  b.add(Engine::SP, isa::Branch{}); // to itself, always
  Path path;
  path.maxCommands = 1000;
  EXPECT_EQ(unroll(b.exe, path).status().code(), absl::StatusCode::kResourceExhausted);
}
