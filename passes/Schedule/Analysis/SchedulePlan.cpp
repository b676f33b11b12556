//===- SchedulePlan.cpp - when and where each instruction is issued -------===//
//
// Owns the event-driven list scheduler of SchedulePlan.h.
//
// Priorities are positions in the order in which the program needs its instructions (Positions.h). Memory cannot deadlock
// it: the demand profile says, for each position, how much memory execution in that order would hold there. A buffer may
// begin its life early, while position f is the oldest unfinished one, only if it fits under the budget at every position
// from f up to its own; the profile then carries it there too. So whatever has been admitted, the oldest unfinished
// instruction always fits.
//
// Loads wait in the order in which they are first needed, those of weights and inputs from the start, those of what the
// program has stored from when it is there. None overtakes another: memory that a late need takes early would be missing
// for what is needed before it.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/SchedulePlan.h"
#include "passes/Schedule/Analysis/DemandProfile.h"
#include "passes/Schedule/Analysis/Positions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

using namespace trn;

namespace {

/// Ready instructions that one dispatch looks at before it gives up: bounds the work when memory is full.
constexpr unsigned kLookahead = 64;
/// An instruction that needs other activation tables waits for at most this many exchanges' worth of time.
constexpr unsigned kTablePatience = 4;
/// Early loads are issued when the DMA engines have so many transfers' issue time left to move: enough to stay busy.
constexpr unsigned kTransfersAhead = 3;
constexpr uint32_t kNone = ~0u;

class ListScheduler {
public:
  ListScheduler(const FlatProgram &program, const DependenceGraph &graph, const Resources &resources,
                const ScheduleOptions &options, SchedulePlan &plan)
      : program(program), graph(graph), resources(resources), options(options), plan(plan),
        size(program.instructions.size()), successors(graph.reversed()), sbufDemand(size), bankDemand(size) {}

  bool run(CapacityProblem &problem) {
    findPositions();
    findLifetimes();
    if (!checkCapacity(problem))
      return false;
    simulate();
    finish();
    return true;
  }

private:
  struct Lifetime {
    uint32_t first = kNone, last = 0; ///< positions
    uint32_t accessesLeft = 0;
    bool live = false;
  };
  enum class EventKind : uint8_t { Retire, Ready, EngineFree };
  struct Event {
    Ticks time;
    EventKind kind;
    uint32_t id;
    bool operator>(const Event &other) const {
      return std::tie(time, kind, id) > std::tie(other.time, other.kind, other.id);
    }
  };
  struct Need {
    uint64_t bytes = 0;
    unsigned banks = 0;
    uint32_t lastStart = 0;
  };
  /// The largest demand from the frontier to `lastStart`, as it was when it let something not through. Until the
  /// frontier moves demand only grows, so whoever needs as much at least as far is refused without another look.
  struct Refusal {
    uint32_t frontier = kNone, lastStart = 0;
    int64_t demand = 0;
  };

  void findPositions();
  void findLifetimes();
  bool checkCapacity(CapacityProblem &problem);
  bool isOnChip(uint32_t buffer) const { return program.buffers[buffer].space != isa::Space::HBM; }
  bool isLoad(uint32_t node) const;

  void simulate();
  void process(const Event &event);
  void retire(uint32_t node);
  void makeReady(uint32_t node);
  bool dispatch(isa::Engine engine);
  uint32_t pickReady(isa::Engine engine);
  bool admits(uint32_t node, uint64_t budget);
  bool fits(const DemandProfile &demand, Refusal &refusal, uint64_t amount, uint32_t lastStart, uint64_t budget);
  void beginLives(uint32_t node);
  void issue(uint32_t node, isa::Engine engine);
  Ticks queuedUntil(const TransferCost &transfer) const;
  Ticks occupyDmaEngines(const TransferCost &transfer, Ticks start);
  bool wouldQueue(uint32_t node, isa::Engine engine);
  void releaseSuccessors(uint32_t node);
  void finish();

  const FlatProgram &program;
  const DependenceGraph &graph;
  const Resources &resources;
  const ScheduleOptions &options;
  SchedulePlan &plan;
  const uint32_t size;

