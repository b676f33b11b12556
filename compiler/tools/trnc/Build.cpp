//===- Build.cpp - executables for the commands ---------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "runtime/executable/ExecutableFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

CompileOptions compileOptions(CommandLine &line) {
  CompileOptions options;
  auto set = [&](OptionId id, const std::string &value) {
    if (std::string reason = setOption(options, optionName(id), value); !reason.empty())
      line.problem("option '" + line.spelling(id) + "': " + reason);
  };
  for (const auto &[name, value] : line.pairs(OPT_dim))
    set(OPT_dim, name + "=" + value);
  for (const auto &[name, value] : line.pairs(OPT_shape))
    set(OPT_shape, name + "=" + value);
  for (const NamedFile &file : line.namedFiles(OPT_const_input))
    set(OPT_const_input, file.name + "=@" + file.file);
  for (OptionId id : {OPT_target, OPT_lnc, OPT_logical_nc_config, OPT_O, OPT_optlevel, OPT_auto_cast, OPT_auto_cast_type,
                      OPT_weights_links})
    if (line.has(id))
      set(id, line.value(id));
  options.embedIr = line.has(OPT_embed_ir);
  options.timing = line.has(OPT_timing);
  return options;
}

CompileOptions optionsForInputs(CompileOptions options, llvm::ArrayRef<std::string> inputs) {
  // The elements of a sequence x are x.0, x.1, …
  auto isGone = [&](llvm::StringRef name) {
    auto [sequence, position] = name.rsplit('.');
    const bool isElement = !position.empty() && llvm::all_of(position, llvm::isDigit);
    return !llvm::is_contained(inputs, name) && !(isElement && llvm::is_contained(inputs, sequence));
  };
  auto keep = [&](auto &named) {
    for (auto it = named.begin(); it != named.end();)
      it = isGone(it->first) ? named.erase(it) : std::next(it);
  };
  keep(options.shapes);
  keep(options.constInputs);
  for (auto it = options.absent.begin(); it != options.absent.end();)
    it = isGone(*it) ? options.absent.erase(it) : std::next(it);
  return options;
}

std::string counted(int64_t count, llvm::StringRef thing) {
  return std::to_string(count) + " " + thing.str() + (count == 1 ? "" : "s");
}

void printError(const std::string &text) { llvm::errs() << "error: " << text << "\n"; }

void printProblems(const std::string &file, const Diagnostics &problems, bool remarks) {
  for (const Problem &problem : problems.problems()) {
    if (problem.severity == Problem::Severity::Remark && !remarks)
      continue;
    llvm::errs() << problem.severityName() << ": " << (problem.node.empty() ? file + ": " : "") << problem.str() << "\n";
  }
}

int exitCodeOf(Compiler::Failure failure) {
  switch (failure) {
  case Compiler::Failure::None:
    return kOk;
  case Compiler::Failure::Unsupported:
    return kUnsupported;
  case Compiler::Failure::BadInput:
    return kBadInput;
  case Compiler::Failure::Internal:
    return kInternal;
  }
  return kInternal;
}

std::optional<Stage> startStage(CommandLine &line, const std::string &file) {
  if (!line.has(OPT_start_from))
    return std::nullopt;
  if (!llvm::StringRef(file).ends_with(".mlir"))
    line.problem("option '--start-from' is for .mlir files; '" + file + "' begins where its format does");
  std::optional<Stage> stage = parseStage(line.value(OPT_start_from));
  if (!stage)
    line.problem("option '--start-from': expected one of " +
                 llvm::join(llvm::map_range(allStages(), [](Stage s) { return stageName(s).str(); }), ", ") +
                 " but got '" + line.value(OPT_start_from) + "'");
  return stage;
}

std::shared_ptr<const exe::Executable> encodeInMemory(Compiler &compiler) {
  mlir::FailureOr<exe::Executable> encoded = compiler.encode();
  if (llvm::failed(encoded))
    return nullptr;
  // What runs needs its weights in memory.
  auto weights = std::make_shared<std::vector<uint8_t>>(encoded->weights.bytes);
  if (!weights->empty() && !encoded->weights.read(0, weights->data(), weights->size())) {
    compiler.refuse("the weights cannot be read");
    return nullptr;
  }
  encoded->weights.data = weights->data();
  encoded->weights.owner = weights;
  return std::make_shared<const exe::Executable>(std::move(*encoded));
}

int obtainExecutable(const std::string &file, std::optional<Stage> start, const CompileOptions &options, Built &built) {
  if (llvm::StringRef(file).ends_with(".trnx")) {
    absl::StatusOr<std::shared_ptr<const exe::Executable>> loaded = exe::loadExecutable(file);
    if (!loaded.ok()) {
      printError(std::string(loaded.status().message()));
      return kBadInput;
    }
    built.executable = std::move(*loaded);
    return kOk;
  }
  built.compiler = std::make_unique<Compiler>(options);
  Compiler &compiler = *built.compiler;
  if (llvm::failed(compiler.open(file, start)) || llvm::failed(compiler.advance(Stage::Synced))) {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  }
  built.executable = encodeInMemory(compiler);
  printProblems(file, compiler.problems());
  return built.executable ? kOk : exitCodeOf(compiler.failure());
}

} // namespace trn::driver
