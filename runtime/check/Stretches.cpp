//===- Stretches.cpp - device memory on all ways at once --------------------===//
#include "runtime/check/Stretches.h"
#include <algorithm>
#include <iterator>

namespace trn::rt {

void ByteSet::add(const ByteRun &run) {
  if (run.begin >= run.end)
    return;
  int64_t begin = run.begin, end = run.end;
  auto at = runs.upper_bound(begin);
  if (at != runs.begin() && std::prev(at)->second >= begin)
    --at;
  while (at != runs.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = runs.erase(at);
  }
  runs.emplace_hint(at, begin, end);
}

void ByteSet::intersect(const ByteSet &other) {
  absl::btree_map<int64_t, int64_t> both;
  auto a = runs.begin();
  auto b = other.runs.begin();
  while (a != runs.end() && b != other.runs.end()) {
    const int64_t begin = std::max(a->first, b->first), end = std::min(a->second, b->second);
    if (begin < end)
      both.emplace_hint(both.end(), begin, end);
    if (a->second < b->second)
      ++a;
    else
      ++b;
  }
  runs = std::move(both);
}

std::optional<ByteRun> ByteSet::missing(const ByteRun &run) const {
  int64_t begin = run.begin;
  auto at = runs.upper_bound(begin);
  if (at != runs.begin() && std::prev(at)->second > begin) {
    begin = std::prev(at)->second; // runs do not touch: what follows is a hole
    if (begin >= run.end)
      return std::nullopt;
  }
  if (begin >= run.end)
    return std::nullopt;
  return ByteRun{begin, at == runs.end() ? run.end : std::min(run.end, at->first)};
}

void Stretch::write(uint32_t buffer, const ByteRuns &runs) {
  ByteSet &set = written[buffer];
  for (const ByteRun &run : runs)
    set.add(run);
}

bool Stretches::isNew(Node from, Node to, std::vector<uint32_t> trace) {
  std::vector<std::vector<uint32_t>> &traces = known[{from, to}];
  if (std::find(traces.begin(), traces.end(), trace) != traces.end())
    return false;
  traces.push_back(std::move(trace));
  return true;
}

void Stretches::add(Node from, Node to, Stretch stretch) { edges.push_back({from, to, std::move(stretch)}); }

std::vector<Stretches::UnsetRead> Stretches::unsetReads() {
  // The largest solution: a barrier begins with what the first way to it has written, and loses what another has not.
  reached.clear();
  reached[kBegin];
  for (bool changed = true; changed;) {
    changed = false;
    for (const Edge &edge : edges) {
      auto from = reached.find(edge.from);
      if (from == reached.end())
        continue;
      WrittenBytes out = from->second;
      for (const auto &[buffer, set] : edge.stretch.written)
        for (auto [begin, end] : set.runs)
          out[buffer].add({begin, end});
      auto [to, isFirst] = reached.try_emplace(edge.to, out);
      changed |= isFirst;
      if (isFirst)
        continue;
      for (auto &[buffer, set] : to->second) {
        ByteSet before = set;
        auto there = out.find(buffer);
        set.intersect(there == out.end() ? ByteSet() : there->second);
        changed |= !(set == before);
      }
    }
  }
  std::vector<UnsetRead> unset;
  for (const Edge &edge : edges) {
    const WrittenBytes &before = reached[edge.from];
    for (const Stretch::Read &read : edge.stretch.reads) {
      auto set = before.find(read.buffer);
      if (std::optional<ByteRun> hole = set == before.end() ? read.run : set->second.missing(read.run))
        unset.push_back({read.buffer, *hole, read.reader});
    }
  }
  return unset;
}

std::optional<ByteRun> Stretches::missingAtEnd(uint32_t buffer, const ByteRun &run) const {
  auto end = reached.find(kEnd);
  if (end == reached.end())
    return std::nullopt;
  auto set = end->second.find(buffer);
  return (set == end->second.end() ? ByteSet() : set->second).missing(run);
}

} // namespace trn::rt
