//===- GenDocs.cpp - documentation of the instruction set -----------------===//
//
// Owns the generators of docs/generated/isa.md (-gen-isa-docs: instructions, operators, functions) and
// docs/generated/devices.md (-gen-device-docs). Everything in them stands in a record.
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Records.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace trn::tblgen;

/// Text that may stand in a cell of a table.
static std::string cell(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '|')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

static std::string lowered(ArrayRef<StringRef> names) {
  return join(map_range(names, [](StringRef name) { return name.lower(); }), ", ");
}

/// The names of the type sets of Inst.td, so that tables say "compute" instead of 15 types.
static std::string typesOf(const OperandRecord &operand) {
  static const std::pair<size_t, const char *> kSets[] = {{20, "all"}, {18, "library"}, {15, "compute"}, {7, "integers"}};
  for (auto [size, name] : kSets)
    if (operand.dtypes.size() == size)
      return name;
  return lowered(operand.dtypes);
}

static void emitOperands(raw_ostream &os, const InstRecord &inst) {
  if (inst.operands.empty())
    return;
  os << "| operand | role | memory | element types | free dimensions |\n|---|---|---|---|---|\n";
  for (const OperandRecord &operand : inst.operands) {
    os << "| `" << operand.name << "`" << (operand.optional ? " (optional)" : "") << " | " << operand.role.lower()
       << " | " << lowered(operand.spaces) << (operand.scalar ? ", or an immediate" : "") << " | " << typesOf(operand)
       << " | ";
    if (operand.scalar)
      os << "one value per partition";
    else
      os << "up to " << operand.maxRank;
    os << (operand.defaultImmediate.empty() ? "" : "; default " + operand.defaultImmediate.str()) << " |\n";
  }
  os << "\n";
}

static void emitAttributes(raw_ostream &os, const InstRecord &inst) {
  if (inst.attrs.empty())
    return;
  os << "| attribute | kind | default or range |\n|---|---|---|\n";
  for (const AttrRecord &attr : inst.attrs) {
    os << "| `" << attr.name << "` | " << (attr.kind == "enum" ? attr.enumName : attr.kind) << " | ";
    if (attr.kind == "int")
      os << attr.low << " to " << attr.high << ", default " << attr.initializer;
    else if (attr.kind == "ints")
      os << attr.length << " numbers from " << attr.low << " to " << attr.high;
    else if (attr.kind == "list")
      os << "any numbers of 32 bits";
    else if (attr.kind == "bool")
      os << "default " << attr.initializer;
    else if (attr.kind == "pattern")
      os << "up to four [step, count], slowest first";
    os << " |\n";
  }
  os << "\n";
}

static void emitRules(raw_ostream &os, const InstRecord &inst) {
  if (inst.rules.empty())
    return;
  os << "| rule | holds | phase | source |\n|---|---|---|---|\n";
  for (const RuleRecord &rule : inst.rules)
    os << "| " << rule.number << " | `" << cell(rule.expr) << "` | " << rule.phase.lower() << " | " << cell(rule.source)
       << " |\n";
  os << "\n";
}

static void emitCosts(raw_ostream &os, const InstRecord &inst) {
  os << "| engine | occupancy (cycles) | latency (cycles) | source |\n|---|---|---|---|\n";
  for (const CostRecord &cost : inst.costs)
    os << "| " << (cost.engine.empty() ? "any" : cost.engine) << " | `" << cell(cost.occupancy) << "` | `"
       << cell(cost.latency) << "` | " << cell(cost.source) << " |\n";
  os << "\n";
}

static void emitInstruction(raw_ostream &os, const InstRecord &inst) {
  os << "### `" << inst.mnemonic << "`\n\nCode " << format_hex(inst.opcode, 4) << " · engines "
     << join(inst.engines, ", ") << " · from core version " << inst.since << (inst.isDma ? " · transfer" : "") << (inst.isLibrary ? " · library kernel" : "")
     << "\n\n**" << inst.summary << ".** " << unindented(inst.description) << "\n\nSource: " << inst.source << "\n\n";
  emitOperands(os, inst);
  emitAttributes(os, inst);
  emitRules(os, inst);
  emitCosts(os, inst);
}

static const char *const kHeader =
    R"(<!-- Generated from dialects/Trn/ISA by trn-tblgen -gen-isa-docs: do not edit. Target: isa-docs. -->
# The instruction set

Instructions of one core, as the compiler emits them and the emulated device executes them. The records in
`dialects/Trn/ISA/*.td` are the source of this page, of the `trn` dialect, of the encoding and of the costs; sources of
facts are abbreviated there. What the documents leave open is marked *ours*. Facts about the targets:
[devices.md](devices.md). How to add an instruction: [../add-an-instruction.md](../add-an-instruction.md).

