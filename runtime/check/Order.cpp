//===- Order.cpp - which command is guaranteed to precede which ------------===//
//
// See Order.h. Each command is visited once, in one order that the program allows; what it knows at issue is what its
// engine knew before, joined with what its wait guarantees.
//
// What `S >= v` guarantees. The signals of a semaphore fall into groups: the issuer of a signal of a later group knows
// that every signal of the earlier groups has happened, so values count up group by group. Inside a group signals
// arrive in streams: the commands of one engine are one stream in order, and each of the sixteen DMA engines of a
// transfer adds its 1 on its own, so that a transfer is complete only when all of the group is (device guide §9.16:
// with two transfers in flight `S >= 16` can hold while neither is complete). A wait that its group does not resolve,
// or that a later signal may satisfy early, is an ambiguous count.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Order.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/timing/Deadlock.h"
#include <algorithm>
#include <utility>

namespace trn::rt {
namespace {


/// Signals that arrive in a known order.
struct Stream {
  bool transfer = false;
  uint8_t thread = 0;
  uint32_t lastPosition = 0;
  int64_t total = 0;
  /// Value reached within the stream, and by whom.
  std::vector<std::pair<int64_t, CommandId>> steps;
};

/// A wait that relied on a group.
struct Reliance {
  CommandId command;
  int64_t value;
  uint8_t engine;
  uint32_t passed; ///< position on `engine` whose completion proves that the wait is over
};

struct Group {
  int64_t base = 0;
  int64_t total = 0;
  absl::InlinedVector<Stream, 1> streams;
  std::vector<Reliance> waits;
};

struct Semaphore {
  int64_t value = 0;
  int64_t highestWait = 0;
  CommandId lastSignal = kNoCommand;
  std::vector<Group> groups;
};

void join(VectorClock &into, const VectorClock &from) {
  for (unsigned i = 0; i < kThreads; ++i)
    into[i] = std::max(into[i], from[i]);
}

bool knowsAll(const VectorClock &known, const Group &group) {
  for (const Stream &stream : group.streams)
    if (known[stream.thread] < stream.lastPosition)
      return false;
  return true;
}

/// Joins the signals of `later` into `earlier`.
void merge(Group &earlier, Group &&later) {
  for (Stream &stream : later.streams) {
    auto same = std::find_if(earlier.streams.begin(), earlier.streams.end(), [&](const Stream &s) {
      return !s.transfer && !stream.transfer && s.thread == stream.thread;
    });
    if (same == earlier.streams.end()) {
      earlier.streams.push_back(std::move(stream));
      continue;
    }
    for (auto &[value, command] : stream.steps)
      same->steps.push_back({same->total + value, command});
    same->total += stream.total;
    same->lastPosition = stream.lastPosition;
  }
  earlier.total += later.total;
  earlier.waits.insert(earlier.waits.end(), later.waits.begin(), later.waits.end());
}

} // namespace

class OrderWalk {
public:
  OrderWalk(const Commands &commands, const isa::DeviceInfo &device, GuaranteedOrder &result)
      : commands(commands), device(device), result(result) {
    result.orders.resize(commands.size());
    result.sequence.reserve(commands.size());
    ringIssuer.fill(-1);
  }