  const DependenceGraph successors;
  std::vector<uint32_t> positionOf, nodeAt;
  std::vector<Lifetime> lives;
  DemandProfile sbufDemand, bankDemand;

  Ticks now = 0;
  uint32_t frontier = 0; ///< the oldest position that has not retired
  std::vector<bool> retired;
  std::vector<uint32_t> predecessorsLeft;
  std::vector<Ticks> readyAt;
  /// Positions of ready instructions, per engine; one that several engines can run is in several sets.
  std::set<uint32_t> ready[isa::kNumEngines];
  Refusal sbufRefusal, bankRefusal;
  /// Counts what can let more through: the frontier moves, a buffer begins its life, an instruction becomes ready.
  uint64_t state = 1;
  /// The state in which an engine found nothing to issue.
  uint64_t emptyAt[isa::kNumEngines] = {};
  /// Positions of loads whose data is there, the first needed first, per issuing queue.
  std::set<uint32_t> loads[isa::kNumEngines];
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  Ticks freeAt[isa::kNumEngines] = {};
  /// When each DMA engine has moved what was issued so far.
  std::vector<Ticks> dmaFreeAt;
  int16_t currentTables = -1;
  uint64_t sbufUsed = 0;
  unsigned banksUsed = 0;
};

} // namespace

void ListScheduler::findPositions() {
  nodeAt = orderByNeed(program, graph);
  positionOf.resize(size);
  for (uint32_t position = 0; position < size; ++position)
    positionOf[nodeAt[position]] = position;
}

void ListScheduler::findLifetimes() {
  lives.resize(program.buffers.size());
  for (uint32_t position = 0; position < size; ++position)
    for (const FlatAccess &access : program.accessesOf(nodeAt[position])) {
      Lifetime &life = lives[access.buffer];
      life.first = std::min(life.first, position);
      life.last = position;
      ++life.accessesLeft;
    }
  for (uint32_t buffer = 0; buffer < lives.size(); ++buffer) {
    const Lifetime &life = lives[buffer];
    if (life.first == kNone)
      continue;
    const FlatBuffer &info = program.buffers[buffer];
    if (info.space == isa::Space::SBUF)
      sbufDemand.add(life.first, life.last + 1, info.bytes);
    if (info.space == isa::Space::PSUM)
      bankDemand.add(life.first, life.last + 1, resources.banksOf(info.bytes));
  }
}

bool ListScheduler::checkCapacity(CapacityProblem &problem) {
  auto check = [&](isa::Space space, const DemandProfile &demand, uint64_t available) {
    uint64_t needed = std::max<int64_t>(demand.max(0, size), 0);
    if (needed <= available)
      return true;
    uint32_t position = 0;
    while (demand.max(position, position + 1) != static_cast<int64_t>(needed))
      ++position;
    problem.space = space;
    problem.instruction = nodeAt[position];
    problem.needed = needed;
    problem.available = available;
    for (uint32_t buffer = 0; buffer < lives.size(); ++buffer)
      if (program.buffers[buffer].space == space && lives[buffer].first <= position && position <= lives[buffer].last)
        problem.live.push_back(buffer);
    return false;
  };
  return check(isa::Space::SBUF, sbufDemand, options.sbufBudget) &&
         check(isa::Space::PSUM, bankDemand, resources.psumBanks);
}

/// Whether a transfer brings data from HBM on chip.
bool ListScheduler::isLoad(uint32_t node) const {
  return program.instructions[node].isDma && llvm::all_of(program.accessesOf(node), [&](const FlatAccess &access) {
    return access.writes == isOnChip(access.buffer);
  });
}

void ListScheduler::makeReady(uint32_t node) {
  ++state;
  if (isLoad(node)) {
    loads[static_cast<unsigned>(program.instructions[node].choices.front().engine)].insert(positionOf[node]);
    return;
  }
  for (const EngineChoice &choice : program.instructions[node].choices)
    ready[static_cast<unsigned>(choice.engine)].insert(positionOf[node]);
}

