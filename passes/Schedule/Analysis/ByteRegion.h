//===- ByteRegion.h - the bytes that one operand touches ----------------------===//
//
// Owns the description of an operand's footprint in a buffer or in a memory: which partitions, which bytes of each,
// and the tests that dependence analysis and liveness need. It knows nothing of instructions and nothing of order.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <map>

namespace trn {

/// A set of the 128 partitions of an on-chip memory.
struct PartitionMask {
  uint64_t bits[2] = {0, 0};

  static PartitionMask range(unsigned start, unsigned count);
  static PartitionMask all() { return {{~uint64_t(0), ~uint64_t(0)}}; }

  bool empty() const { return (bits[0] | bits[1]) == 0; }
  bool intersects(const PartitionMask &other) const {
    return ((bits[0] & other.bits[0]) | (bits[1] & other.bits[1])) != 0;
  }
  bool covers(const PartitionMask &other) const {
    return ((other.bits[0] & ~bits[0]) | (other.bits[1] & ~bits[1])) == 0;
  }
  void add(const PartitionMask &other) {
    bits[0] |= other.bits[0];
    bits[1] |= other.bits[1];
  }
  void remove(const PartitionMask &other) {
    bits[0] &= ~other.bits[0];
    bits[1] &= ~other.bits[1];
  }
  bool operator==(const PartitionMask &other) const { return bits[0] == other.bits[0] && bits[1] == other.bits[1]; }
};

/// The footprint of one operand: the same bytes in each of `partitions`. Bytes are relative to the buffer before
/// allocation and to the memory after it; in HBM, which has no partitions, rows are one more dimension and the mask is
/// full.
struct ByteRegion {
  struct ByteDim {
    int64_t step = 0;
    uint32_t count = 0;
  };

  PartitionMask partitions;
  /// The bounding interval.
  uint64_t begin = 0, end = 0;
  /// Contiguous bytes at each step of `dims`, whose steps are positive and fall from first to last.
  uint64_t run = 0;
  uint8_t rank = 0;
  ByteDim dims[5];

  /// Whether every byte of the bounding interval is touched.
  bool dense() const { return rank == 0; }
  /// How many contiguous runs there are.
  uint64_t runs() const;
  static ByteRegion of(const isa::AP &ap);
  /// The same region `bytes` further on.
  ByteRegion shifted(uint64_t bytes) const;
  /// Whether the two may share a byte. Exact for boxes and for strided patterns of one pitch, else conservative (true).
  bool mayOverlap(const ByteRegion &other) const;
  /// Calls `f(begin, end)` for each contiguous run, at most `limit` of them; false (and no call) if there are more.
  bool forEachRun(unsigned limit, llvm::function_ref<void(uint64_t, uint64_t)> f) const;
};

/// Makes a border of segments at `byte`: a segment across it becomes two with the same contents. A segment is mapped from
/// its first byte and knows its `end`.
template <typename Segment> void splitSegmentAt(std::map<uint64_t, Segment> &segments, uint64_t byte) {
  auto it = segments.upper_bound(byte);
  if (it == segments.begin())
    return;
  --it;
  if (it->first == byte || it->second.end <= byte)
    return;
  segments.emplace(byte, it->second);
  it->second.end = byte;
}

/// A set of bytes × partitions of one buffer.
class RegionSet {
public:
  void add(const ByteRegion &region);
  /// Takes away what `region` surely covers.
  void remove(const ByteRegion &region);
  bool empty() const { return segments.empty(); }
  bool intersects(const ByteRegion &region) const;

private:
  struct Segment {
    uint64_t end;
    PartitionMask partitions;
  };
  void addRun(uint64_t begin, uint64_t end, const PartitionMask &partitions);
  void removeRun(uint64_t begin, uint64_t end, const PartitionMask &partitions);
  std::map<uint64_t, Segment> segments;
};

} // namespace trn
