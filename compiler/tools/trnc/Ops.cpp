//===- Ops.cpp - trnc ops -------------------------------------------------===//
#include "compiler/tools/trnc/Commands.h"
#include "dialects/ONNX/OpRecords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

static std::string versions(const onnx::OpRecord &record) {
  return llvm::join(llvm::map_range(record.since, [](int v) { return std::to_string(v); }), " ");
}

static llvm::json::Value json(const onnx::OpRecord &record) {
  llvm::json::Array since;
  for (int version : record.since)
    since.push_back(version);
  llvm::json::Object object{{"name", record.name},
                            {"domain", record.domain.empty() ? "ai.onnx" : record.domain.str()},
                            {"supported", !record.refused()},
                            {"since", std::move(since)}};
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

int runOps(CommandLine &line) {
  std::vector<std::string> names = line.positionals();
  for (const std::string &name : names)
    if (llvm::none_of(onnx::records(), [&](const onnx::OpRecord &record) { return record.name == name; }))
      line.problem("no operator '" + name + "' is known");
  if (line.reportProblems("trnc ops"))
    return kUsage;
  llvm::json::Array all;
  bool markdown = line.has(OPT_markdown);
  if (markdown && !line.has(OPT_json))
    llvm::outs() << "| operator | versions | limits |\n|---|---|---|\n";
  for (const onnx::OpRecord &record : onnx::records()) {
    if (!names.empty() && !llvm::is_contained(names, record.name))
      continue;
    std::string name = (record.domain.empty() ? "" : record.domain.str() + ".") + record.name.str();
    std::string text = record.refused() ? "refused: " + record.reason.str() : record.limits.str();
    if (line.has(OPT_json))
      all.push_back(json(record));
    else
      llvm::outs() << llvm::formatv(markdown ? "| {0} | {1} | {2} |\n" : "{0,-32}{1,-24}{2}\n", name, versions(record),
                                    text);
  }
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << "\n";
  return kOk;
}

} // namespace trn::driver
