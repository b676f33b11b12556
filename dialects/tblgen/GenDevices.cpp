//===- GenDevices.cpp - the device tables ---------------------------------===//
//
// Owns the generators of isa::DeviceInfo (-gen-device-decls) and of one constant per target (-gen-device-defs).
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace trn::tblgen;

/// The fact of `device`, which states or inherits every field.
static const Record *requireFact(const Record *device, const Record *field) {
  const Record *fact = findFact(device, field);
  if (!fact)
    PrintFatalError(device->getLoc(),
                    "device '" + device->getValueAsString("name") + "' does not state '" + field->getName() + "'");
  return fact;
}

/// The one value of a field of the whole family; none for a field that may differ.
static std::optional<int64_t> familyValue(const RecordKeeper &records, const Record *field) {
  if (!field->isSubClassOf("FamilyField"))
    return std::nullopt;
  std::optional<int64_t> shared;
  for (const Record *device : records.getAllDerivedDefinitions("Device")) {
    int64_t value = requireFact(device, field)->getValueAsInt("value");
    if (shared && *shared != value)
      PrintFatalError(device->getLoc(), "device '" + device->getValueAsString("name") + "' states " + Twine(value) +
                                            " for '" + field->getName() + "', which is " + Twine(*shared) +
                                            " on every device");
    shared = value;
  }
  return shared;
}

static bool emitDecls(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Fields of DeviceInfo, generated from dialects/Trn/ISA/Devices.td", os, records);
  for (const Record *field : deviceFields(records)) {
    os << "  /// " << field->getValueAsString("doc") << "\n  ";
    if (std::optional<int64_t> shared = familyValue(records, field))
      os << "static constexpr int64_t " << field->getName() << " = " << *shared << ";\n";
    else
      os << "int64_t " << field->getName() << ";\n";
  }
  return false;
}

static bool emitDefs(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Devices, generated from dialects/Trn/ISA/Devices.td", os, records);
  os << "static constexpr DeviceInfo kDevices[] = {\n";
  for (const Record *device : records.getAllDerivedDefinitions("Device")) {
    os << "  {" << quoted(device->getValueAsString("name")) << ", " << quoted(device->getValueAsString("title"))
       << ",\n";
    for (const Record *field : deviceFields(records)) {
      if (familyValue(records, field))
        continue;
      const Record *fact = requireFact(device, field);
      os << "   " << fact->getValueAsInt("value") << ", // " << field->getName() << ": "
         << fact->getValueAsString("grade") << " (" << fact->getValueAsString("place") << ")\n";
    }
    os << "  },\n";
  }
  os << "};\n";
  return false;
}

static mlir::GenRegistration decls("gen-device-decls", "Fields of DeviceInfo", emitDecls);
static mlir::GenRegistration defs("gen-device-defs", "Devices", emitDefs);
