//===- Explain.cpp - trnc explain -----------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

int runExplain(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  options.printPlans = true;
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  if (llvm::StringRef(file).ends_with(".trnx"))
    line.problem("'" + file + "' is compiled already; 'trnc run' and 'trnc inspect' take it");
  if (line.reportProblems("trnc explain"))
    return kUsage;
  Compiler compiler(options);
  size_t shown = 0;
  auto show = [&](llvm::StringRef stage) {
    llvm::ArrayRef<Problem> all = compiler.problems().problems();
    llvm::outs() << "-- " << stage << "\n";
    for (; shown < all.size(); ++shown)
      llvm::outs() << all[shown].severityName() << ": " << all[shown].str() << "\n";
  };
  compiler.observer = [&](Stage stage, mlir::ModuleOp) { show(stageName(stage)); };
  if (llvm::failed(compiler.open(file, start)) || llvm::failed(compiler.advance(Stage::Synced))) {
    show("stopped");
    return exitCodeOf(compiler.failure());
  }
  return kOk;
}

} // namespace trn::driver
