//===- Bisect.cpp - trnc bisect -------------------------------------------===//
//
// Owns the search for a wrong number. The reference is ONNX Runtime's value of every node, from a file: an evaluator
// that shared the lowering would share its errors. At the stages up to `tensor` every node's value is compared (its
// order may differ, since movement is folded away: then the sorted values are); behind them the model's outputs are.
//
//===----------------------------------------------------------------------===//
#include "compiler/Reference/Evaluator.h"
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Compare.h"
#include "compiler/tools/trnc/Tensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace trn::driver {

namespace {

/// Every node's expected value, by node name in model order, and every value by its own name.
struct References {
  std::map<std::string, const rt::HostTensor *> byValue, byNode;
  rt::TensorFile file;
};

/// Reads the file of scripts/node_values.py; its member `__nodes__` maps node names to values, as JSON.
std::string readReferences(const std::string &path, References &references) {
  absl::StatusOr<rt::TensorFile> read = rt::readTensorFile(path);
  if (!read.ok())
    return std::string(read.status().message());
  references.file = std::move(*read);
  for (const rt::HostTensor &tensor : references.file.tensors)
    references.byValue[tensor.name] = &tensor;
  auto nodes = references.byValue.find("__nodes__");
  if (nodes == references.byValue.end())
    return "'" + path + "' has no member '__nodes__'; write it with scripts/node_values.py";
  const std::vector<uint8_t> &bytes = nodes->second->bytes;
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse(llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  if (!parsed || !parsed->getAsObject()) {
    llvm::consumeError(parsed.takeError());
    return "'" + path + "': the member '__nodes__' is no JSON object";
  }
  for (const auto &[node, value] : *parsed->getAsObject())
    if (auto at = references.byValue.find(value.getAsString().value_or("").str()); at != references.byValue.end())
      references.byNode[node.str()] = at->second;
  return "";
}

std::vector<double> asDoubles(const Tensor &tensor) {
  std::vector<double> values(tensor.elements());
  bool real = isFloat(tensor.storage());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = real ? tensor.floatAt(static_cast<int64_t>(i)) : static_cast<double>(tensor.intAt(static_cast<int64_t>(i)));
  return values;
}

/// The largest difference as a share of the largest expected value.
double relativeError(const std::vector<double> &got, const std::vector<double> &want) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i]))
      largest = std::fmax(largest, std::fabs(want[i]));
    double difference = std::fabs(got[i] - want[i]);
    if (got[i] != want[i] && !(std::isnan(got[i]) && std::isnan(want[i])))
      worst = std::isfinite(difference) ? std::fmax(worst, difference) : INFINITY;
  }
  return worst == 0 ? 0 : largest == 0 ? worst : worst / largest;
}

/// The error of a value whose elements may be in another order.
double orderFreeError(std::vector<double> got, std::vector<double> want) {
  double inOrder = relativeError(got, want);
  if (inOrder < 1e-6)
    return inOrder;
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  return std::fmin(inOrder, relativeError(got, want));
}

struct Verdict {
  std::string node, op;
  double error = 0;
};

class Bisector {
public:
  Bisector(const References &references, double tolerance) : references_(references), tolerance_(tolerance) {}

  /// Evaluates the module of `stage`; the first node (in execution order) outside the tolerance, if any. Fails when the
  /// stage cannot be evaluated.
  mlir::FailureOr<std::optional<Verdict>> evaluateStage(Stage stage, mlir::ModuleOp module,
                                                        llvm::ArrayRef<Tensor> inputs,
                                                        llvm::ArrayRef<std::string> outputNames) {
    auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
    std::vector<std::pair<NodeOrigin, Tensor>> seen;
    std::map<std::string, size_t> last;
    EvaluateOptions options;
    if (stage <= Stage::Tensor)
      options.observer = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
        NodeOrigin origin = originOf(op->getLoc());
        auto want = references_.byNode.find(origin.node);
        if (want == references_.byNode.end() || results.size() != 1 ||
            results[0].elements() != want->second->elements())
          return;
        // A node may have become several operations; the last of its size is its value.
        last[origin.node] = seen.size();
        seen.emplace_back(origin, results[0]);
      };
    mlir::FailureOr<llvm::SmallVector<Tensor>> outputs = evaluate(main, inputs, options);
    if (llvm::failed(outputs))
      return mlir::failure();
    for (size_t i = 0; i < seen.size(); ++i) {
      const NodeOrigin &origin = seen[i].first;
      if (last[origin.node] != i)
        continue;
      // Only from `tensor` on has movement been folded away, so that a value's elements may be in another order.
      std::vector<double> got = asDoubles(seen[i].second), want = driver::asDoubles(*references_.byNode.at(origin.node));
      double error = stage < Stage::Tensor ? relativeError(got, want) : orderFreeError(std::move(got), std::move(want));
      if (!(error <= tolerance_))
        return std::optional<Verdict>(Verdict{origin.node, origin.op, error});
    }
    for (size_t i = 0; i < outputs->size() && i < outputNames.size(); ++i)
      if (std::optional<Verdict> wrong = checkOutput(outputNames[i], asDoubles((*outputs)[i])))
        return wrong;
    return std::optional<Verdict>();
  }

  std::optional<Verdict> checkOutput(const std::string &name, const std::vector<double> &got) {
    auto want = references_.byValue.find(name);
    if (want == references_.byValue.end())
      return std::nullopt;
    if (static_cast<size_t>(want->second->elements()) != got.size())
      return Verdict{"output " + name, "", INFINITY};
    double error = relativeError(got, driver::asDoubles(*want->second));
    if (error <= tolerance_)
      return std::nullopt;
    return Verdict{"output " + name, "", error};
  }

private:
  const References &references_;
  double tolerance_;
};

