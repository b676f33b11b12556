//===- Reduce.cpp - the smallest part of a model that still fails --------===//
#include "compiler/tools/trnc/Reduce.h"
#include "compiler/Import/CutModel.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Compare.h"
#include "dialects/Trn/Program.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/src/HostTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

namespace trn::driver {

std::vector<size_t> minimize(std::vector<size_t> items, const std::function<bool(llvm::ArrayRef<size_t>)> &fails) {
  // Delta debugging (Zeller and Hildebrandt): parts alone, then everything but a part, then smaller parts.
  for (size_t parts = 2; items.size() > 1;) {
    const size_t size = (items.size() + parts - 1) / parts;
    std::optional<std::vector<size_t>> smaller;
    bool alone = false;
    for (bool keepPart : {true, false}) {
      for (size_t begin = 0; begin < items.size() && !smaller; begin += size) {
        auto first = items.begin() + begin, last = items.begin() + std::min(begin + size, items.size());
        std::vector<size_t> trial(first, last);
        if (!keepPart) {
          trial.assign(items.begin(), first);
          trial.insert(trial.end(), last, items.end());
        }
        if (!trial.empty() && trial.size() < items.size() && fails(trial)) {
          smaller = std::move(trial);
          alone = keepPart;
        }
      }
    }
    if (smaller) {
      items = std::move(*smaller);
      parts = alone ? 2 : std::max<size_t>(parts - 1, 2);
    } else if (size == 1) {
      break;
    } else {
      parts = std::min(2 * parts, items.size());
    }
  }
  return items;
}

namespace {

/// How a model ends.
struct Outcome {
  enum class Kind { Fine, NotCompiled, NotRun, Wrong } kind = Kind::Fine;
  int exitCode = kOk;
  std::string signature; ///< what two failures of the same kind share
  std::string text;      ///< for people

  bool isLike(const Outcome &other) const { return kind == other.kind && signature == other.signature; }
};

llvm::ArrayRef<char> bytesOf(const CutModel &cut) { return {cut.bytes.data(), cut.bytes.size()}; }

/// A reason without the names and numbers of one model.
std::string generic(llvm::StringRef reason) {
  std::string text;
  bool quoted = false;
  for (char c : reason) {
    quoted ^= c == '\'';
    if (!quoted && !llvm::isDigit(c))
      text += c;
  }
  return text;
}

class Reducer {
public:
  Reducer(std::string model, const ReduceOptions &options) : model(std::move(model)), options(options) {
    folder = llvm::sys::path::parent_path(this->model).str();
    if (folder.empty())
      folder = ".";
  }

  int run(const std::string &out);

private:
  Outcome attempt(const CutModel &cut);
  Outcome runAndCompare(const CutModel &cut, const std::shared_ptr<const exe::Executable> &executable);
  CompileOptions optionsFor(const CutModel &cut) const;
  void findTypes();
  bool findValues(int &exitCode);
  int write(const CutModel &cut, const std::string &out, bool withData);

