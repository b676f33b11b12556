//===- Inspect.cpp - trnc inspect -----------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "dialects/ONNX/OpRecords.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/HostTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

namespace trn::driver {

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + (dim == mlir::ShapedType::kDynamic ? std::string("?") : std::to_string(dim));
  return text.empty() ? "scalar" : text;
}

static const char *kindName(exe::BufferKind kind) {
  const char *names[] = {"input", "output", "weight", "scratch"};
  return names[static_cast<unsigned>(kind)];
}

/// The library kernels that the programs call: by name how often, and for which ONNX nodes.
struct LibraryCalls {
  int64_t count = 0;
  std::set<std::string> nodes;
};
static std::map<std::string, LibraryCalls> libraryCalls(const exe::Executable &executable) {
  std::map<std::string, LibraryCalls> calls;
  for (const exe::Program &program : executable.programs)
    for (const isa::Command &command : program.commands) {
      const isa::InstInfo &info = isa::info(isa::opcode(command.inst));
      if (!info.isLibrary)
        continue;
      LibraryCalls &kernel = calls[info.mnemonic];
      ++kernel.count;
      if (command.debug < executable.debug.size() && !executable.debug[command.debug].node.empty())
        kernel.nodes.insert(executable.debug[command.debug].node);
    }
  return calls;
}

static llvm::json::Array libraryKernels(const exe::Executable &executable) {
  llvm::json::Array list;
  for (const auto &[name, calls] : libraryCalls(executable))
    list.push_back(llvm::json::Object{{"name", name}, {"count", calls.count}, {"nodes", llvm::json::Array(calls.nodes)}});
  return list;
}

/// Null for a file of a format that had no checksums.
static llvm::json::Value weightsChecksum(const exe::Executable &executable) {
  if (!executable.weights.crc32c)
    return nullptr;
  return llvm::utohexstr(*executable.weights.crc32c, /*LowerCase=*/true, /*Width=*/8);
}

static int inspectExecutable(CommandLine &line, const std::string &file) {
  absl::StatusOr<std::shared_ptr<const exe::Executable>> loaded = exe::loadExecutable(file);
  if (!loaded.ok()) {
    printError(std::string(loaded.status().message()));
    return kBadInput;
  }
  const exe::Executable &executable = **loaded;
  if (absl::Status status = exe::verifyWeights(executable); !status.ok()) {
    printError("'" + file + "': " + std::string(status.message()));
    return kBadInput;
  }
  llvm::json::Array buffers;
  llvm::json::Object engines, build;
  auto bytesOf = [&](exe::BufferKind kind) { return static_cast<int64_t>(executable.bytesOf(kind)); };
  for (const exe::Buffer &buffer : executable.buffers) {
    bool io = buffer.kind == exe::BufferKind::Input || buffer.kind == exe::BufferKind::Output;
    if (io || line.has(OPT_sections))
      buffers.push_back(llvm::json::Object{{"name", buffer.name},
                                           {"kind", kindName(buffer.kind)},
                                           {"type", rt::dataTypeName(rt::hostType(buffer.hostDtype))},
                                           {"device_type", isa::name(buffer.dtype)},
                                           {"shape", llvm::json::Array(buffer.shape)},
                                           {"bytes", static_cast<int64_t>(buffer.bytes)}});
  }
  for (const exe::Program &program : executable.programs)
    engines[isa::name(program.engine)] = static_cast<int64_t>(program.commands.size());
  for (const auto &[key, value] : executable.build)
    build[key] = value;
  llvm::raw_ostream &os = llvm::outs();
  if (line.has(OPT_json)) {
    os << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{
                                     {"device", executable.device},
                                     {"build", std::move(build)},
                                     {"buffers", std::move(buffers)},
                                     {"instructions", std::move(engines)},
                                     {"input_bytes", bytesOf(exe::BufferKind::Input)},
                                     {"output_bytes", bytesOf(exe::BufferKind::Output)},
                                     {"weight_bytes", bytesOf(exe::BufferKind::Weight)},
                                     {"weights_crc32c", weightsChecksum(executable)},
                                     {"scratch_bytes", bytesOf(exe::BufferKind::Scratch)},
                                     {"library_kernels", libraryKernels(executable)}}))
       << "\n";
    return kOk;
  }
  os << llvm::formatv("{0}: for {1}; weights {2}, scratch {3}\n", file, executable.device, counted(bytesOf(exe::BufferKind::Weight), "byte"),
                      counted(bytesOf(exe::BufferKind::Scratch), "byte"));
  if (executable.weights.crc32c)
    os << llvm::formatv("  checksums of all sections hold; the weights have CRC-32C {0}\n",
                        llvm::utohexstr(*executable.weights.crc32c, /*LowerCase=*/true, /*Width=*/8));
  else
    os << "  no checksums: the file has a format before 1.3\n";
  for (const exe::Buffer &buffer : executable.buffers)
    if (buffer.kind <= exe::BufferKind::Output || line.has(OPT_sections))
      os << llvm::formatv("  {0,-8}'{1}' {2} {3}\n", kindName(buffer.kind), buffer.name,
                          rt::dataTypeName(rt::hostType(buffer.hostDtype)), shapeText(buffer.shape));
  for (const exe::Program &program : executable.programs)
    os << llvm::formatv("  {0,-5}{1}\n", isa::name(program.engine),
                        counted(static_cast<int64_t>(program.commands.size()), "command"));
  for (const auto &[name, calls] : libraryCalls(executable))
    os << llvm::formatv("  library kernel {0}: {1} for {2}\n", name, counted(calls.count, "call"), llvm::join(calls.nodes, ", "));
  for (const auto &[key, value] : executable.build)
    os << llvm::formatv("  {0}: {1}\n", key, value);
  if (line.has(OPT_asm))
    os << exe::disassembleExecutable(executable);
  return kOk;
}

