//===- Verify.cpp - trnc verify -------------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Compare.h"
#include "compiler/tools/trnc/Layers.h"
#include "compiler/tools/trnc/Reduce.h"
#include "compiler/tools/trnc/Tensors.h"
#include "runtime/src/HostTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Compares every node of the model at `stage` with fp32. Returns kOk with the report, or the exit code of what
/// went wrong, with the problems printed.
static int verifyLayers(CommandLine &line, const CompileOptions &options, const std::string &file,
                        const std::vector<NamedFile> &inputs, std::optional<uint64_t> seed, Stage stage,
                        LayerReport &report) {
  Compiler compiler(options);
  auto fail = [&] {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure() == Compiler::Failure::None ? Compiler::Failure::Unsupported
                                                                    : compiler.failure());
  };
  // Precision is assigned behind `graph`, which is what the model says in fp32.
  if (llvm::failed(compiler.open(file, std::nullopt)) || llvm::failed(compiler.advance(Stage::Graph)))
    return fail();
  References references;
  std::vector<std::string> problems = collectReferences(
      {inputs, line.value(OPT_data, ""), seed, line.value(OPT_reference, "")}, compiler.module(), references);
  for (const std::string &text : problems)
    printError(text);
  if (!problems.empty())
    return kBadInput;
  const isa::DeviceInfo &device = *isa::device(options.target);
  auto evaluate = [&] {
    return evaluateStage(compiler.stage(), compiler.module(), references, device, /*withNodes=*/true);
  };
  ExpectedLayers expected;
  if (line.has(OPT_reference)) {
    expected = expectedLayers(references);
  } else {
    mlir::FailureOr<StageValues> exact = evaluate();
    if (llvm::failed(exact))
      return fail();
    expected = expectedLayers(*exact);
  }
  if (llvm::failed(compiler.advance(Stage::Tensor)))
    return fail();
  LayerFlow flow = layerFlow(compiler.module(), expected);
  if (llvm::failed(compiler.advance(stage)))
    return fail();
  mlir::FailureOr<StageValues> values = evaluate();
  if (llvm::failed(values))
    return fail();
  report = compareLayers(*values, flow, expected);
  return kOk;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Runs the model and compares its outputs. Adds a row per output for --json, prints a line for it otherwise.
