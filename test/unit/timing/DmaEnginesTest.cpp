//===- DmaEnginesTest.cpp - the sixteen DMA engines --------------------------===//
//
// Tests runtime/timing/DmaEngines.h against a machine that moves one packet at a time, and the split of a transfer into
// shares (CostModel).
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/DmaEngines.h"
#include "test/unit/timing/ProgramBuilder.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace trn;
using namespace trn::rt;
using namespace trn::test;

namespace {

struct Arrival {
  Ticks time;
  unsigned ring;
  DmaShare share;
};

const isa::DeviceInfo &trn2() { return *isa::device("trn2"); }

/// When each share's signal has left, packet by packet: at each packet border the next ring in turn that has a packet.
std::vector<Ticks> packetByPacket(const std::vector<Arrival> &arrivals, unsigned rings) {
  std::vector<Ticks> finished(arrivals.size(), -1);
  std::vector<std::deque<std::pair<size_t, uint64_t>>> queues(rings); // arrival, next packet
  size_t next = 0;
  unsigned last = 0;
  Ticks now = 0;
  for (;;) {
    while (next < arrivals.size() && arrivals[next].time <= now) {
      queues[arrivals[next].ring].push_back({next, 0});
      ++next;
    }
    unsigned ring = last;
    bool found = false;
    for (unsigned i = 1; i <= rings && !found; ++i) {
      ring = (last + i) % rings;
      found = !queues[ring].empty();
    }
    if (!found) {
      if (next == arrivals.size())
        return finished;
      now = arrivals[next].time;
      continue;
    }
    last = ring;
    auto &[index, packet] = queues[ring].front();
    const DmaShare &share = arrivals[index].share;
    const Ticks begin = now;
    now += share.startOf(packet + 1) - share.startOf(packet);
    if (++packet == share.packets()) {
      finished[index] = begin + packetWireTime(trn2(), kSignalBytes);
      queues[ring].pop_front();
    }
  }
}

/// The same through DmaEngines.
std::vector<Ticks> byEvents(const std::vector<Arrival> &arrivals, unsigned rings, std::vector<DmaPacket> *packets) {
  DmaEngines engines(trn2(), rings, packets);
  std::vector<Ticks> finished(arrivals.size(), -1);
  std::multiset<Ticks> wakes;
  size_t next = 0;
  while (next < arrivals.size() || !wakes.empty()) {
    if (next < arrivals.size() && (wakes.empty() || arrivals[next].time <= *wakes.begin())) {
      const Arrival &arrival = arrivals[next];
      Ticks wake = engines.arrive(5, arrival.ring, static_cast<uint32_t>(next), arrival.share, arrival.time);
      if (wake >= 0)
        wakes.insert(wake);
      ++next;
      continue;
    }
    const Ticks now = *wakes.begin();
    wakes.erase(wakes.begin());
    DmaEngines::Step step = engines.advance(5, now);
    if (step.next >= 0)
      wakes.insert(step.next);
    for (auto [transfer, time] : step.finished)
      finished[transfer] = time;
  }
  return finished;
}

isa::Instruction load(AP dst, AP src) {
  isa::DmaCopy copy;
  copy.dst = dst;
  copy.src = src;
  return copy;
}

uint64_t descriptorsOf(const DmaCost &cost) {
  uint64_t sum = 0;
  for (const DmaShare &share : cost.shares)
    sum += share.descriptors;
  return sum;
}

uint64_t bytesOf(const DmaCost &cost) {
  uint64_t sum = 0;
  for (const DmaShare &share : cost.shares)
    sum += share.bytes();
  return sum;
}

} // namespace

TEST(DmaEngines, ClosedFormEqualsPacketByPacket) {
  const CostModel costs(trn2());
  std::mt19937 random(5);
  for (int trial = 0; trial < 400; ++trial) {
    const unsigned rings = 1 + random() % 4;
    std::vector<Arrival> arrivals;
    Ticks time = 0;
    for (int i = 0, n = 1 + static_cast<int>(random() % 12); i < n; ++i) {
      time += random() % 4 ? random() % 60000 : 0; // often at the same time, often while another runs
      const unsigned bytes = 1 + random() % 20000;
      // Engine 5 serves partitions 40 to 47; some transfers have nothing for it.
      const unsigned partitions = random() % 5 ? 1 + random() % 128 : 1;
      arrivals.push_back(
          {time, static_cast<unsigned>(random() % rings),
           costs.dma(load(sbuf(0, partitions, bytes, DType::U8), hbm(0, partitions, bytes, DType::U8)), Engine::SP)
               .shares[5]});
    }
    std::vector<DmaPacket> packets;
    ASSERT_EQ(byEvents(arrivals, rings, &packets), packetByPacket(arrivals, rings)) << trial;
    EXPECT_EQ(byEvents(arrivals, rings, nullptr), packetByPacket(arrivals, rings)) << trial;
    uint64_t expected = 0;
    for (const Arrival &arrival : arrivals)
      expected += arrival.share.packets();
    EXPECT_EQ(packets.size(), expected);
  }
}

