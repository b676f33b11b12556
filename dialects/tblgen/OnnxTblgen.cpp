//===- OnnxTblgen.cpp - tables from the records of ONNX operators ---------===//
//
// Owns what is generated from Ops/*.td besides the MLIR operations: the record table, the declarations of the shape
// rules, the table of upgrade steps, and the records as JSON, which scripts/check_versions.py compares with the standard.
// Refuses records that contradict themselves: a range, move or canonical mark
// that names no operand or attribute, versions out of order, a missing shape rule, an attribute type that ONNX
// cannot carry.
//
//===----------------------------------------------------------------------===//
#include "dialects/tblgen/Formulas.h"
#include "mlir/TableGen/Attribute.h"
#include "mlir/TableGen/GenInfo.h"
#include "mlir/TableGen/Operator.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

#include <set>

using namespace llvm;
using mlir::tblgen::Operator;

namespace {

/// The enumerator of `trn::onnx::AttributeKind` for an ODS attribute, empty for one that ONNX cannot carry.
StringRef attributeKind(StringRef definition) {
  return llvm::StringSwitch<StringRef>(definition)
      .Case("I64Attr", "Int")
      .Case("BoolAttr", "Flag")
      .Case("F32Attr", "Float")
      .Case("StrAttr", "String")
      .Case("DenseI64ArrayAttr", "Ints")
      .Case("DenseF32ArrayAttr", "Floats")
      .Case("StrArrayAttr", "Strings")
      .Case("ElementsAttr", "Tensor")
      .Case("TypeAttr", "DataType")
      .Case("ONNX_ValueTypeAttr", "ValueType")
      .Case("TypedAttrInterface", "Scalar")
      .Default("");
}

StringRef legacyKind(StringRef onnxKind) {
  return llvm::StringSwitch<StringRef>(onnxKind)
      .Case("INT", "Int")
      .Case("FLOAT", "Float")
      .Case("STRING", "String")
      .Case("INTS", "Ints")
      .Case("FLOATS", "Floats")
      .Default("");
}

/// Writes the initializer of one `OpRecord` and the arrays it points to.
class RecordWriter {
public:
  RecordWriter(const Record &record, raw_ostream &os) : record(record), op(record), os(os), id(record.getName()) {}

  void writeArrays() {
    readRanges();
    writeSince(record, id, os);
    writeOperands();
    writeLegacyOperands();
    writeAttributes();
    writeMoves();
    writeUpgrades();
    shapeOperands = writeOperandList("shapeOperands", "ShapeOperands");
    indexOperands = writeOperandList("indexOperands", "IndexOperands");
    writeFormulas();
    os << "static const ResultRecord " << id << "Results[] = {";
    for (int i = 0; i < op.getNumResults(); ++i)
      os << "{\"" << op.getResultName(i) << "\", Arity::"
         << (take(op.getResultName(i)).canonical ? "Own" : arity(op.getResult(i))) << "}, ";
    os << "};\n";
    for (auto &entry : ranges)
      if (!used.contains(entry.first()))
        PrintFatalError(&record, "'" + entry.first() + "' names no operand, attribute or result of '" + id + "'");
  }

  void writeRecord() {
    StringRef rule = record.getValueAsString("shape");
    if (rule.empty())
      PrintFatalError(&record, "'" + id + "' has no shape rule");
    os << "  {\"" << record.getValueAsString("standardName") << "\", \"" << op.getOperationName() << "\", \""
       << record.getValueAsString("domain") << "\", " << id << "Since, " << array("Operands", op.getNumOperands())
       << ", " << array("LegacyOperands", legacyOperands) << ", " << array("Results", op.getNumResults()) << ", " << array("Attributes", attributes) << ", "
       << array("Moves", moves) << ", " << array("Upgrades", upgrades) << ", " << array("ShapeOperands", shapeOperands)
       << ", " << array("IndexOperands", indexOperands) << ", " << hasTrait("OperandSegments") << ", " << hasTrait("ResultSegments") << ", "
       << record.getValueAsBit("makesCounts") << ", shape::" << rule << ", ";
    for (StringRef field : {"floatScalar", "intScalar", "uintScalar"})
      os << '"' << record.getValueAsString(field) << "\", ";
    for (const std::string &formula : formulas)
      os << formula << ", ";
    os << trn::tblgen::accuracyLiteral(*record.getValueAsDef("accuracy")) << ", ";
    for (StringRef field : {"counted", "library", "limits"})
      os << '"' << record.getValueAsString(field) << "\", ";
    os << "\"\", \"\"},\n";
  }

