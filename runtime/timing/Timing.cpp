//===- Timing.cpp - when each command runs ---------------------------------===//
//
// See Timing.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Timing.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/timing/Deadlock.h"
#include "runtime/timing/Footprint.h"
#include <algorithm>
#include <deque>
#include <queue>

namespace trn::rt {

const char *name(Stall stall) {
  switch (stall) {
  case Stall::None:
    return "none";
  case Stall::Semaphore:
    return "semaphore";
  case Stall::Dependence:
    return "dependence";
  case Stall::Port:
    return "port";
  case Stall::WeightLoad:
    return "weight-load";
  }
  return "?";
}

namespace {

enum class EventKind : uint8_t { Signal, Arrive, DmaEngine, Release, Issue };

struct Event {
  Ticks time;
  EventKind kind;
  uint8_t unit;  ///< DmaEngine, Issue: which
  uint32_t what; ///< Signal: command; Arrive: transfer
};
struct Later {
  bool operator()(const Event &a, const Event &b) const {
    if (a.time != b.time)
      return a.time > b.time;
    if (a.kind != b.kind)
      return a.kind > b.kind;
    return a.unit != b.unit ? a.unit > b.unit : a.what > b.what;
  }
};

/// A semaphore with its past, so that an engine can see the value that had reached it.
struct Semaphore {
  struct Change {
    Ticks time;
    int64_t value;
    CommandId by;
  };
  int64_t value = 0;
  std::vector<Change> past;
  absl::InlinedVector<uint8_t, 2> waiters; ///< engines
};

/// A write of one engine whose results are not visible yet.
struct PendingWrite {
  CommandId command;
  const isa::AP *ap;
  Box box;
  Ticks end;
};

struct EngineState {
  int program = -1;
  uint32_t next = 0;
  Ticks free = 0;     ///< the next command can start
  Ticks loadFrom = 0; ///< PE: the weights of the next matmul can be loaded from here on
  Ticks lastEnd = 0;  ///< completions retire in order
  bool pending = false;
  bool atBarrier = false; ///< has come to it
  Ticks released = -1;    ///< all have come: it may go on
  CommandId releasedBy = kNoCommand;
  std::deque<PendingWrite> writes;
};

/// When a command can start, and why not earlier.
struct Earliest {
  Ticks time = 0;
  std::array<Ticks, kStalls> share{};
  Stall stall = Stall::None;
  CommandId blocker = kNoCommand;

  /// Delays to `until` for `reason`; the last delay is the one that binds.
  void delay(Ticks until, Stall reason, CommandId by) {
    if (until <= time)
      return;
    share[static_cast<unsigned>(reason)] += until - time;
    time = until;
    stall = reason;
    blocker = by;
  }
};

class Simulation {
public:
  Simulation(const exe::Executable &exe, const isa::DeviceInfo &device, const TimingOptions &options)
      : options(options), commands(exe), costs(device, options.weightLoads), clock(costs.peClock()),
        dma(device, ringsOf(exe), options.recordPackets ? &timeline.packets : nullptr) {
    timeline.commands.resize(commands.size());
  }

  absl::StatusOr<Timeline> run() {
    if (absl::Status status = prepare(); !status.ok())
      return status;
    for (unsigned e = 0; e < isa::kNumEngines; ++e)
      if (engines[e].program >= 0)
        scheduleIssue(e, 0);
    while (!events.empty()) {
      Event event = events.top();
      events.pop();
      ++timeline.events;
      handle(event);
      if (dma.packets() > options.maxPackets)
        return absl::ResourceExhaustedError(
            absl::StrCat("the program moves more than ", options.maxPackets, " DMA packets"));
    }
    for (const EngineState &engine : engines)
      if (engine.program >= 0 && engine.next < commands.size(engine.program))
        return deadlock();
    return finish();
  }

private:
  static unsigned ringsOf(const exe::Executable &exe) {
    unsigned rings = 1;
    for (const exe::Program &program : exe.programs)
      for (const isa::Command &command : program.commands)
        rings = std::max(rings, command.ring + 1u);
    return rings;
  }

