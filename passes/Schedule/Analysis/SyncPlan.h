//===- SyncPlan.h - which instruction waits for which semaphore -----------===//
//
// Owns the choice of semaphores, waits and updates that make every execution of an allocated program respect its
// dependences, with as few waits as guaranteed order allows. It trusts the issue order and the addresses it is given.
//
// Guaranteed order (device guide 9.10-9.16): a queue issues in order; PE, ACT, DVE and POOL complete in order and
// interlock on their own results; transfers of one ring complete in order, one after all its 16 engines have counted;
// nothing else is ordered but by a semaphore.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace trn {

/// One instruction of an allocated program; its regions are in memories, not in buffers.
struct SyncInstruction {
  isa::Engine engine = isa::Engine::DVE; ///< the queue
  bool isDma = false;
  uint8_t ring = 0;
  uint32_t firstAccess = 0, numAccesses = 0;
};

/// `FlatAccess::buffer` numbers memories here: every HBM buffer is one, SBUF and PSUM are one each.
struct SyncProgram {
  unsigned memories = 0;
  std::vector<SyncInstruction> instructions; ///< in issue order
  std::vector<FlatAccess> accesses;

  llvm::ArrayRef<FlatAccess> accessesOf(uint32_t instruction) const {
    const SyncInstruction &inst = instructions[instruction];
    return llvm::ArrayRef<FlatAccess>(accesses).slice(inst.firstAccess, inst.numAccesses);
  }
};

struct SyncPlan {
  struct Instruction {
    llvm::SmallVector<isa::Wait, 1> waits;
    std::optional<isa::Update> update;
  };
  std::vector<Instruction> instructions;
  /// Waits of SP after its last instruction: every transfer has completed when they hold.
  llvm::SmallVector<isa::Wait, 2> finalWaits;
  unsigned semaphores = 0;
  uint64_t dependences = 0, waits = 0, recycleWaits = 0, withSeveralWaits = 0;

  void print(llvm::raw_ostream &os) const;
};

/// Fails (false) only when the device has too few semaphores for one per queue and ring.
bool computeSync(const SyncProgram &program, const Resources &resources, SyncPlan &plan);

/// Calls `f(earlier, later)` for each pair that must be ordered, by bytes.
void forEachConflict(const SyncProgram &program, llvm::function_ref<void(uint32_t, uint32_t)> f);

} // namespace trn
