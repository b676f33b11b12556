//===- WeightStream.h - laid-out weights, piece by piece ------------------===//
//
// Owns the byte stream of all weights of an executable: it applies the lazy transforms of each weight to the bytes that
// are asked for, so that laid-out weights are never held whole.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Weights/Constant.h"
#include "compiler/Weights/Transforms.h"
#include "runtime/executable/Executable.h"

namespace trn {

/// Not safe to read from two threads at once.
class WeightStream {
public:
  /// Appends a weight and returns its offset.
  uint64_t add(const Constant &value, WeightTransforms transforms);
  uint64_t bytes() const { return size; }
  /// Fills `out` from `offset` on; gaps between weights are zero.
  bool read(uint64_t offset, char *out, uint64_t count) const;

private:
  struct Weight {
    uint64_t offset;
    unsigned elementBytes;
    Constant value;
    WeightTransforms transforms;
  };
  bool readWeight(const Weight &weight, uint64_t begin, char *out, uint64_t count) const;

  /// The whole source of a weight; that of a splat is written out, one weight at a time.
  llvm::ArrayRef<char> sourceOf(const Weight &weight) const;

  std::vector<Weight> weights;
  uint64_t size = 0;
  mutable std::vector<char> repeated;
  mutable uint64_t repeatedFor = ~uint64_t(0); ///< offset of the weight that `repeated` belongs to
};

} // namespace trn
