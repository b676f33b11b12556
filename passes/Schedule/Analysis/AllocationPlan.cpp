//===- AllocationPlan.cpp - where each buffer lies ------------------------===//
//
// Owns the placement algorithms of AllocationPlan.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/AllocationPlan.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace trn;

namespace {

constexpr Ticks kNever = -1;
constexpr unsigned kRepairs = 12;
/// Pairs of neighbours that one search looks at before it ends with what it has: about a second. With less memory in use
/// the schedule leaves larger gaps, which costs less than searching on.
constexpr uint64_t kMaxPairs = uint64_t(1) << 27;

/// The placed intervals, for the question "which of them are alive in [begin, end)?". Intervals are sorted by begin;
/// a tree over them holds the latest end among the placed ones.
class PlacedIntervals {
public:
  explicit PlacedIntervals(llvm::ArrayRef<Interval> intervals) : intervals(intervals), byBegin(intervals.size()) {
    std::iota(byBegin.begin(), byBegin.end(), 0);
    llvm::sort(byBegin, [&](uint32_t a, uint32_t b) {
      return std::make_pair(intervals[a].begin, a) < std::make_pair(intervals[b].begin, b);
    });
    rank.resize(intervals.size());
    for (uint32_t r = 0; r < byBegin.size(); ++r)
      rank[byBegin[r]] = r;
    while (leaves < byBegin.size())
      leaves *= 2;
    latestEnd.assign(2 * leaves, kNever);
  }

  void clear() { latestEnd.assign(2 * leaves, kNever); }

  void insert(uint32_t id) {
    for (uint32_t node = leaves + rank[id]; node; node /= 2)
      latestEnd[node] = std::max(latestEnd[node], intervals[id].end);
  }

  void overlapping(const Interval &interval, llvm::SmallVectorImpl<uint32_t> &ids) const {
    auto beginsBefore = [&](uint32_t id) { return intervals[id].begin < interval.end; };
    uint32_t prefix = std::partition_point(byBegin.begin(), byBegin.end(), beginsBefore) - byBegin.begin();
    collect(1, 0, leaves, prefix, interval.begin, ids);
  }

private:
  void collect(uint32_t node, uint32_t lo, uint32_t hi, uint32_t prefix, Ticks begin,
               llvm::SmallVectorImpl<uint32_t> &ids) const {
    if (lo >= prefix || latestEnd[node] <= begin)
      return;
    if (hi - lo == 1) {
      ids.push_back(byBegin[lo]);
      return;
    }
    uint32_t mid = (lo + hi) / 2;
    collect(2 * node, lo, mid, prefix, begin, ids);
    collect(2 * node + 1, mid, hi, prefix, begin, ids);
  }

  llvm::ArrayRef<Interval> intervals;
  std::vector<uint32_t> byBegin, rank;
  uint32_t leaves = 1;
  std::vector<Ticks> latestEnd;
};

class RangePlacer {
public:
  RangePlacer(llvm::ArrayRef<Interval> intervals, uint64_t capacity, uint64_t alignment)
      : intervals(intervals), capacity(capacity), alignment(alignment), placed(intervals),
        taken(llvm::divideCeil(capacity, alignment)) {}

  /// Places in the given order.
  Placement place(llvm::ArrayRef<uint32_t> order, const char *strategy) {
    placed.clear();
    Placement result;
    result.strategy = strategy;
    result.addresses.assign(intervals.size(), 0);
    for (uint32_t id : order) {
      uint64_t bytes = aligned(id);
      uint64_t address = exhausted() ? capacity : bestFit(id, bytes, result.addresses);
      if (address + bytes > capacity) {
        result.failed.push_back(id);
        continue;
      }
      result.addresses[id] = address;
      result.peak = std::max(result.peak, address + bytes);
      placed.insert(id);
    }
    return result;
  }

  bool exhausted() const { return pairs > kMaxPairs; }

private:
  uint64_t aligned(uint32_t id) const { return llvm::alignTo(std::max<uint64_t>(intervals[id].bytes, 1), alignment); }

  /// The smallest gap that holds `bytes`; the end of everything when no gap does. What is taken is marked in units of
  /// the alignment, so that many neighbours need no sorting.
  uint64_t bestFit(uint32_t id, uint64_t bytes, llvm::ArrayRef<uint64_t> addresses) {
    neighbours.clear();
    placed.overlapping(intervals[id], neighbours);
    pairs += neighbours.size();
    taken.reset();
    for (uint32_t other : neighbours)
      taken.set(addresses[other] / alignment, (addresses[other] + aligned(other)) / alignment);
    uint64_t units = bytes / alignment, best = 0, bestGap = ~uint64_t(0);
    int last = taken.find_last();
    for (int at = 0; at <= last;) {
      int begin = taken.find_next_unset(at - 1), end = begin < 0 ? -1 : taken.find_next(begin);
      if (end < 0)
        break;
      uint64_t gap = end - begin;
      if (gap >= units && gap < bestGap) {
        bestGap = gap;
        best = begin;
      }
      at = end;
    }
    return (bestGap == ~uint64_t(0) ? last + 1 : best) * alignment;
  }

