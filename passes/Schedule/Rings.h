//===- Rings.h - which transfers share a ring -----------------------------===//
//
// Owns the numbering of DMA rings. A ring has one issuing queue, or the order of its transfers would be undefined.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/ISA.h"

namespace trn {

/// Loads of weights and inputs have a ring of their own: one prefetch ring is better than four (device guide 9.11), and
/// results must not queue behind prefetches.
inline uint32_t ringOf(isa::Engine issuer, bool load) {
  switch (issuer) {
  case isa::Engine::ACT:
    return 2;
  case isa::Engine::POOL:
    return 3;
  default:
    return load ? 0 : 1;
  }
}

} // namespace trn
