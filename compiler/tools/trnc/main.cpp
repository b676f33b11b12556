//===- main.cpp - trnc, the driver ----------------------------------------===//
#include "compiler/tools/trnc/Commands.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/StringSaver.h"

using namespace trn::driver;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver storage(allocator);
  int exitCode = kOk;
  std::optional<CommandLine> line =
      parseCommandLine(llvm::ArrayRef<const char *>(argv + 1, argc - 1), storage, exitCode);
  if (!line)
    return exitCode;
  auto run = llvm::StringSwitch<int (*)(CommandLine &)>(line->command())
                 .Case("compile", runCompile)
                 .Case("run", runRun)
                 .Case("verify", runVerify)
                 .Case("check", runCheck)
                 .Case("inspect", runInspect)
                 .Case("explain", runExplain)
                 .Case("profile", runProfile)
                 .Case("bisect", runBisect)
                 .Case("ops", runOps)
                 .Case("targets", runTargets)
                 .Default(nullptr);
  return run(*line);
}
