//===- ByteRegion.cpp - the bytes that one operand touches --------------------===//
//
// Owns the footprint arithmetic of ByteRegion.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/ByteRegion.h"
#include <algorithm>

using namespace trn;

PartitionMask PartitionMask::range(unsigned start, unsigned count) {
  PartitionMask mask;
  for (unsigned word = 0; word < 2; ++word) {
    unsigned lo = std::clamp(start, word * 64, word * 64 + 64) - word * 64;
    unsigned hi = std::clamp(start + count, word * 64, word * 64 + 64) - word * 64;
    if (lo >= hi)
      continue;
    uint64_t upTo = hi == 64 ? ~uint64_t(0) : (uint64_t(1) << hi) - 1;
    mask.bits[word] = upTo & ~((uint64_t(1) << lo) - 1);
  }
  return mask;
}

ByteRegion ByteRegion::of(const isa::AP &ap) {
  ByteRegion region;
  int64_t size = isa::byteSize(ap.dtype);
  int64_t begin = static_cast<int64_t>(ap.address);
  auto addDim = [&](int64_t step, uint32_t count) {
    step *= size;
    if (count <= 1 || step == 0)
      return;
    if (step < 0) {
      begin += step * (count - 1);
      step = -step;
    }
    region.dims[region.rank++] = {step, count};
  };
  if (ap.space == isa::Space::HBM) {
    region.partitions = PartitionMask::all();
    addDim(ap.partitionStep, ap.partitions);
  } else {
    region.partitions = PartitionMask::range(ap.startPartition, ap.partitions);
  }
  for (unsigned i = 0; i < ap.rank; ++i)
    addDim(ap.dims[i].step, ap.dims[i].count);
  std::sort(region.dims, region.dims + region.rank,
            [](const ByteDim &a, const ByteDim &b) { return a.step > b.step; });

  region.run = size;
  while (region.rank && region.dims[region.rank - 1].step <= static_cast<int64_t>(region.run)) {
    const ByteDim &dim = region.dims[--region.rank];
    region.run += dim.step * (dim.count - 1);
  }
  region.begin = begin;
  region.end = begin + region.run;
  for (unsigned i = 0; i < region.rank; ++i)
    region.end += region.dims[i].step * (region.dims[i].count - 1);
  return region;
}

ByteRegion ByteRegion::shifted(uint64_t bytes) const {
  ByteRegion moved = *this;
  moved.begin += bytes;
  moved.end += bytes;
  return moved;
}

/// The extent of `region` inside one period of `pitch`, when it stays inside: [first, last). Returns false when it
/// wraps around.
static bool extentModulo(const ByteRegion &region, int64_t pitch, uint64_t &first, uint64_t &last) {
  uint64_t extent = region.run;
  for (unsigned i = 0; i < region.rank; ++i)
    if (region.dims[i].step % pitch != 0)
      extent += region.dims[i].step * (region.dims[i].count - 1);
  first = region.begin % pitch;
  last = first + extent;
  return last <= static_cast<uint64_t>(pitch);
}

bool ByteRegion::mayOverlap(const ByteRegion &other) const {
  if (!partitions.intersects(other.partitions) || end <= other.begin || other.end <= begin)
    return false;
  auto separatedBy = [&](int64_t pitch) {
    uint64_t first, last, otherFirst, otherLast;
    return extentModulo(*this, pitch, first, last) && extentModulo(other, pitch, otherFirst, otherLast) &&
           (last <= otherFirst || otherLast <= first);
  };
  for (unsigned i = 0; i < rank; ++i)
    if (separatedBy(dims[i].step))
      return false;
  for (unsigned i = 0; i < other.rank; ++i)
    if (separatedBy(other.dims[i].step))
      return false;
  return true;
}

uint64_t ByteRegion::runs() const {
  uint64_t runs = 1;
  for (unsigned i = 0; i < rank; ++i)
    runs *= dims[i].count;
  return runs;
}

bool ByteRegion::forEachRun(unsigned limit, llvm::function_ref<void(uint64_t, uint64_t)> f) const {
  const uint64_t runs = this->runs();
  if (runs > limit)
    return false;
  uint32_t index[5] = {0, 0, 0, 0, 0};
  for (uint64_t n = 0; n < runs; ++n) {
    uint64_t at = begin;
    for (unsigned i = 0; i < rank; ++i)
      at += dims[i].step * index[i];
    f(at, at + run);
    for (int i = rank - 1; i >= 0 && ++index[i] == dims[i].count; --i)
      index[i] = 0;
  }
  return true;
}

/// Patterns of more runs than this are added by their bounding interval and not removed at all.
static constexpr unsigned kMaxRuns = 256;

void RegionSet::addRun(uint64_t begin, uint64_t end, const PartitionMask &partitions) {
  splitSegmentAt(segments, begin);
  splitSegmentAt(segments, end);
  uint64_t at = begin;
  auto it = segments.lower_bound(begin);
  while (at < end) {
    if (it != segments.end() && it->first == at) {
      it->second.partitions.add(partitions);
      at = it->second.end;
      ++it;
      continue;
    }
    uint64_t stop = it == segments.end() ? end : std::min(end, it->first);
    it = std::next(segments.emplace(at, Segment{stop, partitions}).first);
    at = stop;
  }
}

void RegionSet::removeRun(uint64_t begin, uint64_t end, const PartitionMask &partitions) {
  splitSegmentAt(segments, begin);
  splitSegmentAt(segments, end);
  auto it = segments.lower_bound(begin);
  while (it != segments.end() && it->first < end) {
    it->second.partitions.remove(partitions);
    it = it->second.partitions.empty() ? segments.erase(it) : std::next(it);
  }
}

void RegionSet::add(const ByteRegion &region) {
  auto add = [&](uint64_t begin, uint64_t end) { addRun(begin, end, region.partitions); };
  if (!region.forEachRun(kMaxRuns, add))
    add(region.begin, region.end);
}

void RegionSet::remove(const ByteRegion &region) {
  region.forEachRun(kMaxRuns, [&](uint64_t begin, uint64_t end) { removeRun(begin, end, region.partitions); });
}

bool RegionSet::intersects(const ByteRegion &region) const {
  auto it = segments.upper_bound(region.begin);
  if (it != segments.begin())
    --it;
  for (; it != segments.end() && it->first < region.end; ++it)
    if (it->second.end > region.begin && it->second.partitions.intersects(region.partitions))
      return true;
  return false;
}
