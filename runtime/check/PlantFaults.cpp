//===- PlantFaults.cpp - measuring the checker on an executable --------------===//
//
// The tool trn-plant-faults: loads a `.trnx` file, breaks it in one place at a time and prints how many of the faults
// the checker notices (Faults.h). Exit codes: 0 all are noticed or harmless, 1 one was missed, 2 a bad file or one that
// does not pass the check itself, 3 wrong usage.
//
//   trn-plant-faults model.trnx [--every N] [--json]      plant every n-th fault of each kind (default 1)
//
//===----------------------------------------------------------------------===//
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "runtime/check/Faults.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/profile/Json.h"
#include <cstdio>

using namespace trn;

static std::string toJson(const rt::FaultReport &report) {
  rt::Json json;
  auto counts = [&](const char *key, const rt::FaultCounts &sum) {
    json.beginObject(key).integer("planted", sum.planted).integer("caught", sum.caught);
    json.integer("caught_by_flow", sum.caughtByFlow).integer("harmless", sum.harmless).integer("missed", sum.missed);
    json.endObject();
  };
  json.beginObject();
  counts("all", report.total());
  for (unsigned kind = 0; kind < rt::kFaultKinds; ++kind)
    counts(rt::name(rt::FaultKind(kind)), report.counts[kind]);
  json.beginArray("faults");
  for (const rt::PlantedFault &fault : report.faults) {
    json.line().beginObject().text("kind", rt::name(fault.kind)).text("fault", fault.description);
    json.text("outcome", rt::name(fault.outcome)).text("finding", fault.finding).endObject();
  }
  json.endArray().endObject();
  return json.take() + "\n";
}

int main(int argc, char **argv) {
  rt::FaultOptions options;
  std::string file;
  bool json = false, usage = argc < 2;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (argument == "--json")
      json = true;
    else if (argument == "--every" && i + 1 < argc)
      usage |= !absl::SimpleAtoi(argv[++i], &options.every) || options.every == 0;
    else if (file.empty() && argument.substr(0, 1) != "-")
      file = argv[i];
    else
      usage = true;
  }
  if (usage || file.empty()) {
    std::fputs("usage: trn-plant-faults model.trnx [--every N] [--json]\n", stderr);
    return 3;
  }
  absl::StatusOr<std::shared_ptr<const exe::Executable>> executable = exe::loadExecutable(file);
  if (!executable.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(executable.status().message()).c_str());
    return 2;
  }
  rt::CheckReport report = rt::check(**executable);
  std::fputs(report.str().c_str(), stderr);
  if (!report.ok())
    return 2;
  absl::StatusOr<rt::FaultReport> faults = rt::plantFaults(**executable, options);
  if (!faults.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(faults.status().message()).c_str());
    return 2;
  }
  std::fputs((json ? toJson(*faults) : faults->str()).c_str(), stdout);
  if (std::fflush(stdout) != 0) {
    std::perror("error: standard output");
    return 2;
  }
  return faults->total().missed ? 1 : 0;
}
