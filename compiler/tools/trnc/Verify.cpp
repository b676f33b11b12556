//===- Verify.cpp - trnc verify -------------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Compare.h"
#include "compiler/tools/trnc/Tensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

/// Adds input_N.pb and output_N.pb of a test folder of the ONNX suite, in the model's order.
static void addFolder(const std::string &folder, const rt::Session &session, std::vector<NamedFile> &inputs,
                      std::vector<NamedFile> &expected) {
  auto add = [&](const char *prefix, absl::Span<const uint32_t> which, std::vector<NamedFile> &to) {
    for (size_t i = 0; i < which.size(); ++i) {
      std::string file = folder + "/" + prefix + "_" + std::to_string(i) + ".pb";
      const std::string &name = session.buffer(which[i]).name;
      bool given = llvm::any_of(to, [&](const NamedFile &each) { return each.name == name; });
      if (!given && llvm::sys::fs::exists(file))
        to.push_back({name, file});
    }
  };
  add("input", session.inputs(), inputs);
  add("output", session.outputs(), expected);
}

int runVerify(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  std::vector<NamedFile> inputs = line.namedFiles(OPT_input), expected = line.namedFiles(OPT_expect);
  double rtol = line.real(OPT_rtol, 1e-3), atol = line.real(OPT_atol, 1e-7);
  rt::SessionOptions sessionOptions;
  sessionOptions.threads = static_cast<unsigned>(line.integer(OPT_threads, 1, 1, 256));
  sessionOptions.check = line.choice(OPT_check_level, "on", {"on", "off"}) == "on";
  sessionOptions.timeoutSeconds = line.real(OPT_timeout, 0);
  if (!line.has(OPT_data) && expected.empty())
    line.problem("nothing to compare with; give --data FOLDER or --expect NAME=@FILE");
  if (line.reportProblems("trnc verify"))
    return kUsage;
  Built built;
  if (int code = obtainExecutable(file, start, options, built))
    return code;
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(built.executable, sessionOptions);
  if (!session.ok()) {
    printError(std::string(session.status().message()));
    return built.compiler ? kInternal : kBadInput;
  }
  if (line.has(OPT_data))
    addFolder(line.value(OPT_data), **session, inputs, expected);
  std::vector<std::string> problems = setInputs(**session, inputs, std::nullopt);
  if (expected.empty())
    problems.push_back("'" + line.value(OPT_data) + "' holds no output_N.pb");
  for (const std::string &text : problems)
    printError(text);
  if (!problems.empty())
    return kBadInput;
  if (absl::Status status = (*session)->execute(); !status.ok()) {
    printError(std::string(status.message()));
    return built.compiler ? kInternal : kBadInput;
  }

  bool all = true, readable = true;
  llvm::json::Array rows;
  for (const NamedFile &want : expected) {
    bool found = false;
    for (size_t i = 0; i < (*session)->outputs().size(); ++i) {
      const exe::Buffer &buffer = (*session)->buffer((*session)->outputs()[i]);
      if (buffer.name != want.name)
        continue;
      found = true;
      absl::StatusOr<rt::HostTensor> got = outputTensor(**session, i);
      absl::StatusOr<rt::HostTensor> reference =
          readNamedTensor(want.file, want.name, got.ok() ? got->type : rt::DataType::Undefined);
      if (!got.ok() || !reference.ok()) {
        printError(std::string((got.ok() ? reference.status() : got.status()).message()));
        readable = false;
        continue;
      }
      Comparison result = compare(*got, *reference, rtol, atol);
      all &= result.equal;
      if (line.has(OPT_json))
        rows.push_back(llvm::json::Object{{"output", want.name},
                                          {"equal", result.equal},
                                          {"largest_difference", result.largestDifference},
                                          {"largest_value", result.largestValue},
                                          {"text", result.text}});
      else if (!line.has(OPT_quiet) || !result.equal)
        llvm::outs() << (result.equal ? "ok     " : "WRONG  ") << want.name << ": " << result.text << "\n";
    }
    if (!found) {
      printError("the model has no output '" + want.name + "'");
      readable = false;
    }
  }
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"equal", all}, {"outputs", std::move(rows)}}))
                 << "\n";
  return !readable ? kBadInput : all ? kOk : kVerificationFailed;
}

} // namespace trn::driver
