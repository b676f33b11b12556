//===- Ops.cpp - trnc ops -------------------------------------------------===//
#include "compiler/Import/Import.h"
#include "compiler/tools/trnc/Commands.h"
#include "dialects/ONNX/OpRecords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

static std::string versions(llvm::ArrayRef<int> since) {
  return llvm::join(llvm::map_range(since, [](int v) { return std::to_string(v); }), " ");
}

/// The element types of the operands, each class once.
static std::string types(const onnx::OpRecord &record) {
  llvm::SmallVector<llvm::StringRef> classes;
  for (const onnx::OperandRecord &operand : record.operands)
    if (!operand.types.empty() && !llvm::is_contained(classes, operand.types))
      classes.push_back(operand.types);
  return llvm::join(classes, ", ");
}

constexpr const char *kInlined = "replaced by its definition in the standard";

static llvm::json::Value json(const onnx::OpRecord &record) {
  llvm::json::Array since;
  for (int version : record.since)
    since.push_back(version);
  llvm::json::Object object{{"name", record.name},
                            {"domain", record.domain.empty() ? "ai.onnx" : record.domain.str()},
                            {"supported", !record.refused()},
                            {"since", std::move(since)}};
  llvm::json::Object operands;
  for (const onnx::OperandRecord &operand : record.operands)
    if (!operand.types.empty())
      operands[operand.name] = operand.types;
  if (!operands.empty())
    object["operand_types"] = std::move(operands);
  if (!record.library.empty())
    object["library_kernel"] = record.library;
  if (!record.limits.empty())
    object["limits"] = record.limits;
  // Positions of the operands whose values have to be known while compiling.
  llvm::json::Array constant;
  for (const onnx::MoveRecord &move : record.moves)
    if (!move.mayStay)
      constant.push_back(static_cast<int64_t>(move.operand));
  for (unsigned operand : record.shapeOperands)
    constant.push_back(static_cast<int64_t>(operand));
  if (!constant.empty())
    object["constant_operands"] = std::move(constant);
  if (record.refused()) {
    object["reason"] = record.reason;
    object["hint"] = record.hint;
  }
  return object;
}

/// One row of the table, as people and programs see it.
struct Row {
  std::string name, versions, types, text;
  llvm::json::Value value;
};

/// Operators with a record, and those that the standard defines by them; sorted by domain and name.
static std::vector<Row> rows(llvm::ArrayRef<std::string> names) {
  auto wanted = [&](llvm::StringRef name) { return names.empty() || llvm::is_contained(names, name); };
  std::vector<Row> rows;
  std::vector<InlinedOperator> inlined = inlinedOperators();
  auto next = inlined.begin();
  auto addInlinedBefore = [&](llvm::StringRef domain, llvm::StringRef name) {
    for (; next != inlined.end() && (!domain.empty() || next->name < name); ++next)
      if (wanted(next->name))
        rows.push_back({next->name, versions(next->since), "", kInlined,
                        llvm::json::Object{{"name", next->name}, {"domain", "ai.onnx"}, {"supported", true},
                                           {"since", llvm::json::Array(next->since)}, {"limits", kInlined}}});
  };
  for (const onnx::OpRecord &record : onnx::records()) {
    addInlinedBefore(record.domain, record.name);
    if (wanted(record.name))
      rows.push_back({(record.domain.empty() ? "" : record.domain.str() + ".") + record.name.str(),
                      versions(record.since), types(record),
                      record.refused() ? "refused: " + record.reason.str() : record.limits.str(), json(record)});
  }
  return rows;
}

int runOps(CommandLine &line) {
  std::vector<std::string> names = line.positionals();
  for (const std::string &name : names)
    if (rows({name}).empty())
      line.problem("no operator '" + name + "' is known");
  if (line.reportProblems("trnc ops"))
    return kUsage;
  llvm::json::Array all;
  bool markdown = line.has(OPT_markdown);
  auto print = [&](llvm::StringRef name, llvm::StringRef versions, llvm::StringRef types, llvm::StringRef text) {
    llvm::outs() << llvm::formatv(markdown ? "| {0} | {1} | {2} | {3} |\n" : "{0,-32} {1,-24} {2,-24} {3}\n", name, versions,
                                  types, text);
  };
  if (!line.has(OPT_json))
    print("operator", "versions", "types", "limits");
  if (markdown && !line.has(OPT_json))
    print("---", "---", "---", "---");
  for (Row &row : rows(names)) {
    if (line.has(OPT_json))
      all.push_back(std::move(row.value));
    else
      print(row.name, row.versions, row.types, row.text);
  }
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << "\n";
  return kOk;
}

} // namespace trn::driver
