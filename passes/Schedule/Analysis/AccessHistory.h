//===- AccessHistory.h - who touched which bytes last ---------------------===//
//
// Owns the record of the accesses to one memory or buffer, in an order that the caller chooses, and reports for a new
// access which earlier ones it conflicts with. What the order means (program order, issue order) is the caller's.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/Schedule/Analysis/ByteRegion.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace trn {

enum class Conflict : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };

class AccessHistory {
public:
  /// `foldReaders`: readers with the same `thread` complete in the order in which they are recorded, so that being
  /// ordered after the last one is enough; long lists of them are folded.
  explicit AccessHistory(bool foldReaders = false) : foldReaders(foldReaders) {}

  /// Reports the earlier accesses that conflict with this one (a node can be reported more than once), then records it.
  void access(uint32_t node, uint16_t thread, const ByteRegion &region, bool reads, bool writes,
              llvm::function_ref<void(uint32_t node, Conflict kind)> conflict);

private:
  struct Entry {
    uint32_t node;
    uint16_t thread;
    /// Stands for more bytes than `region` says: every access to the segment conflicts.
    bool wholeSegment;
    uint32_t region;
    PartitionMask partitions;
  };
  using Entries = llvm::SmallVector<Entry, 2>;
  struct Segment {
    uint64_t end;
    Entries writers, readers;
  };
  bool conflicts(const Entry &entry, const ByteRegion &region) const;
  bool isFinerByRuns(const ByteRegion &region) const;
  /// `isWhole`: the access touches every byte of the segment.
  void update(Segment &segment, const Entry &entry, const ByteRegion &region, bool isWhole, bool reads, bool writes,
              llvm::function_ref<void(uint32_t, Conflict)> conflict);
  void addReader(Segment &segment, const Entry &entry, bool isWhole);

  bool foldReaders;
  std::map<uint64_t, Segment> segments;
  llvm::SmallVector<ByteRegion, 0> regions;
};

} // namespace trn
