//===- Shadow.cpp - who wrote and who read each byte -----------------------===//
//
// See Shadow.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Shadow.h"
#include <algorithm>
#include <iterator>

namespace trn::rt {

/// Makes `at` a border between cells and returns the first cell at or behind it.
Shadow::Map::iterator Shadow::split(int64_t at) {
  auto next = map.lower_bound(at);
  if (next == map.begin())
    return next;
  auto before = std::prev(next);
  if (before->second.end <= at)
    return next;
  Cell rest = before->second;
  before->second.end = at;
  return map.emplace_hint(next, at, std::move(rest));
}

/// Makes `partition` a border between segments of `cell`.
void Shadow::split(Cell &cell, int64_t partition) {
  for (auto it = cell.segments.begin(); it != cell.segments.end(); ++it) {
    if (it->first >= partition || it->end <= partition)
      continue;
    Segment rest = *it;
    rest.first = partition;
    it->end = partition;
    cell.segments.insert(it + 1, std::move(rest));
    return;
  }
}

void Shadow::read(const Region &region, Access reader, uint8_t thread, Visitor writer) {
  auto it = split(region.begin);
  split(region.end);
  int64_t at = region.begin;
  for (; it != map.end() && it->first < region.end; ++it) {
    if (at < it->first)
      writer(Access(), {at, it->first, region.firstPartition, region.endPartition});
    at = it->second.end;
    Cell &cell = it->second;
    split(cell, region.firstPartition);
    split(cell, region.endPartition);
    int64_t partition = region.firstPartition;
    for (Segment &segment : cell.segments) {
      if (segment.end <= region.firstPartition || segment.first >= region.endPartition)
        continue;
      if (partition < segment.first)
        writer(Access(), {it->first, cell.end, partition, segment.first});
      partition = segment.end;
      writer(segment.writer, {it->first, cell.end, segment.first, segment.end});
      auto same = std::find_if(segment.readers.begin(), segment.readers.end(),
                               [&](const Reader &r) { return r.thread == thread; });
      if (same == segment.readers.end())
        segment.readers.push_back({reader, thread});
      else
        same->access = reader;
    }
    if (partition < region.endPartition)
      writer(Access(), {it->first, cell.end, partition, region.endPartition});
  }
  if (at < region.end)
    writer(Access(), {at, region.end, region.firstPartition, region.endPartition});
}

void Shadow::write(const Region &region, Access writer, Visitor earlierWriter, Visitor earlierReader) {
  auto first = split(region.begin);
  auto last = split(region.end);
  bool whole = true; // does the write cover every segment of every cell?
  for (auto it = first; it != last; ++it)
    for (const Segment &segment : it->second.segments) {
      if (segment.end <= region.firstPartition || segment.first >= region.endPartition) {
        whole = false;
        continue;
      }
      whole &= segment.first >= region.firstPartition && segment.end <= region.endPartition;
      Region shared{it->first, it->second.end, std::max(segment.first, region.firstPartition),
                    std::min(segment.end, region.endPartition)};
      earlierWriter(segment.writer, shared);
      for (const Reader &reader : segment.readers)
        earlierReader(reader.access, shared);
    }
  const Segment fresh{region.firstPartition, region.endPartition, writer, {}};
  if (whole) {
    auto hint = map.erase(first, last);
    map.emplace_hint(hint, region.begin, Cell{region.end, {fresh}});
    return;
  }
  int64_t at = region.begin;
  for (auto it = first; it != last; ++it) {
    if (at < it->first)
      map.emplace_hint(it, at, Cell{it->first, {fresh}});
    Cell &cell = it->second;
    at = cell.end;
    split(cell, region.firstPartition);
    split(cell, region.endPartition);
    auto inside = [&](const Segment &s) { return s.first >= region.firstPartition && s.end <= region.endPartition; };
    cell.segments.erase(std::remove_if(cell.segments.begin(), cell.segments.end(), inside), cell.segments.end());
    auto place = std::find_if(cell.segments.begin(), cell.segments.end(),
                              [&](const Segment &s) { return s.first >= region.endPartition; });
    cell.segments.insert(place, fresh);
  }
  if (at < region.end)
    map.emplace_hint(last, at, Cell{region.end, {fresh}});
}

void Shadow::unset(const Region &region, absl::FunctionRef<void(const Region &)> hole) const {
  int64_t at = region.begin;
  auto it = map.upper_bound(region.begin);
  if (it != map.begin())
    --it;
  for (; it != map.end() && it->first < region.end; ++it) {
    if (it->second.end <= at)
      continue;
    if (at < it->first)
      hole({at, it->first, region.firstPartition, region.endPartition});
    at = it->second.end;
  }
  if (at < region.end)
    hole({at, region.end, region.firstPartition, region.endPartition});
}

} // namespace trn::rt
