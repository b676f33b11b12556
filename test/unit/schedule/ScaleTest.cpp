// The planners must stay near linear: 50 thousand instructions in well under two seconds (measured 0.2 s).
#include "RandomProgram.h"
#include "passes/Schedule/Analysis/AllocationPlan.h"
#include "passes/Schedule/Analysis/SyncPlan.h"
#include "gtest/gtest.h"
#include <chrono>

using namespace trn;

TEST(Scale, FiftyThousandInstructions) {
  Resources resources = test::testResources();
  resources.sbufBytes = 200 * 1024;
  resources.semaphores = 256;
  test::ProgramBuilder builder = test::layeredProgram(340, 11, 1024);
  const FlatProgram &program = builder.program;
  ASSERT_GT(program.instructions.size(), 48000u);
  auto start = std::chrono::steady_clock::now();

  DependenceGraph graph = computeDependences(program);
  SchedulePlan schedule;
  CapacityProblem problem;
  ASSERT_TRUE(computeSchedule(program, graph, resources, {resources.sbufBytes * 9 / 10, 0.125}, schedule, problem));
  AllocationPlan allocation = computeAllocation(program, schedule.instructions, resources);
  ASSERT_TRUE(allocation.ok());

  SyncProgram sync;
  sync.memories = 2 + program.buffers.size();
  for (uint32_t node : schedule.order) {
    const FlatInstruction &inst = program.instructions[node];
    uint32_t first = sync.accesses.size();
    for (FlatAccess access : program.accessesOf(node)) {
      access.region = access.region.shifted(allocation.addresses[access.buffer]);
      isa::Space space = program.buffers[access.buffer].space;
      access.buffer = space == isa::Space::HBM ? 2 + access.buffer : space == isa::Space::PSUM;
      sync.accesses.push_back(access);
    }
    sync.instructions.push_back({schedule.instructions[node].engine, inst.isDma, inst.ring, first, inst.numAccesses});
  }
  SyncPlan plan;
  ASSERT_TRUE(computeSync(sync, resources, plan));

  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", int(seconds * 1000));
  EXPECT_LT(seconds, 2.0);
}
