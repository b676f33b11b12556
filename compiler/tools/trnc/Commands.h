//===- Commands.h - the commands of trnc ----------------------------------===//
//
// One function per command, one command per file. Each reads its options first (all usage problems at once), then works,
// prints its report (text or JSON) to standard output and problems to standard error, and returns an exit code.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/tools/trnc/CommandLine.h"

namespace trn::driver {

int runCompile(CommandLine &line);
int runRun(CommandLine &line);
int runVerify(CommandLine &line);
int runCheck(CommandLine &line);
int runInspect(CommandLine &line);
int runExplain(CommandLine &line);
int runProfile(CommandLine &line);
int runBisect(CommandLine &line);
int runOps(CommandLine &line);
int runTargets(CommandLine &line);

} // namespace trn::driver