  llvm::ArrayRef<Interval> intervals;
  uint64_t capacity, alignment;
  PlacedIntervals placed;
  llvm::SmallVector<uint32_t> neighbours;
  llvm::BitVector taken; ///< units of the alignment
  uint64_t pairs = 0;
};

/// Free byte ranges, by address and by size.
class FreeRanges {
public:
  explicit FreeRanges(uint64_t capacity) { insert(0, capacity); }

  /// Takes `bytes` from the smallest range that holds them; false when none does.
  bool take(uint64_t bytes, uint64_t &address) {
    auto fit = bySize.lower_bound({bytes, 0});
    if (fit == bySize.end())
      return false;
    uint64_t size = fit->first;
    address = fit->second;
    bySize.erase(fit);
    byAddress.erase(address);
    if (size > bytes)
      insert(address + bytes, size - bytes);
    return true;
  }

  void release(uint64_t address, uint64_t bytes) {
    auto next = byAddress.lower_bound(address);
    if (next != byAddress.end() && next->first == address + bytes) {
      bytes += next->second;
      next = erase(next);
    }
    if (next != byAddress.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == address) {
        address = previous->first;
        bytes += previous->second;
        erase(previous);
      }
    }
    insert(address, bytes);
  }

private:
  void insert(uint64_t address, uint64_t bytes) {
    byAddress[address] = bytes;
    bySize.insert({bytes, address});
  }
  std::map<uint64_t, uint64_t>::iterator erase(std::map<uint64_t, uint64_t>::iterator it) {
    bySize.erase({it->second, it->first});
    return byAddress.erase(it);
  }
  std::map<uint64_t, uint64_t> byAddress;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
};

/// Best fit in the order of time, in O(n log n) whatever the number of live buffers.
Placement placeInTime(llvm::ArrayRef<Interval> intervals, uint64_t capacity, uint64_t alignment) {
  Placement result;
  result.strategy = "in time";
  result.addresses.assign(intervals.size(), 0);
  std::vector<uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::make_pair(intervals[a].begin, a) < std::make_pair(intervals[b].begin, b);
  });
  FreeRanges free(llvm::alignDown(capacity, alignment));
  std::set<std::pair<Ticks, uint32_t>> live;
  auto bytesOf = [&](uint32_t id) { return llvm::alignTo(std::max<uint64_t>(intervals[id].bytes, 1), alignment); };
  for (uint32_t id : order) {
    while (!live.empty() && live.begin()->first <= intervals[id].begin) {
      uint32_t dead = live.begin()->second;
      free.release(result.addresses[dead], bytesOf(dead));
      live.erase(live.begin());
    }
    if (!free.take(bytesOf(id), result.addresses[id])) {
      result.failed.push_back(id);
      continue;
    }
    result.peak = std::max(result.peak, result.addresses[id] + bytesOf(id));
    live.insert({intervals[id].end, id});
  }
  return result;
}

/// From this many buffers on, placement in time comes first, and of the other orders, whose cost grows with the number of
/// live buffers, only the largest-first one and its repairs are tried.
constexpr size_t kManyIntervals = 8192;

} // namespace

Placement trn::placeRanges(llvm::ArrayRef<Interval> intervals, uint64_t capacity, uint64_t alignment) {
  RangePlacer placer(intervals, capacity, alignment);
  std::vector<uint32_t> order(intervals.size());
  auto orderBy = [&](auto key) {
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](uint32_t a, uint32_t b) {
      return std::make_tuple(key(intervals[a]), intervals[a].begin, a) <
             std::make_tuple(key(intervals[b]), intervals[b].begin, b);
    });
  };
  auto better = [](const Placement &a, const Placement &b) {
    return std::make_pair(a.failed.size(), a.peak) < std::make_pair(b.failed.size(), b.peak);
  };

  bool many = intervals.size() >= kManyIntervals;
  if (many)
    if (Placement inTime = placeInTime(intervals, capacity, alignment); inTime.failed.empty())
      return inTime;
  orderBy([](const Interval &i) { return -double(i.bytes); });
  std::vector<uint32_t> bySize = order;
  Placement best = placer.place(order, "largest first");
  auto tryOrder = [&](const char *strategy) {
    if (many || best.failed.empty() || placer.exhausted())
      return;
    Placement next = placer.place(order, strategy);
    if (better(next, best))
      best = std::move(next);
  };
  orderBy([](const Interval &i) { return -double(i.bytes) * double(i.end - i.begin); });
  tryOrder("largest area first");
  orderBy([](const Interval &i) { return -double(i.end - i.begin); });
  tryOrder("longest first");
  orderBy([](const Interval &i) { return double(i.begin); });
  tryOrder("earliest first");

  // Repair: whatever found no place goes first in the next attempt.
  std::vector<uint32_t> priority(intervals.size(), 0);
  llvm::SmallVector<uint32_t> homeless(best.failed.begin(), best.failed.end());
  for (unsigned attempt = 1; attempt <= kRepairs && !best.failed.empty() && !placer.exhausted(); ++attempt) {
    for (uint32_t id : homeless)
      priority[id] = attempt;
    order.clear();
    for (unsigned level = attempt + 1; level-- > 0;)
      llvm::copy_if(bySize, std::back_inserter(order), [&](uint32_t id) { return priority[id] == level; });
    Placement next = placer.place(order, "largest first, repaired");
    homeless.assign(next.failed.begin(), next.failed.end());
    if (better(next, best))
      best = std::move(next);
  }
  return best;
}

