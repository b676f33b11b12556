//===- DmaEngines.cpp - the sixteen DMA engines of a core ------------------===//
//
// See DmaEngines.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/DmaEngines.h"
#include <algorithm>
#include <cassert>

namespace trn::rt {

DmaEngines::DmaEngines(const isa::DeviceInfo &device, unsigned rings, std::vector<DmaPacket> *packets)
    : device(device), engines(kDmaEngines), packetLog(packets) {
  for (Engine &engine : engines)
    engine.rings.resize(rings);
}

void DmaEngines::setBusy(bool busy, Ticks now) {
  if (busy && busyEngines++ == 0)
    busySince = now;
  if (!busy && --busyEngines == 0)
    active += now - busySince;
}

Ticks DmaEngines::arrive(unsigned index, unsigned ring, uint32_t transfer, const DmaShare &share, Ticks now) {
  Engine &engine = engines[index];
  if (engine.rings[ring].empty())
    ++engine.waiting;
  engine.rings[ring].push_back({transfer, share});
  if (!engine.running) {
    if (engine.wake >= now)
      return -1;
    return engine.wake = now;
  }
  if (!engine.alone || ring == engine.lastRing)
    return -1;
  // Another ring has arrived: the run ends at the next packet border.
  const Entry &entry = engine.rings[engine.lastRing].front();
  const Ticks origin = engine.runStart - entry.share.startOf(engine.runFirst);
  uint64_t low = engine.runFirst + 1, high = engine.runFirst + engine.runPackets;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (origin + entry.share.startOf(middle) >= now)
      high = middle;
    else
      low = middle + 1;
  }
  engine.alone = false;
  engine.runPackets = low - engine.runFirst;
  Ticks wake = origin + entry.share.startOf(low);
  if (wake == engine.wake)
    return -1;
  return engine.wake = wake;
}

/// Begins the next run: all remaining packets of the only waiting ring, or one packet of the next ring in turn.
void DmaEngines::start(Engine &engine, Ticks now) {
  const unsigned rings = static_cast<unsigned>(engine.rings.size());
  unsigned ring = engine.lastRing;
  do
    ring = (ring + 1) % rings;
  while (engine.rings[ring].empty());
  engine.lastRing = ring;
  const Entry &entry = engine.rings[ring].front();
  engine.running = true;
  engine.alone = engine.waiting == 1;
  engine.runStart = now;
  engine.runFirst = entry.next;
  engine.runPackets = engine.alone ? entry.share.packets() - entry.next : 1;
  engine.wake = now + entry.share.startOf(entry.next + engine.runPackets) - entry.share.startOf(entry.next);
}

/// Books the packets of a run that has ended.
void DmaEngines::account(Engine &engine, unsigned index) {
  const Entry &entry = engine.rings[engine.lastRing].front();
  count += engine.runPackets;
  const DmaShare &share = entry.share;
  if (!packetLog && engine.runFirst == 0 && engine.runPackets == share.packets()) {
    wire += share.wireTime;
    return;
  }
  const Ticks origin = engine.runStart - share.startOf(engine.runFirst);
  for (uint64_t i = engine.runFirst; i < engine.runFirst + engine.runPackets; ++i) {
    const bool signal = i + 1 == share.packets();
    const Ticks begin = origin + share.startOf(i);
    const Ticks time = packetWireTime(device, signal ? kSignalBytes : share.bytesOf(i));
    wire += time;
    if (packetLog)
      packetLog->push_back({entry.transfer, static_cast<uint8_t>(index), static_cast<uint8_t>(engine.lastRing),
                            signal ? 0 : share.bytesOf(i), begin, begin + time});
  }
}

DmaEngines::Step DmaEngines::advance(unsigned index, Ticks now) {
  Step step;
  Engine &engine = engines[index];
  if (engine.wake != now)
    return step;
  const bool wasRunning = engine.running;
  if (engine.running) {
    account(engine, index);
    std::deque<Entry> &ring = engine.rings[engine.lastRing];
    Entry &entry = ring.front();
    entry.next += engine.runPackets;
    if (entry.next == entry.share.packets()) {
      step.finished.push_back({entry.transfer, now - entry.share.signal + packetWireTime(device, kSignalBytes)});
      ring.pop_front();
      if (ring.empty())
        --engine.waiting;
    }
    engine.running = false;
  }
  engine.wake = -1;
  if (engine.waiting) {
    if (!wasRunning)
      setBusy(true, now);
    start(engine, now);
    step.next = engine.wake;
  } else if (wasRunning) {
    setBusy(false, now);
  }
  return step;
}

} // namespace trn::rt
