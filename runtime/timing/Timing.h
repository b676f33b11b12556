//===- Timing.h - when each command runs -----------------------------------===//
//
// Owns the timed device: an event simulation of one core in which every engine works through its queue in order, waits
// for semaphores, dependences and shared ports, and DMA transfers share sixteen engines packet by packet. Costs come
// from CostModel. It never touches data. Programs with loops are unrolled before (Unroll.h). Deterministic: equal programs give equal timelines on every host.
//
// Order of events at one time: completions and semaphore updates first, then transfers that reach their rings, then DMA
// engines, then the queues, each in the order of their numbers (device guide §9.10).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "runtime/timing/Commands.h"
#include "runtime/timing/CostModel.h"
#include "runtime/timing/DmaEngines.h"
#include <array>
#include <vector>

namespace trn::rt {

struct TimingOptions {
  /// Model the clock ramp of the Tensor engine (v3 on).
  bool peRamp = true;
  WeightLoads weightLoads = WeightLoads::Documented;
  /// Keep every DMA packet for traces.
  bool recordPackets = false;
  /// Refuse programs that move more packets than this.
  uint64_t maxPackets = 1'000'000'000;
};

/// Why a command started later than its engine could have.
enum class Stall : uint8_t { None, Semaphore, Dependence, Port, WeightLoad };
constexpr unsigned kStalls = 5;
const char *name(Stall stall);

/// When one command ran. DMA: `busyUntil` ends the issue, `end` is when the semaphore has its value.
struct CommandTime {
  Ticks ready = -1; ///< its engine was free
  Ticks start = -1;
  Ticks busyUntil = -1;           ///< the next command of the queue could start
  Ticks end = -1;                 ///< results visible, semaphore updated
  Stall stall = Stall::None;      ///< what it waited for last: had that come earlier, it would have started earlier
  CommandId blocker = kNoCommand; ///< whom it waited for, if that is a command
};

/// When one DMA transfer was on the wire.
struct TransferTime {
  CommandId command = kNoCommand;
  uint8_t ring = 0;
  Ticks firstPacket = 0, lastPacket = 0;
  uint64_t bytes = 0, hbmReadBytes = 0, hbmWriteBytes = 0, sbufReadBytes = 0, sbufWriteBytes = 0;
  uint64_t packets = 0; ///< without the signals
  bool software = false;
};

/// Sums over the commands of one engine.
struct EngineTime {
  uint64_t commands = 0;
  Ticks busy = 0;
  std::array<Ticks, kStalls> stalled{};
  Ticks halfClock = 0; ///< PE: time added by running at half rate
  Ticks idle(Ticks end) const {
    Ticks sum = busy;
    for (Ticks stall : stalled)
      sum += stall;
    return end - sum;
  }
};

struct Interval {
  Ticks begin, end;
};

/// The result of a simulation. Time 0 is when the queues start; the launch overhead is not part of it.
struct Timeline {
  std::vector<CommandTime> commands;   ///< by CommandId
  std::vector<TransferTime> transfers; ///< in issue order
  std::vector<DmaPacket> packets;      ///< with `recordPackets`; `transfer` indexes `transfers`
  std::array<EngineTime, isa::kNumEngines> engines;
  std::vector<Interval> halfClock;               ///< when matmuls ran at half rate, joined
  std::array<Ticks, isa::kNumEngines> handOff{}; ///< a signal's way into each engine
  Ticks end = 0;                                 ///< last completion
  Ticks launch = 0;                              ///< fixed time around the run, not in `end`
  Ticks dmaActive = 0;                           ///< at least one DMA engine busy
  Ticks dmaPacketTime = 0;                       ///< sum of the time on the wire
  uint64_t dmaPackets = 0;                       ///< with the signals
  uint64_t events = 0;                           ///< simulation steps, for benchmarks
};

/// Simulates `exe`. Errors: unknown device, deadlock (with the cycle of waits), updates that do not count up, loops and
/// branches that `unroll` has not laid out.
absl::StatusOr<Timeline> simulate(const exe::Executable &exe, const TimingOptions &options = {});

} // namespace trn::rt
