//===- Shadow.cpp - who wrote and who read each byte -----------------------===//
//
// See Shadow.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Shadow.h"
#include "absl/container/flat_hash_map.h"
#include <algorithm>
#include <iterator>

namespace trn::rt {

/// Cells that are passed one by one before a search takes over.
static constexpr unsigned kSteps = 4;

/// The state with this content. It lives as long as a cell has it.
Shadow::StateId Shadow::intern(State state) {
  if (state.segments.empty())
    return kNeverAccessed;
  auto [place, isNew] = interned.try_emplace(std::move(state), 0);
  if (!isNew)
    return place->second;
  if (unused.empty()) {
    place->second = static_cast<StateId>(table.size());
    table.emplace_back();
  } else {
    place->second = unused.back();
    unused.pop_back();
  }
  table[place->second] = {&place->first, 0};
  return place->second;
}

void Shadow::release(StateId id) {
  if (--table[id].cells || id == kNeverAccessed)
    return;
  interned.erase(*table[id].state);
  unused.push_back(id);
}

/// Makes `at` a border between cells and returns the cell that begins there.
Shadow::Map::iterator Shadow::split(int64_t at) {
  auto next = map.lower_bound(at);
  if (next != map.end() && next->first == at)
    return next;
  StateId state = next == map.begin() ? kNeverAccessed : std::prev(next)->second;
  acquire(state);
  return map.emplace_hint(next, at, state);
}

/// Makes `partition` a border between segments.
void Shadow::split(State &state, int64_t partition) {
  for (auto it = state.segments.begin(); it != state.segments.end(); ++it) {
    if (it->first >= partition || it->end <= partition)
      continue;
    Segment rest = *it;
    rest.first = partition;
    it->end = partition;
    state.segments.insert(it + 1, std::move(rest));
    return;
  }
}

/// Replaces the state of each cell of `footprint` by what `next` makes of it; `next` is asked once for each state.
void Shadow::update(const Footprint &footprint, absl::FunctionRef<State(const State &, const Region &)> next) {
  static const State none{};
  absl::InlinedVector<std::pair<StateId, StateId>, 8> known;
  absl::flat_hash_map<StateId, StateId> manyKnown;
  auto nextOf = [&](StateId id, int64_t begin, int64_t end) {
    for (auto [from, to] : known)
      if (from == id)
        return to;
    if (auto found = manyKnown.find(id); found != manyKnown.end())
      return found->second;
    const State &state = id == kNeverAccessed ? none : *table[id].state;
    StateId to = intern(next(state, {begin, end, footprint.firstPartition, footprint.endPartition}));
    // Both are kept until the end, so that no number gets another meaning meanwhile.
    acquire(id);
    acquire(to);
    if (known.size() < known.capacity())
      known.push_back({id, to});
    else
      manyKnown[id] = to;
    return to;
  };

  auto near = map.end();
  for (const ByteRun &run : footprint.runs) {
    if (run.begin >= run.end)
      continue;
    // The cell that begins at the run's begin; usually one of the next ones.
    for (unsigned step = 0; step < kSteps && near != map.end() && near->first < run.begin; ++step)
      ++near;
    auto cell = near != map.end() && near->first == run.begin ? near : split(run.begin);
    while (cell->first < run.end) {
      auto after = std::next(cell);
      if (after == map.end() || after->first > run.end) {
        acquire(cell->second);
        after = map.emplace_hint(after, run.end, cell->second);
        cell = std::prev(after);
      }
      StateId to = nextOf(cell->second, cell->first, after->first);
      acquire(to);
      release(cell->second);
      cell->second = to;
      // Joined with the cell before it in the same run.
      if (cell->first != run.begin && std::prev(cell)->second == to) {
        release(to);
        cell = map.erase(cell);
      } else {
        cell = after;
      }
    }
    near = cell;
  }
  for (auto [from, to] : known) {
    release(from);
    release(to);
  }
  for (auto [from, to] : manyKnown) {
    release(from);
    release(to);
  }
}

void Shadow::read(const Footprint &footprint, Access reader, uint8_t thread, Visitor writer) {
  update(footprint, [&](const State &state, const Region &region) {
    State next = state;
    split(next, region.firstPartition);
    split(next, region.endPartition);
    int64_t partition = region.firstPartition;
    for (Segment &segment : next.segments) {
      if (segment.end <= region.firstPartition || segment.first >= region.endPartition)
        continue;
      if (partition < segment.first)
        writer(Access(), {region.begin, region.end, partition, segment.first});
      partition = segment.end;
      writer(segment.writer, {region.begin, region.end, segment.first, segment.end});
      auto place = std::lower_bound(segment.readers.begin(), segment.readers.end(), thread,
                                    [](const Reader &r, uint8_t t) { return r.thread < t; });
      if (place == segment.readers.end() || place->thread != thread)
        segment.readers.insert(place, {reader, thread});
      else
        place->access = reader;
    }
    if (partition < region.endPartition)
      writer(Access(), {region.begin, region.end, partition, region.endPartition});
    return next;
  });
}

void Shadow::write(const Footprint &footprint, Access writer, Visitor earlierWriter, Visitor earlierReader) {
  update(footprint, [&](const State &state, const Region &region) {
    for (const Segment &segment : state.segments) {
      if (segment.end <= region.firstPartition || segment.first >= region.endPartition)
        continue;
      Region shared{region.begin, region.end, std::max(segment.first, region.firstPartition),
                    std::min(segment.end, region.endPartition)};
      earlierWriter(segment.writer, shared);
      for (const Reader &reader : segment.readers)
        earlierReader(reader.access, shared);
    }
    State next = state;
    split(next, region.firstPartition);
    split(next, region.endPartition);
    auto &segments = next.segments;
    auto inside = [&](const Segment &s) { return s.first >= region.firstPartition && s.end <= region.endPartition; };
    segments.erase(std::remove_if(segments.begin(), segments.end(), inside), segments.end());
    auto place = std::find_if(segments.begin(), segments.end(),
                              [&](const Segment &s) { return s.first >= region.endPartition; });
    segments.insert(place, Segment{region.firstPartition, region.endPartition, writer, {}});
    return next;
  });
}

void Shadow::unset(const Region &region, absl::FunctionRef<void(const Region &)> hole) const {
  int64_t holeBegin = region.begin;
  auto report = [&](int64_t end) {
    if (holeBegin < end)
      hole({holeBegin, end, region.firstPartition, region.endPartition});
  };
  auto cell = map.upper_bound(region.begin);
  if (cell != map.begin())
    --cell;
  for (; cell != map.end() && cell->first < region.end; ++cell) {
    if (cell->second == kNeverAccessed)
      continue;
    report(std::max(cell->first, region.begin));
    auto after = std::next(cell);
    holeBegin = after == map.end() ? region.end : after->first;
  }
  report(region.end);
}

} // namespace trn::rt
