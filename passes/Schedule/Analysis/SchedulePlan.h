//===- SchedulePlan.h - when and where each instruction is issued ---------===//
//
// Owns the list scheduler: it gives every instruction of a flat program an engine, a modelled issue and a modelled
// completion, under the budget of SBUF bytes and PSUM banks. It refuses programs that do not fit even in program
// order. It chooses no addresses (AllocationPlan) and no semaphores (SyncPlan).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/Dependences.h"
#include "llvm/Support/raw_ostream.h"

namespace trn {

struct ScheduleOptions {
  /// Bytes of SBUF per partition that may be live at once.
  uint64_t sbufBudget = 0;
  /// Part of the budget that early loads leave to computation which runs ahead of program order.
  double computeReserve = 0.125;
};

struct ScheduledInstruction {
  isa::Engine engine = isa::Engine::DVE;
  Ticks issue = -1, completion = -1;
};

/// An exchange of the activation tables that must be issued just before `before`.
struct TableLoad {
  uint32_t before = 0;
  int16_t set = -1;
  Ticks issue = 0, completion = 0;
};

struct SchedulePlan {
  std::vector<ScheduledInstruction> instructions;
  /// All instructions by issue time; the order inside each engine's queue follows it.
  std::vector<uint32_t> order;
  std::vector<TableLoad> tableLoads;
  Ticks makespan = 0;
  uint64_t peakSbuf = 0;
  unsigned peakBanks = 0;
  Ticks busy[isa::kNumEngines] = {};
  Ticks dmaBusy = 0;
  unsigned earlyLoads = 0; ///< loads issued before their place in program order was reached

  void print(llvm::raw_ostream &os) const;
};

/// Why a program cannot be scheduled: at `position` the buffers in `live` exceed the budget in program order.
struct CapacityProblem {
  isa::Space space = isa::Space::SBUF;
  uint32_t instruction = 0;
  uint64_t needed = 0, available = 0;
  std::vector<uint32_t> live;
};

/// False when the program does not fit; `problem` then says where.
bool computeSchedule(const FlatProgram &program, const DependenceGraph &graph, const Resources &resources,
                     const ScheduleOptions &options, SchedulePlan &plan, CapacityProblem &problem);

} // namespace trn