  /// More elements than any memory holds: times would overflow.
  static constexpr uint64_t kMaxElements = uint64_t(1) << 40;

  /// Refuses what this simulation does not define.
  absl::Status prepare() {
    for (unsigned program = 0; program < commands.programs(); ++program) {
      const isa::Engine engine = commands.executable().programs[program].engine;
      EngineState &state = engines[static_cast<unsigned>(engine)];
      if (state.program >= 0)
        return absl::InvalidArgumentError(absl::StrCat("engine ", isa::name(engine), " has two programs"));
      state.program = static_cast<int>(program);
    }
    for (CommandId id = 0; id < commands.size(); ++id) {
      const isa::Command &command = commands[id];
      const isa::InstInfo &info = isa::info(isa::opcode(command.inst));
      const bool branches = std::holds_alternative<isa::Branch>(command.inst) || std::holds_alternative<isa::Loop>(command.inst);
      if (branches && commands.executable().programs[commands.programOf(id)].positions.empty())
        return absl::InvalidArgumentError(
            absl::StrCat(commands.describe(id), ": expected an unrolled program; call unroll before"));
      if (command.engine != commands.executable().programs[commands.programOf(id)].engine)
        return absl::InvalidArgumentError(
            absl::StrCat(commands.describe(id), ": expected a command of ",
                         isa::name(commands.executable().programs[commands.programOf(id)].engine)));
      bool absurd = false;
      isa::forEachOperand(command.inst, [&](const isa::AP &ap, const isa::OperandInfo &) {
        absurd |= !ap.wellFormed() || ap.totalElements() > kMaxElements;
      });
      if (absurd)
        return absl::InvalidArgumentError(
            absl::StrCat(commands.describe(id), ": an operand is not well formed or larger than any memory"));
      if (command.hasUpdate && (command.update.add <= 0 || (info.isDma && command.update.add != int(kDmaEngines))))
        return absl::InvalidArgumentError(absl::StrCat(commands.describe(id), ": expected an update of ",
                                                       info.isDma ? "16" : "at least 1", " but got ",
                                                       command.update.add));
    }
    return absl::OkStatus();
  }

  void scheduleIssue(unsigned engine, Ticks time) {
    if (engines[engine].pending)
      return;
    engines[engine].pending = true;
    events.push({time, EventKind::Issue, static_cast<uint8_t>(engine), 0});
  }

  void handle(const Event &event) {
    switch (event.kind) {
    case EventKind::Signal:
      return signal(event);
    case EventKind::Arrive:
      return arrive(event.what, event.time);
    case EventKind::DmaEngine:
      return advanceDma(event.unit, event.time);
    case EventKind::Release:
      return release(event.time, event.what);
    case EventKind::Issue:
      engines[event.unit].pending = false;
      return issueFrom(event.unit, event.time);
    }
  }

  Semaphore &semaphore(uint16_t index) {
    if (index >= semaphores.size())
      semaphores.resize(index + 1);
    return semaphores[index];
  }

  void signal(const Event &event) {
    const isa::Command &command = commands[event.what];
    Semaphore &sem = semaphore(command.update.semaphore);
    sem.value += isDma(command) ? 1 : command.update.add; // each DMA engine signals on its own
    sem.past.push_back({event.time, sem.value, event.what});
    for (size_t i = 0; i < sem.waiters.size();) {
      const unsigned e = sem.waiters[i];
      const EngineState &engine = engines[e];
      if (sem.value < int64_t(commands[commands.id(engine.program, engine.next)].wait.value)) {
        ++i;
        continue;
      }
      scheduleIssue(e, event.time + costs.handOff(isa::Engine(e)));
      sem.waiters.erase(sem.waiters.begin() + i);
    }
  }

