//===- DemandProfile.cpp - demand for a resource along the program --------===//
//
// Owns the segment tree of DemandProfile.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/DemandProfile.h"
#include <algorithm>
#include <limits>

using namespace trn;

DemandProfile::DemandProfile(uint32_t size) : leaves(1) {
  while (leaves < size)
    leaves *= 2;
  nodes.resize(2 * leaves);
}

void DemandProfile::add(uint32_t begin, uint32_t end, int64_t amount) {
  if (begin < end)
    add(1, 0, leaves, begin, end, amount);
}

int64_t DemandProfile::max(uint32_t begin, uint32_t end) const {
  return begin < end ? max(1, 0, leaves, begin, end) : 0;
}

void DemandProfile::add(uint32_t node, uint32_t lo, uint32_t hi, uint32_t begin, uint32_t end, int64_t amount) {
  if (begin >= hi || end <= lo)
    return;
  if (begin <= lo && hi <= end) {
    nodes[node].largest += amount;
    nodes[node].added += amount;
    return;
  }
  uint32_t mid = (lo + hi) / 2;
  add(2 * node, lo, mid, begin, end, amount);
  add(2 * node + 1, mid, hi, begin, end, amount);
  nodes[node].largest = std::max(nodes[2 * node].largest, nodes[2 * node + 1].largest) + nodes[node].added;
}

int64_t DemandProfile::max(uint32_t node, uint32_t lo, uint32_t hi, uint32_t begin, uint32_t end) const {
  if (begin >= hi || end <= lo)
    return std::numeric_limits<int64_t>::min() / 2;
  if (begin <= lo && hi <= end)
    return nodes[node].largest;
  uint32_t mid = (lo + hi) / 2;
  return std::max(max(2 * node, lo, mid, begin, end), max(2 * node + 1, mid, hi, begin, end)) + nodes[node].added;
}