## Operands

An operand is an access pattern: a memory, an element type, a first partition and a number of partitions (device memory:
rows, `row_step` elements apart), an address, and up to four free dimensions `[step, count]`, slowest first, in elements.
Every partition uses the same free pattern. A step of 0 repeats an element; outputs may not repeat.
Type sets: *compute* is bf16, f16, f32, tf32, the 8-bit floats and 8-, 16- and 32-bit integers and bool, which every
engine converts to and from fp32; *all* adds f32r, f8e8, fp64 and 64-bit integers, which are only copied; *library* is
*compute* and the 64-bit types; *integers* is the
integers of *compute*.

## General rules

| rule | holds for every instruction | source |
|---|---|---|
| 1 | each operand lies in a memory that its record names | A2 |
| 2 | each element type is one that its record names; fp8e4fn from core version 4 on | records, EVRF051 |
| 3 | no more free dimensions than the record allows | A2 |
| 4 | at most 128 partitions | A2 |
| 5 | more than 64 partitions start at 0, more than 32 at 0 or 64, others at a multiple of 32; transfers start anywhere (address phase) | A2 |
| 6 | at most 65,536 elements per partition in SBUF, 4,096 in PSUM | A2 |
| 7 | steps are 16-bit signed, counts 16-bit unsigned (not in transfers) | A2 |
| 8 | all bytes lie inside the usable part of a partition (address phase) | A2, KLR |
| 9 | PSUM addresses are multiples of 4 (address phase) | KLR |
| 10 | the core version has the instruction | records |
| 11 | no output visits an element twice | ours |
| 12 | a scalar operand in memory has one element on each partition | ISA32 |
| 16 | the engine runs the instruction | SH26 |
| 17 | POOL does not reach PSUM | A2 |

Rules from 20 on belong to one instruction. Phases: *shape* rules hold for the types alone and are checked by the
dialect's verifier, *address* rules need addresses, *engine* rules the queue.

## Encoding

The encoding is this project's own; the machine's is not public. Little endian, reserved bytes zero, one encoding per
instruction; the decoder checks every byte.

| bytes | field |
|---|---|
| 2 | code |
| 1 | bit i: operand i of the record is present |
| 1 | bit i: operand i is a scalar in memory |
| 4 | size of the instruction in bytes, a multiple of 8, this header included |
| 64 each | present operands in record order: u8 memory (0 hbm, 1 sbuf, 2 psum), u8 element type, u8 rank, u8 0, u16 start partition, u16 0, u32 partitions, u32 buffer, u64 address, i64 row step, 4 × (i32 step, u32 count) |
| 8 each | instead of it for an immediate: f32, u32 0 |
| 4 each | attributes in record order: enumeration, bool, int, float; a list of fixed length 4 per entry, one of any length u32 count first; a pattern u32 rank, 4 × (i32 step, u32 count) |
| 0 to 7 | zeros |

## Instructions

)";

static void emitEnumTables(raw_ostream &os, const RecordKeeper &records) {
  auto sorted = [&](StringRef name) {
    ArrayRef<const Record *> all = records.getAllDerivedDefinitions(name);
    std::vector<const Record *> list(all.begin(), all.end());
    llvm::sort(list,
               [](const Record *a, const Record *b) { return a->getValueAsInt("value") < b->getValueAsInt("value"); });
    return list;
  };
  os << "## Operators (`#trn.alu`)\n\nEngines are those of elementwise instructions; ACT from core version 3 on.\n\n"
        "| operator | code | kind | engines | reduces | meaning |\n|---|---|---|---|---|---|\n";
  for (const Record *op : sorted("AluOp"))
    os << "| `" << op->getValueAsString("str") << "` | " << op->getValueAsInt("value") << " | "
       << op->getValueAsString("kind") << " | " << join(op->getValueAsListOfStrings("engines"), ", ") << " | "
       << (op->getValueAsBit("reducible") ? "yes" : "") << " | " << cell(op->getValueAsString("doc")) << " |\n";
  os << "\n## Activation functions (`#trn.act`)\n\nOutside its range a function's result is invalid (SH32). Set 0 is "
        "always loaded; the grouping into table sets is ours.\n\n"
        "| function | code | table set | from | to | meaning |\n|---|---|---|---|---|---|\n";
  for (const Record *func : sorted("ActivationFunc"))
    os << "| `" << func->getValueAsString("str") << "` | " << func->getValueAsInt("value") << " | "
       << func->getValueAsInt("tableSet") << " | " << func->getValueAsString("low") << " | "
       << func->getValueAsString("high") << " | " << cell(func->getValueAsString("doc")) << " |\n";
}

