//===- Operands.h - what an instruction does with its operands ---------------===//
//
// Owns the answer to "does this command read this operand?" where it depends on more than the operand's role: a matmul
// reads its destination only when it accumulates, and a shuffle reads the partitions that its mask names. Checker,
// emulator, planners and reports all ask here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/Constants.h"
#include "dialects/Trn/ISA/ISA.h"
#include <algorithm>
#include <array>

namespace trn::rt {

/// What an operand, or a part of one, does to memory.
struct OperandUse {
  const isa::AP *ap; ///< as long as the visit takes
  bool reads, writes;
  const char *name;
};

/// Calls f(part) for the partitions of the source that `shuffle` reads: all of them as one, or one by one.
template <typename F> void forEachSourceOf(const isa::NcStreamShuffle &shuffle, F f) {
  using isa::nc_stream_shuffle::kGroup;
  const isa::AP &src = shuffle.src;
  std::array<bool, kGroup> named{};
  for (int32_t entry : shuffle.mask)
    if (entry != isa::nc_stream_shuffle::kKeep)
      named[static_cast<uint32_t>(entry) % kGroup] = true;
  for (uint32_t entry = 0; entry < std::min<uint32_t>(src.partitions, kGroup); ++entry)
    if (!named[entry]) {
      for (uint32_t p = 0; p < src.partitions; ++p)
        if (named[p % kGroup]) {
          isa::AP part = src;
          part.startPartition += p;
          part.partitions = 1;
          f(part);
        }
      return;
    }
  f(src);
}

/// Calls f(use, operand index) for each operand in memory, in record order; for parts of an operand where the rest is not
/// touched.
template <typename F> void forEachUse(const isa::Instruction &inst, F f) {
  const auto *matmul = std::get_if<isa::NcMatmul>(&inst);
  const auto *shuffle = std::get_if<isa::NcStreamShuffle>(&inst);
  unsigned index = 0;
  isa::forEachOperand(inst, [&](const isa::AP &ap, const isa::OperandInfo &info) {
    OperandUse use{&ap, isa::reads(info.role), isa::writes(info.role), info.name};
    if (matmul && &ap == &matmul->dst)
      use.reads = matmul->accumulate;
    // Only what the mask keeps counts as read.
    if (shuffle && &ap == &shuffle->dst)
      use.reads = std::find(shuffle->mask.begin(), shuffle->mask.end(), isa::nc_stream_shuffle::kKeep) != shuffle->mask.end();
    if (shuffle && &ap == &shuffle->src)
      forEachSourceOf(*shuffle, [&](const isa::AP &part) {
        use.ap = &part;
        f(use, index);
      });
    else
      f(use, index);
    ++index;
  });
}

} // namespace trn::rt
