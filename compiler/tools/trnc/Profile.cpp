//===- Profile.cpp - trnc profile -----------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Reports.h"
#include <cmath>

namespace trn::driver {

int runProfile(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  line.refuseCompileOptions(file);
  line.protectFiles(file);
  if (line.reportProblems("trnc profile"))
    return kUsage;
  Built built;
  if (int code = obtainExecutable(file, start, options, built))
    return code;
  return reportProfile(line, *built.executable, INFINITY);
}

} // namespace trn::driver
