//===- Partitions.h - where an instruction may begin -----------------------===//
// Owns the start partition rule of the compute engines (device guide 2.1 rule 3), which the checks of instructions and
// the compiler's placement share. DMA may begin at any partition.
#pragma once
#include <cstdint>

namespace trn::isa {

/// Operands of `partitions` partitions begin at a multiple of this.
constexpr int64_t startPartitionStep(int64_t partitions) { return partitions > 64 ? 128 : partitions > 32 ? 64 : 32; }

} // namespace trn::isa