  /// Engine `e` has completed what it had and waits at a barrier. The last one to come releases all.
  void meet(unsigned e, CommandId id) {
    engines[e].atBarrier = true;
    Ticks last = 0;
    for (unsigned other = 0; other < isa::kNumEngines; ++other) {
      const EngineState &engine = engines[other];
      if (engine.program < 0)
        continue;
      if (!engine.atBarrier)
        return;
      last = std::max({last, engine.free, engine.lastEnd});
    }
    Ticks hop = 0;
    for (unsigned other = 0; other < isa::kNumEngines; ++other)
      hop = std::max(hop, costs.handOff(isa::Engine(other)));
    events.push({last + hop, EventKind::Release, 0, commands.indexOf(id) > 0 ? id - 1 : kNoCommand});
  }

  void release(Ticks now, CommandId by) {
    semaphores.clear();
    for (unsigned e = 0; e < isa::kNumEngines; ++e) {
      EngineState &engine = engines[e];
      if (engine.program < 0)
        continue;
      engine.atBarrier = false;
      engine.released = now;
      engine.releasedBy = by;
      scheduleIssue(e, now);
    }
  }

  /// Issues commands of engine `e` from `now` on, without a detour through the event queue while nothing else is due.
  void issueFrom(unsigned e, Ticks now) {
    EngineState &engine = engines[e];
    while (engine.next < commands.size(engine.program)) {
      const CommandId id = commands.id(engine.program, engine.next);
      Earliest earliest;
      ComputeCost cost;
      if (!ready(e, id, earliest, cost))
        return;
      if (earliest.time > now) {
        if (!events.empty() && events.top().time <= earliest.time)
          return scheduleIssue(e, earliest.time);
        now = earliest.time;
        continue; // nothing can have changed in between, but shared ports are decided at the time itself
      }
      start(e, id, earliest, cost);
      if (!events.empty() && events.top().time <= engine.free)
        return scheduleIssue(e, engine.free);
      now = engine.free;
    }
  }

  /// The earliest start of the next command of engine `e`; false when it waits for a signal that has not come.
  bool ready(unsigned e, CommandId id, Earliest &earliest, ComputeCost &cost) {
    EngineState &engine = engines[e];
    const isa::Command &command = commands[id];
    const isa::Engine kind = isa::Engine(e);
    earliest.time = engine.free;
    Ticks signalled = 0;
    CommandId by = kNoCommand;
    if (command.hasWait && command.wait.value > 0) {
      Semaphore &sem = semaphore(command.wait.semaphore);
      if (sem.value < int64_t(command.wait.value)) {
        sem.waiters.push_back(static_cast<uint8_t>(e));
        return false;
      }
      auto change = std::lower_bound(sem.past.begin(), sem.past.end(), int64_t(command.wait.value),
                                     [](const Semaphore::Change &c, int64_t v) { return c.value < v; });
      signalled = change->time + costs.handOff(kind);
      by = change->by;
      earliest.delay(signalled, Stall::Semaphore, by);
    }
    if (std::holds_alternative<isa::Barrier>(command.inst)) {
      if (engine.released < 0) {
        if (!engine.atBarrier)
          meet(e, id);
        return false;
      }
      earliest.delay(engine.released, Stall::Semaphore, engine.releasedBy);
    }
    if (isDma(command))
      return true;
    cost = costs.compute(command.inst, kind);
    if (kind == isa::Engine::PE) {
      // The weights are loaded behind the running matmul, as soon as they are there.
      if (cost.weightLoad)
        earliest.delay(std::max(signalled, engine.loadFrom) +
                           rate(cost.weightLoad, std::max(signalled, engine.loadFrom)),
                       Stall::WeightLoad, by);
      return true;
    }
    delayForDependences(engine, command.inst, kind, earliest);
    delayForPorts(command.inst, kind, earliest);
    return true;
  }

  /// Time that takes `full` at full clock, begun at `now`.
  Ticks rate(Ticks full, Ticks now) const { return options.peRamp && !clock.fullRate(now) ? 2 * full : full; }

  static bool isDma(const isa::Command &command) { return isa::info(isa::opcode(command.inst)).isDma; }

