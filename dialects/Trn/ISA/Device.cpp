//===- Device.cpp - facts about the targets -------------------------------===//
//
// Owns the device constants.
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/Device.h"
#include <algorithm>

namespace trn::isa {

#include "dialects/Trn/ISA/Devices.cpp.inc"

const DeviceInfo *device(std::string_view name) {
  for (const DeviceInfo &info : kDevices)
    if (name == info.name)
      return &info;
  return nullptr;
}

std::vector<const DeviceInfo *> allDevices() {
  std::vector<const DeviceInfo *> result;
  for (const DeviceInfo &info : kDevices)
    result.push_back(&info);
  // Both point into one table, so equal versions keep its order.
  std::sort(result.begin(), result.end(), [](const DeviceInfo *a, const DeviceInfo *b) {
    return a->version != b->version ? a->version < b->version : a < b;
  });
  return result;
}

const DeviceInfo &widestDevice() {
  // Limits only grow with the core version (tested).
  const DeviceInfo *widest = kDevices;
  for (const DeviceInfo &info : kDevices)
    if (info.version > widest->version)
      widest = &info;
  return *widest;
}

} // namespace trn::isa