void reportLine(CommandLine &line, llvm::json::Array &rows, llvm::StringRef stage,
                const std::optional<Verdict> &wrong) {
  if (line.has(OPT_json)) {
    llvm::json::Object row{{"stage", stage}, {"ok", !wrong}};
    if (wrong) {
      row["node"] = wrong->node;
      row["op"] = wrong->op;
      row["error"] = wrong->error;
    }
    rows.push_back(std::move(row));
  } else if (wrong) {
    llvm::outs() << llvm::formatv("{0,-10} WRONG at node '{1}'{2}: {3:e2} of its largest value\n", stage, wrong->node,
                                  wrong->op.empty() ? "" : " (" + wrong->op + ")", wrong->error);
  } else {
    llvm::outs() << llvm::formatv("{0,-10} ok\n", stage);
  }
}

} // namespace

int runBisect(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::optional<Stage> start = startStage(line, file);
  std::vector<NamedFile> inputFiles = line.namedFiles(OPT_input);
  double tolerance = line.real(OPT_rtol, 1e-4);
  if (!line.has(OPT_reference))
    line.problem("nothing to compare with; give --reference refs.npz (scripts/node_values.py writes it)");
  if (line.reportProblems("trnc bisect"))
    return kUsage;
  References references;
  if (std::string wrong = readReferences(line.value(OPT_reference), references); !wrong.empty()) {
    printError(wrong);
    return kBadInput;
  }
  Compiler compiler(options);
  if (llvm::failed(compiler.open(file, std::nullopt))) {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  }

  // Shapes and names of the model's values are known at `graph`.
  if (llvm::failed(compiler.advance(Stage::Graph))) {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  }
  auto main = compiler.module().lookupSymbol<mlir::func::FuncOp>("main");
  if (!main) {
    printError("'" + file + "' has no function @main; bisect takes ONNX models");
    return kBadInput;
  }
  llvm::SmallVector<Tensor> inputs;
  std::vector<std::string> outputNames;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto named = main.getArgAttrOfType<mlir::StringAttr>(i, "onnx.name");
    std::string name = named ? named.getValue().str() : "";
    auto at = references.byValue.find(name);
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(main.getArgumentTypes()[i]);
    if (at == references.byValue.end() || !type) {
      printError("the reference has no value of input '" + name + "'");
      return kBadInput;
    }
    const rt::HostTensor &value = *at->second;
    std::optional<Storage> storage = storageOf(type.getElementType());
    if (!storage || type.getShape() != llvm::ArrayRef<int64_t>(value.shape) ||
        isFloat(*storage) != (value.type == rt::DataType::Float32 || value.type == rt::DataType::Float64 ||
                              value.type == rt::DataType::Float16 || value.type == rt::DataType::BFloat16) ||
        static_cast<uint64_t>(value.elements()) * byteSize(*storage) != value.bytes.size()) {
      printError("input '" + name + "' of the reference does not have the model's type and shape");
      return kBadInput;
    }
    inputs.push_back(Tensor::view(type.getElementType(), value.shape, nullptr,
                                  const_cast<uint8_t *>(value.bytes.data()), /*writable=*/false));
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto named = main.getResultAttrOfType<mlir::StringAttr>(i, "onnx.name"))
      outputNames.push_back(named.getValue().str());
  for (const std::string &name : outputNames)
    if (!references.byValue.count(name)) {
      printError("the reference has no value of output '" + name + "'");
      return kBadInput;
    }

  Bisector bisector(references, tolerance);
  llvm::json::Array rows;
  std::optional<Verdict> wrong;
  auto finish = [&](int code) {
    if (line.has(OPT_json))
      llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"stages", std::move(rows)}})) << "\n";
    return code;
  };
  // At `imported` shapes are not inferred yet, so the first stage with values is `graph`.
  for (Stage stage : {Stage::Graph, Stage::Tensor, Stage::Grouped, Stage::Tiled, Stage::Buffered}) {
    if (llvm::failed(compiler.advance(stage))) {
      printProblems(file, compiler.problems());
      return exitCodeOf(compiler.failure());
    }
    mlir::FailureOr<std::optional<Verdict>> verdict =
        bisector.evaluateStage(stage, compiler.module(), inputs, outputNames);
    if (llvm::failed(verdict)) {
      printProblems(file, compiler.problems());
      printError("stage '" + stageName(stage).str() + "' cannot be evaluated");
      return kInternal;
    }
    wrong = *verdict;
    reportLine(line, rows, stageName(stage), wrong);
    if (wrong)
      return finish(kVerificationFailed);
  }

  // What follows is judged by running it.
  Built built;
  if (int code = obtainExecutable(file, start, options, built))
    return code;
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(built.executable, rt::SessionOptions());
  if (!session.ok()) {
    printError(std::string(session.status().message()));
    return kInternal;
  }
  for (size_t i = 0; i < (*session)->inputs().size(); ++i) {
    const std::string &name = (*session)->buffer((*session)->inputs()[i]).name;
    if (absl::Status status = (*session)->writeInput(i, references.byValue.at(name)->bytes); !status.ok()) {
      printError(std::string(status.message()));
      return kBadInput;
    }
  }
  if (absl::Status status = (*session)->execute(); !status.ok()) {
    printError(std::string(status.message()));
    return kInternal;
  }
  for (size_t i = 0; i < (*session)->outputs().size() && !wrong; ++i)
    if (absl::StatusOr<rt::HostTensor> got = outputTensor(**session, i); got.ok())
      wrong = bisector.checkOutput(got->name, driver::asDoubles(*got));
  reportLine(line, rows, "encoded", wrong);
  return finish(wrong ? kVerificationFailed : kOk);
}

} // namespace trn::driver