  /// What the record says about versions and signatures.
  json::Object toJson() {
    readRanges();
    json::Array operands, results, attributes, upgrades;
    for (int i = 0; i < op.getNumOperands(); ++i)
      operands.push_back(json::Object{{"name", op.getOperand(i).name},
                                      {"arity", arity(op.getOperand(i))},
                                      {"from", take(op.getOperand(i).name).from}});
    for (int i = 0; i < op.getNumResults(); ++i)
      if (!take(op.getResultName(i)).canonical)
        results.push_back(json::Object{{"name", op.getResultName(i)}, {"arity", arity(op.getResult(i))}});
    for (const auto &named : op.getAttributes()) {
      if (named.attr.isDerivedAttr())
        continue;
      Range range = take(named.name);
      json::Object row{{"name", named.name},   {"kind", attributeKind(named.attr.getBaseAttr().getAttrDefName())},
                       {"from", range.from},   {"until", range.canonical ? 0 : range.until},
                       {"required", !named.attr.isOptional() && !named.attr.hasDefaultValue()}};
      if (named.attr.hasDefaultValue())
        row["default"] = named.attr.getDefaultValue();
      attributes.push_back(std::move(row));
    }
    for (const auto &region : op.getRegions())
      attributes.push_back(json::Object{
          {"name", region.name}, {"kind", "Graph"}, {"from", 0}, {"until", 1000}, {"required", isRequired(region)}});
    for (const Record *legacy : record.getValueAsListOfDefs("legacy"))
      attributes.push_back(json::Object{{"name", legacy->getValueAsString("name")},
                                        {"kind", legacyKind(legacy->getValueAsString("kind"))},
                                        {"from", 0},
                                        {"until", legacy->getValueAsInt("version")},
                                        {"required", false},
                                        {"legacy", true}});
    for (const Record *upgrade : record.getValueAsListOfDefs("upgrades"))
      upgrades.push_back(upgrade->getValueAsInt("version"));
    return json::Object{{"name", record.getValueAsString("standardName")},
                        {"domain", record.getValueAsString("domain")},
                        {"since", json::Array(record.getValueAsListOfInts("since"))},
                        {"unpinned", json::Array(record.getValueAsListOfInts("unpinned"))},
                        {"operands", std::move(operands)},
                        {"results", std::move(results)},
                        {"attributes", std::move(attributes)},
                        {"upgrades", std::move(upgrades)}};
  }

  static void writeSince(const Record &record, StringRef id, raw_ostream &os) {
    std::vector<int64_t> since = record.getValueAsListOfInts("since");
    if (since.empty() || !std::is_sorted(since.begin(), since.end()))
      PrintFatalError(&record, "'" + id + "' must list its versions in ascending order");
    os << "static const int " << id << "Since[] = {";
    for (int64_t version : since)
      os << version << ", ";
    os << "};\n";
  }

private:
  struct Range {
    int64_t from = 0, until = 1000;
    bool canonical = false;
  };

  void readRanges() {
    for (StringRef list : {"operandsFrom", "attributesFrom"})
      for (const Record *range : record.getValueAsListOfDefs(list))
        ranges[range->getValueAsString("name")].from = range->getValueAsInt("version");
    for (const Record *range : record.getValueAsListOfDefs("attributesUntil"))
      ranges[range->getValueAsString("name")].until = range->getValueAsInt("version");
    for (StringRef name : record.getValueAsListOfStrings("canonical"))
      ranges[name].canonical = true;
  }

  /// A body that may be absent is an `AnyRegion`.
  static bool isRequired(const mlir::tblgen::NamedRegion &region) {
    return region.constraint.getDef().getName() != "AnyRegion";
  }

  static StringRef arity(const mlir::tblgen::NamedTypeConstraint &value) {
    return value.isOptional() ? "Optional" : value.isVariadic() ? "Variadic" : "Single";
  }

  /// An operand's element types as users read them; empty for what is no tensor.
  static StringRef types(const mlir::tblgen::NamedTypeConstraint &operand) {
    const Record *constraint = &operand.constraint.getDef();
    while (constraint->isSubClassOf("Optional") || constraint->isSubClassOf("Variadic"))
      constraint = constraint->getValueAsDef("baseType");
    return constraint->getValue("types") ? constraint->getValueAsString("types") : "";
  }

  void writeOperands() {
    os << "static const OperandRecord " << id << "Operands[] = {";
    for (int i = 0; i < op.getNumOperands(); ++i) {
      const auto &operand = op.getOperand(i);
      os << "{\"" << operand.name << "\", Arity::" << arity(operand) << ", " << take(operand.name).from << ", \""
         << types(operand) << "\"}, ";
      operandIndex[operand.name] = i;
    }
    os << "};\n";
  }