Placement trn::placeBanks(llvm::ArrayRef<Interval> intervals, unsigned banks) {
  Placement result;
  result.strategy = "longest released first";
  result.addresses.assign(intervals.size(), 0);
  std::vector<uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::make_pair(intervals[a].begin, a) < std::make_pair(intervals[b].begin, b);
  });
  std::vector<Ticks> released(banks, kNever);
  for (uint32_t id : order) {
    const Interval &interval = intervals[id];
    unsigned count = interval.bytes;
    unsigned best = banks;
    Ticks bestRelease = interval.begin;
    for (unsigned bank = 0; bank + count <= banks; ++bank) {
      Ticks latest = *std::max_element(released.begin() + bank, released.begin() + bank + count);
      if (latest <= interval.begin && (best == banks || latest < bestRelease)) {
        best = bank;
        bestRelease = latest;
      }
    }
    if (best == banks) {
      result.failed.push_back(id);
      continue;
    }
    result.addresses[id] = best;
    result.peak = std::max<uint64_t>(result.peak, best + count);
    std::fill(released.begin() + best, released.begin() + best + count, interval.end);
  }
  return result;
}

/// SBUF addresses are multiples of this: whole words of every element type, and DMA rows that do not straddle.
static constexpr uint64_t kSbufAlignment = 32;

AllocationPlan trn::computeAllocation(const FlatProgram &program, llvm::ArrayRef<ScheduledInstruction> scheduled,
                                      const Resources &resources) {
  AllocationPlan plan;
  plan.addresses.assign(program.buffers.size(), 0);
  plan.lives.resize(program.buffers.size());
  std::vector<bool> used(program.buffers.size(), false);
  for (uint32_t node = 0; node < program.instructions.size(); ++node)
    for (const FlatAccess &access : program.accessesOf(node)) {
      Interval &life = plan.lives[access.buffer];
      Ticks begin = scheduled[node].issue;
      Ticks end = scheduled[node].completion + (program.instructions[node].isDma ? 0 : resources.semaphoreHop);
      life.begin = used[access.buffer] ? std::min(life.begin, begin) : begin;
      life.end = used[access.buffer] ? std::max(life.end, end) : end;
      used[access.buffer] = true;
    }

  auto place = [&](isa::Space space, auto placeAll, auto toAddress) {
    std::vector<uint32_t> ids;
    std::vector<Interval> intervals;
    for (uint32_t id = 0; id < program.buffers.size(); ++id)
      if (used[id] && program.buffers[id].space == space) {
        plan.lives[id].bytes = program.buffers[id].bytes;
        ids.push_back(id);
        intervals.push_back(plan.lives[id]);
      }
    Placement placement = placeAll(intervals);
    for (uint32_t i = 0; i < ids.size(); ++i)
      plan.addresses[ids[i]] = toAddress(placement.addresses[i]);
    for (uint32_t failed : placement.failed)
      plan.failed.push_back(ids[failed]);
    return std::make_pair(placement, static_cast<unsigned>(ids.size()));
  };
  auto [sbuf, sbufCount] = place(
      isa::Space::SBUF,
      [&](std::vector<Interval> &intervals) { return placeRanges(intervals, resources.sbufBytes, kSbufAlignment); },
      [](uint64_t address) { return address; });
  plan.sbufPeak = sbuf.peak;
  plan.strategy = sbuf.strategy;
  plan.sbufBuffers = sbufCount;
  plan.psumBuffers = place(
                         isa::Space::PSUM,
                         [&](std::vector<Interval> &intervals) {
                           for (Interval &interval : intervals)
                             interval.bytes = resources.banksOf(interval.bytes);
                           return placeBanks(intervals, resources.psumBanks);
                         },
                         [&](uint64_t bank) { return bank * resources.psumBankBytes; })
                         .second;
  return plan;
}

void AllocationPlan::print(llvm::raw_ostream &os) const {
  os << "allocation: " << sbufBuffers << " SBUF buffers, peak " << sbufPeak << " bytes per partition (" << strategy
     << "), " << psumBuffers << " PSUM buffers\n";
}
