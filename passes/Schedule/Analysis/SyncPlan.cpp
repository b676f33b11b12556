//===- SyncPlan.cpp - which instruction waits for which semaphore ---------===//
//
// Owns the two walks over the issue order. The first one keeps, of all dependences, those that guaranteed order does
// not imply already (transitive reduction with vector clocks); they name the instructions that must count. The second
// one hands out semaphores: a counter per queue, and for transfers one that carries a single transfer at a time, since
// each of the 16 DMA engines counts on its own (device guide 9.16).
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/SyncPlan.h"
#include "passes/Schedule/Analysis/AccessHistory.h"
#include "runtime/timing/CostModel.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <deque>

using namespace trn;

namespace {

using rt::kMaxRings;
constexpr unsigned kThreads = isa::kNumEngines + kMaxRings;

/// How many instructions of each thread (a queue's completions, a ring's transfers) are known to be complete.
struct Clock {
  uint32_t complete[kThreads] = {};
  void join(const Clock &other) {
    for (unsigned t = 0; t < kThreads; ++t)
      complete[t] = std::max(complete[t], other.complete[t]);
  }
};

class SyncBuilder {
public:
  SyncBuilder(const SyncProgram &program, const Resources &resources, SyncPlan &plan)
      : program(program), resources(resources), plan(plan), size(program.instructions.size()) {}

  bool run() {
    numberInstructions();
    reduce();
    return assign();
  }

private:
  unsigned queueOf(uint32_t node) const { return static_cast<unsigned>(program.instructions[node].engine); }
  unsigned threadOf(uint32_t node) const {
    const SyncInstruction &inst = program.instructions[node];
    return inst.isDma ? isa::kNumEngines + inst.ring : queueOf(node);
  }
  void numberInstructions();
  bool implied(uint32_t earlier, uint32_t later, const Clock &known) const;
  Clock completionClock(uint32_t node, const Clock &known) const;
  void reduce();

  bool assign();
  std::optional<uint16_t> newSemaphore();
  void wait(uint32_t node, Clock &known, isa::Wait wait, uint32_t producer);
  bool countOnQueue(uint32_t node);
  bool countTransfer(uint32_t node, Clock &known);
  void recycle(unsigned queue, const Clock &known);
  std::optional<uint16_t> takeBack(uint32_t node, Clock &known);

  const SyncProgram &program;
  const Resources &resources;
  SyncPlan &plan;
  const uint32_t size;

  std::vector<uint32_t> number; ///< of the instruction in its thread, from 1
  std::vector<llvm::SmallVector<uint32_t, 2>> producers;
  std::vector<bool> counts;
  std::vector<Clock> completion;
  std::vector<isa::Wait> done; ///< the wait that holds once the instruction is complete

  std::optional<uint16_t> queueSemaphore[isa::kNumEngines];
  uint32_t queueCount[isa::kNumEngines] = {};
  std::vector<uint32_t> semaphoreCount;
  std::vector<uint32_t> lastTransfer; ///< by semaphore
  /// Semaphores whose last transfer the queue knows to be complete: other queues do not know it.
  std::deque<uint16_t> freeSemaphores[isa::kNumEngines];
  std::deque<uint32_t> outstanding[kMaxRings]; ///< transfers
};

} // namespace

void trn::forEachConflict(const SyncProgram &program, llvm::function_ref<void(uint32_t, uint32_t)> f) {
  std::vector<bool> written(program.memories, false);
  for (const FlatAccess &access : program.accesses)
    if (access.writes)
      written[access.buffer] = true;
  std::vector<AccessHistory> histories(program.memories, AccessHistory(/*foldReaders=*/true));
  std::vector<uint32_t> reported(program.instructions.size(), ~0u);
  for (uint32_t node = 0; node < program.instructions.size(); ++node) {
    const SyncInstruction &inst = program.instructions[node];
    uint16_t thread = inst.isDma ? isa::kNumEngines + inst.ring : static_cast<uint16_t>(inst.engine);
    for (const FlatAccess &access : program.accessesOf(node))
      if (written[access.buffer])
        histories[access.buffer].access(node, thread, access.region, access.reads, access.writes,
                                        [&](uint32_t earlier, Conflict) {
                                          if (reported[earlier] == node)
                                            return;
                                          reported[earlier] = node;
                                          f(earlier, node);
                                        });
  }
}

