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

static bool emitDecls(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Fields of DeviceInfo, generated from dialects/Trn/ISA/Devices.td", os, records);
  for (const Record *field : deviceFields(records))
    os << "  /// " << field->getValueAsString("doc") << "\n  int64_t " << field->getName() << ";\n";
  return false;
}

static bool emitDefs(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Devices, generated from dialects/Trn/ISA/Devices.td", os, records);
  os << "static constexpr DeviceInfo kDevices[] = {\n";
  for (const Record *device : records.getAllDerivedDefinitions("Device")) {
    os << "  {" << quoted(device->getValueAsString("name")) << ", " << quoted(device->getValueAsString("title"))
       << ",\n";
    for (const Record *field : deviceFields(records)) {
      const Record *fact = findFact(device, field);
      if (!fact)
        PrintFatalError(device->getLoc(),
                        "device '" + device->getValueAsString("name") + "' does not state '" + field->getName() + "'");
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
