//===- Ticks.h - the time of the emulated device --------------------------===//
//
// Owns the unit of modelled time. One tick is 1/33.6 ns: every clock of every generation is then a whole number of
// ticks (2.8 GHz = 12, 2.4 = 14, 1.4 = 24, 1.2 = 28, 1.12 = 30, 0.96 = 35), so that a simulation never rounds an
// engine cycle and is deterministic on every host.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cmath>
#include <cstdint>

namespace trn::rt {

/// A point or a span of modelled time.
using Ticks = int64_t;

constexpr double kTicksPerNs = 33.6;
constexpr double kTicksPerSecond = kTicksPerNs * 1e9;

inline Ticks nsToTicks(double ns) { return static_cast<Ticks>(std::llround(ns * kTicksPerNs)); }
inline double ticksToNs(Ticks ticks) { return static_cast<double>(ticks) / kTicksPerNs; }
inline double ticksToUs(Ticks ticks) { return ticksToNs(ticks) / 1e3; }
inline double ticksToSeconds(Ticks ticks) { return static_cast<double>(ticks) / kTicksPerSecond; }

} // namespace trn::rt
