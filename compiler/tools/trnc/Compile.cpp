//===- Compile.cpp - trnc compile -----------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/OutputFile.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace trn::driver {

namespace {
/// An LLVM stream into a file that appears whole or not at all.
class OutputStream final : public llvm::raw_ostream {
public:
  explicit OutputStream(rt::OutputFile &file) : file_(file) {}
  ~OutputStream() override { flush(); }

private:
  void write_impl(const char *bytes, size_t size) override {
    file_.write(reinterpret_cast<const uint8_t *>(bytes), size); // a failure shows when the file is committed
    position_ += size;
  }
  uint64_t current_pos() const override { return position_; }

  rt::OutputFile &file_;
  uint64_t position_ = 0;
};
} // namespace

/// Writes the module's text, with locations, so that a reload loses nothing; "-" is standard output.
static int writeModule(mlir::ModuleOp module, const std::string &path) {
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  if (path == "-") {
    module->print(llvm::outs(), flags);
    llvm::outs() << "\n";
    return kOk;
  }
  rt::OutputFile file;
  absl::Status status = file.open(path);
  if (status.ok()) {
    OutputStream out(file);
    module->print(out, flags);
    out << "\n";
    out.flush();
    status = file.commit();
  }
  if (status.ok())
    return kOk;
  printError(std::string(status.message()));
  return kBadInput;
}

static std::string defaultOutput(const std::string &file, llvm::StringRef ending) {
  llvm::SmallString<128> path(llvm::sys::path::filename(file));
  llvm::sys::path::replace_extension(path, ending);
  return path.str().str();
}

/// The most memory that this process held at once, from Linux's accounting of its address space; 0 when unknown.
static int64_t peakMemoryBytes() {
  auto status = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!status)
    return 0;
  llvm::StringRef text = (*status)->getBuffer();
  size_t at = text.find("VmHWM:");
  int64_t kilobytes = 0;
  if (at == llvm::StringRef::npos || text.substr(at + 6).ltrim().consumeInteger(10, kilobytes))
    return 0;
  return kilobytes * 1024;
}

static void report(CommandLine &line, const exe::Executable &executable, const std::string &output, double seconds) {
  int64_t commands = 0;
  for (const exe::Program &program : executable.programs)
    commands += static_cast<int64_t>(program.commands.size());
  const auto weightBytes = static_cast<int64_t>(executable.bytesOf(exe::BufferKind::Weight));
  if (line.has(OPT_json)) {
    llvm::json::Object build;
    for (const auto &[key, value] : executable.build)
      build[key] = value;
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{
                                               {"output", output},
                                               {"device", executable.device},
                                               {"instructions", commands},
                                               {"weight_bytes", weightBytes},
                                               {"compile_seconds", seconds},
                                               {"peak_memory_bytes", peakMemoryBytes()},
                                               {"build", std::move(build)}}))
                 << "\n";
  } else if (!line.has(OPT_quiet)) {
    llvm::outs() << llvm::formatv("{0}: {1}, {2:f1} MB of weights for {3}, compiled in {4:f2} s\n", output,
                                  counted(commands, "instruction"), static_cast<double>(weightBytes) / 1e6,
                                  executable.device, seconds);
    if (commands == 0)
      llvm::outs() << "the program computes nothing: no output has an element that depends on an input or weight\n";
  }
}

/// The module of stage `stage` on the way to the executable. Whether a layout is the last one is known when its program
/// has been scheduled: one that exceeds SBUF is laid out again. Null when the stage cannot be reached.
static mlir::OwningOpRef<mlir::ModuleOp> moduleAt(Compiler &compiler, Stage stage) {
  bool mayChange = compiler.stage() < Stage::Grouped && stage >= Stage::Grouped && stage < Stage::Scheduled;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  compiler.observer = [&](Stage reached, mlir::ModuleOp current) {
    if (reached == stage)
      module = current.clone();
  };
  if (succeeded(compiler.advance(mayChange ? Stage::Scheduled : stage)) && !module)
    module = compiler.module().clone(); // it was there already
  return module;
}

int runCompile(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  std::optional<Stage> stop;
  if (line.has(OPT_stop_after) && !(stop = parseStage(line.value(OPT_stop_after))))
    line.problem("option '--stop-after': '" + line.value(OPT_stop_after) + "' is not a stage");
  if (stop && start && *stop < *start)
    line.problem("stage '" + stageName(*stop).str() + "' of --stop-after lies before '" + stageName(*start).str() +
                 "' of --start-from");
  bool dump = stop && *stop != Stage::Encoded;
  std::string output =
      line.value(OPT_o, line.value(OPT_output, defaultOutput(file, dump ? "mlir" : "trnx")));
  if (llvm::StringRef(file).ends_with(".trnx"))
    line.problem("'" + file + "' is compiled already; 'trnc run' and 'trnc inspect' take it");
  line.protectFiles(file);
  if (output == file && !line.has(OPT_o) && !line.has(OPT_output)) // by its default name; protectFiles sees others
    line.problem("the output would overwrite the input '" + file + "'");
  if (line.reportProblems("trnc compile"))
    return kUsage;

  auto begin = std::chrono::steady_clock::now();
  Compiler compiler(options);
  bool opened = succeeded(compiler.open(file, start));
  mlir::OwningOpRef<mlir::ModuleOp> dumped;
  if (opened && dump)
    dumped = moduleAt(compiler, *stop);
  if (!opened || (dump ? !dumped : llvm::failed(compiler.advance(Stage::Synced)))) {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  }
  if (dump) {
    printProblems(file, compiler.problems());
    return writeModule(*dumped, output);
  }
  mlir::FailureOr<exe::Executable> executable = compiler.encode();
  printProblems(file, compiler.problems());
  if (llvm::failed(executable))
    return exitCodeOf(compiler.failure());
  if (absl::Status status = exe::writeExecutable(*executable, output); !status.ok()) {
    printError(std::string(status.message()));
    return absl::IsInvalidArgument(status) ? kInternal : kBadInput;
  }
  report(line, *executable, output,
         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return kOk;
}

} // namespace trn::driver
