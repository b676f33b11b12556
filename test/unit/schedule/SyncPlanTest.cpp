#include "passes/Schedule/Analysis/SyncPlan.h"
#include "RandomProgram.h"
#include "gtest/gtest.h"
#include <bitset>

using namespace trn;

namespace {

constexpr unsigned kNodes = 160;
using Reach = std::bitset<2 * kNodes>;

/// What a plan guarantees, found the slow way: a graph over "issued" and "complete" events and its closure. Semaphores
/// are read from the plan alone.
class Guarantee {
public:
  Guarantee(const SyncProgram &program, const SyncPlan &plan) : program(program), size(program.instructions.size()) {
    before.resize(2 * size);
    struct Count {
      uint32_t node;
      int64_t value;
    };
    std::map<uint16_t, std::vector<Count>> counts;
    std::map<unsigned, uint32_t> lastInQueue, lastInThread;
    for (uint32_t node = 0; node < size; ++node) {
      const SyncInstruction &inst = program.instructions[node];
      unsigned queue = unsigned(inst.engine), thread = inst.isDma ? 100 + inst.ring : queue;
      if (lastInQueue.count(queue))
        order(issued(lastInQueue[queue]), issued(node));
      lastInQueue[queue] = node;
      for (const isa::Wait &wait : plan.instructions[node].waits) {
        bool satisfied = false;
        for (const Count &count : counts[wait.semaphore])
          if (count.value <= wait.value) {
            order(complete(count.node), issued(node));
            satisfied |= count.value == wait.value;
          }
        deadlock |= !satisfied;
      }
      order(issued(node), complete(node));
      if (lastInThread.count(thread))
        order(complete(lastInThread[thread]), complete(node));
      lastInThread[thread] = node;
      if (const auto &update = plan.instructions[node].update) {
        auto &list = counts[update->semaphore];
        if (inst.isDma && !list.empty() && !isBefore(complete(list.back().node), issued(node)))
          ambiguous = true;
        if (!list.empty() && program.instructions[list.back().node].isDma != inst.isDma)
          ambiguous = true;
        list.push_back({node, (list.empty() ? 0 : list.back().value) + update->add});
      }
    }
  }

  bool race() const {
    for (uint32_t later = 0; later < size; ++later)
      for (const FlatAccess &b : program.accessesOf(later))
        for (uint32_t earlier = 0; earlier < later; ++earlier)
          for (const FlatAccess &a : program.accessesOf(earlier)) {
            if (a.buffer != b.buffer || !(a.writes || b.writes) || !a.region.mayOverlap(b.region))
              continue;
            const SyncInstruction &first = program.instructions[earlier], &second = program.instructions[later];
            bool interlock = !first.isDma && !second.isDma && first.engine == second.engine;
            if (!interlock && !isBefore(complete(earlier), issued(later)))
              return true;
          }
    return false;
  }
  bool ambiguous = false, deadlock = false;

private:
  uint32_t issued(uint32_t node) const { return 2 * node; }
  uint32_t complete(uint32_t node) const { return 2 * node + 1; }
  void order(uint32_t a, uint32_t b) {
    before[b] |= before[a];
    before[b].set(a);
  }
  bool isBefore(uint32_t a, uint32_t b) const { return before[b].test(a); }

