//===- Records.h - typed views of the instruction records -----------------===//
//
// Owns the access to the records of dialects/Trn/ISA for all generators of trn-tblgen, and their checks: what is wrong
// in a record is reported here, with the record's place, before any output is written.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/TableGen/Record.h"
#include <string>
#include <vector>

namespace trn::tblgen {

/// "load_stationary" -> "loadStationary"; with `upper` "LoadStationary".
std::string camel(llvm::StringRef snake, bool upper = false);
/// Text as a C++ string literal.
std::string quoted(llvm::StringRef text);
/// Text with leading space of all lines and blank lines around it removed.
std::string unindented(llvm::StringRef text);

struct OperandRecord {
  const llvm::Record *def;
  llvm::StringRef name, role;
  std::string field; // C++ name
  std::vector<llvm::StringRef> spaces, dtypes;
  int64_t maxRank;
  bool optional, scalar;
  llvm::StringRef defaultImmediate;

  std::string cppType() const;
};

struct AttrRecord {
  const llvm::Record *def;
  llvm::StringRef name, kind, enumName, initializer;
  std::string field;
  int64_t low, high, length;

  std::string cppType() const;
};

struct RuleRecord {
  int64_t number;
  llvm::StringRef expr, message, source, phase;
};

struct CostRecord {
  llvm::StringRef engine, occupancy, latency, source;
};

struct InstRecord {
  const llvm::Record *def;
  llvm::StringRef mnemonic, summary, description, source, readsDestination;
  std::string structName; // NcMatmul
  std::string opClass;    // NcMatmulOp
  int64_t opcode, since;
  bool isDma, isLibrary;
  std::vector<OperandRecord> operands;
  std::vector<AttrRecord> attrs;
  std::vector<llvm::StringRef> engines;
  std::vector<RuleRecord> rules;
  std::vector<CostRecord> costs;
};

/// All instructions in order of their codes. Reports and exits on codes used twice, missing costs, rule numbers used
/// twice or below 20, missing texts.
std::vector<InstRecord> instructions(const llvm::RecordKeeper &records);

/// All records of a class that have a field `key`, by their keys.
std::vector<const llvm::Record *> recordsByKey(const llvm::RecordKeeper &records, llvm::StringRef className);

/// The fields of DeviceInfo in the order of their definition.
std::vector<const llvm::Record *> deviceFields(const llvm::RecordKeeper &records);
/// The fact about `field`, from the device or its nearest base; null when nobody states it.
const llvm::Record *findFact(const llvm::Record *device, const llvm::Record *field);
/// True when the device itself states it.
bool statesFact(const llvm::Record *device, const llvm::Record *field);

} // namespace trn::tblgen
