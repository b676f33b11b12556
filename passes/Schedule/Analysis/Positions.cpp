//===- Positions.cpp - the order in which a program is needed -------------===//
//
// Implements Positions.h. Positions are sorted by keys: instruction i has key 2 i + 1, and what is moved before i has an
// even key of at most 2 i.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/Analysis/Positions.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>
#include <optional>

using namespace trn;

namespace {

/// A passage comes so many times its own instructions before its first use, and before the next passage: it takes DMA
/// three times, and the work beside it should not wait for that.
constexpr uint64_t kPassageLead = 4;

constexpr uint64_t kNever = ~uint64_t(0);

class OrderByNeed {
public:
  OrderByNeed(const FlatProgram &program, const DependenceGraph &graph)
      : program(program), successors(graph.reversed()), size(program.instructions.size()) {}

  std::vector<uint32_t> run() {
    findPassages();
    findKeys();
    std::vector<uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](uint32_t a, uint32_t b) { return std::make_pair(key[a], a) < std::make_pair(key[b], b); });
    return order;
  }

private:
  bool isOnChip(uint32_t buffer) const { return program.buffers[buffer].space != isa::Space::HBM; }

  bool isLoad(uint32_t node) const {
    return program.instructions[node].isDma && llvm::any_of(program.accessesOf(node), [&](const FlatAccess &access) {
      return access.writes && isOnChip(access.buffer);
    });
  }

  /// The only buffer on chip that `node` reads, if there is one and it does not write it, too.
  std::optional<uint32_t> onlySource(uint32_t node) const {
    std::optional<uint32_t> source;
    for (const FlatAccess &access : program.accessesOf(node)) {
      if (!access.reads || !isOnChip(access.buffer))
        continue;
      if (access.writes || (source && *source != access.buffer))
        return std::nullopt;
      source = access.buffer;
    }
    return source;
  }

  /// Finds, for each instruction of a passage, the last one of it. All that touches an inner buffer of a passage brings
  /// data from HBM, or reads that buffer alone: assumed of all at first, then taken back where it does not hold.
  void findPassages() {
    enum : uint8_t { Computes, Loads, Passes };
    std::vector<uint8_t> kind(size, Computes);
    std::vector<std::vector<uint32_t>> users(program.buffers.size());
    std::vector<bool> inner(program.buffers.size(), true);
    std::vector<uint32_t> outer;
    auto leave = [&](uint32_t buffer) {
      if (isOnChip(buffer) && inner[buffer]) {
        inner[buffer] = false;
        outer.push_back(buffer);
      }
    };
    for (uint32_t node = 0; node < size; ++node) {
      bool fromHbm = isLoad(node) && llvm::none_of(program.accessesOf(node), [&](const FlatAccess &access) {
                       return access.reads && isOnChip(access.buffer);
                     });
      kind[node] = fromHbm ? Loads : onlySource(node) ? Passes : Computes;
      for (const FlatAccess &access : program.accessesOf(node)) {
        users[access.buffer].push_back(node);
        if (kind[node] == Computes)
          leave(access.buffer);
      }
    }
    while (!outer.empty()) {
      uint32_t buffer = outer.back();
      outer.pop_back();
      for (uint32_t node : users[buffer])
        if (kind[node] == Passes && *onlySource(node) == buffer) {
          kind[node] = Computes;
          for (const FlatAccess &access : program.accessesOf(node))
            leave(access.buffer);
        }
    }
    llvm::EquivalenceClasses<uint32_t> passages;
    for (uint32_t buffer = 0; buffer < users.size(); ++buffer)
      if (isOnChip(buffer) && inner[buffer])
        for (uint32_t node : users[buffer])
          passages.unionSets(users[buffer].front(), node);
    membersOf.resize(size);
    passageOf.assign(size, size);
    for (const auto *passage : passages)
      if (passage->isLeader()) {
        std::vector<uint32_t> members(passages.member_begin(*passage), passages.member_end());
        llvm::sort(members);
        uint32_t last = members.back();
        bool leavesChip = llvm::all_of(members, [&](uint32_t member) {
          return llvm::all_of(program.accessesOf(member), [&](const FlatAccess &access) {
            return !access.writes || !isOnChip(access.buffer) || inner[access.buffer];
          });
        });
        if (members.size() > 1 && leavesChip && firstUse(members) > last) {
          for (uint32_t member : members)
            passageOf[member] = last;
          membersOf[last] = std::move(members);
        }
      }
  }

  /// The first instruction that is not of the passage and waits for one of it.
  uint32_t firstUse(llvm::ArrayRef<uint32_t> members) const {
    uint32_t first = size;
    for (uint32_t member : members)
      for (auto [successor, data] : successors.of(member))
        if (!std::binary_search(members.begin(), members.end(), successor))
          first = std::min(first, successor);
    return first;
  }

  /// From the last instruction to the first: what waits for an instruction, or for a passage, has its key already.
  void findKeys() {
    key.assign(size, kNever);
    uint64_t nextPassage = kNever;
    for (uint32_t node = size; node-- > 0;) {
      if (passageOf[node] == node)
        movePassage(membersOf[node], nextPassage);
      if (key[node] != kNever)
        continue;
      uint64_t need = isLoad(node) ? keyOfNeed(node) : kNever;
      key[node] = need != kNever ? need : 2 * uint64_t(node) + 1;
    }
  }

  /// The key before the first of what waits for `members`.
  uint64_t keyOfNeed(llvm::ArrayRef<uint32_t> members) const {
    uint64_t need = kNever;
    for (uint32_t member : members)
      for (auto [successor, data] : successors.of(member))
        if (members.size() == 1 || passageOf[successor] != members.back())
          need = std::min(need, key[successor]);
    return need == kNever ? kNever : need & ~uint64_t(1);
  }

  /// Moves a passage, if it is needed later than where the program has it, with time to spare.
  void movePassage(llvm::ArrayRef<uint32_t> members, uint64_t &nextPassage) {
    uint64_t need = std::min(keyOfNeed(members), nextPassage), lead = 2 * kPassageLead * members.size();
    if (need <= lead || need - lead <= 2 * uint64_t(members.back()))
      return;
    nextPassage = need - lead;
    for (uint32_t member : members)
      key[member] = nextPassage;
  }

  const FlatProgram &program;
  const DependenceGraph successors;
  const uint32_t size;
  /// The last instruction of the passage that an instruction belongs to, or the number of instructions.
  std::vector<uint32_t> passageOf;
  std::vector<std::vector<uint32_t>> membersOf; ///< by the last member
  std::vector<uint64_t> key;
};

} // namespace

std::vector<uint32_t> trn::orderByNeed(const FlatProgram &program, const DependenceGraph &graph) {
  return OrderByNeed(program, graph).run();
}