static std::string accuracyText(const Record &accuracy) {
  StringRef ulps = accuracy.getValueAsString("ulps"), scale = accuracy.getValueAsString("scale");
  if (StringRef text = accuracy.getValueAsString("text"); !text.empty())
    return text.str();
  return ulps == "0" ? "exact" : ulps.str() + " ulp" + (scale == "0" ? "" : ", of at least " + scale.str());
}

static void emitScalarOps(raw_ostream &os, const RecordKeeper &records) {
  os << "\n## Scalar operations\n\nWhat computes a scalar operation of the compiler's IR elementwise. An operation "
        "without a row is composed (below) or refused.\n\n| operation | operator | activation | accuracy "
        "|\n|---|---|---|---|\n";
  for (const Record *row : recordsByKey(records, "ScalarOp")) {
    os << "| `" << row->getValueAsString("key") << "` | ";
    for (const Record *alu : row->getValueAsListOfDefs("alu")) {
      StringRef op = alu->getValueAsDef("op")->getValueAsString("str"), immediate = alu->getValueAsString("immediate");
      os << "`" << op << "`";
      if (!immediate.empty())
        os << (alu->getValueAsBit("reverse") ? " of " + immediate.str() + " and x" : " with " + immediate.str());
    }
    os << " | ";
    for (const Record *func : row->getValueAsListOfDefs("activation"))
      os << "`" << func->getValueAsString("str") << "`";
    os << " | " << accuracyText(*row->getValueAsDef("accuracy")) << " |\n";
  }
}

static void emitCompositions(raw_ostream &os, const RecordKeeper &records) {
  os << "\n## Composed scalar operations\n\nWhat is computed by other scalar operations, because it has no row above or "
        "its row is right on a part of its domain only. Accuracies are tested on the instructions, over the whole "
        "domain.\n\n| operation | is | accuracy |\n|---|---|---|\n";
  for (const Record *row : recordsByKey(records, "Composition")) {
    StringRef low = row->getValueAsString("low"), high = row->getValueAsString("high");
    os << "| `" << row->getValueAsString("key") << "` | " << cell(row->getValueAsString("doc")) << " | "
       << accuracyText(*row->getValueAsDef("accuracy"))
       << (low == "-inf" && high == "inf" ? "" : ", from " + low.str() + " to " + high.str()) << " |\n";
  }
  for (const Record *row : recordsByKey(records, "ComposedInCode"))
    os << "| `" << row->getValueAsString("key") << "` | " << cell(row->getValueAsString("doc")) << " | exact |\n";
}

static bool emitDocs(const RecordKeeper &records, raw_ostream &os) {
  os << kHeader;
  for (const InstRecord &inst : instructions(records))
    emitInstruction(os, inst);
  emitEnumTables(os, records);
  emitScalarOps(os, records);
  emitCompositions(os, records);
  return false;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static bool emitDeviceDocs(const RecordKeeper &records, raw_ostream &os) {
  ArrayRef<const Record *> devices = records.getAllDerivedDefinitions("Device");
  os << "<!-- Generated from dialects/Trn/ISA/Devices.td by trn-tblgen -gen-device-docs: do not edit. Target: "
        "isa-docs. "
        "-->\n# Targets\n\nEvery number about a machine that compiler and emulated device use. Grades: *documented* by "
        "AWS, "
        "*measured* from public profiler dumps, *inferred* from those, *ours* where nobody says. Without an own "
        "statement trn1 and trn2 take inf2's value and trn3 takes trn2's. Abbreviations: Devices.td.\n\n";
  for (const Record *device : devices)
    os << "- `" << device->getValueAsString("name") << "`: " << device->getValueAsString("title") << "\n";
  os << "\n| fact |";
  for (const Record *device : devices)
    os << " " << device->getValueAsString("name") << " |";
  os << " grade and source |\n|---|";
  for (size_t i = 0; i <= devices.size(); ++i)
    os << "---|";
  os << "\n";
  for (const Record *field : deviceFields(records)) {
    os << "| " << cell(field->getValueAsString("doc")) << " |";
    std::string sources;
    for (const Record *device : devices) {
      const Record *fact = findFact(device, field);
      os << " " << fact->getValueAsInt("value") << " |";
      if (statesFact(device, field))
        sources += (sources.empty() ? "" : "; ") + device->getValueAsString("name").str() + ": " +
                   fact->getValueAsString("grade").str() + ", " + fact->getValueAsString("place").str();
    }
    os << " " << cell(sources) << " |\n";
  }
  return false;
}

static mlir::GenRegistration docs("gen-isa-docs", "Documentation of the instruction set", emitDocs);
static mlir::GenRegistration deviceDocs("gen-device-docs", "Documentation of the devices", emitDeviceDocs);
