//===- DemandProfile.h - demand for a resource along the program ----------===//
//
// Owns a sequence of demands over program positions with "add to a range" and "largest of a range", both O(log n).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <vector>

namespace trn {

class DemandProfile {
public:
  explicit DemandProfile(uint32_t size);
  /// Adds `amount` to the positions [begin, end).
  void add(uint32_t begin, uint32_t end, int64_t amount);
  /// The largest demand in [begin, end); 0 when that is empty.
  int64_t max(uint32_t begin, uint32_t end) const;

private:
  void add(uint32_t node, uint32_t lo, uint32_t hi, uint32_t begin, uint32_t end, int64_t amount);
  int64_t max(uint32_t node, uint32_t lo, uint32_t hi, uint32_t begin, uint32_t end) const;

  struct Node {
    int64_t largest = 0; ///< of the subtree, with `added` of this node, without that of its ancestors
    int64_t added = 0;
  };
  uint32_t leaves;
  std::vector<Node> nodes;
};

} // namespace trn