  void run() {
    if (!isSupported())
      return;
    std::vector<uint32_t> next(commands.programs(), 0);
    for (bool progress = true; progress;) {
      progress = false;
      for (unsigned program = 0; program < commands.programs(); ++program)
        while (next[program] < commands.size(program) && step(commands.id(program, next[program]))) {
          ++next[program];
          progress = true;
        }
      progress = progress || passBarrier(next);
    }
    for (unsigned program = 0; program < commands.programs(); ++program)
      if (next[program] < commands.size(program))
        result.stuck = true;
    if (result.stuck)
      reportDeadlock(next);
    else
      reportLeftovers();
  }

private:
  /// One program per engine, its commands on that engine, semaphores that exist, loops unrolled.
  bool isSupported() {
    bool supported = true;
    auto refuse = [&](CommandId id, std::string message) {
      problem(SyncProblem::Kind::Unsupported, id, kNoCommand, std::move(message));
      supported = false;
    };
    std::array<bool, isa::kNumEngines> present{};
    for (unsigned program = 0; program < commands.programs(); ++program) {
      const isa::Engine engine = commands.executable().programs[program].engine;
      if (std::exchange(present[static_cast<unsigned>(engine)], true))
        refuse(kNoCommand, absl::StrCat("expected one program per engine but ", isa::name(engine), " has two"));
      for (uint32_t i = 0; i < commands.size(program); ++i) {
        const CommandId id = commands.id(program, i);
        const isa::Command &command = commands[id];
        if (command.engine != engine)
          refuse(id, absl::StrCat(commands.describe(id), ": expected a command of ", isa::name(engine)));
        const bool branches = std::holds_alternative<isa::Branch>(command.inst) || std::holds_alternative<isa::Loop>(command.inst);
        if (branches && commands.executable().programs[program].positions.empty())
          refuse(id, absl::StrCat(commands.describe(id), ": expected an unrolled program; call unroll before"));
        const uint32_t limit = static_cast<uint32_t>(device.semaphores);
        if ((command.hasWait && command.wait.semaphore >= limit) ||
            (command.hasUpdate && command.update.semaphore >= limit))
          refuse(id, absl::StrCat(commands.describe(id), ": expected a semaphore below ", limit, " but got ",
                                  command.hasWait && command.wait.semaphore >= limit ? command.wait.semaphore
                                                                                     : command.update.semaphore));
      }
    }
    return supported;
  }

  void problem(SyncProblem::Kind kind, CommandId command, CommandId other, std::string message) {
    result.found.push_back({kind, command, other, std::move(message)});
  }

  Semaphore &semaphore(uint16_t index) {
    if (index >= semaphores.size())
      semaphores.resize(index + 1);
    return semaphores[index];
  }

  VectorClock done(CommandId id) const {
    VectorClock clock = result.orders[id].known;
    clock[result.orders[id].thread] = std::max(clock[result.orders[id].thread], result.orders[id].position);
    return clock;
  }

  bool isAtBarrier(CommandId id) const { return std::holds_alternative<isa::Barrier>(commands[id].inst); }
  bool waitHolds(const isa::Command &command) {
    return !command.hasWait || semaphore(command.wait.semaphore).value >= int64_t(command.wait.value);
  }

  /// Visits the barriers of all programs when all have come to one: all that was issued is complete, and known to all.
  bool passBarrier(std::vector<uint32_t> &next) {
    if (next.empty())
      return false; // nobody meets
    for (unsigned program = 0; program < commands.programs(); ++program) {
      if (next[program] >= commands.size(program))
        return false;
      const CommandId id = commands.id(program, next[program]);
      if (!isAtBarrier(id) || !waitHolds(commands[id]))
        return false;
    }
    for (unsigned program = 0; program < commands.programs(); ++program) {
      const CommandId id = commands.id(program, next[program]);
      const isa::Command &command = commands[id];
      if (command.hasWait)
        applyWait(id, command, current[static_cast<uint8_t>(command.engine)]);
    }
    VectorClock known{};
    for (const VectorClock &clock : current)
      join(known, clock);
    for (unsigned ring = 0; ring < kMaxRings; ++ring)
      if (count[isa::kNumEngines + ring] > known[isa::kNumEngines + ring])
        problem(SyncProblem::Kind::OverBarrier, commands.id(0, next[0]), lastOnRing[ring],
                absl::StrCat(commands.describe(lastOnRing[ring]), " may still run when the queues meet at ",
                             commands.describe(commands.id(0, next[0])), ": nobody waits for it before"));
    reportLeftovers();
    semaphores.clear();
    known = count;
    for (unsigned program = 0; program < commands.programs(); ++program) {
      const CommandId id = commands.id(program, next[program]++);
      const auto engine = static_cast<uint8_t>(commands[id].engine);
      result.orders[id] = {known, ++count[engine], engine};
      result.sequence.push_back(id);
      current[engine] = known;
    }
    return true;
  }

