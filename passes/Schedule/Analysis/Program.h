//===- Program.h - a flat program as the planners see it ------------------===//
//
// Owns the planners' view of one region of instructions: buffers, instructions with their costs, and the bytes that
// each touches. It holds no IR, so that planners can be tested and timed by themselves. ReadProgram.h makes it from IR.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/ByteRegion.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace trn {

/// Device time: 1/33.6 ns (device guide 9.10), the unit in which every engine's clock is whole.
using Ticks = int64_t;
constexpr double kTicksPerNanosecond = 33.6;

/// One memory object. On-chip buffers have a size per partition, HBM buffers a total size.
struct FlatBuffer {
  isa::Space space = isa::Space::SBUF;
  uint64_t bytes = 0;
  /// Exists before and after the program (inputs, outputs, weights).
  bool external = false;
};

/// An engine that can execute an instruction, with its cost there.
struct EngineChoice {
  isa::Engine engine = isa::Engine::DVE;
  /// Until the engine can begin its next instruction.
  Ticks occupancy = 0;
  /// Until the results are visible.
  Ticks latency = 0;
};

/// The cost of a transfer: issue (the queue is busy), start-up (until the first byte moves), transfer (the rings are
/// busy), completion (until a waiter is released).
struct TransferCost {
  Ticks issue = 0, startup = 0, transfer = 0, completion = 0;
  /// How long each DMA engine is busy with its share; empty: all of them for all of `transfer`.
  llvm::SmallVector<Ticks, 0> byEngine;

  Ticks share(unsigned engine) const { return byEngine.empty() ? transfer : byEngine[engine]; }
};

struct FlatAccess {
  uint32_t buffer = 0;
  bool reads = false, writes = false;
  ByteRegion region;
};

struct FlatInstruction {
  /// Engines that can execute it, the preferred one first; a DMA has its issuing engine here, without a cost.
  llvm::SmallVector<EngineChoice, 2> choices;
  bool isDma = false;
  uint8_t ring = 0;
  TransferCost transfer;
  /// The activation-table set that must be loaded, or -1.
  int16_t tableSet = -1;
  uint32_t firstAccess = 0, numAccesses = 0;
};

struct FlatProgram {
  std::vector<FlatBuffer> buffers;
  std::vector<FlatInstruction> instructions;
  std::vector<FlatAccess> accesses;

  llvm::ArrayRef<FlatAccess> accessesOf(uint32_t instruction) const {
    const FlatInstruction &inst = instructions[instruction];
    return llvm::ArrayRef<FlatAccess>(accesses).slice(inst.firstAccess, inst.numAccesses);
  }
};

/// What the device offers to the planners.
struct Resources {
  uint64_t sbufBytes = 0; ///< per partition
  unsigned psumBanks = 0;
  uint64_t psumBankBytes = 0;
  unsigned semaphores = 0;
  uint32_t semaphoreMax = 0xFFFF;
  unsigned dmaEngines = 16;
  Ticks tableLoad = 0;   ///< exchange of the activation tables
  Ticks semaphoreHop = 0; ///< completion on one engine until a waiter on another starts
  Ticks semaphoreHopToPE = 0;

  Ticks hop(isa::Engine to) const { return to == isa::Engine::PE ? semaphoreHopToPE : semaphoreHop; }
  unsigned banksOf(uint64_t bytes) const {
    return static_cast<unsigned>((bytes + psumBankBytes - 1) / psumBankBytes);
  }
};

} // namespace trn