TEST(DmaShares, RowsGoToTheEngineOfTheirPartition) {
  const CostModel costs(trn2());
  DmaCost cost = costs.dma(load(sbuf(0, 20, 1024, DType::BF16, 32), hbm(0, 20, 1024)), Engine::SP);
  for (unsigned g = 0; g < kDmaEngines; ++g)
    EXPECT_EQ(cost.shares[g].descriptors, g == 4 || g == 5 ? 8u : g == 6 ? 4u : 0u) << g;
  EXPECT_EQ(cost.bytes, 20u * 2048);
  EXPECT_EQ(bytesOf(cost), cost.bytes);
  EXPECT_EQ(cost.hbmReadBytes, cost.bytes);
  EXPECT_EQ(cost.sbufWriteBytes, cost.bytes);
  EXPECT_EQ(cost.hbmWriteBytes + cost.sbufReadBytes, 0u);
}

TEST(DmaShares, PiecesEndWhereEitherSideBreaks) {
  const CostModel costs(trn2());
  AP dst = sbuf(0, 128, 0), src = hbm(0, 128, 56);
  dst.rank = 2; // 14 rows of 4 elements, 6 apart
  dst.dims[0] = {6, 14};
  dst.dims[1] = {1, 4};
  EXPECT_EQ(descriptorsOf(costs.dma(load(dst, src), Engine::SP)), 128u * 14);
  EXPECT_EQ(descriptorsOf(costs.dma(load(sbuf(0, 128, 56), src), Engine::SP)), 128u);
  src.dims[0].step = 2; // single elements
  EXPECT_EQ(descriptorsOf(costs.dma(load(sbuf(0, 128, 56), src), Engine::SP)), 128u * 56);
}

TEST(DmaShares, LongPiecesBecomePackets) {
  const CostModel costs(trn2());
  const DmaShare share =
      costs.dma(load(sbuf(0, 128, 10000, DType::U8), hbm(0, 128, 10000, DType::U8)), Engine::SP).shares[0];
  EXPECT_EQ(share.descriptors, 8u);
  EXPECT_EQ(share.packetsPerDescriptor, 3u);
  EXPECT_EQ(share.packets(), 25u);
  EXPECT_EQ(share.bytesOf(0), 4096u);
  EXPECT_EQ(share.bytesOf(1), 4096u);
  EXPECT_EQ(share.bytesOf(2), 10000u - 8192);
  EXPECT_EQ(share.bytesOf(3), 4096u);
  for (uint64_t i = 0; i < share.packets(); ++i)
    EXPECT_GT(share.startOf(i + 1), share.startOf(i));
}

TEST(DmaShares, BroadcastRowsAreReadForEachPartition) {
  const CostModel costs(trn2());
  AP row = hbm(0, 128, 512);
  row.partitionStep = 0;
  DmaCost cost = costs.dma(load(sbuf(0, 128, 512), row), Engine::SP);
  EXPECT_EQ(descriptorsOf(cost), 128u);
  EXPECT_EQ(cost.hbmReadBytes, 128u * 1024);
}

TEST(DmaShares, CopiesInsideHbmUseAllEngines) {
  const CostModel costs(trn2());
  DmaCost cost = costs.dma(load(hbm(1, 1, 1 << 20, DType::U8), hbm(0, 1, 1 << 20, DType::U8)), Engine::SP);
  for (const DmaShare &share : cost.shares)
    EXPECT_EQ(share.descriptors, 16u);
  EXPECT_EQ(bytesOf(cost), 1u << 20);
  EXPECT_EQ(cost.hbmReadBytes, 1u << 20);
  EXPECT_EQ(cost.hbmWriteBytes, 1u << 20);
}

TEST(DmaShares, GatherTakesOneRowPerIndex) {
  const CostModel costs(trn2());
  isa::DmaGather gather;
  gather.table = hbm(0, 30000, 768);
  gather.dst = sbuf(0, 128, 768);
  gather.indices = sbuf(8192, 128, 1, DType::I32);
  DmaCost cost = costs.dma(gather, Engine::POOL);
  EXPECT_EQ(descriptorsOf(cost), 128u);
  EXPECT_EQ(cost.bytes, 128u * 768 * 2);
  EXPECT_TRUE(cost.software);
}

TEST(DmaShares, SmallDescriptorsAreSlow) {
  const CostModel costs(trn2());
  auto rate = [&](unsigned bytes) {
    AP dst = sbuf(0, 128, 0, DType::U8);
    dst.rank = 2;
    dst.dims[0] = {static_cast<int32_t>(bytes) + 4, 65536 / bytes};
    dst.dims[1] = {1, bytes};
    DmaCost cost = costs.dma(load(dst, hbm(0, 128, 65536, DType::U8)), Engine::SP);
    return static_cast<double>(cost.bytes) / ticksToNs(cost.transfer);
  };
  EXPECT_LT(rate(64), 50); // the device guide's table: 41 GB/s
  EXPECT_NEAR(rate(512), 191, 5);
  EXPECT_NEAR(rate(4096), 354, 5);
  EXPECT_LT(rate(8192), 362.5); // never more than the share of HBM
}

TEST(PeClock, RateFollowsTheWindowBefore) {
  PeClock clock(1000, 50);
  EXPECT_FALSE(clock.fullRate(0));
  clock.addBusy(0, 499);
  EXPECT_FALSE(clock.fullRate(1500));
  PeClock armed(1000, 50);
  armed.addBusy(200, 700);
  EXPECT_FALSE(armed.fullRate(900));
  EXPECT_TRUE(armed.fullRate(1000));
  EXPECT_FALSE(armed.fullRate(2000)); // nothing ran in the window between
  armed.addBusy(1400, 2100);          // 600 in the second window
  EXPECT_TRUE(armed.fullRate(2100));
  EXPECT_FALSE(armed.fullRate(9000));
  EXPECT_TRUE(PeClock(0, 50).fullRate(0)); // no ramp
}