/// Whether `amount` more fits under the budget at every position from the frontier to `lastStart`.
bool ListScheduler::fits(const DemandProfile &demand, Refusal &refusal, uint64_t amount, uint32_t lastStart,
                         uint64_t budget) {
  int64_t limit = static_cast<int64_t>(budget) - static_cast<int64_t>(amount);
  if (refusal.frontier == frontier && refusal.lastStart <= lastStart && refusal.demand > limit)
    return false;
  int64_t largest = demand.max(frontier, lastStart);
  if (largest <= limit)
    return true;
  refusal = {frontier, lastStart, largest};
  return false;
}

bool ListScheduler::admits(uint32_t node, uint64_t budget) {
  Need need;
  for (const FlatAccess &access : program.accessesOf(node)) {
    const Lifetime &life = lives[access.buffer];
    if (life.live || life.first <= frontier || !isOnChip(access.buffer))
      continue;
    const FlatBuffer &buffer = program.buffers[access.buffer];
    if (buffer.space == isa::Space::SBUF)
      need.bytes += buffer.bytes;
    else
      need.banks += resources.banksOf(buffer.bytes);
    need.lastStart = std::max(need.lastStart, life.first);
  }
  if (need.bytes && !fits(sbufDemand, sbufRefusal, need.bytes, need.lastStart, budget))
    return false;
  return !need.banks || fits(bankDemand, bankRefusal, need.banks, need.lastStart, resources.psumBanks);
}

void ListScheduler::beginLives(uint32_t node) {
  for (const FlatAccess &access : program.accessesOf(node)) {
    Lifetime &life = lives[access.buffer];
    if (life.live || !isOnChip(access.buffer))
      continue;
    life.live = true;
    ++state;
    const FlatBuffer &buffer = program.buffers[access.buffer];
    if (buffer.space == isa::Space::SBUF) {
      sbufUsed += buffer.bytes;
      sbufDemand.add(frontier, life.first, buffer.bytes);
    } else {
      banksUsed += resources.banksOf(buffer.bytes);
      bankDemand.add(frontier, life.first, resources.banksOf(buffer.bytes));
    }
  }
  plan.peakSbuf = std::max(plan.peakSbuf, sbufUsed);
  plan.peakBanks = std::max(plan.peakBanks, banksUsed);
}

/// The oldest ready instruction that fits. On ACT one that needs no exchange of tables goes first, unless the oldest
/// has waited too long.
uint32_t ListScheduler::pickReady(isa::Engine engine) {
  uint64_t &empty = emptyAt[static_cast<unsigned>(engine)];
  if (empty == state)
    return kNone;
  uint32_t best = kNone;
  unsigned looked = 0;
  for (uint32_t position : ready[static_cast<unsigned>(engine)]) {
    if (++looked > kLookahead)
      break;
    uint32_t node = nodeAt[position];
    if (!admits(node, options.sbufBudget))
      continue;
    int16_t set = engine == isa::Engine::ACT ? program.instructions[node].tableSet : -1;
    if (set < 0 || set == currentTables)
      return best != kNone && now - readyAt[best] > kTablePatience * resources.tableLoad ? best : node;
    if (best == kNone)
      best = node;
  }
  if (best == kNone)
    empty = state;
  return best;
}

bool ListScheduler::dispatch(isa::Engine engine) {
  unsigned e = static_cast<unsigned>(engine);
  if (freeAt[e] > now)
    return false;
  uint32_t node = pickReady(engine);
  if (node == kNone && !loads[e].empty()) {
    uint32_t head = nodeAt[*loads[e].begin()];
    // What the program has stored is needed soon: its loads are part of the computation that the reserve is for.
    double reserve = graph.of(head).empty() ? options.computeReserve : 0;
    uint64_t limit = static_cast<uint64_t>(options.sbufBudget * (1.0 - reserve));
    if (!wouldQueue(head, engine) && admits(head, limit)) {
      node = head;
      loads[e].erase(loads[e].begin());
      plan.earlyLoads += positionOf[node] > frontier;
    }
  }
  if (node == kNone)
    return false;
  for (const EngineChoice &choice : program.instructions[node].choices)
    ready[static_cast<unsigned>(choice.engine)].erase(positionOf[node]);
  issue(node, engine);
  return true;
}

