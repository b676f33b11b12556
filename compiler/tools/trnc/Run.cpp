//===- Run.cpp - trnc run -------------------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Reports.h"
#include "compiler/tools/trnc/Tensors.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

namespace trn::driver {

static std::string tensorLine(const rt::HostTensor &tensor) {
  std::string shape;
  for (int64_t dim : tensor.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(dim);
  if (shape.empty())
    shape = "scalar";
  std::string text = llvm::formatv("{0}: {1} {2}", tensor.name, rt::dataTypeName(tensor.type), shape).str();
  if (tensor.type != rt::DataType::Float32 || tensor.bytes.empty())
    return text;
  const auto *values = reinterpret_cast<const float *>(tensor.bytes.data());
  float low = values[0], high = values[0];
  for (int64_t i = 1; i < tensor.elements(); ++i) {
    low = std::fmin(low, values[i]);
    high = std::fmax(high, values[i]);
  }
  return text + llvm::formatv(", {0} to {1}", low, high).str();
}

int runRun(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  std::vector<NamedFile> inputs = line.namedFiles(OPT_input), saves = line.namedFiles(OPT_save);
  rt::SessionOptions session;
  session.threads = static_cast<unsigned>(line.integer(OPT_threads, 1, 1, 256));
  session.check = line.choice(OPT_check_level, "on", {"on", "off"}) == "on";
  session.timeoutSeconds = line.real(OPT_timeout, 0);
  int64_t repeat = line.integer(OPT_repeat, 1, 1, 1'000'000);
  std::optional<uint64_t> seed;
  if (line.has(OPT_random_inputs))
    seed = line.integer(OPT_random_inputs, 0, 0, INT64_MAX);
  line.refuseCompileOptions(file);
  line.protectFiles(file);
  if (line.reportProblems("trnc run"))
    return kUsage;

  Built built;
  if (int code = obtainExecutable(file, start, options, built))
    return code;
  absl::StatusOr<std::unique_ptr<rt::Session>> created = rt::Session::create(built.executable, session);
  if (!created.ok()) {
    printError(std::string(created.status().message()));
    return built.compiler ? kInternal : kBadInput;
  }
  std::vector<std::string> problems = setInputs(**created, inputs, seed);
  for (std::string &text : checkSaves(**created, saves))
    problems.push_back(std::move(text));
  for (const std::string &text : problems)
    printError(text);
  if (!problems.empty())
    return kBadInput;

  double best = INFINITY;
  for (int64_t i = 0; i < repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (absl::Status status = (*created)->execute(); !status.ok()) {
      printError(std::string(status.message()));
      // A value of the inputs may be out of range: an index into a table.
      bool isInput = absl::IsDeadlineExceeded(status) || absl::IsOutOfRange(status);
      return built.compiler && !isInput ? kInternal : kBadInput;
    }
    best = std::fmin(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  for (const std::string &text : saveOutputs(**created, saves))
    problems.push_back(text);
  for (const std::string &text : problems)
    printError(text);
  if (!problems.empty())
    return kBadInput;

  if (!line.has(OPT_json) && !line.has(OPT_quiet))
    for (size_t i = 0; i < (*created)->outputs().size(); ++i)
      if (absl::StatusOr<rt::HostTensor> tensor = outputTensor(**created, i); tensor.ok())
        llvm::outs() << tensorLine(*tensor) << "\n";
  return reportProfile(line, *built.executable, best, (*created)->decisions());
}

} // namespace trn::driver
