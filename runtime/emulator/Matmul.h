//===- Matmul.h - chains of matrix multiplications ---------------------------------===//
//
// Owns the execution of nc_matmul: operands are packed to fp32 once (and kept while their SBUF columns are unchanged),
// and a run of matmuls into one PSUM tile is one blocked multiplication. The arithmetic is that of kernels/Panel.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/emulator/Core.h"
#include <list>
#include <map>
#include <vector>

namespace trn::rt {

/// fp32 copies of matmul operands in the layout of the panel kernels. A copy is good while no instruction wrote the
/// columns of SBUF it came from. Copies are dropped, least recently used first, beyond a budget that fits the host's
/// last-level cache.
class PackCache {
public:
  explicit PackCache(uint64_t byteBudget) : budget(byteBudget) {}

  /// The slot of an operand; equal operands share one. `isStationary` chooses the layout.
  uint32_t slotOf(const View &view, bool isStationary);
  /// Memory of `floats` floats for the slot, and whether it already holds the operand as of `version`. Operands that a
  /// program names once are not worth a slot's memory: they get a buffer that the next such operand overwrites.
  struct Entry {
    float *data;
    bool valid;
  };
  Entry acquire(uint32_t slot, uint64_t version, size_t floats, uint32_t scratch);

  /// All operands from the last `newEpisode` on stay in memory until the next.
  void newEpisode() { ++episode; }

private:
  struct Free {
    void operator()(float *p) const;
  };
  using Buffer = std::unique_ptr<float, Free>;
  static Buffer allocate(size_t floats);

  struct Slot {
    unsigned uses = 0;
    Buffer data;
    size_t floats = 0;
    uint64_t version = 0;
    uint64_t episode = 0;
    std::list<uint32_t>::iterator place;
  };
  void dropUnused();

  uint64_t budget, held = 0, episode = 0;
  std::vector<Slot> slots;
  std::map<std::vector<int64_t>, uint32_t> slotIndex;
  std::list<uint32_t> recent; ///< front: used last
  struct Scratch {
    Buffer data;
    size_t floats = 0;
  };
  std::vector<Scratch> scratches;
};

/// One decoded nc_matmul.
struct MatmulOp {
  View dst, stationary, moving;
  bool accumulate = false;
  /// bf16 and fp8 operands on both sides: the contract of two chains (performance.md 5.5.6).
  bool pairs = false;
  uint32_t stationarySlot = 0, movingSlot = 0;

  uint32_t contraction() const { return stationary.partitions; }
  uint32_t rows() const { return dst.partitions; }
  uint32_t columns() const { return static_cast<uint32_t>(dst.elements); }
  /// True if this one adds to the result of `previous`: the two can run as one.
  bool continues(const MatmulOp &previous) const;
};

absl::StatusOr<MatmulOp> decodeMatmul(const Core &core, const isa::NcMatmul &inst, PackCache &cache);

/// Executes ops[0 .. count), each of which continues the one before.
void runMatmuls(const Core &core, PackCache &cache, const MatmulOp *ops, size_t count);

} // namespace trn::rt
