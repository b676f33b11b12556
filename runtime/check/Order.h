//===- Order.h - which command is guaranteed to precede which --------------===//
//
// Owns the guaranteed order of an executable: what holds in every run that the machine allows, not in the one run that
// somebody watched. Threads of order are the five engines (in order, completions retire in order) and the DMA rings
// (a completed transfer implies that the earlier ones of its ring are complete); semaphore waits join them. Owns
// deadlocks and semaphores whose value does not say what is complete; refuses to look at memory (Shadow.h does).
//
// Rules: an engine's own computation is ordered by issue (in-order queue, interlock by address). The data of a DMA
// transfer is moved by the ring, not by the engine that triggers it: it is ordered only by semaphores.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/timing/Commands.h"
#include "runtime/timing/CostModel.h"
#include <array>
#include <string>
#include <vector>

namespace trn::rt {

constexpr unsigned kThreads = isa::kNumEngines + kMaxRings;

/// Per thread: how many of its commands are known to be complete.
using VectorClock = std::array<uint32_t, kThreads>;

/// Where one command stands.
struct CommandOrder {
  VectorClock known{};   ///< complete before the command is issued, in every run
  uint32_t position = 0; ///< 1-based in its thread; 0: never issued (deadlock)
  uint8_t thread = 0;
};

/// A statement about the synchronisation of a program.
struct SyncProblem {
  enum class Kind : uint8_t { Deadlock, AmbiguousCount, BadUpdate, SharedRing, LeftoverSemaphore, OverBarrier, Unsupported };
  Kind kind = Kind::Deadlock;
  CommandId command = kNoCommand; ///< where it shows
  CommandId other = kNoCommand;   ///< the other side, if there is one
  std::string message;
};

class GuaranteedOrder {
public:
  /// Walks the programs of `commands` in one legal order. `commands` must outlive the result.
  static GuaranteedOrder compute(const Commands &commands, const isa::DeviceInfo &device);

  const CommandOrder &operator[](CommandId id) const { return orders[id]; }
  /// Is `first` complete (or, on one engine, ordered by its queue) before `second` touches memory, in every run?
  bool precedes(CommandId first, CommandId second) const;
  /// The commands in one order that the program allows.
  const std::vector<CommandId> &linear() const { return sequence; }
  const std::vector<SyncProblem> &problems() const { return found; }
  bool deadlocked() const { return stuck; }

private:
  friend class OrderWalk;
  std::vector<CommandOrder> orders;
  std::vector<CommandId> sequence;
  std::vector<SyncProblem> found;
  bool stuck = false;
};

} // namespace trn::rt
