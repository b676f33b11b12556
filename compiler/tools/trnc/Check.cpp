//===- Check.cpp - trnc check ---------------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

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
  size_t errors = 0;
  llvm::json::Array list;
  for (const Problem &problem : compiler.problems().problems()) {
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
    printProblems(file, compiler.problems());
    if (errors)
      llvm::errs() << llvm::formatv("{0}: {1} problem{2} for {3}\n", file, errors, errors == 1 ? "" : "s", options.target);
    else if (!line.has(OPT_quiet))
      llvm::outs() << file << ": compiles for " << options.target << "\n";
  }
  return exitCodeOf(compiler.failure());
}

} // namespace trn::driver