/// When the last of the engines that `transfer` uses is free of what was issued before it.
Ticks ListScheduler::queuedUntil(const TransferCost &transfer) const {
  Ticks until = 0;
  for (unsigned engine = 0; engine < dmaFreeAt.size(); ++engine)
    if (transfer.share(engine))
      until = std::max(until, dmaFreeAt[engine]);
  return until;
}

/// Moves `transfer`, issued at `start`, on the engines that serve its partitions; returns when the last byte has moved.
Ticks ListScheduler::occupyDmaEngines(const TransferCost &transfer, Ticks start) {
  Ticks first = start + transfer.issue + transfer.startup, last = first + transfer.transfer;
  for (unsigned engine = 0; engine < dmaFreeAt.size(); ++engine)
    if (Ticks share = transfer.share(engine)) {
      dmaFreeAt[engine] = std::max(dmaFreeAt[engine], first) + share;
      last = std::max(last, dmaFreeAt[engine]);
    }
  return last;
}

/// Whether an early load issued now would wait for the DMA engines. It is issued just in time instead, so that a
/// transfer that is needed at once does not queue behind early ones; `engine` looks again when that time has come.
bool ListScheduler::wouldQueue(uint32_t node, isa::Engine engine) {
  const TransferCost &transfer = program.instructions[node].transfer;
  Ticks lead = transfer.issue * kTransfersAhead + transfer.startup, due = queuedUntil(transfer) - lead;
  if (due <= now)
    return false;
  events.push({due, EventKind::EngineFree, static_cast<uint32_t>(engine)});
  return true;
}

void ListScheduler::issue(uint32_t node, isa::Engine engine) {
  const FlatInstruction &inst = program.instructions[node];
  unsigned e = static_cast<unsigned>(engine);
  beginLives(node);
  Ticks start = now;
  if (engine == isa::Engine::ACT && inst.tableSet >= 0 && inst.tableSet != currentTables) {
    plan.tableLoads.push_back({node, inst.tableSet, now, now + resources.tableLoad});
    currentTables = inst.tableSet;
    start += resources.tableLoad;
    plan.busy[e] += resources.tableLoad;
  }
  ScheduledInstruction &scheduled = plan.instructions[node];
  scheduled.engine = engine;
  scheduled.issue = start;
  if (inst.isDma) {
    scheduled.completion = occupyDmaEngines(inst.transfer, start) + inst.transfer.completion;
    freeAt[e] = start + inst.transfer.issue;
    plan.dmaBusy += inst.transfer.transfer;
    plan.busy[e] += inst.transfer.issue;
    events.push({scheduled.completion, EventKind::Retire, node});
  } else {
    const EngineChoice *choice =
        llvm::find_if(inst.choices, [&](const EngineChoice &c) { return c.engine == engine; });
    scheduled.completion = start + choice->latency;
    freeAt[e] = start + choice->occupancy;
    plan.busy[e] += choice->occupancy;
    events.push({scheduled.completion + resources.semaphoreHop, EventKind::Retire, node});
  }
  events.push({freeAt[e], EventKind::EngineFree, e});
  plan.makespan = std::max(plan.makespan, scheduled.completion);
  releaseSuccessors(node);
}

/// An engine issues in order, so order alone costs nothing inside one; there, what reads a result waits in the
/// engine's interlock (device guide 9.14), except that the PE accumulates without waiting.
void ListScheduler::releaseSuccessors(uint32_t node) {
  const ScheduledInstruction &scheduled = plan.instructions[node];
  bool dma = program.instructions[node].isDma;
  for (const Dependence &edge : successors.of(node)) {
    const FlatInstruction &successor = program.instructions[edge.node];
    isa::Engine preferred = successor.choices.front().engine;
    bool sameQueue =
        !dma && !successor.isDma && successor.choices.size() == 1 && preferred == scheduled.engine;
    Ticks at = scheduled.completion;
    if (sameQueue && (!edge.data || scheduled.engine == isa::Engine::PE))
      at = now;
    else if (!sameQueue && !dma)
      at += resources.hop(preferred);
    readyAt[edge.node] = std::max(readyAt[edge.node], at);
    if (--predecessorsLeft[edge.node] == 0)
      events.push({std::max(now, readyAt[edge.node]), EventKind::Ready, edge.node});
  }
}

