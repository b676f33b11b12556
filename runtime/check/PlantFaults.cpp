//===- PlantFaults.cpp - measuring the checker on an executable --------------===//
//
// The tool trn-plant-faults: loads a `.trnx` file, breaks it in one place at a time and prints how many of the faults
// the checker notices (Faults.h). Exit code 1: the file does not pass the check itself, or a fault was missed.
//
//   trn-plant-faults model.trnx [every]      plant every n-th fault of each kind (default 1)
//
//===----------------------------------------------------------------------===//
#include "absl/strings/numbers.h"
#include "runtime/check/Faults.h"
#include "runtime/executable/ExecutableFile.h"
#include <cstdio>

int main(int argc, char **argv) {
  using namespace trn;
  rt::FaultOptions options;
  if (argc < 2 || argc > 3 || (argc == 3 && (!absl::SimpleAtoi(argv[2], &options.every) || options.every == 0))) {
    std::fputs("usage: trn-plant-faults model.trnx [every]\n", stderr);
    return 2;
  }
  absl::StatusOr<std::shared_ptr<const exe::Executable>> executable = exe::loadExecutable(std::string(argv[1]));
  if (!executable.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(executable.status().message()).c_str());
    return 1;
  }
  rt::CheckReport report = rt::check(**executable);
  std::fputs(report.str().c_str(), stdout);
  if (!report.ok())
    return 1;
  rt::FaultReport faults = rt::plantFaults(**executable, options);
  std::fputs(faults.str().c_str(), stdout);
  return faults.total().missed ? 1 : 0;
}