void SyncBuilder::numberInstructions() {
  uint32_t counts[kThreads] = {};
  number.resize(size);
  for (uint32_t node = 0; node < size; ++node)
    number[node] = ++counts[threadOf(node)];
}

/// Whether `later` cannot start too early even without a wait of its own.
bool SyncBuilder::implied(uint32_t earlier, uint32_t later, const Clock &known) const {
  bool interlocked = !program.instructions[earlier].isDma && !program.instructions[later].isDma &&
                     queueOf(earlier) == queueOf(later);
  return interlocked || known.complete[threadOf(earlier)] >= number[earlier];
}

/// What is known once `node` is complete, given what its queue knew when it issued it.
Clock SyncBuilder::completionClock(uint32_t node, const Clock &known) const {
  Clock clock = known;
  uint32_t &own = clock.complete[threadOf(node)];
  own = std::max(own, number[node]);
  return clock;
}

void SyncBuilder::reduce() {
  producers.resize(size);
  counts.assign(size, false);
  completion.resize(size);
  std::vector<llvm::SmallVector<uint32_t, 4>> needs(size);
  forEachConflict(program, [&](uint32_t earlier, uint32_t later) {
    needs[later].push_back(earlier);
    ++plan.dependences;
  });
  Clock known[isa::kNumEngines];
  for (uint32_t node = 0; node < size; ++node) {
    Clock &clock = known[queueOf(node)];
    // The latest producers first: they imply the most.
    llvm::sort(needs[node], std::greater<uint32_t>());
    for (uint32_t earlier : needs[node]) {
      if (implied(earlier, node, clock))
        continue;
      producers[node].push_back(earlier);
      counts[earlier] = true;
      clock.join(completion[earlier]);
    }
    completion[node] = completionClock(node, clock);
  }
}

std::optional<uint16_t> SyncBuilder::newSemaphore() {
  if (plan.semaphores >= resources.semaphores)
    return std::nullopt;
  semaphoreCount.push_back(0);
  lastTransfer.push_back(0);
  return static_cast<uint16_t>(plan.semaphores++);
}

void SyncBuilder::wait(uint32_t node, Clock &known, isa::Wait wait, uint32_t producer) {
  auto &waits = plan.instructions[node].waits;
  auto *same = llvm::find_if(waits, [&](const isa::Wait &w) { return w.semaphore == wait.semaphore; });
  if (same == waits.end()) {
    waits.push_back(wait);
    ++plan.waits;
  } else {
    same->value = std::max(same->value, wait.value);
  }
  known.join(completion[producer]);
}

/// Counts completions of a queue; a counter that is full hands over to a new one.
bool SyncBuilder::countOnQueue(uint32_t node) {
  unsigned queue = queueOf(node);
  if (!queueSemaphore[queue] || queueCount[queue] == resources.semaphoreMax) {
    queueSemaphore[queue] = newSemaphore();
    queueCount[queue] = 0;
    if (!queueSemaphore[queue])
      return false;
  }
  done[node] = {*queueSemaphore[queue], ++queueCount[queue]};
  plan.instructions[node].update = isa::Update{*queueSemaphore[queue], 1};
  return true;
}

/// Semaphores whose transfer `queue` knows to be complete are free for its next ones, while their counter has room.
void SyncBuilder::recycle(unsigned queue, const Clock &known) {
  for (unsigned ring = 0; ring < kMaxRings; ++ring)
    while (!outstanding[ring].empty() &&
           known.complete[isa::kNumEngines + ring] >= number[outstanding[ring].front()]) {
      uint16_t semaphore = done[outstanding[ring].front()].semaphore;
      if (semaphoreCount[semaphore] + resources.dmaEngines <= resources.semaphoreMax)
        freeSemaphores[queue].push_back(semaphore);
      outstanding[ring].pop_front();
    }
}

