//===- Footprint.h - the bytes that an operand touches ---------------------===//
//
// Owns the one translation from an access pattern to memory: a partition interval and sorted, disjoint byte runs. The
// interlock of the timing simulation, the race checker and the fault planter all use it, so they cannot disagree
// about what overlaps. It does not judge whether the bytes exist (that is the checker's bounds test).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/container/inlined_vector.h"
#include "dialects/Trn/ISA/ISA.h"
#include <cstdint>

namespace trn::rt {

/// Bytes [begin, end). SBUF and PSUM: offsets inside each partition. HBM: offsets inside the buffer.
struct ByteRun {
  int64_t begin = 0;
  int64_t end = 0;
};
using ByteRuns = absl::InlinedVector<ByteRun, 8>;

/// The bounding box of an operand.
struct Box {
  isa::Space space = isa::Space::SBUF;
  uint32_t buffer = 0;                          ///< HBM only
  int64_t firstPartition = 0, endPartition = 0; ///< HBM: 0 and 1
  int64_t begin = 0, end = 0;

  bool overlaps(const Box &other) const {
    return space == other.space && (space != isa::Space::HBM || buffer == other.buffer) &&
           firstPartition < other.endPartition && other.firstPartition < endPartition && begin < other.end &&
           other.begin < end;
  }
};

Box boundingBox(const isa::AP &ap);

/// The runs of `ap`: sorted, disjoint and maximal. An operand of more than `kMaxRuns` runs (no sensible program has
/// one; a hostile file may) is taken as its bounding box.
constexpr int64_t kMaxRuns = 1 << 20;
ByteRuns byteRuns(const isa::AP &ap);

/// Do two operands share a byte?
bool overlaps(const isa::AP &a, const isa::AP &b);

/// Bytes that an instruction moves through this operand: every element counts as often as it is visited.
inline uint64_t visitedBytes(const isa::AP &ap) { return ap.elements() * ap.partitions * isa::byteSize(ap.dtype); }

} // namespace trn::rt
