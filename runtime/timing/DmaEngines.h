//===- DmaEngines.h - the sixteen DMA engines of a core --------------------===//
//
// Owns the sharing of the DMA engines: each engine serves its rings round robin, one packet at a time, in order inside
// a ring, and engines do not wait for each other (device guide §5, §9.11). A ring that is alone on an engine is
// advanced whole transfers at a time in closed form and cut at the next packet border when another ring arrives, so the
// result is that of the packet by packet machine at a fraction of the events. It reports, per transfer and engine, when
// the signal packet has left; semaphores belong to the simulation that drives it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/container/inlined_vector.h"
#include "runtime/timing/CostModel.h"
#include <deque>
#include <vector>

namespace trn::rt {

/// One packet on the wire, for traces.
struct DmaPacket {
  uint32_t transfer;
  uint8_t engine, ring;
  uint32_t bytes; ///< 0: the signal
  Ticks begin, end;
};

class DmaEngines {
public:
  /// What happened on one engine at the time of an event.
  struct Step {
    Ticks next = -1; ///< when the engine wants to be woken again; -1: it is idle
    /// Transfers whose share on this engine left the wire, with the time of the last byte.
    absl::InlinedVector<std::pair<uint32_t, Ticks>, 2> finished;
  };

  DmaEngines(const isa::DeviceInfo &device, unsigned rings, std::vector<DmaPacket> *packets);

  /// A share enters a ring of `engine`; returns when to call `advance`, or -1 when an event is pending already.
  Ticks arrive(unsigned engine, unsigned ring, uint32_t transfer, const DmaShare &share, Ticks now);
  /// Advances `engine` at `now`, which must be the time it asked for; stale times are ignored.
  Step advance(unsigned engine, Ticks now);

  /// Time during which at least one engine was busy, and the sum over packets of the time on the wire.
  Ticks activeTime() const { return active; }
  Ticks packetTime() const { return wire; }
  uint64_t packets() const { return count; }

private:
  struct Entry {
    uint32_t transfer;
    DmaShare share;
    uint64_t next = 0; ///< packet to start next
  };
  struct Engine {
    std::vector<std::deque<Entry>> rings;
    unsigned waiting = 0; ///< rings that are not empty
    unsigned lastRing = 0;
    bool running = false;
    bool alone = false; ///< the current run covers all remaining packets of its entry
    Ticks runStart = 0; ///< start of packet `runFirst`
    uint64_t runFirst = 0, runPackets = 0;
    Ticks wake = -1;
  };

  void start(Engine &engine, Ticks now);
  void account(Engine &engine, unsigned index);
  void setBusy(bool busy, Ticks now);

  const isa::DeviceInfo &device;
  std::vector<Engine> engines;
  std::vector<DmaPacket> *packetLog;
  unsigned busyEngines = 0;
  Ticks busySince = 0, active = 0, wire = 0;
  uint64_t count = 0;
};

} // namespace trn::rt