  /// Visits one command if its wait holds.
  bool step(CommandId id) {
    const isa::Command &command = commands[id];
    const auto engine = static_cast<uint8_t>(command.engine);
    if (isAtBarrier(id) || !waitHolds(command))
      return false;
    VectorClock &known = current[engine];
    const bool dma = isa::info(isa::opcode(command.inst)).isDma;
    if (command.hasWait)
      applyWait(id, command, known);
    uint8_t thread = engine;
    if (dma)
      thread = ringThread(id, command);
    result.orders[id] = {known, ++count[thread], thread};
    result.sequence.push_back(id);
    if (command.hasUpdate)
      applyUpdate(id, command, dma);
    return true;
  }

  uint8_t ringThread(CommandId id, const isa::Command &command) {
    unsigned ring = command.ring;
    const unsigned limit = std::min<unsigned>(kMaxRings, device.dmaRings);
    if (ring >= limit) {
      problem(SyncProblem::Kind::Unsupported, id, kNoCommand,
              absl::StrCat("expected a ring below ", limit, " but got ", ring, " (device guide §1.2)"));
      ring = limit - 1;
    }
    int &issuer = ringIssuer[ring];
    if (issuer >= 0 && issuer != static_cast<int>(command.engine))
      problem(SyncProblem::Kind::SharedRing, id, kNoCommand,
              absl::StrCat("ring ", ring, " is fed by ", isa::name(isa::Engine(issuer)), " and ",
                           isa::name(command.engine), ": the order of its transfers is not defined"));
    issuer = static_cast<int>(command.engine);
    lastOnRing[ring] = id;
    return static_cast<uint8_t>(isa::kNumEngines + ring);
  }

  void applyWait(CommandId id, const isa::Command &command, VectorClock &known) {
    Semaphore &sem = semaphore(command.wait.semaphore);
    const auto value = static_cast<int64_t>(command.wait.value);
    sem.highestWait = std::max(sem.highestWait, value);
    if (value <= 0)
      return;
    auto group = std::find_if(sem.groups.rbegin(), sem.groups.rend(), [&](const Group &g) { return g.base < value; });
    if (!resolve(*group, value, known))
      ambiguous(id, command.wait, group->streams.back().steps.back().second);
    const auto engine = static_cast<uint8_t>(command.engine);
    group->waits.push_back({id, value, engine, count[engine] + 1});
  }

  /// Joins what `S >= value` guarantees; false when that is not everything the value counts.
  bool resolve(const Group &group, int64_t value, VectorClock &known) {
    const int64_t reached = value - group.base;
    for (const Stream &stream : group.streams) {
      int64_t own = reached - (group.total - stream.total);
      if (own <= 0 || (stream.transfer && own < stream.total))
        continue;
      auto step = std::lower_bound(stream.steps.begin(), stream.steps.end(), own,
                                   [](const auto &s, int64_t v) { return s.first < v; });
      if (step != stream.steps.end())
        join(known, done(step->second));
    }
    return reached == group.total || (group.streams.size() == 1 && !group.streams[0].transfer);
  }

  void ambiguous(CommandId waiter, const isa::Wait &wait, CommandId signal) {
    problem(SyncProblem::Kind::AmbiguousCount, waiter, signal,
            absl::StrCat("ambiguous count: ", commands.describe(waiter), " waits for semaphore ", wait.semaphore,
                         " >= ", wait.value, ", but that value does not say which commands are complete: ",
                         commands.describe(signal), " may count for it at any time (device guide §9.16)"));
  }

  void applyUpdate(CommandId id, const isa::Command &command, bool dma) {
    Semaphore &sem = semaphore(command.update.semaphore);
    const int64_t add = command.update.add;
    if (add <= 0 || (dma && add != static_cast<int>(device.dmaEngines))) {
      problem(SyncProblem::Kind::BadUpdate, id, kNoCommand,
              absl::StrCat(commands.describe(id), ": expected an update of ",
                           dma ? "16 (a DMA transfer)" : "at least 1", " but got ", add));
      if (add <= 0)
        return;
    }
    const CommandOrder &order = result.orders[id];
    addSignal(sem, id, order, dma, add);
    sem.value += add;
    sem.lastSignal = id;
    const int64_t limit = device.semaphoreMax;
    if (sem.value > limit && sem.value - add <= limit)
      problem(SyncProblem::Kind::BadUpdate, id, kNoCommand,
              absl::StrCat("semaphore ", command.update.semaphore, " exceeds ", limit, " at ", commands.describe(id),
                           " (device guide §9.15: 16 bits)"));
  }