  std::string model, folder;
  const ReduceOptions &options;
  ModelCutter cutter;
  std::map<std::string, CutType> types;
  References references;
  std::vector<rt::HostTensor> evaluated;
  bool compares = false; ///< whether outputs are judged
};

} // namespace

/// Inputs whose types are known are static.
CompileOptions Reducer::optionsFor(const CutModel &cut) const {
  CompileOptions result = optionsForInputs(options.compile, cut.inputs);
  for (const std::string &name : cut.inputs)
    if (types.count(name))
      result.shapes.erase(name);
  if (llvm::all_of(cut.inputs, [&](const std::string &name) { return types.count(name) != 0; }))
    result.dims.clear();
  return result;
}

Outcome Reducer::attempt(const CutModel &cut) {
  Outcome outcome;
  Compiler compiler(optionsFor(cut));
  std::shared_ptr<const exe::Executable> executable;
  if (llvm::succeeded(compiler.open(bytesOf(cut), folder)) && llvm::succeeded(compiler.advance(Stage::Synced)))
    executable = encodeInMemory(compiler);
  if (executable)
    return compares ? runAndCompare(cut, executable) : outcome;
  outcome.kind = Outcome::Kind::NotCompiled;
  outcome.exitCode = exitCodeOf(compiler.failure());
  for (const Problem &problem : compiler.problems().problems())
    if (problem.severity == Problem::Severity::Error) {
      outcome.text = problem.str();
      outcome.signature = std::to_string(outcome.exitCode) + problem.op + ":" + generic(problem.reason);
      break;
    }
  return outcome;
}

Outcome Reducer::runAndCompare(const CutModel &cut, const std::shared_ptr<const exe::Executable> &executable) {
  auto failed = [](const absl::Status &status) {
    std::string text(status.message());
    return Outcome{Outcome::Kind::NotRun, kInternal, generic(text), text};
  };
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(executable, options.session);
  if (!session.ok())
    return failed(session.status());
  for (size_t i = 0; i < (*session)->inputs().size(); ++i) {
    const exe::Buffer &buffer = (*session)->buffer((*session)->inputs()[i]);
    auto value = references.byValue.find(buffer.name);
    if (value == references.byValue.end())
      return failed(absl::NotFoundError("the reference has no value of '" + buffer.name + "'"));
    if (absl::Status status = (*session)->writeInput(i, value->second->bytes); !status.ok())
      return failed(status);
  }
  if (absl::Status status = (*session)->execute(); !status.ok())
    return failed(status);
  for (size_t i = 0; i < (*session)->outputs().size(); ++i) {
    absl::StatusOr<rt::HostTensor> got = outputTensor(**session, i);
    if (!got.ok())
      return failed(got.status());
    auto want = references.byValue.find(got->name);
    if (want == references.byValue.end())
      continue;
    std::string shape = "output '" + got->name + "' has another type or shape than expected";
    if (got->type != want->second->type || got->shape != want->second->shape)
      return {Outcome::Kind::Wrong, kVerificationFailed, "values", shape};
    if (double error = relativeError(asDoubles(*got), asDoubles(*want->second)); !(error <= options.tolerance))
      return {Outcome::Kind::Wrong, kVerificationFailed, "values",
              llvm::formatv("output '{0}': {1:e2} of its largest value", got->name, error).str()};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// What crosses a cut
//===----------------------------------------------------------------------===//

/// The types at stage `graph` of inputs and outputs, by name: of @main, or of the parts of a program.
static void addPortTypes(mlir::ModuleOp module, std::map<std::string, CutType> &types) {
  auto add = [&](mlir::StringAttr name, mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    std::optional<isa::DType> dtype = tensor ? ir::dtypeOf(tensor.getElementType()) : std::nullopt;
    if (name && dtype && tensor.hasStaticShape())
      types[name.str()] = {static_cast<int32_t>(rt::hostType(*dtype)), tensor.getShape().vec()};
  };
  for (mlir::ModuleOp part : ir::partsOf(module)) {
    auto main = part.lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      add(main.getArgAttrOfType<mlir::StringAttr>(i, "onnx.name"), main.getArgumentTypes()[i]);
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      add(main.getResultAttrOfType<mlir::StringAttr>(i, "onnx.name"), main.getResultTypes()[i]);
  }
}

/// Nodes that the front refuses, and what depends on them, are left out until the rest reaches stage `graph`.
void Reducer::findTypes() {
  std::vector<size_t> kept(cutter.numNodes());
  std::iota(kept.begin(), kept.end(), 0);
  while (!kept.empty()) {
    std::optional<CutModel> cut = cutter.cut(kept, {}, /*allOutputs=*/true);
    if (!cut)
      return;
    Compiler compiler(optionsFor(*cut));
    bool opened = llvm::succeeded(compiler.open(bytesOf(*cut), folder));
    if (opened && (llvm::succeeded(compiler.advance(Stage::Graph)) || compiler.stage() == Stage::Graph))
      return addPortTypes(compiler.module(), types);
    std::vector<size_t> refused;
    for (const Problem &problem : compiler.problems().problems())
      if (problem.severity == Problem::Severity::Error && problem.index >= 0 &&
          static_cast<size_t>(problem.index) < kept.size())
        refused.push_back(kept[problem.index]);
    if (refused.empty())
      return;
    std::vector<size_t> gone = cutter.dependents(refused);
    llvm::erase_if(kept, [&](size_t node) { return llvm::is_contained(gone, node); });
  }
}

/// The values of inputs and of everything that nodes make. False with the problems printed.
bool Reducer::findValues(int &exitCode) {
  std::vector<size_t> all(cutter.numNodes());
  std::iota(all.begin(), all.end(), 0);
  std::optional<CutModel> cut = cutter.cut(all, {}, /*allOutputs=*/true);
  exitCode = kBadInput;
  if (!cut)
    return false;
  Compiler compiler(optionsFor(*cut));
  if (llvm::failed(compiler.open(bytesOf(*cut), folder)) || llvm::failed(compiler.advance(Stage::Graph))) {
    printProblems(model, compiler.problems());
    exitCode = exitCodeOf(compiler.failure());
    return false;
  }
  std::vector<std::string> problems =
      collectReferences({options.inputs, options.data, options.seed, options.reference}, compiler.module(), references);
  for (const std::string &text : problems)
    printError(text);
  if (!problems.empty())
    return false;
  addPortTypes(compiler.module(), types);
  if (!options.reference.empty())
    return true;
  mlir::FailureOr<std::vector<rt::HostTensor>> values =
      evaluateOutputs(compiler.module(), references, *isa::device(options.compile.target));
  if (llvm::failed(values)) {
    printProblems(model, compiler.problems());
    exitCode = kInternal;
    return false;
  }
  evaluated = std::move(*values);
  for (const rt::HostTensor &tensor : evaluated) {
    references.byValue[tensor.name] = &tensor;
    types[tensor.name].shape = tensor.shape; // of what the run decides, what is valid
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The way down
//===----------------------------------------------------------------------===//

int Reducer::write(const CutModel &cut, const std::string &out, bool withData) {
  llvm::SmallString<256> from(model), to(out);
  llvm::sys::fs::make_absolute(from);
  llvm::sys::fs::make_absolute(to);
  if (ModelCutter::hasExternalData(cut) && llvm::sys::path::parent_path(from) != llvm::sys::path::parent_path(to)) {
    printError("the part has data in files beside '" + model + "'; write it into the same folder");
    return kBadInput;
  }
  std::error_code problem;
  llvm::raw_fd_ostream file(out, problem);
  if (!problem) {
    file << cut.bytes;
    file.close();
    problem = file.error();
  }
  llvm::SmallString<256> data(out);
  llvm::sys::path::replace_extension(data, "");
  data += "_data";
  if (!problem && withData)
    problem = llvm::sys::fs::create_directories(data);
  if (problem) {
    printError("'" + out + "': " + problem.message());
    file.clear_error();
    return kBadInput;
  }
  auto save = [&](llvm::ArrayRef<std::string> names, const char *prefix) {
    for (auto [i, name] : llvm::enumerate(names))
      if (auto value = references.byValue.find(name); withData && value != references.byValue.end()) {
        rt::TensorFile tensor{rt::TensorFile::Kind::Tensor, {*value->second}};
        absl::Status status = rt::writeTensorFile(llvm::formatv("{0}/{1}_{2}.pb", data, prefix, i).str(), tensor);
        if (!status.ok()) {
          printError(std::string(status.message()));
          return false;
        }
      }
    return true;
  };
  if (!save(cut.inputs, "input") || !save(cut.outputs, "output"))
    return kBadInput;
  if (!options.quiet)
    llvm::outs() << (withData ? llvm::formatv("trnc verify {0} --data {1}\n", out, data).str()
                              : llvm::formatv("trnc check {0}\n", out).str());
  return kOk;
}

int Reducer::run(const std::string &out) {
  if (std::string problem = cutter.open(model); !problem.empty()) {
    printError(problem);
    return kBadInput;
  }
  std::vector<size_t> all(cutter.numNodes());
  std::iota(all.begin(), all.end(), 0);
  std::optional<CutModel> whole = cutter.cut(all, {});
  if (!whole) {
    printError("'" + model + "' has no nodes");
    return kBadInput;
  }
  Outcome failure = attempt(*whole);
  if (failure.kind == Outcome::Kind::Fine) {
    // It compiles: do its values agree?
    if (int exitCode; !findValues(exitCode))
      return exitCode;
    compares = true;
    whole = cutter.cut(all, types);
    failure = attempt(*whole);
  } else {
    findTypes();
    whole = cutter.cut(all, types);
  }
  if (failure.kind == Outcome::Kind::Fine) {
    if (!options.quiet)
      llvm::outs() << model << ": compiles, and its outputs agree with "
                   << (options.reference.empty() ? "the evaluator at stage 'graph'; compare with ONNX Runtime's values "
                                                   "by --reference"
                                                 : options.reference)
                   << "\n";
    return kOk;
  }
  CutModel smallest = *whole;
  std::vector<size_t> left = minimize(all, [&](llvm::ArrayRef<size_t> kept) {
    std::optional<CutModel> cut = cutter.cut(kept, types);
    if (!cut)
      return false;
    Outcome outcome = attempt(*cut);
    if (!outcome.isLike(failure))
      return false;
    smallest = std::move(*cut);
    failure.text = std::move(outcome.text);
    return true;
  });
  if (!options.quiet) {
    llvm::outs() << llvm::formatv("{0} of {1} nodes fail alone: ", left.size(), all.size());
    llvm::interleaveComma(left, llvm::outs(), [&](size_t node) { llvm::outs() << cutter.nodeName(node); });
    llvm::outs() << "\n" << failure.text << "\n";
  }
  int written = write(smallest, out, compares);
  return written == kOk ? failure.exitCode : written;
}

int reduceModel(const std::string &model, const std::string &out, const ReduceOptions &options) {
  return Reducer(model, options).run(out);
}

} // namespace trn::driver
