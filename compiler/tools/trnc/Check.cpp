//===- Check.cpp - trnc check ---------------------------------------------===//
#include "compiler/Import/CutModel.h"
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

namespace trn::driver {

/// How often the rest of a model is tried. Each time at least one node fewer is left.
static constexpr int kMostTrials = 32;

/// The nodes that `problems` names, by their position in the file.
static std::vector<size_t> namedNodes(const Diagnostics &problems) {
  std::vector<size_t> nodes;
  for (const Problem &problem : problems.problems())
    if (problem.severity == Problem::Severity::Error && problem.index >= 0)
      nodes.push_back(static_cast<size_t>(problem.index));
  return nodes;
}

/// A stage stops at its problems. The later stages of what does not depend on the nodes with problems are run without
/// them, until nothing new is found.
static void addProblemsBehind(const std::string &file, const CompileOptions &options, Diagnostics &problems) {
  ModelCutter cutter;
  if (namedNodes(problems).empty() || !cutter.open(file).empty())
    return;
  std::string folder = llvm::sys::path::parent_path(file).str();
  std::vector<size_t> kept(cutter.numNodes());
  std::iota(kept.begin(), kept.end(), 0);
  for (int trial = 0; trial < kMostTrials; ++trial) {
    std::vector<size_t> gone = cutter.dependents(namedNodes(problems));
    size_t before = kept.size();
    llvm::erase_if(kept, [&](size_t node) { return llvm::is_contained(gone, node); });
    std::optional<CutModel> rest = kept.size() < before ? cutter.cut(kept, {}) : std::nullopt;
    if (!rest)
      return;
    Compiler compiler(optionsForInputs(options, rest->inputs));
    if (llvm::succeeded(compiler.open({rest->bytes.data(), rest->bytes.size()}, folder.empty() ? "." : folder)))
      (void)compiler.advance(Stage::Synced);
    // What has no node is about the cut.
    for (Problem problem : compiler.problems().problems())
      if (problem.severity == Problem::Severity::Error && problem.index >= 0 &&
          static_cast<size_t>(problem.index) < kept.size()) {
        problem.index = static_cast<int64_t>(kept[problem.index]);
        problems.add(problem);
      }
  }
}

int runCheck(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  if (llvm::StringRef(file).ends_with(".trnx"))
    line.problem("'" + file + "' is compiled already; 'trnc run' and 'trnc inspect' take it");
  if (line.reportProblems("trnc check"))
    return kUsage;
  Compiler compiler(options);
  // What only shows when memory is planned (a tensor that cannot fit) needs the whole way.
  if (llvm::succeeded(compiler.open(file, std::nullopt)))
    (void)compiler.advance(Stage::Synced);
  Diagnostics problems = compiler.problems();
  if (llvm::StringRef(file).ends_with(".onnx"))
    addProblemsBehind(file, options, problems);
  size_t errors = 0;
  llvm::json::Array list;
  for (const Problem &problem : problems.problems()) {
    errors += problem.severity == Problem::Severity::Error;
    if (line.has(OPT_json))
      list.push_back(problem.json());
  }
  if (line.has(OPT_json)) {
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"file", file},
                                                                                {"target", options.target},
                                                                                {"supported", errors == 0},
                                                                                {"problems", std::move(list)}}))
                 << "\n";
  } else {
    printProblems(file, problems);
    if (errors)
      llvm::errs() << llvm::formatv("{0}: {1} problem{2} for {3}\n", file, errors, errors == 1 ? "" : "s", options.target);
    else if (!line.has(OPT_quiet))
      llvm::outs() << file << ": compiles for " << options.target << "\n";
  }
  return exitCodeOf(compiler.failure());
}

} // namespace trn::driver