static llvm::json::Object valueInfo(llvm::StringRef name, mlir::Type type) {
  auto shaped = mlir::cast<mlir::ShapedType>(type);
  std::string element;
  llvm::raw_string_ostream(element) << shaped.getElementType();
  return llvm::json::Object{{"name", name}, {"shape", shapeText(shaped.hasRank() ? shaped.getShape() : llvm::ArrayRef<int64_t>())},
                            {"type", element}};
}

static int inspectModel(CommandLine &line, const std::string &file, const CompileOptions &options) {
  Compiler compiler(options);
  if (llvm::failed(compiler.open(file, std::nullopt))) {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  }
  std::map<std::string, int64_t> histogram;
  int64_t weights = 0;
  compiler.module().walk([&](mlir::Operation *op) {
    if (const onnx::OpRecord *record = onnx::lookupRecord(op))
      ++histogram[record->name.str()];
    else if (op->getName().getStringRef() == "onnx.weight" && op->getNumResults() == 1)
      if (auto type = mlir::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType()))
        weights += type.getNumElements() * type.getElementTypeBitWidth() / 8;
  });
  auto main = compiler.module().lookupSymbol<mlir::func::FuncOp>("main");
  if (!main) {
    printError("'" + file + "' has no function @main; inspect takes models and executables");
    return kBadInput;
  }
  llvm::json::Array inputs, outputs;
  auto nameOf = [](mlir::Attribute name) { return name ? mlir::cast<mlir::StringAttr>(name).getValue() : ""; };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    inputs.push_back(valueInfo(nameOf(main.getArgAttr(i, "onnx.name")), main.getArgumentTypes()[i]));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    outputs.push_back(valueInfo(nameOf(main.getResultAttr(i, "onnx.name")), main.getResultTypes()[i]));
  llvm::raw_ostream &os = llvm::outs();
  if (line.has(OPT_json)) {
    llvm::json::Object operators;
    for (const auto &[name, count] : histogram)
      operators[name] = count;
    os << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"inputs", std::move(inputs)},
                                                                      {"outputs", std::move(outputs)},
                                                                      {"operators", std::move(operators)},
                                                                      {"weight_bytes", weights}}))
       << "\n";
    return kOk;
  }
  os << file << ": " << counted(weights, "byte") << " of weights\n";
  for (const auto &[kind, list] : {std::pair<const char *, llvm::json::Array &>{"input", inputs}, {"output", outputs}})
    for (const llvm::json::Value &value : list)
      os << llvm::formatv("  {0,-8}'{1}' {2} {3}\n", kind, value.getAsObject()->getString("name").value_or(""),
                          value.getAsObject()->getString("type").value_or(""),
                          value.getAsObject()->getString("shape").value_or(""));
  for (const auto &[name, count] : histogram)
    os << llvm::formatv("  {0,5} x {1}\n", count, name);
  return kOk;
}

int runInspect(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  if (line.reportProblems("trnc inspect"))
    return kUsage;
  return llvm::StringRef(file).ends_with(".trnx") ? inspectExecutable(line, file) : inspectModel(line, file, options);
}

} // namespace trn::driver