  const SyncProgram &program;
  uint32_t size;
  std::vector<Reach> before;
};

SyncProgram randomProgram(unsigned seed) {
  std::mt19937 random(seed);
  SyncProgram program;
  program.memories = 3; // SBUF, PSUM, one HBM buffer
  for (uint32_t node = 0; node < kNodes; ++node) {
    SyncInstruction inst;
    inst.isDma = random() % 4 == 0;
    inst.engine = inst.isDma ? (random() % 5 ? isa::Engine::SP : isa::Engine::ACT)
                             : static_cast<isa::Engine>(random() % 4);
    inst.ring = inst.isDma && inst.engine == isa::Engine::SP ? random() % 2 : 2;
    inst.firstAccess = program.accesses.size();
    inst.numAccesses = 1 + random() % 3;
    for (unsigned a = 0; a < inst.numAccesses; ++a) {
      uint64_t begin = 8 * (random() % 24);
      ByteRegion region = test::box(32 * (random() % 4), 32, begin, begin + 8 * (1 + random() % 4));
      bool writes = a == 0 && random() % 3 != 0;
      program.accesses.push_back({uint32_t(random() % 3), !writes || random() % 4 == 0, writes, region});
    }
    program.instructions.push_back(inst);
  }
  return program;
}

TEST(SyncPlan, RandomProgramsAreFreeOfRaces) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SyncProgram program = randomProgram(seed);
    Resources resources = test::testResources();
    resources.semaphores = seed % 3 ? 64 : 12; // every third one must reuse semaphores
    SyncPlan plan;
    ASSERT_TRUE(computeSync(program, resources, plan));
    Guarantee guarantee(program, plan);
    EXPECT_FALSE(guarantee.deadlock) << "seed " << seed;
    EXPECT_FALSE(guarantee.ambiguous) << "seed " << seed;
    EXPECT_FALSE(guarantee.race()) << "seed " << seed;
    EXPECT_LE(plan.semaphores, resources.semaphores);
    if (seed % 3 == 0)
      EXPECT_GT(plan.recycleWaits, 0u);
  }
}

/// Transitive reduction leaves next to nothing to leave out: only readers that were folded can cost a wait too many.
TEST(SyncPlan, EveryWaitIsNeeded) {
  unsigned dropped = 0, harmless = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    SyncProgram program = randomProgram(1000 + seed);
    SyncPlan plan;
    ASSERT_TRUE(computeSync(program, test::testResources(), plan));
    for (uint32_t node = 0; node < kNodes; ++node)
      for (unsigned w = 0; w < plan.instructions[node].waits.size(); ++w) {
        SyncPlan broken = plan;
        broken.instructions[node].waits.erase(broken.instructions[node].waits.begin() + w);
        Guarantee guarantee(program, broken);
        harmless += !guarantee.race() && !guarantee.ambiguous;
        ++dropped;
      }
  }
  EXPECT_GT(dropped, 400u);
  EXPECT_LE(harmless, dropped / 100);
}

TEST(SyncPlan, AFullCounterHandsOver) {
  SyncProgram program;
  program.memories = 1;
  for (unsigned i = 0; i < 100; ++i) {
    SyncInstruction inst;
    inst.engine = i % 2 ? isa::Engine::ACT : isa::Engine::PE;
    inst.firstAccess = program.accesses.size();
    inst.numAccesses = 1;
    program.accesses.push_back({0, true, true, test::box(0, 128, 0, 64)});
    program.instructions.push_back(inst);
  }
  Resources resources = test::testResources();
  resources.semaphoreMax = 20;
  SyncPlan plan;
  ASSERT_TRUE(computeSync(program, resources, plan));
  EXPECT_EQ(plan.semaphores, 6u);
  for (const SyncPlan::Instruction &inst : plan.instructions)
    for (const isa::Wait &wait : inst.waits)
      EXPECT_LE(wait.value, 20u);
}

TEST(SyncPlan, TheEndWaitsForEveryRing) {
  SyncProgram program;
  program.memories = 2;
  for (unsigned i = 0; i < 4; ++i) {
    SyncInstruction inst;
    inst.engine = isa::Engine::SP;
    inst.isDma = true;
    inst.ring = i % 2;
    inst.firstAccess = program.accesses.size();
    inst.numAccesses = 1;
    program.accesses.push_back({1, false, true, test::box(0, 128, 64 * i, 64 * i + 64)});
    program.instructions.push_back(inst);
  }
  SyncPlan plan;
  ASSERT_TRUE(computeSync(program, test::testResources(), plan));
  EXPECT_EQ(plan.waits, 0u);
  EXPECT_EQ(plan.finalWaits.size(), 2u);
}

} // namespace
