//===- View.h - operands resolved to host memory --------------------------------===//
//
// Owns the checked form of an access pattern: strides in bytes, dimensions merged where they are regular, bounds proved
// once. Only Core makes views, so whoever holds one may visit every element of it without another check.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"
#include <algorithm>
#include <cstdint>

namespace trn::rt {

/// One operand of an instruction.
struct View {
  struct Dim {
    uint64_t count;
    int64_t stride; ///< bytes
  };

  /// The slot that holds the memory's base address; buffers in HBM are bound anew for every run.
  uint8_t *const *origin = nullptr;
  int64_t offset = 0;          ///< bytes from the base to element 0 of the first partition
  int64_t partitionStride = 0; ///< bytes
  uint32_t partitions = 0;
  uint64_t elements = 0; ///< per partition
  isa::DType dtype = isa::DType::F32;
  isa::Space space = isa::Space::SBUF;
  uint8_t elementBytes = 0;
  /// At least 1; neighbouring dimensions that continue each other are one. dims[rank - 1] is innermost.
  uint8_t rank = 0;
  Dim dims[isa::kMaxRank] = {};

  uint8_t *row(uint32_t partition) const { return *origin + offset + int64_t(partition) * partitionStride; }
  const Dim &inner() const { return dims[rank - 1]; }
  /// All elements of a partition lie side by side.
  bool contiguous() const { return rank == 1 && inner().stride == elementBytes; }
};

/// Visits elements [begin, begin + count) of a partition as runs of equal stride: use(address, n, elements before).
/// `row` is View::row of the partition.
template <typename Use> void forRuns(const View &view, uint8_t *row, uint64_t begin, uint64_t count, Use use) {
  uint64_t index[isa::kMaxRank];
  uint64_t rest = begin;
  int64_t offset = 0;
  for (int d = view.rank; d-- > 0;) {
    index[d] = d == 0 ? rest : rest % view.dims[d].count;
    rest = d == 0 ? 0 : rest / view.dims[d].count;
    offset += int64_t(index[d]) * view.dims[d].stride;
  }
  const int last = view.rank - 1;
  const View::Dim &inner = view.dims[last];
  for (uint64_t done = 0; done < count;) {
    uint64_t n = std::min(inner.count - index[last], count - done);
    use(row + offset, n, done);
    done += n;
    if (done == count)
      return;
    // Step to the next run: the innermost index was or becomes complete.
    offset -= int64_t(index[last]) * inner.stride;
    index[last] = 0;
    for (int d = last; d-- > 0;) {
      offset += view.dims[d].stride;
      if (++index[d] < view.dims[d].count)
        break;
      offset -= int64_t(index[d]) * view.dims[d].stride;
      index[d] = 0;
    }
  }
}

} // namespace trn::rt