  /// The hardware interlock by address (device guide §9.14): reads wait for earlier writes of the same engine.
  void delayForDependences(EngineState &engine, const isa::Instruction &inst, isa::Engine kind, Earliest &earliest) {
    const Ticks hop = costs.handOff(kind);
    while (!engine.writes.empty() && engine.writes.front().end + hop <= engine.free)
      engine.writes.pop_front();
    if (engine.writes.empty())
      return;
    isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      if (info.role == isa::Role::Out || ap.space == isa::Space::HBM)
        return;
      const Box box = boundingBox(ap);
      for (const PendingWrite &write : engine.writes)
        if (write.end + hop > earliest.time && write.box.overlaps(box) && overlaps(*write.ap, ap))
          earliest.delay(write.end + hop, Stall::Dependence, write.command);
    });
  }

  void delayForPorts(const isa::Instruction &inst, isa::Engine kind, Earliest &earliest) {
    const uint8_t ports = costs.ports(inst, kind);
    for (unsigned port = 0; port < kSharedPorts; ++port)
      if (ports >> port & 1)
        earliest.delay(portFree[port], Stall::Port, portHolder[port]);
  }

  void start(unsigned e, CommandId id, const Earliest &earliest, const ComputeCost &cost) {
    EngineState &engine = engines[e];
    const isa::Command &command = commands[id];
    CommandTime &time = timeline.commands[id];
    EngineTime &sums = timeline.engines[e];
    time.ready = engine.free;
    time.start = earliest.time;
    time.stall = earliest.stall;
    time.blocker = earliest.blocker;
    ++engine.next;
    engine.released = -1;
    ++sums.commands;
    for (unsigned i = 0; i < kStalls; ++i)
      sums.stalled[i] += earliest.share[i];
    if (isDma(command))
      startTransfer(e, id, time);
    else
      startCompute(e, id, cost, time);
    sums.busy += time.busyUntil - time.start;
    engine.free = time.busyUntil;
  }

  void startCompute(unsigned e, CommandId id, const ComputeCost &cost, CommandTime &time) {
    EngineState &engine = engines[e];
    const isa::Command &command = commands[id];
    Ticks occupancy = cost.occupancy, latency = cost.latency;
    if (time.start > time.ready)
      latency += cost.chainStart;
    if (isa::Engine(e) == isa::Engine::PE && options.peRamp && !clock.fullRate(time.start)) {
      timeline.engines[e].halfClock += occupancy;
      latency += occupancy; // the data moves at half rate, the pipeline behind it does not change
      occupancy *= 2;
      if (!timeline.halfClock.empty() && timeline.halfClock.back().end >= time.start)
        timeline.halfClock.back().end = time.start + occupancy;
      else
        timeline.halfClock.push_back({time.start, time.start + occupancy});
    }
    time.busyUntil = time.start + occupancy;
    time.end = engine.lastEnd = std::max(engine.lastEnd, time.start + latency);
    if (isa::Engine(e) == isa::Engine::PE) {
      clock.addBusy(time.start, time.busyUntil);
      engine.loadFrom = time.start;
    } else {
      holdPorts(command.inst, isa::Engine(e), id, time.busyUntil);
      rememberWrites(engine, id, time.end);
    }
    complete(id, time.end);
  }

  void holdPorts(const isa::Instruction &inst, isa::Engine engine, CommandId id, Ticks until) {
    const uint8_t ports = costs.ports(inst, engine);
    for (unsigned port = 0; port < kSharedPorts; ++port)
      if (ports >> port & 1) {
        portFree[port] = until;
        portHolder[port] = id;
      }
  }

