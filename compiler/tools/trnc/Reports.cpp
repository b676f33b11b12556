//===- Reports.cpp - the modelled profile on the command line -------------===//
#include "compiler/tools/trnc/Reports.h"
#include "compiler/tools/trnc/Build.h"
#include "runtime/profile/Profile.h"
#include "runtime/src/OutputFile.h"
#include "runtime/timing/Unroll.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace trn::driver {

static int writeText(const std::string &path, const std::string &text) {
  rt::OutputFile out;
  absl::Status status = out.open(path);
  if (status.ok())
    status = out.write(reinterpret_cast<const uint8_t *>(text.data()), text.size())
                 ? out.commit()
                 : absl::ResourceExhaustedError("'" + path + "' cannot be written");
  if (status.ok())
    return kOk;
  printError(std::string(status.message()));
  return kBadInput;
}

static void printSummary(const rt::Profile &profile) {
  llvm::raw_ostream &os = llvm::outs();
  os << llvm::formatv("modelled on {0}: {1:f2} us, limit {2:f2} us by {3}: {4:f1} %\n", profile.device,
                      profile["total_time"] * 1e6, profile.limitTime * 1e6, profile.limitBy, profile.limitPercent);
  if (const std::string assumed = profile.assumptions(); !assumed.empty())
    os << "  assumed: " << assumed << "\n";
  for (const rt::LimitTerm &term : profile.limits)
    os << llvm::formatv("  limit {0,-5}{1,10:f2} us  {2}\n", term.name, term.seconds * 1e6, term.meaning);
  for (const rt::EngineRow &engine : profile.engines)
    os << llvm::formatv("  {0,-5}{1,8} instructions, busy {2,9:f2} us, waiting {3,9:f2} us, idle {4,9:f2} us\n",
                        engine.name, engine.instructions, engine.busyTime * 1e6,
                        (engine.stallSemaphore + engine.stallDependence + engine.stallPort + engine.stallWeightLoad) * 1e6,
                        engine.idle * 1e6);
  os << llvm::formatv("  HBM   {0:f0} bytes read, {1:f0} written; SBUF at most {2} of {3} bytes per partition\n",
                      profile["hbm_read_bytes"], profile["hbm_write_bytes"], profile.sbufPeak, profile.sbufCapacity);
}

/// The profile with the fields of its summary and of its limit at the top, where AWS's tools have them, and `host_time`
/// beside them when it is finite.
static llvm::json::Value flatReport(const std::string &profile, double hostSeconds) {
  llvm::json::Object report = *llvm::cantFail(llvm::json::parse(profile)).getAsObject();
  for (llvm::StringRef group : {"summary", "limit"}) {
    llvm::json::Object *fields = report.getObject(group);
    if (!fields)
      continue;
    llvm::json::Object taken = std::move(*fields);
    report.erase(group);
    for (auto &[key, value] : taken)
      report[key] = std::move(value);
  }
  if (std::isfinite(hostSeconds))
    report["host_time"] = hostSeconds;
  return report;
}

int reportProfile(CommandLine &line, const exe::Executable &program, double hostSeconds,
                  std::vector<std::vector<int32_t>> found) {
  bool text = line.command() == "profile" ? !line.has(OPT_json) && !line.has(OPT_quiet) : line.has(OPT_stats);
  if (!text && !line.has(OPT_json) && !line.has(OPT_perfetto) && !line.has(OPT_html))
    return kOk;
  rt::Path path;
  path.found = std::move(found);
  absl::StatusOr<exe::Executable> unrolled = rt::unroll(program, path);
  if (absl::IsResourceExhausted(unrolled.status()) && !path.found.empty()) {
    path.found.clear(); // too long a run to follow: the assumed way
    unrolled = rt::unroll(program, path);
  }
  if (!unrolled.ok()) {
    printError("no profile: " + std::string(unrolled.status().message()));
    return kBadInput;
  }
  const exe::Executable &executable = *unrolled;
  rt::TimingOptions timing;
  timing.recordPackets = line.has(OPT_perfetto);
  absl::StatusOr<rt::Timeline> timeline = rt::simulate(executable, timing);
  if (!timeline.ok()) {
    printError(std::string(timeline.status().message()));
    return kBadInput;
  }
  rt::Profile profile = rt::summarize(executable, *timeline, !path.found.empty());
  if (line.has(OPT_perfetto))
    if (int code = writeText(line.value(OPT_perfetto), rt::writePerfetto(executable, *timeline, profile)))
      return code;
  if (line.has(OPT_html))
    if (int code = writeText(line.value(OPT_html), rt::writeHtml(executable, *timeline, profile)))
      return code;
  if (text)
    printSummary(profile);
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", flatReport(rt::writeJson(profile), hostSeconds)) << "\n";
  return kOk;
}

} // namespace trn::driver
