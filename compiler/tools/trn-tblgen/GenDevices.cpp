//===- GenDevices.cpp - the device tables ---------------------------------===//
//
// Owns the generators of isa::DeviceInfo (-gen-device-decls) and of one constant per target (-gen-device-defs).
//
//===----------------------------------------------------------------------===//
#include "compiler/tools/trn-tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace trn::tblgen;

/// The fact about `field`, from the device or its nearest base.
static const Record *findFact(const Record *device, const Record *field) {
  const Record *found = nullptr;
  for (const Record *fact : device->getValueAsListOfDefs("facts")) {
    if (fact->getValueAsDef("what") != field)
      continue;
    if (found)
      PrintFatalError(device->getLoc(), "'" + field->getName() + "' is stated twice");
    found = fact;
  }
  if (found)
    return found;
  for (const Record *base : device->getValueAsListOfDefs("base"))
    if (const Record *fact = findFact(base, field))
      return fact;
  return nullptr;
}

/// Fields in the order of their definition, which is that of Devices.td.
static std::vector<const Record *> fields(const RecordKeeper &records) {
  ArrayRef<const Record *> all = records.getAllDerivedDefinitions("DeviceField");
  std::vector<const Record *> result(all.begin(), all.end());
  llvm::sort(result, [](const Record *a, const Record *b) { return a->getID() < b->getID(); });
  return result;
}

static bool emitDecls(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Fields of DeviceInfo, generated from dialects/Trn/ISA/Devices.td", os, records);
  for (const Record *field : fields(records))
    os << "  /// " << field->getValueAsString("doc") << "\n  int64_t " << field->getName() << ";\n";
  return false;
}

static bool emitDefs(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Devices, generated from dialects/Trn/ISA/Devices.td", os, records);
  os << "static constexpr DeviceInfo kDevices[] = {\n";
  for (const Record *device : records.getAllDerivedDefinitions("Device")) {
    os << "  {" << quoted(device->getValueAsString("name")) << ", " << quoted(device->getValueAsString("title")) << ",\n";
    for (const Record *field : fields(records)) {
      const Record *fact = findFact(device, field);
      if (!fact)
        PrintFatalError(device->getLoc(), "device '" + device->getValueAsString("name") + "' does not state '" + field->getName() + "'");
      os << "   " << fact->getValueAsInt("value") << ", // " << field->getName() << ": " << fact->getValueAsString("grade")
         << " (" << fact->getValueAsString("place") << ")\n";
    }
    os << "  },\n";
  }
  os << "};\n";
  return false;
}

static mlir::GenRegistration decls("gen-device-decls", "Fields of DeviceInfo", emitDecls);
static mlir::GenRegistration defs("gen-device-defs", "Devices", emitDefs);