void ListScheduler::retire(uint32_t node) {
  for (const FlatAccess &access : program.accessesOf(node)) {
    Lifetime &life = lives[access.buffer];
    if (--life.accessesLeft != 0 || !isOnChip(access.buffer))
      continue;
    const FlatBuffer &buffer = program.buffers[access.buffer];
    if (buffer.space == isa::Space::SBUF)
      sbufUsed -= buffer.bytes;
    else
      banksUsed -= resources.banksOf(buffer.bytes);
  }
  retired[positionOf[node]] = true;
  uint32_t oldest = frontier;
  while (frontier < size && retired[frontier])
    ++frontier;
  state += frontier != oldest;
}

void ListScheduler::process(const Event &event) {
  switch (event.kind) {
  case EventKind::Retire:
    retire(event.id);
    break;
  case EventKind::Ready:
    makeReady(event.id);
    break;
  case EventKind::EngineFree:
    break;
  }
}

void ListScheduler::simulate() {
  plan = SchedulePlan();
  plan.instructions.resize(size);
  dmaFreeAt.assign(resources.dmaEngines, 0);
  retired.assign(size, false);
  readyAt.assign(size, 0);
  predecessorsLeft.resize(size);
  for (uint32_t position = 0; position < size; ++position) {
    uint32_t node = nodeAt[position];
    predecessorsLeft[node] = graph.of(node).size();
    if (predecessorsLeft[node] == 0)
      makeReady(node);
  }
  events.push({0, EventKind::EngineFree, 0});
  while (!events.empty()) {
    now = events.top().time;
    while (!events.empty() && events.top().time == now) {
      Event event = events.top();
      events.pop();
      process(event);
    }
    bool progress = true;
    while (progress) {
      progress = false;
      for (unsigned e = 0; e < isa::kNumEngines; ++e)
        progress |= dispatch(static_cast<isa::Engine>(e));
    }
  }
  assert(frontier == size && "the admission rule lets the oldest instruction through");
}

void ListScheduler::finish() {
  plan.order.resize(size);
  std::iota(plan.order.begin(), plan.order.end(), 0);
  std::sort(plan.order.begin(), plan.order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_pair(plan.instructions[a].issue, positionOf[a]) <
           std::make_pair(plan.instructions[b].issue, positionOf[b]);
  });
}

bool trn::computeSchedule(const FlatProgram &program, const DependenceGraph &graph, const Resources &resources,
                          const ScheduleOptions &options, SchedulePlan &plan, CapacityProblem &problem) {
  return ListScheduler(program, graph, resources, options, plan).run(problem);
}

void SchedulePlan::print(llvm::raw_ostream &os) const {
  auto us = [](Ticks ticks) { return llvm::format("%.2f", ticks / kTicksPerNanosecond / 1000.0); };
  auto percent = [&](Ticks ticks) { return llvm::format("%.1f", makespan ? 100.0 * ticks / makespan : 0.0); };
  os << "schedule: " << instructions.size() << " instructions, " << us(makespan) << " us, peak " << peakSbuf
     << " bytes of SBUF per partition and " << peakBanks << " PSUM banks, " << earlyLoads << " early loads, "
     << tableLoads.size() << " table loads\n";
  for (unsigned e = 0; e < isa::kNumEngines; ++e)
    os << "  " << isa::name(static_cast<isa::Engine>(e)) << ": busy " << us(busy[e]) << " us (" << percent(busy[e])
       << "%)\n";
  os << "  rings: busy " << us(dmaBusy) << " us (" << percent(dmaBusy) << "%)\n";
}
