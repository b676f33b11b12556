//===- main.cpp - trnc, the driver ----------------------------------------===//
//
// Owns the choice of the command and how the process ends: with the command's exit code, when all of standard output
// could be written; with one message and a documented code when LLVM gives up or a file vanishes under a mapping.
//
//===----------------------------------------------------------------------===//
#include "compiler/Support/ProcessEnd.h"
#include "compiler/tools/trnc/Commands.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/StringSaver.h"

using namespace trn::driver;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  trn::endProcessCleanly(kInternal, kBadInput);
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver storage(allocator);
  int exitCode = kOk;
  std::optional<CommandLine> line =
      parseCommandLine(llvm::ArrayRef<const char *>(argv + 1, argc - 1), storage, exitCode);
  if (!line)
    return trn::finishOutput(exitCode, kBadInput);
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
  return trn::finishOutput(run(*line), kBadInput);
}