  void writeLegacyOperands() {
    os << "static const LegacyOperandRecord " << id << "LegacyOperands[] = {";
    for (const Record *legacy : record.getValueAsListOfDefs("legacyOperands")) {
      os << "{\"" << legacy->getValueAsString("name") << "\", " << legacy->getValueAsInt("version") << "}, ";
      ++legacyOperands;
    }
    os << "};\n";
  }

  void writeAttributes() {
    os << "static const AttributeRecord " << id << "Attributes[] = {";
    for (const auto &named : op.getAttributes()) {
      if (named.attr.isDerivedAttr())
        continue;
      StringRef kind = attributeKind(named.attr.getBaseAttr().getAttrDefName());
      if (kind.empty())
        PrintFatalError(&record, "'" + id + "': attribute '" + named.name + "' has a type that ONNX cannot carry");
      bool required = !named.attr.isOptional() && !named.attr.hasDefaultValue();
      writeAttribute(named.name, kind, required, take(named.name), /*legacy=*/false);
    }
    for (const auto &region : op.getRegions())
      writeAttribute(region.name, "Graph", isRequired(region), take(region.name), /*legacy=*/false);
    for (const Record *legacy : record.getValueAsListOfDefs("legacy")) {
      Range range;
      range.until = legacy->getValueAsInt("version");
      writeAttribute(legacy->getValueAsString("name"), legacyKind(legacy->getValueAsString("kind")), false, range,
                     /*legacy=*/true);
    }
    os << "};\n";
  }

  void writeAttribute(StringRef name, StringRef kind, bool required, Range range, bool legacy) {
    os << "{\"" << name << "\", AttributeKind::" << kind << ", " << required << ", " << range.from << ", "
       << (range.canonical ? 0 : range.until) << ", " << legacy << "}, ";
    if (!legacy)
      kinds[name] = kind;
    ++attributes;
  }

  void writeMoves() {
    os << "static const MoveRecord " << id << "Moves[] = {";
    for (const Record *move : record.getValueAsListOfDefs("moves")) {
      StringRef operand = move->getValueAsString("operand"), attribute = move->getValueAsString("attribute");
      if (!operandIndex.count(operand) || !kinds.count(attribute))
        PrintFatalError(&record, "'" + id + "': no operand '" + operand + "' or no attribute '" + attribute + "'");
      os << "{" << operandIndex[operand] << ", \"" << attribute << "\", AttributeKind::" << kinds[attribute] << ", "
         << move->getValueAsBit("mayStay") << "}, ";
      ++moves;
    }
    os << "};\n";
  }

  void writeUpgrades() {
    os << "static const UpgradeRecord " << id << "Upgrades[] = {";
    for (const Record *upgrade : record.getValueAsListOfDefs("upgrades")) {
      os << "{" << upgrade->getValueAsInt("version") << ", \"" << upgrade->getValueAsString("step") << "\"}, ";
      ++upgrades;
    }
    os << "};\n";
  }

  /// Writes the numbers of the operands that the list `field` of the record names, and says how many there are.
  int writeOperandList(StringRef field, StringRef suffix) {
    int count = 0;
    os << "static const unsigned " << id << suffix << "[] = {";
    for (StringRef name : record.getValueAsListOfStrings(field)) {
      if (!operandIndex.count(name))
        PrintFatalError(&record, "'" + id + "': no operand '" + name + "'");
      os << operandIndex[name] << ", ";
      ++count;
    }
    os << "};\n";
    return count;
  }

  void writeFormulas() {
    std::vector<std::string> operands, parameters;
    for (int i = 0; i < op.getNumOperands(); ++i)
      operands.push_back(op.getOperand(i).name.str());
    for (const auto &named : op.getAttributes())
      if (attributeKind(named.attr.getBaseAttr().getAttrDefName()) == "Float")
        parameters.push_back(named.name.str());
    for (StringRef field : {"floatFormula", "intFormula", "uintFormula"}) {
      std::string name = (id + field).str();
      if (const auto *formula = dyn_cast<DagInit>(record.getValueInit(field)))
        formulas.push_back(trn::tblgen::writeFormula(formula, name, operands, parameters, record, os));
      else
        formulas.push_back("{}");
    }
  }

  Range take(StringRef name) {
    used.insert(name);
    auto it = ranges.find(name);
    return it == ranges.end() ? Range() : it->second;
  }

