//===- Reduction.h - the order of a reduction -----------------------------------===//
//
// Owns the one definition of how elements are combined, for tensor_reduce and the sums of activation: sixteen lanes that
// begin with the operator's identity, element i to lane i mod 16, in order; then the lanes pairwise (0 with 8, 1 with 9,
// ...; then 0 with 4, ...). The order is ours (the device's is not published); it is the same on every host path and
// loses less than a plain chain.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/emulator/kernels/Kernels.h"
#include <algorithm>
#include <cmath>

namespace trn::rt {

/// The value that leaves the other operand as it is.
inline float identityOf(isa::AluOp op) {
  switch (op) {
  case isa::AluOp::Multiply:
  case isa::AluOp::LogicalAnd:
    return 1.0f;
  case isa::AluOp::Max:
    return -INFINITY;
  case isa::AluOp::Min:
    return INFINITY;
  default:
    return 0.0f;
  }
}

/// A reduction in lanes that is fed pieces; every piece but the last has a multiple of 16 elements.
class LaneSum {
public:
  LaneSum(const Kernels &kernels, isa::AluOp op) : kernels(kernels), op(op) {
    std::fill_n(lanes, kReduceLanes, identityOf(op));
  }
  void add(const float *values, uint64_t n) { kernels.reduce(op, values, n, lanes); }
  float finish() {
    for (unsigned width = kReduceLanes / 2; width; width /= 2)
      kernels.binary(op, lanes, lanes + width, lanes, width);
    return lanes[0];
  }

private:
  const Kernels &kernels;
  isa::AluOp op;
  alignas(64) float lanes[kReduceLanes];
};

} // namespace trn::rt