  void addSignal(Semaphore &sem, CommandId id, const CommandOrder &order, bool dma, int64_t add) {
    const bool extends = !dma && !sem.groups.empty() && sem.groups.back().streams.size() == 1 &&
                         !sem.groups.back().streams[0].transfer && sem.groups.back().streams[0].thread == order.thread;
    if (!extends && (sem.groups.empty() || knowsAll(order.known, sem.groups.back()))) {
      sem.groups.emplace_back();
      sem.groups.back().base = sem.value;
    } else if (!extends) {
      while (sem.groups.size() > 1 && !knowsAll(order.known, sem.groups[sem.groups.size() - 2])) {
        Group last = std::move(sem.groups.back());
        sem.groups.pop_back();
        merge(sem.groups.back(), std::move(last));
      }
    }
    Group &group = sem.groups.back();
    Group single;
    Stream stream;
    stream.transfer = dma;
    stream.thread = order.thread;
    stream.lastPosition = order.position;
    stream.total = single.total = add;
    stream.steps.push_back({add, id});
    single.streams.push_back(std::move(stream));
    merge(group, std::move(single));
    if (group.streams.size() > 1)
      recheck(group, id, order);
  }

  /// A signal joined a group of several streams: waits that may still be standing cannot tell it from others.
  void recheck(Group &group, CommandId id, const CommandOrder &order) {
    const auto issuer = static_cast<uint8_t>(commands[id].engine);
    auto unsafe = [&](const Reliance &wait) {
      if (wait.engine == issuer || order.known[wait.engine] >= wait.passed)
        return false;
      ambiguous(wait.command, commands[wait.command].wait, id);
      return true;
    };
    group.waits.erase(std::remove_if(group.waits.begin(), group.waits.end(), unsafe), group.waits.end());
  }

  void reportDeadlock(const std::vector<uint32_t> &next) {
    std::vector<int64_t> values;
    for (const Semaphore &sem : semaphores)
      values.push_back(sem.value);
    StandstillReport report = explainStandstill(commands, {next, values});
    problem(SyncProblem::Kind::Deadlock, report.cycle.empty() ? kNoCommand : report.cycle[0],
            report.cycle.size() > 1 ? report.cycle[1] : kNoCommand, report.message);
  }

  void reportLeftovers() {
    for (size_t i = 0; i < semaphores.size(); ++i) {
      const Semaphore &sem = semaphores[i];
      if (sem.value > sem.highestWait)
        problem(SyncProblem::Kind::LeftoverSemaphore, sem.lastSignal, kNoCommand,
                absl::StrCat("semaphore ", i, " ends at ", sem.value, " but no command waits for more than ",
                             sem.highestWait, ": nobody waits for ", commands.describe(sem.lastSignal)));
    }
  }

  const Commands &commands;
  const isa::DeviceInfo &device;
  GuaranteedOrder &result;
  std::array<VectorClock, isa::kNumEngines> current{};
  std::array<uint32_t, kThreads> count{};
  std::array<int, kMaxRings> ringIssuer;
  std::array<CommandId, kMaxRings> lastOnRing{};
  std::vector<Semaphore> semaphores;
};

GuaranteedOrder GuaranteedOrder::compute(const Commands &commands, const isa::DeviceInfo &device) {
  GuaranteedOrder result;
  OrderWalk(commands, device, result).run();
  return result;
}

bool GuaranteedOrder::precedes(CommandId first, CommandId second) const {
  const CommandOrder &a = orders[first], &b = orders[second];
  if (a.position == 0 || b.position == 0)
    return false;
  if (a.thread == b.thread && a.thread < isa::kNumEngines)
    return a.position < b.position;
  return b.known[a.thread] >= a.position;
}

} // namespace trn::rt