  void rememberWrites(EngineState &engine, CommandId id, Ticks end) {
    isa::forEachOperand(commands[id].inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
      if (info.role != isa::Role::In && ap.space != isa::Space::HBM)
        engine.writes.push_back({id, &ap, boundingBox(ap), end});
    });
  }

  void complete(CommandId id, Ticks time) {
    timeline.end = std::max(timeline.end, time);
    if (commands[id].hasUpdate)
      events.push({time, EventKind::Signal, 0, id});
  }

  void startTransfer(unsigned e, CommandId id, CommandTime &time) {
    const isa::Command &command = commands[id];
    DmaCost cost = costs.dma(command.inst, isa::Engine(e));
    time.busyUntil = time.start + cost.issue;
    TransferTime transfer;
    transfer.command = id;
    transfer.ring = command.ring;
    transfer.firstPacket = time.start + cost.startup;
    transfer.bytes = cost.bytes;
    transfer.hbmReadBytes = cost.hbmReadBytes;
    transfer.hbmWriteBytes = cost.hbmWriteBytes;
    transfer.sbufReadBytes = cost.sbufReadBytes;
    transfer.sbufWriteBytes = cost.sbufWriteBytes;
    transfer.software = cost.software;
    for (const DmaShare &share : cost.shares)
      transfer.packets += share.packets() - 1;
    const auto index = static_cast<uint32_t>(timeline.transfers.size());
    timeline.transfers.push_back(transfer);
    inFlight.push_back({cost.shares, cost.completion});
    events.push({transfer.firstPacket, EventKind::Arrive, 0, index});
    timeline.end = std::max(timeline.end, time.busyUntil);
  }

  void arrive(uint32_t transfer, Ticks now) {
    for (unsigned g = 0; g < kDmaEngines; ++g) {
      Ticks wake = dma.arrive(g, timeline.transfers[transfer].ring, transfer, inFlight[transfer].shares[g], now);
      if (wake >= 0)
        events.push({wake, EventKind::DmaEngine, static_cast<uint8_t>(g), 0});
    }
  }

  void advanceDma(unsigned g, Ticks now) {
    DmaEngines::Step step = dma.advance(g, now);
    if (step.next >= 0)
      events.push({step.next, EventKind::DmaEngine, static_cast<uint8_t>(g), 0});
    for (auto [index, lastByte] : step.finished) {
      TransferTime &transfer = timeline.transfers[index];
      const Ticks visible = lastByte + inFlight[index].completion;
      CommandTime &time = timeline.commands[transfer.command];
      transfer.lastPacket = std::max(transfer.lastPacket, lastByte);
      time.end = std::max(time.end, visible);
      timeline.end = std::max(timeline.end, visible);
      if (commands[transfer.command].hasUpdate)
        events.push({visible, EventKind::Signal, 0, transfer.command});
    }
  }

  absl::Status deadlock() {
    std::vector<uint32_t> next(commands.programs());
    for (const EngineState &engine : engines)
      if (engine.program >= 0)
        next[engine.program] = engine.next;
    std::vector<int64_t> values;
    for (const Semaphore &sem : semaphores)
      values.push_back(sem.value);
    return absl::FailedPreconditionError(explainStandstill(commands, {next, values}).message);
  }

  Timeline finish() {
    timeline.launch = costs.launch();
    for (unsigned e = 0; e < isa::kNumEngines; ++e)
      timeline.handOff[e] = costs.handOff(isa::Engine(e));
    timeline.dmaActive = dma.activeTime();
    timeline.dmaPacketTime = dma.packetTime();
    timeline.dmaPackets = dma.packets();
    return std::move(timeline);
  }

  struct InFlight {
    std::array<DmaShare, kDmaEngines> shares;
    Ticks completion;
  };

  const TimingOptions &options;
  Timeline timeline;
  Commands commands;
  CostModel costs;
  PeClock clock;
  DmaEngines dma;
  std::priority_queue<Event, std::vector<Event>, Later> events;
  std::array<EngineState, isa::kNumEngines> engines;
  std::vector<Semaphore> semaphores;
  std::vector<InFlight> inFlight;
  Ticks portFree[kSharedPorts] = {0, 0};
  CommandId portHolder[kSharedPorts] = {kNoCommand, kNoCommand};
};

} // namespace

absl::StatusOr<Timeline> simulate(const exe::Executable &exe, const TimingOptions &options) {
  const isa::DeviceInfo *device = isa::device(exe.device);
  if (!device)
    return absl::InvalidArgumentError(absl::StrCat("expected a known device but got '", exe.device, "'"));
  return Simulation(exe, *device, options).run();
}

} // namespace trn::rt
