//===- GenISA.cpp - the MLIR-free instruction library ---------------------===//
//
// Owns the generators of dialects/Trn/ISA: enumerations, structs and field visitors (-gen-isa-decls), fact tables, rule
// checks and cost functions (-gen-isa-defs), the list of instructions (-gen-isa-list) and their constants
// (-gen-isa-constants). Codec, disassembly and general rules are ordinary code over the field visitors and are not
// generated.
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Formulas.h"
#include "dialects/tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
using namespace trn::tblgen;

/// The records of an enumeration in the order of their codes.
static std::vector<const Record *> cases(const RecordKeeper &records, StringRef className) {
  ArrayRef<const Record *> all = records.getAllDerivedDefinitions(className);
  std::vector<const Record *> result(all.begin(), all.end());
  llvm::sort(result,
             [](const Record *a, const Record *b) { return a->getValueAsInt("value") < b->getValueAsInt("value"); });
  return result;
}

static std::string mask(ArrayRef<StringRef> names, StringRef enumName) {
  if (names.empty())
    return "0";
  return join(map_range(names, [&](StringRef name) { return ("maskOf(" + enumName + "::" + name + ")").str(); }),
              " | ");
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static void emitEnum(raw_ostream &os, StringRef name, StringRef doc, ArrayRef<const Record *> values) {
  os << "/// " << doc << "\nenum class " << name << " : uint32_t {\n";
  for (const Record *value : values)
    os << "  " << value->getValueAsString("symbol") << " = " << value->getValueAsInt("value") << ", ///< "
       << value->getValueAsString("doc") << "\n";
  os << "};\nconst char *name(" << name << " value);\nstd::optional<" << name << "> parse" << name
     << "(std::string_view text);\nbool isKnown(" << name << " value);\n\n";
}

static void emitStruct(raw_ostream &os, const InstRecord &inst) {
  os << "/// " << inst.summary << "\nstruct " << inst.structName
     << " {\n  static constexpr Opcode kOpcode = Opcode::" << inst.structName << ";\n";
  if (!inst.operands.empty())
    os << "  static const OperandInfo kOperands[" << inst.operands.size() << "];\n";
  if (!inst.attrs.empty())
    os << "  static const AttrInfo kAttributes[" << inst.attrs.size() << "];\n";
  for (const OperandRecord &operand : inst.operands) {
    os << "  " << operand.cppType() << " " << operand.field;
    if (operand.scalar && !operand.optional && !operand.defaultImmediate.empty())
      os << " = Scalar::constant(" << operand.defaultImmediate << ")";
    os << ";\n";
  }
  for (const AttrRecord &attr : inst.attrs)
    os << "  " << attr.cppType() << " " << attr.field << (attr.kind == "ints" ? "{}" : "")
       << (attr.initializer.empty() ? "" : " = ") << attr.initializer << ";\n";
  os << "};\n";
  for (StringRef qualifier : {"", "const "}) {
    os << "template <class V> void visitFields([[maybe_unused]] " << qualifier << inst.structName
       << " &x, [[maybe_unused]] V &&v) {\n";
    for (auto [index, operand] : enumerate(inst.operands))
      os << "  v.operand(" << inst.structName << "::kOperands[" << index << "], x." << operand.field << ");\n";
    for (auto [index, attr] : enumerate(inst.attrs))
      os << "  v.attribute(" << inst.structName << "::kAttributes[" << index << "], x." << attr.field << ");\n";
    os << "}\n";
  }
  os << "\n";
}

static bool emitDecls(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Instructions, generated from the records in dialects/Trn/ISA", os, records);
  std::vector<InstRecord> insts = instructions(records);
  emitEnum(os, "AluOp", "Elementwise operators of DVE, POOL and ACT.", cases(records, "AluOp"));
  emitEnum(os, "ActivationFunc", "Functions of ACT.", cases(records, "ActivationFunc"));
  int64_t sets = 0;
  for (const Record *func : records.getAllDerivedDefinitions("ActivationFunc"))
    sets = std::max(sets, func->getValueAsInt("tableSet") + 1);
  os << "/// Activation table sets; set 0 needs no load.\nconstexpr int32_t kNumActivationTableSets = " << sets
     << ";\n\n";

  os << "/// Instruction numbers in executables: never reused.\nenum class Opcode : uint16_t {\n";
  for (const InstRecord &inst : insts)
    os << "  " << inst.structName << " = " << format_hex(inst.opcode, 4) << ",\n";
  os << "};\nconstexpr unsigned kNumOpcodes = " << insts.size() << ";\n\n";
  for (const InstRecord &inst : insts)
    emitStruct(os, inst);
  os << "using Instruction = std::variant<"
     << join(map_range(insts, [](const InstRecord &inst) { return inst.structName; }), ", ") << ">;\n";
  return false;
}

static bool emitConstants(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Constants of instructions, generated from the records in dialects/Trn/ISA", os, records);
  for (const Record *inst : records.getAllDerivedDefinitions("Inst")) {
    std::vector<const Record *> constants = inst->getValueAsListOfDefs("constants");
    if (constants.empty())
      continue;
    os << "namespace trn::isa::" << inst->getValueAsString("opName") << " {\n";
    for (const Record *constant : constants)
      os << "/// " << constant->getValueAsString("doc") << "\nconstexpr int32_t " << constant->getValueAsString("name") << " = "
         << constant->getValueAsInt("value") << ";\n";
    os << "} // namespace trn::isa::" << inst->getValueAsString("opName") << "\n";
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// The row of an enumerator in its table of facts, as a jump table.
static void emitIndex(raw_ostream &os, StringRef enumName, ArrayRef<std::string> symbols) {
  os << "static unsigned indexOf(" << enumName << " value) {\n  switch (value) {\n";
  for (auto [index, symbol] : enumerate(symbols))
    os << "  case " << enumName << "::" << symbol << ": return " << index << ";\n";
  os << "  }\n  assert(false && \"not an enumerator\");\n  return 0;\n}\n\n";
}

static std::vector<std::string> symbolsOf(ArrayRef<const Record *> values) {
  std::vector<std::string> symbols;
  for (const Record *value : values)
    symbols.push_back(value->getValueAsString("symbol").str());
  return symbols;
}

static void emitEnumFunctions(raw_ostream &os, StringRef name, ArrayRef<const Record *> values) {
  os << "const char *name(" << name << " value) {\n  switch (value) {\n";
  for (const Record *value : values)
    os << "  case " << name << "::" << value->getValueAsString("symbol") << ": return "
       << quoted(value->getValueAsString("str")) << ";\n";
  os << "  }\n  return \"?\";\n}\n\nstd::optional<" << name << "> parse" << name << "(std::string_view text) {\n";
  for (const Record *value : values)
    os << "  if (text == " << quoted(value->getValueAsString("str")) << ") return " << name
       << "::" << value->getValueAsString("symbol") << ";\n";
  os << "  return std::nullopt;\n}\n\nbool isKnown(" << name << " value) {\n  switch (value) {\n";
  for (const Record *value : values)
    os << "  case " << name << "::" << value->getValueAsString("symbol") << ":\n";
  os << "    return true;\n  }\n  return false;\n}\n\n";
}

static void emitAluInfos(raw_ostream &os, ArrayRef<const Record *> ops) {
  emitIndex(os, "AluOp", symbolsOf(ops));
  os << "static constexpr AluOpInfo kAluOps[] = {\n";
  for (const Record *op : ops)
    os << "  {AluOp::" << op->getValueAsString("symbol") << ", AluKind::" << camel(op->getValueAsString("kind"), true)
       << ", " << mask(op->getValueAsListOfStrings("engines"), "Engine") << ", "
       << (op->getValueAsBit("reducible") ? "true" : "false") << ", " << quoted(op->getValueAsString("doc")) << "},\n";
  os << "};\n\n";
}

static void emitActivationInfos(raw_ostream &os, ArrayRef<const Record *> funcs) {
  emitIndex(os, "ActivationFunc", symbolsOf(funcs));
  auto bound = [](StringRef text, StringRef infinity) { return text.empty() ? infinity.str() : text.str() + "f"; };
  os << "static constexpr ActivationInfo kActivations[] = {\n";
  for (const Record *func : funcs)
    os << "  {ActivationFunc::" << func->getValueAsString("symbol") << ", " << func->getValueAsInt("tableSet") << ", "
       << bound(func->getValueAsString("low"), "-kInfinity") << ", "
       << bound(func->getValueAsString("high"), "kInfinity") << ", " << quoted(func->getValueAsString("doc")) << "},\n";
  os << "};\n\n";
}

static void emitScalarOps(raw_ostream &os, const RecordKeeper &records) {
  os << "static const ScalarOpInfo kScalarOps[] = {\n";
  for (const Record *row : recordsByKey(records, "ScalarOp")) {
    os << "  {" << quoted(row->getValueAsString("key")) << ", " << row->getValueAsInt("arity") << ", ";
    std::string immediate = "std::nullopt", reverse = "false";
    std::vector<const Record *> alu = row->getValueAsListOfDefs("alu");
    if (alu.empty()) {
      os << "std::nullopt, ";
    } else {
      os << "AluOp::" << alu[0]->getValueAsDef("op")->getValueAsString("symbol") << ", ";
      if (!alu[0]->getValueAsString("immediate").empty())
        immediate = alu[0]->getValueAsString("immediate").str();
      reverse = alu[0]->getValueAsBit("reverse") ? "true" : "false";
    }
    os << immediate << ", " << reverse << ", ";
    std::vector<const Record *> activation = row->getValueAsListOfDefs("activation");
    if (activation.empty())
      os << "std::nullopt, ";
    else
      os << "ActivationFunc::" << activation[0]->getValueAsString("symbol") << ", ";
    os << accuracyLiteral(*row->getValueAsDef("accuracy")) << "},\n";
  }
  os << "};\n\n";
}

static void emitTables(raw_ostream &os, ArrayRef<InstRecord> insts) {
  for (const InstRecord &inst : insts) {
    if (!inst.operands.empty()) {
      os << "const OperandInfo " << inst.structName << "::kOperands[" << inst.operands.size() << "] = {\n";
      for (const OperandRecord &o : inst.operands)
        os << "  {" << quoted(o.name) << ", Role::" << o.role << ", static_cast<uint8_t>(" << mask(o.spaces, "Space")
           << "), " << mask(o.dtypes, "DType") << ", " << o.maxRank << ", " << (o.optional ? "true" : "false") << ", "
           << (o.scalar ? "true" : "false") << ", " << (o.defaultImmediate.empty() ? "false" : "true") << "},\n";
      os << "};\n";
    }
    if (!inst.attrs.empty()) {
      os << "const AttrInfo " << inst.structName << "::kAttributes[" << inst.attrs.size() << "] = {\n";
      for (const AttrRecord &a : inst.attrs)
        os << "  {" << quoted(a.name) << ", " << a.low << ", " << a.high << "},\n";
      os << "};\n";
    }
  }
  std::vector<std::string> names;
  for (const InstRecord &inst : insts)
    names.push_back(inst.structName);
  os << "\n";
  emitIndex(os, "Opcode", names);
  os << "static const InstInfo kInstructions[] = {\n";
  for (const InstRecord &inst : insts) {
    auto span = [&](StringRef table, size_t size) {
      return size ? "{" + inst.structName + "::" + table.str() + ", " + std::to_string(size) + "}"
                  : std::string("{nullptr, 0}");
    };
    os << "  {Opcode::" << inst.structName << ", " << quoted(inst.mnemonic) << ", " << quoted(inst.summary)
       << ", static_cast<uint8_t>(" << mask(inst.engines, "Engine") << "), " << inst.since << ", "
       << (inst.isDma ? "true" : "false") << ", " << (inst.isLibrary ? "true" : "false") << ", "
       << span("kOperands", inst.operands.size()) << ", "
       << span("kAttributes", inst.attrs.size()) << "},\n";
  }
  os << "};\n\nbool makeInstruction(uint16_t code, Instruction &inst) {\n  switch (code) {\n";
  for (const InstRecord &inst : insts)
    os << "  case " << inst.opcode << ": inst = " << inst.structName << "(); return true;\n";
  os << "  default: return false;\n  }\n}\n\n";
  os << "static const RuleInfo kRules[] = {\n";
  for (const InstRecord &inst : insts)
    for (const RuleRecord &rule : inst.rules)
      os << "  {Opcode::" << inst.structName << ", " << rule.number << ", Phase::" << rule.phase << ", "
         << quoted(rule.source) << "},\n";
  os << "};\n\n";
}

/// Makes the operands and attributes visible to the record's expressions under their record names.
static void emitBindings(raw_ostream &os, const InstRecord &inst) {
  for (const OperandRecord &operand : inst.operands)
    os << "  [[maybe_unused]] const auto &" << operand.name << " = x." << operand.field << ";\n";
  for (const AttrRecord &attr : inst.attrs)
    os << "  [[maybe_unused]] const auto &" << attr.name << " = x." << attr.field << ";\n";
}

/// A message with expressions in braces as a C++ string expression.
static std::string messageExpr(StringRef message) {
  std::string result = "std::string()";
  while (!message.empty()) {
    auto [text, rest] = message.split('{');
    if (!text.empty())
      result += " + " + quoted(text);
    auto [expr, tail] = rest.split('}');
    if (!expr.empty())
      result += " + print(" + expr.str() + ")";
    message = tail;
  }
  return result;
}

static void emitRules(raw_ostream &os, const InstRecord &inst) {
  os << "static void checkRules([[maybe_unused]] const " << inst.structName
     << " &x, [[maybe_unused]] const DeviceInfo &device, [[maybe_unused]] Phase phase, [[maybe_unused]] Engine engine, "
        "[[maybe_unused]] std::vector<Violation> &out) {\n";
  emitBindings(os, inst);
  for (const RuleRecord &rule : inst.rules) {
    // An Address check includes the Shape rules; Engine rules are asked for alone.
    StringRef when = rule.phase == "Shape"     ? "phase != Phase::Engine"
                     : rule.phase == "Address" ? "phase == Phase::Address"
                                               : "phase == Phase::Engine";
    os << "  if (" << when << " && !(" << rule.expr << "))\n    out.push_back({" << rule.number << ", "
       << messageExpr(rule.message) << ", " << quoted(rule.source) << "});\n";
  }
  os << "}\n\n";
}

static void emitCost(raw_ostream &os, const InstRecord &inst) {
  os << "static Cost costOf([[maybe_unused]] const " << inst.structName
     << " &x, [[maybe_unused]] const DeviceInfo &device, [[maybe_unused]] Engine engine) {\n";
  emitBindings(os, inst);
  for (const CostRecord &cost : inst.costs) {
    os << "  // " << cost.source << "\n  ";
    if (!cost.engine.empty())
      os << "if (engine == Engine::" << cost.engine << ")\n    ";
    os << "return {" << cost.occupancy << ", " << cost.latency << "};\n";
  }
  if (llvm::none_of(inst.costs, [](const CostRecord &cost) { return cost.engine.empty(); }))
    os << "  return {0, 0};\n";
  os << "}\n\n";
}

static bool emitDefs(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("Instruction tables, rules and costs, generated from the records in dialects/Trn/ISA", os,
                       records);
  std::vector<InstRecord> insts = instructions(records);
  emitEnumFunctions(os, "AluOp", cases(records, "AluOp"));
  emitEnumFunctions(os, "ActivationFunc", cases(records, "ActivationFunc"));
  emitAluInfos(os, cases(records, "AluOp"));
  emitActivationInfos(os, cases(records, "ActivationFunc"));
  emitScalarOps(os, records);
  emitTables(os, insts);
  for (const InstRecord &inst : insts) {
    emitRules(os, inst);
    emitCost(os, inst);
  }
  return false;
}

static bool emitList(const RecordKeeper &records, raw_ostream &os) {
  emitSourceFileHeader("TRN_INSTRUCTION(struct) for each instruction record", os, records);
  for (const InstRecord &inst : instructions(records))
    os << "TRN_INSTRUCTION(" << inst.structName << ")\n";
  return false;
}

static mlir::GenRegistration decls("gen-isa-decls", "Instruction structs and enumerations", emitDecls);
static mlir::GenRegistration defs("gen-isa-defs", "Instruction tables, rules and costs", emitDefs);
static mlir::GenRegistration constants("gen-isa-constants", "Constants of instructions", emitConstants);
static mlir::GenRegistration list("gen-isa-list", "The instructions as calls of a macro", emitList);
