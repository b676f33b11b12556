//===- AccessHistory.cpp - who touched which bytes last -------------------===//
//
// Owns the interval map of AccessHistory.h. Its cost stays near linear: a dense write forgets what it covers, a region with
// gaps visits its own bytes only where others fill the gaps, and a segment with many entries is ordered as a whole instead
// of byte by byte.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/AccessHistory.h"
#include "llvm/ADT/STLExtras.h"

using namespace trn;

/// Above this many entries a segment is no longer refined: its next writer is ordered after all of them and stands for
/// them. False order inside one segment is the price for a linear bound.
static constexpr unsigned kMaxEntries = 48;
/// Above this many readers those of one thread are folded (only where the caller allows it).
static constexpr unsigned kMaxReaders = 8;
/// Regions of more runs than this are always visited by their bounding interval.
static constexpr unsigned kMaxVisitedRuns = 4096;

bool AccessHistory::conflicts(const Entry &entry, const ByteRegion &region) const {
  if (!entry.partitions.intersects(region.partitions))
    return false;
  return entry.wholeSegment || regions[entry.region].mayOverlap(region);
}

void AccessHistory::addReader(Segment &segment, const Entry &entry, bool isWhole) {
  if (foldReaders) {
    bool full = segment.readers.size() >= kMaxReaders;
    for (Entry &old : segment.readers) {
      if (old.thread != entry.thread)
        continue;
      bool covered = isWhole && entry.partitions.covers(old.partitions);
      if (!covered && !full)
        continue;
      old.node = entry.node;
      old.region = entry.region;
      old.wholeSegment |= !covered;
      old.partitions.add(entry.partitions);
      return;
    }
  }
  segment.readers.push_back(entry);
}

void AccessHistory::update(Segment &segment, const Entry &entry, const ByteRegion &region, bool isWhole, bool reads,
                           bool writes, llvm::function_ref<void(uint32_t, Conflict)> conflict) {
  bool crowded = segment.writers.size() + segment.readers.size() > kMaxEntries;
  bool all = writes && crowded;
  for (const Entry &old : segment.writers)
    if (old.node != entry.node && (all || conflicts(old, region)))
      conflict(old.node, reads ? Conflict::ReadAfterWrite : Conflict::WriteAfterWrite);
  if (!writes) {
    addReader(segment, entry, isWhole);
    return;
  }
  for (const Entry &old : segment.readers)
    if (old.node != entry.node && (all || conflicts(old, region)))
      conflict(old.node, Conflict::WriteAfterRead);

  Entry own = entry;
  if (all) {
    own.wholeSegment = true;
    own.partitions = PartitionMask::all();
    segment.writers.clear();
    segment.readers.clear();
  } else if (isWhole) {
    auto forgotten = [&](const Entry &old) { return entry.partitions.covers(old.partitions); };
    llvm::erase_if(segment.writers, forgotten);
    llvm::erase_if(segment.readers, forgotten);
  }
  segment.writers.push_back(own);
}

/// Whether the bounding interval of a region has more segments than the region has runs: then its runs are visited, each
/// by itself, so that accesses that interleave, as slices of planes do, cost no more than their own bytes.
bool AccessHistory::isFinerByRuns(const ByteRegion &region) const {
  uint64_t runs = region.runs();
  if (region.dense() || runs > kMaxVisitedRuns)
    return false;
  auto it = segments.lower_bound(region.begin);
  for (uint64_t seen = 0; it != segments.end() && it->first < region.end; ++it)
    if (++seen > runs)
      return true;
  return false;
}

void AccessHistory::access(uint32_t node, uint16_t thread, const ByteRegion &region, bool reads, bool writes,
                           llvm::function_ref<void(uint32_t, Conflict)> conflict) {
  Entry entry{node, thread, false, static_cast<uint32_t>(regions.size()), region.partitions};
  regions.push_back(region);
  auto visit = [&](uint64_t begin, uint64_t end, bool isWhole) {
    splitSegmentAt(segments, begin);
    splitSegmentAt(segments, end);
    uint64_t at = begin;
    auto it = segments.lower_bound(at);
    while (at < end) {
      if (it == segments.end() || it->first != at) {
        uint64_t stop = it == segments.end() ? end : std::min(end, it->first);
        it = segments.emplace(at, Segment{stop, {}, {}}).first;
      }
      update(it->second, entry, region, isWhole, reads, writes, conflict);
      at = it->second.end;
      ++it;
    }
  };
  if (isFinerByRuns(region))
    region.forEachRun(kMaxVisitedRuns, [&](uint64_t begin, uint64_t end) { visit(begin, end, /*isWhole=*/true); });
  else
    visit(region.begin, region.end, region.dense());
}
