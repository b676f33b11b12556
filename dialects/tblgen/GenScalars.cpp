//===- GenScalars.cpp - scalar operations that are composed ---------------===//
//
// Owns the generators of the table of compositions (-gen-scalar-compositions) and of the list of those that are C++
// functions (-gen-scalar-code), from dialects/Trn/ISA/Compositions.td.
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Formulas.h"
#include "dialects/tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace trn::tblgen;

static bool emitCompositions(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Compositions, generated from dialects/Trn/ISA/Compositions.td", os, records);
  std::string table;
  raw_string_ostream rows(table);
  std::vector<const Record *> compositions = recordsByKey(records, "Composition");
  for (size_t i = 0; i < compositions.size(); ++i) {
    const Record &record = *compositions[i];
    StringRef key = record.getValueAsString("key");
    if (i > 0 && key == compositions[i - 1]->getValueAsString("key"))
      PrintFatalError(&record, "'" + key + "' is composed twice");
    StringRef rowFrom = record.getValueAsString("rowFrom");
    rows << "  {" << quoted(key) << ", "
         << writeFormula(record.getValueAsDag("formula"), "kFormula" + std::to_string(i), {"x", "y"}, {}, record, os) << ", "
         << quoted(record.getValueAsString("doc")) << ", " << accuracyLiteral(*record.getValueAsDef("accuracy"));
    for (StringRef number : {record.getValueAsString("low"), record.getValueAsString("high"),
                             rowFrom.empty() ? "inf" : rowFrom})
      rows << ", " << numberLiteral(number, record);
    rows << "},\n";
  }
  os << "static const Composition kCompositions[] = {\n" << table << "};\n";
  return false;
}

static bool emitCode(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Compositions in C++, generated from dialects/Trn/ISA/Compositions.td", os, records);
  for (const Record *record : recordsByKey(records, "ComposedInCode"))
    os << "COMPOSED_IN_CODE(" << quoted(record->getValueAsString("key")) << ", " << record->getValueAsString("function")
       << ")\n";
  return false;
}

static mlir::GenRegistration compositions("gen-scalar-compositions", "The table of compositions", emitCompositions);
static mlir::GenRegistration code("gen-scalar-code", "The list of compositions that are C++", emitCode);
