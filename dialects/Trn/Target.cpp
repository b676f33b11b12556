//===- Target.cpp - the device that a pass compiles for --------------------===//
// Implements Target.h.
#include "dialects/Trn/Target.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace trn {

const isa::DeviceInfo *findDevice(Operation *op, StringRef name) {
  const isa::DeviceInfo *device = isa::device(std::string_view(name.data(), name.size()));
  if (device)
    return device;
  InFlightDiagnostic error = op->emitError("unknown target '") << name << "'; expected one of";
  for (const isa::DeviceInfo *known : isa::allDevices())
    error << " " << known->name;
  return nullptr;
}

} // namespace trn