/// When no semaphore is free: waits for the oldest transfer, or for the last one on a semaphore of another queue.
std::optional<uint16_t> SyncBuilder::takeBack(uint32_t node, Clock &known) {
  unsigned queue = queueOf(node);
  while (freeSemaphores[queue].empty()) {
    auto *oldest = std::min_element(std::begin(outstanding), std::end(outstanding), [](auto &a, auto &b) {
      return (a.empty() ? ~0u : a.front()) < (b.empty() ? ~0u : b.front());
    });
    uint32_t previous;
    if (!oldest->empty()) {
      previous = oldest->front();
    } else {
      auto *other = llvm::find_if(freeSemaphores, [](auto &list) { return !list.empty(); });
      if (other == std::end(freeSemaphores))
        return std::nullopt;
      previous = lastTransfer[other->front()];
      freeSemaphores[queue].push_back(other->front());
      other->pop_front();
    }
    wait(node, known, done[previous], previous);
    ++plan.recycleWaits;
    recycle(queue, known);
  }
  uint16_t semaphore = freeSemaphores[queue].front();
  freeSemaphores[queue].pop_front();
  return semaphore;
}

bool SyncBuilder::countTransfer(uint32_t node, Clock &known) {
  unsigned queue = queueOf(node);
  recycle(queue, known);
  // Each queue may still need a second counter: leave those.
  bool mayGrow = plan.semaphores + isa::kNumEngines < resources.semaphores;
  std::optional<uint16_t> semaphore =
      freeSemaphores[queue].empty() && mayGrow ? newSemaphore() : takeBack(node, known);
  if (!semaphore)
    return false;
  semaphoreCount[*semaphore] += resources.dmaEngines;
  lastTransfer[*semaphore] = node;
  done[node] = {*semaphore, semaphoreCount[*semaphore]};
  plan.instructions[node].update = isa::Update{*semaphore, static_cast<int32_t>(resources.dmaEngines)};
  outstanding[program.instructions[node].ring].push_back(node);
  return true;
}

bool SyncBuilder::assign() {
  plan.instructions.resize(size);
  done.resize(size);
  // The last transfer of each ring counts, so that the end of the program can wait for it.
  std::vector<bool> ringSeen(kMaxRings, false);
  for (uint32_t node = size; node-- > 0;)
    if (program.instructions[node].isDma && !ringSeen[program.instructions[node].ring])
      counts[node] = ringSeen[program.instructions[node].ring] = true;

  Clock known[isa::kNumEngines];
  for (uint32_t node = 0; node < size; ++node) {
    Clock &clock = known[queueOf(node)];
    for (uint32_t producer : producers[node])
      if (!implied(producer, node, clock))
        wait(node, clock, done[producer], producer);
    if (counts[node] && !(program.instructions[node].isDma ? countTransfer(node, clock) : countOnQueue(node)))
      return false;
    completion[node] = completionClock(node, clock);
    plan.withSeveralWaits += plan.instructions[node].waits.size() > 1;
  }
  const Clock &atEnd = known[static_cast<unsigned>(isa::Engine::SP)];
  for (unsigned ring = 0; ring < kMaxRings; ++ring) {
    if (outstanding[ring].empty())
      continue;
    uint32_t last = outstanding[ring].back();
    if (atEnd.complete[isa::kNumEngines + ring] < number[last])
      plan.finalWaits.push_back(done[last]);
  }
  return true;
}

bool trn::computeSync(const SyncProgram &program, const Resources &resources, SyncPlan &plan) {
  plan = SyncPlan();
  return SyncBuilder(program, resources, plan).run();
}

void SyncPlan::print(llvm::raw_ostream &os) const {
  os << "synchronisation: " << dependences << " dependences, " << waits << " waits (" << recycleWaits
     << " to reuse a semaphore, " << withSeveralWaits << " instructions with more than one), " << semaphores
     << " semaphores\n";
}
