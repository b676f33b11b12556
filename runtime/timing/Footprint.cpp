//===- Footprint.cpp - the bytes that an operand touches -------------------===//
//
// See Footprint.h. Broadcast dimensions (step 0) and dimensions of one element touch nothing more and are dropped;
// negative steps are mirrored; dimensions that continue the run before them are folded into it, so that a dense
// operand is one run whatever its rank.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Footprint.h"
#include <algorithm>

namespace trn::rt {
namespace {

struct Stride {
  int64_t bytes;
  int64_t count;
};

/// The operand as a base, strides sorted by size, and the length of the innermost run.
struct Pattern {
  int64_t base = 0;
  int64_t run = 0;
  absl::InlinedVector<Stride, 5> strides; // ascending, each longer than what lies inside it unless it overlaps
  bool empty = false;
};

Pattern normalise(const isa::AP &ap) {
  Pattern pattern;
  const int64_t size = isa::byteSize(ap.dtype);
  pattern.base = static_cast<int64_t>(ap.address);
  pattern.run = size;
  auto add = [&](int64_t step, int64_t count) {
    if (count == 0)
      pattern.empty = true;
    if (count <= 1 || step == 0)
      return;
    if (step < 0)
      pattern.base += step * (count - 1) * size;
    pattern.strides.push_back({std::abs(step) * size, count});
  };
  for (unsigned i = 0; i < ap.rank; ++i)
    add(ap.dims[i].step, ap.dims[i].count);
  if (ap.space == isa::Space::HBM)
    add(ap.partitionStep, ap.partitions);
  if (ap.partitions == 0)
    pattern.empty = true;
  std::sort(pattern.strides.begin(), pattern.strides.end(),
            [](const Stride &a, const Stride &b) { return a.bytes < b.bytes; });
  size_t folded = 0;
  while (folded < pattern.strides.size() && pattern.strides[folded].bytes <= pattern.run) {
    pattern.run += pattern.strides[folded].bytes * (pattern.strides[folded].count - 1);
    ++folded;
  }
  pattern.strides.erase(pattern.strides.begin(), pattern.strides.begin() + folded);
  return pattern;
}

void enumerate(const Pattern &pattern, size_t level, int64_t base, ByteRuns &runs) {
  if (level == 0) {
    if (!runs.empty() && runs.back().end == base)
      runs.back().end = base + pattern.run;
    else
      runs.push_back({base, base + pattern.run});
    return;
  }
  const Stride &stride = pattern.strides[level - 1];
  for (int64_t i = 0; i < stride.count; ++i)
    enumerate(pattern, level - 1, base + i * stride.bytes, runs);
}

void sortAndMerge(ByteRuns &runs) {
  auto less = [](const ByteRun &a, const ByteRun &b) { return a.begin < b.begin; };
  if (!std::is_sorted(runs.begin(), runs.end(), less))
    std::sort(runs.begin(), runs.end(), less);
  size_t kept = 0;
  for (const ByteRun &run : runs) {
    if (kept && run.begin <= runs[kept - 1].end)
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    else
      runs[kept++] = run;
  }
  runs.resize(kept);
}

} // namespace

Box boundingBox(const isa::AP &ap) {
  Pattern pattern = normalise(ap);
  Box box;
  box.space = ap.space;
  const bool hbm = ap.space == isa::Space::HBM;
  box.buffer = hbm ? ap.buffer : 0;
  box.firstPartition = hbm ? 0 : ap.startPartition;
  box.endPartition = hbm ? 1 : int64_t(ap.startPartition) + ap.partitions;
  box.begin = pattern.base;
  box.end = pattern.base + pattern.run;
  for (const Stride &stride : pattern.strides)
    box.end += stride.bytes * (stride.count - 1);
  if (pattern.empty)
    box.end = box.begin;
  return box;
}

ByteRuns byteRuns(const isa::AP &ap) {
  ByteRuns runs;
  Pattern pattern = normalise(ap);
  if (pattern.empty)
    return runs;
  int64_t count = 1;
  for (const Stride &stride : pattern.strides)
    count = std::min(count * stride.count, kMaxRuns + 1);
  if (count > kMaxRuns) {
    Box box = boundingBox(ap);
    runs.push_back({box.begin, box.end});
    return runs;
  }
  enumerate(pattern, pattern.strides.size(), pattern.base, runs);
  sortAndMerge(runs);
  return runs;
}

bool overlaps(const isa::AP &a, const isa::AP &b) {
  if (!boundingBox(a).overlaps(boundingBox(b)))
    return false;
  ByteRuns left = byteRuns(a), right = byteRuns(b);
  if (left.size() == 1 && right.size() == 1)
    return true;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].end <= right[j].begin)
      ++i;
    else if (right[j].end <= left[i].begin)
      ++j;
    else
      return true;
  }
  return false;
}

} // namespace trn::rt