  std::string array(StringRef suffix, int count) { return count ? (id + suffix).str() : std::string("{}"); }

  bool hasTrait(StringRef name) { return op.getTrait(("::mlir::OpTrait::AttrSized" + name).str()) != nullptr; }

  const Record &record;
  Operator op;
  raw_ostream &os;
  StringRef id;
  StringMap<Range> ranges;
  StringMap<int> operandIndex;
  StringMap<StringRef> kinds;
  StringSet<> used;
  std::vector<std::string> formulas; ///< initializers
  int attributes = 0, moves = 0, upgrades = 0, shapeOperands = 0, indexOperands = 0, legacyOperands = 0;
};

/// An empty array is not C++: leave such lines out.
void writeNonEmpty(StringRef text, raw_ostream &os) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (!line.ends_with("{};"))
      os << line << '\n';
}

bool emitRecords(const RecordKeeper &keeper, raw_ostream &os) {
  std::string arrays, table;
  raw_string_ostream arraysOs(arrays), tableOs(table);
  for (const Record *record : keeper.getAllDerivedDefinitions("ONNX_Op")) {
    // The writer sends arrays and the record to different places, in one pass over the record.
    std::string line;
    raw_string_ostream lineOs(line);
    RecordWriter writer(*record, lineOs);
    writer.writeArrays();
    arraysOs << line;
    line.clear();
    writer.writeRecord();
    tableOs << line;
  }
  for (const Record *record : keeper.getAllDerivedDefinitions("ONNX_Refused")) {
    std::string id = ("Refused" + record->getValueAsString("name")).str();
    RecordWriter::writeSince(*record, id, arraysOs);
    tableOs << "  {\"" << record->getValueAsString("name") << "\", \"\", \"" << record->getValueAsString("domain")
            << "\", " << id << "Since, {}, {}, {}, {}, {}, {}, {}, {}, false, false, false, nullptr, \"\", \"\", \"\", {}, {}, {}, {}, \"\", \"\", \"\", \""
            << record->getValueAsString("reason") << "\", \"" << record->getValueAsString("hint") << "\"},\n";
  }
  os << "// Generated by onnx-tblgen from dialects/ONNX/Ops/*.td.\n";
  writeNonEmpty(arrays, os);
  os << "static const OpRecord recordTable[] = {\n" << table << "};\n";
  return false;
}

bool emitNames(const RecordKeeper &keeper, raw_ostream &os, StringRef macro, bool upgrades) {
  std::set<std::string> names;
  for (const Record *record : keeper.getAllDerivedDefinitions("ONNX_Op")) {
    if (!upgrades)
      names.insert(record->getValueAsString("shape").str());
    else
      for (const Record *upgrade : record->getValueAsListOfDefs("upgrades"))
        names.insert(upgrade->getValueAsString("step").str());
  }
  os << "// Generated by onnx-tblgen from dialects/ONNX/Ops/*.td.\n";
  for (const std::string &name : names)
    os << macro << "(" << name << ")\n";
  return false;
}

/// The records as JSON, for scripts.
bool emitJson(const RecordKeeper &keeper, raw_ostream &os) {
  json::Array rows;
  for (const Record *record : keeper.getAllDerivedDefinitions("ONNX_Op"))
    rows.push_back(RecordWriter(*record, nulls()).toJson());
  for (const Record *record : keeper.getAllDerivedDefinitions("ONNX_Refused"))
    rows.push_back(json::Object{{"name", record->getValueAsString("name")},
                                {"domain", record->getValueAsString("domain")},
                                {"since", json::Array(record->getValueAsListOfInts("since"))},
                                {"refused", true}});
  os << formatv("{0:2}", json::Value(std::move(rows))) << "\n";
  return false;
}

mlir::GenRegistration jsonRecords("gen-onnx-json", "The records' versions and signatures as JSON", emitJson);
mlir::GenRegistration records("gen-onnx-records", "The table of records", emitRecords);
mlir::GenRegistration shapes("gen-onnx-shape-rules", "ONNX_SHAPE_RULE(name) for each rule",
                             [](const RecordKeeper &keeper, raw_ostream &os) {
                               return emitNames(keeper, os, "ONNX_SHAPE_RULE", false);
                             });
mlir::GenRegistration upgrades("gen-onnx-upgrades", "ONNX_UPGRADE(name) for each upgrade step",
                               [](const RecordKeeper &keeper, raw_ostream &os) {
                                 return emitNames(keeper, os, "ONNX_UPGRADE", true);
                               });

} // namespace

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
