//===- Device.h - facts about the targets ---------------------------------===//
//
// Owns the table of devices, generated from Devices.td, and the conversions between its units.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialects/Trn/ISA/AccessPattern.h"
#include <cassert>
#include <vector>

namespace trn::isa {

/// Simulated time is counted in ticks of 1/33.6 ns, of which every clock period is a whole number.
constexpr int64_t kTicksPerSecond = 33'600'000'000;

/// Everything that is known about one target. Values, grades and sources: docs/generated/isa.md.
struct DeviceInfo {
  const char *name;
  const char *title;
#include "dialects/Trn/ISA/Devices.h.inc"

  int64_t clockHz(Engine engine) const {
    switch (engine) {
    case Engine::PE:
      return peHz;
    case Engine::ACT:
      return actHz;
    case Engine::DVE:
      return dveHz;
    case Engine::POOL:
      return poolHz;
    case Engine::SP:
      return spHz;
    }
    return spHz;
  }
  /// Ticks of one cycle of the engine.
  int64_t ticksPerCycle(Engine engine) const { return kTicksPerSecond / clockHz(engine); }
  /// Nanoseconds in cycles of the engine, rounded to the nearest.
  int64_t cycles(Engine engine, int64_t nanoseconds) const {
    return (nanoseconds * (clockHz(engine) / 1000) + 500'000) / 1'000'000;
  }
  /// Nanoseconds in ticks, rounded to the nearest.
  static int64_t ticks(int64_t nanoseconds) { return (nanoseconds * 336 + 5) / 10; }
  static int64_t ticksOfPicoseconds(int64_t picoseconds) { return (picoseconds * 336 + 5000) / 10000; }
  static double nanoseconds(int64_t ticks) { return static_cast<double>(ticks) / 33.6; }

  int64_t psumBytes() const { return psumBanks * psumBankBytes; }
  /// Bytes per partition that a program may use in an on-chip space.
  int64_t capacity(Space space) const { return space == Space::PSUM ? psumBytes() : sbufBytesUsable; }
  /// All partitions' bytes.
  int64_t sbufTotalBytes() const { return sbufBytesUsable * partitions; }
};

/// The device of that name, or null.
const DeviceInfo *device(std::string_view name);
/// All devices, in the order of their core version.
std::vector<const DeviceInfo *> allDevices();
/// The device whose limits are the widest of all: what a check assumes that does not know the target.
const DeviceInfo &widestDevice();

} // namespace trn::isa
