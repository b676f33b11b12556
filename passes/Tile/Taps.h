//===- Taps.h - which sums are accumulated tap by tap -----------------------===//
// Owns the limits that tiling and selection share: a sum of products over a window, whose weights are the same for many
// elements of a partition, is accumulated by instructions per tap instead of one over all taps.
#pragma once
#include <cstdint>

namespace trn {

/// Rows shorter than this cost more as instructions per tap than as one product and one reduction of all taps:
/// max(64, n) against 3 n cycles a tap.
inline constexpr int64_t kShortestTap = 32;
/// More taps are no window: their instructions would be most of the program.
inline constexpr int64_t kMostTaps = 128;

} // namespace trn
