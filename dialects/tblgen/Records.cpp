//===- Records.cpp - typed views of the instruction records ---------------===//
#include "dialects/tblgen/Records.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include <set>

using namespace llvm;

namespace trn::tblgen {

std::string camel(StringRef snake, bool upper) {
  std::string result;
  for (char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? toUpper(c) : c;
    upper = false;
  }
  return result;
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string unindented(StringRef text) {
  std::string result;
  SmallVector<StringRef> lines;
  text.trim().split(lines, '\n');
  for (StringRef line : lines)
    result += (result.empty() ? "" : "\n") + line.trim().str();
  return result;
}

std::string OperandRecord::cppType() const {
  std::string type = scalar ? "Scalar" : "AP";
  return optional ? "std::optional<" + type + ">" : type;
}

std::string AttrRecord::cppType() const {
  if (kind == "enum")
    return enumName.str();
  if (kind == "bool")
    return "bool";
  if (kind == "int")
    return "int32_t";
  if (kind == "float")
    return "float";
  if (kind == "ints")
    return "std::array<int32_t, " + std::to_string(length) + ">";
  if (kind == "list")
    return "std::vector<int32_t>";
  if (kind == "pattern")
    return "Pattern";
  PrintFatalError(def->getLoc(), "attribute '" + name + "' has the unknown kind '" + kind + "'");
}

static OperandRecord readOperand(const Record *def) {
  OperandRecord operand{};
  operand.def = def;
  operand.name = def->getValueAsString("name");
  operand.role = def->getValueAsString("role");
  operand.field = camel(operand.name);
  operand.spaces = def->getValueAsListOfStrings("spaces");
  operand.dtypes = def->getValueAsListOfStrings("dtypes");
  operand.maxRank = def->getValueAsInt("maxRank");
  operand.optional = def->getValueAsBit("optional");
  operand.scalar = def->getValueAsBit("scalar");
  operand.defaultImmediate = def->getValueAsString("default");
  return operand;
}

static AttrRecord readAttr(const Record *def) {
  AttrRecord attr{};
  attr.def = def;
  attr.name = def->getValueAsString("name");
  attr.kind = def->getValueAsString("kind");
  attr.enumName = def->getValueAsString("enum");
  attr.initializer = def->getValueAsString("initializer");
  attr.field = camel(attr.name);
  attr.low = def->getValueAsInt("low");
  attr.high = def->getValueAsInt("high");
  attr.length = def->getValueAsInt("length");
  return attr;
}

static InstRecord readInst(const Record *def) {
  InstRecord inst{};
  inst.def = def;
  inst.mnemonic = def->getValueAsString("opName");
  inst.summary = def->getValueAsString("summary");
  inst.description = def->getValueAsString("description");
  inst.source = def->getValueAsString("source");
  inst.readsDestination = def->getValueAsString("readsDestination");
  inst.structName = camel(inst.mnemonic, /*upper=*/true);
  inst.opClass = def->getName().str();
  inst.opcode = def->getValueAsInt("opcode");
  inst.since = def->getValueAsInt("since");
  inst.isDma = def->getValueAsBit("isDma");
  inst.isLibrary = def->getValueAsBit("isLibrary");
  for (const Record *operand : def->getValueAsListOfDefs("operands"))
    inst.operands.push_back(readOperand(operand));
  for (const Record *attr : def->getValueAsListOfDefs("instAttrs"))
    inst.attrs.push_back(readAttr(attr));
  inst.engines = def->getValueAsListOfStrings("engines");
  for (const Record *rule : def->getValueAsListOfDefs("rules"))
    inst.rules.push_back({rule->getValueAsInt("number"), rule->getValueAsString("expr"),
                          rule->getValueAsString("message"), rule->getValueAsString("source"),
                          rule->getValueAsString("phase")});
  for (const Record *cost : def->getValueAsListOfDefs("costs"))
    inst.costs.push_back({cost->getValueAsString("engine"), cost->getValueAsString("occupancy"),
                          cost->getValueAsString("latency"), cost->getValueAsString("source")});
  return inst;
}

static void check(const InstRecord &inst) {
  auto fatal = [&](const Twine &text) {
    PrintFatalError(inst.def->getLoc(), "instruction '" + inst.mnemonic + "': " + text);
  };
  if (inst.opClass != inst.structName + "Op")
    fatal("expected the record's name '" + inst.structName + "Op' but got '" + inst.opClass + "'");
  if (inst.summary.empty() || inst.description.trim().empty() || inst.source.empty())
    fatal("summary, description and source are needed");
  if (inst.operands.size() > 8)
    fatal("expected at most 8 operands (presence bits of the encoding) but got " + Twine(inst.operands.size()));
  std::set<int64_t> numbers;
  for (const RuleRecord &rule : inst.rules) {
    if (rule.number < 20 || !numbers.insert(rule.number).second)
      fatal("rule numbers are unique and at least 20, but got " + Twine(rule.number));
    if (rule.source.empty())
      fatal("rule " + Twine(rule.number) + " has no source");
    if (rule.message.count('{') != rule.message.count('}'))
      fatal("rule " + Twine(rule.number) + " has unbalanced braces in its message");
    if (rule.phase != "Shape" && rule.phase != "Address" && rule.phase != "Engine")
      fatal("rule " + Twine(rule.number) + " has the unknown phase '" + rule.phase + "'");
  }
  for (StringRef engine : inst.engines)
    if (none_of(inst.costs, [&](const CostRecord &cost) { return cost.engine.empty() || cost.engine == engine; }))
      fatal("no cost on " + engine);
}

std::vector<InstRecord> instructions(const RecordKeeper &records) {
  std::vector<InstRecord> result;
  for (const Record *def : records.getAllDerivedDefinitions("Inst")) {
    result.push_back(readInst(def));
    check(result.back());
  }
  llvm::sort(result, [](const InstRecord &a, const InstRecord &b) { return a.opcode < b.opcode; });
  for (size_t i = 1; i < result.size(); ++i)
    if (result[i].opcode == result[i - 1].opcode)
      PrintFatalError(result[i].def->getLoc(), "code " + Twine(result[i].opcode) + " is used twice, by '" +
                                                   result[i - 1].mnemonic + "' and '" + result[i].mnemonic + "'");
  return result;
}

std::vector<const Record *> recordsByKey(const RecordKeeper &records, StringRef className) {
  ArrayRef<const Record *> all = records.getAllDerivedDefinitions(className);
  std::vector<const Record *> result(all.begin(), all.end());
  llvm::sort(result,
             [](const Record *a, const Record *b) { return a->getValueAsString("key") < b->getValueAsString("key"); });
  return result;
}

static const Record *ownFact(const Record *device, const Record *field) {
  const Record *found = nullptr;
  for (const Record *fact : device->getValueAsListOfDefs("facts")) {
    if (fact->getValueAsDef("what") != field)
      continue;
    if (found)
      PrintFatalError(device->getLoc(), "'" + field->getName() + "' is stated twice");
    found = fact;
  }
  return found;
}

bool statesFact(const Record *device, const Record *field) { return ownFact(device, field) != nullptr; }

const Record *findFact(const Record *device, const Record *field) {
  if (const Record *fact = ownFact(device, field))
    return fact;
  for (const Record *base : device->getValueAsListOfDefs("base"))
    if (const Record *fact = findFact(base, field))
      return fact;
  return nullptr;
}

std::vector<const Record *> deviceFields(const RecordKeeper &records) {
  ArrayRef<const Record *> all = records.getAllDerivedDefinitions("DeviceField");
  std::vector<const Record *> result(all.begin(), all.end());
  llvm::sort(result, [](const Record *a, const Record *b) { return a->getID() < b->getID(); });
  return result;
}

} // namespace trn::tblgen