static int verifyOutputs(CommandLine &line, const std::string &file, std::optional<Stage> start,
                         const CompileOptions &options, const rt::SessionOptions &sessionOptions,
                         std::vector<NamedFile> inputs, std::vector<NamedFile> expected, std::optional<uint64_t> seed,
                         const Tolerance &tolerance, llvm::json::Array &rows) {
  Built built;
  if (int code = obtainExecutable(file, start, options, built))
    return code;
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(built.executable, sessionOptions);
  if (!session.ok()) {
    printError(std::string(session.status().message()));
    return built.compiler ? kInternal : kBadInput;
  }
  if (line.has(OPT_data)) {
    auto names = [&](absl::Span<const uint32_t> which) {
      return llvm::map_to_vector(llvm::ArrayRef<uint32_t>(which.data(), which.size()),
                                 [&](uint32_t index) { return (*session)->buffer(index).name; });
    };
    addFolder(line.value(OPT_data), "input", names((*session)->inputs()), inputs);
    addFolder(line.value(OPT_data), "output", names((*session)->outputs()), expected);
  }
  std::vector<std::string> problems = setInputs(**session, inputs, seed);
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
      Comparison result = compare(*got, *reference, tolerance);
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
  return !readable ? kBadInput : all ? kOk : kVerificationFailed;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

int runVerify(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  std::vector<NamedFile> inputs = line.namedFiles(OPT_input), expected = line.namedFiles(OPT_expect);
  Tolerance tolerance;
  tolerance.rtol = line.real(OPT_rtol, tolerance.rtol);
  tolerance.atol = line.real(OPT_atol, tolerance.atol);
  tolerance.ofIntegers = line.has(OPT_rtol) || line.has(OPT_atol);
  std::optional<uint64_t> seed;
  if (line.has(OPT_random_inputs))
    seed = static_cast<uint64_t>(line.integer(OPT_random_inputs, 0, 0, INT64_MAX));
  rt::SessionOptions sessionOptions;
  sessionOptions.threads = static_cast<unsigned>(line.integer(OPT_threads, 1, 1, 256));
  sessionOptions.check = line.choice(OPT_check_level, "on", {"on", "off"}) == "on";
  sessionOptions.timeoutSeconds = line.real(OPT_timeout, 0);
  bool layers = line.has(OPT_layers), outputs = line.has(OPT_data) || !expected.empty();
  bool reduces = line.has(OPT_reduce);
  if (!outputs && !layers && !reduces)
    line.problem("nothing to compare with; give --data FOLDER, --expect NAME=@FILE, --layers or --reduce FILE");
  if (reduces && (layers || !expected.empty() || line.has(OPT_json)))
    line.problem("--reduce compares with --reference, or with the compiler's own values in fp32, and takes neither "
                 "--expect, --layers nor --json");
  if (reduces && !llvm::StringRef(file).ends_with(".onnx"))
    line.problem("--reduce takes ONNX models; trn-reduce takes .mlir modules");
  if (layers && (llvm::StringRef(file).ends_with(".mlir") || llvm::StringRef(file).ends_with(".trnx")))
    line.problem("--layers takes ONNX models: only they have nodes with values in fp32");
  std::optional<Stage> stage = parseStage(line.value(OPT_stage, "tensor"));
  if (!stage || *stage < Stage::Tensor || *stage == Stage::Encoded)
    line.problem("option '--stage': expected a stage from 'tensor' to 'synced' but got '" + line.value(OPT_stage) +
                 "'");
  if (line.has(OPT_stage) && !layers)
    line.problem("option '--stage' is for --layers; `trnc bisect` looks for the stage that is wrong");
  if (line.has(OPT_reference) && !layers && !reduces)
    line.problem("option '--reference' is for --layers and --reduce; give outputs with --expect NAME=@FILE.npz:member");
  line.refuseCompileOptions(file);
  line.protectFiles(file);
  if (line.reportProblems("trnc verify"))
    return kUsage;
  if (line.has(OPT_data) && !llvm::sys::fs::is_directory(line.value(OPT_data))) {
    printError("'" + line.value(OPT_data) + "': expected a folder with input_N.pb and output_N.pb");
    return kBadInput;
  }

  if (reduces)
    return reduceModel(file, line.value(OPT_reduce),
                       {options, sessionOptions, inputs, seed, line.value(OPT_data, ""), line.value(OPT_reference, ""),
                        line.real(OPT_rtol, 1e-4), line.has(OPT_quiet)});

  bool all = true;
  LayerReport report;
  std::optional<double> limit; // what a cast costs is the question, not an error
  if (line.has(OPT_rtol) || options.autoCast == AutoCast::None)
    limit = line.real(OPT_rtol, 1e-4);
  if (layers) {
    if (int code = verifyLayers(line, options, file, inputs, seed, *stage, report))
      return code;
    if (limit)
      all = llvm::all_of(report.layers, [&](const LayerError &layer) { return layer.error <= *limit; });
    if (!line.has(OPT_json) && !line.has(OPT_quiet))
      printLayers(report, limit, llvm::outs());
  }

  llvm::json::Array rows;
  if (outputs) {
    int code = verifyOutputs(line, file, start, options, sessionOptions, inputs, expected, seed, tolerance, rows);
    all &= code != kVerificationFailed;
    if (code != kOk && code != kVerificationFailed)
      return code;
  }
  if (line.has(OPT_json)) {
    llvm::json::Object object{{"equal", all}, {"outputs", std::move(rows)}};
    if (layers)
      object["layers"] = layersJson(report, limit);
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
  }
  return all ? kOk : kVerificationFailed;
}

} // namespace trn::driver
