//===- TilePlan.h - tiles and loop order of a group --------------------===//
// Owns the decision how a group is cut into device tiles: an analysis that reads the IR and returns a printable plan.
// Refuses to change anything: tile-apply-schedule does that.
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace trn {

/// One loop nest: a root operation, the tile of each of its loops, and the producers computed inside the nest.
struct TileNest {
  mlir::linalg::LinalgOp root;
  llvm::SmallVector<int64_t> tileSizes;      // per loop of the root; 0 = whole
  llvm::SmallVector<int64_t> order;          // permutation of the root's loops, outermost first
  llvm::SetVector<mlir::Operation *> fused;  // producers inside the nest, the root excluded
  const char *reason = "";                   // why these sizes, for remarks

  bool isTiled() const;
  void print(llvm::raw_ostream &os) const;
};

/// The nests of one function, consumers before producers: the order in which they are applied.
struct TilePlan {
  llvm::SmallVector<TileNest> nests;
  void print(llvm::raw_ostream &os) const;
};

/// Limits that the plan obeys: those of the device, and ours with their reasons.
struct TileLimits {
  explicit TileLimits(const isa::DeviceInfo &device)
      : psumBankBytes(device.psumBankBytes), psumBanks(device.psumBanks), matmulColumns(device.matmulMovingMax),
        shortestColumns(device.minInterval), streamedBytes(device.sbufBytesUsable / 2) {}

  int64_t psumBankBytes;             // one accumulation group per partition
  int64_t psumBanks;
  int64_t matmulColumns;             // moving free size
  int64_t shortestColumns;           // an instruction takes as long as one of this many elements per partition
  int64_t mapElements = 2048;       // per partition and instruction of a fused chain: bounds its temporaries to 8 KiB
                                    // while the fixed ~150 cycles of an instruction stay below 10 %
  int64_t loneElements = 8192;      // the same for an operation without temporaries
  int64_t rowElements = 128;        // shortest row of a reduction that is worth instructions of its own
  int64_t residentLoadBytes = 16384; // per partition: a load below this is done once, before the loops
  int64_t residentStoreBytes = 65536; // per partition: a tensor above this is stored by tiles, however short their rows
  int64_t streamedBytes;             // per partition: an operand above this is never on chip as a whole
  int64_t efficientRowBytes = 2048; // per partition: DMA rows shorter than this waste bandwidth
  int64_t leastRowBytes = 512;      // per partition: what DMA moves in shorter rows costs more than it brings
  int64_t streamBytes = 65536;      // per partition: loads and temporaries of one step of a row nest, a third of SBUF, so
                                    // that the next step's load fits beside it; above, reductions run in parts
  int64_t partBytes = 16384;        // per partition: what a contraction loads at once, part by part, when that is less than
                                    // half of all: the next parts have room beside it, and so has an operand that stays
  int64_t instructionElements = 32768; // per partition: counts of access patterns have 16 bits (A2)
};

/// The cached analysis: the plan of a function, made for the device that is asked for first.
class TilePlanAnalysis {
public:
  explicit TilePlanAnalysis(mlir::Operation *function) : function(function) {}
  const TilePlan &planFor(const isa::DeviceInfo &device);

private:
  mlir::Operation *function;
  const isa::DeviceInfo *plannedFor = nullptr;
  TilePlan result;
};

} // namespace trn
