//===- Bisect.cpp - trnc bisect -------------------------------------------===//
//
// Owns the search for a wrong number. The reference is ONNX Runtime's value of every node, from a file: an evaluator
// that shared the lowering would share its errors. A stage is right when its outputs are. The first stage that is not is
// then asked for its nodes: up to `tensor` they are compared with the reference, behind it with the last stage that was
// right, since layouts have made other tensors of them.
//
//===----------------------------------------------------------------------===//
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Commands.h"
#include "compiler/tools/trnc/Compare.h"
#include "compiler/tools/trnc/StageValues.h"
#include "compiler/tools/trnc/Tensors.h"
#include "dialects/Trn/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace trn::driver {

namespace {

/// What is known of one stage.
struct Row {
  std::optional<Difference> wrong; ///< values
  std::optional<Problem> broken;   ///< a rule of the stage, or an operation that cannot be evaluated
  double seconds = 0;              ///< host time of the evaluation
  bool ok() const { return !wrong && !broken; }
};

class Bisector {
public:
  Bisector(CommandLine &line, Compiler &compiler, const References &references, double tolerance)
      : line_(line), compiler_(compiler), references_(references), tolerance_(tolerance) {}

  /// Judges the module that the compiler holds. `isForeign`: it was read from a file, so its contract is checked here.
  Row judge(bool isForeign);
  /// Judges the executable by running it.
  Row judgeExecutable();
  /// Prints a row, or keeps it for the JSON report.
  void report(llvm::StringRef stage, const Row &row);
  void finish();

private:
  mlir::FailureOr<StageValues> evaluate(Stage stage, mlir::ModuleOp module, bool withNodes) {
    return evaluateStage(stage, module, references_, *isa::device(compiler_.options().target), withNodes);
  }
  std::optional<Difference> nameNode(const Difference &output);
  /// The first problem that has been collected since there were `known`.
  std::optional<Problem> problemSince(size_t known) const;

  CommandLine &line_;
  Compiler &compiler_;
  const References &references_;
  double tolerance_;
  mlir::OwningOpRef<mlir::ModuleOp> good_; ///< the last module that was right
  Stage goodStage_ = Stage::Graph;
  llvm::json::Array rows_;
};

std::optional<Problem> Bisector::problemSince(size_t known) const {
  for (const Problem &problem : llvm::drop_begin(compiler_.problems().problems(), known))
    if (problem.severity == Problem::Severity::Error)
      return problem;
  return std::nullopt;
}

/// The node at which the values of the current module go wrong; what was seen at the output when none can be told.
std::optional<Difference> Bisector::nameNode(const Difference &output) {
  Stage stage = compiler_.stage();
  mlir::FailureOr<StageValues> values = evaluate(stage, compiler_.module(), /*withNodes=*/true);
  if (llvm::failed(values))
    return output;
  std::optional<Difference> node;
  if (stage <= Stage::Tensor) {
    node = wrongNode(stage, *values, references_, tolerance_);
  } else if (good_) {
    mlir::FailureOr<StageValues> before = evaluate(goodStage_, *good_, /*withNodes=*/true);
    if (llvm::succeeded(before))
      node = wrongNode(*before, stage, *values, tolerance_);
  }
  return node ? node : output;
}

Row Bisector::judge(bool isForeign) {
  Row row;
  size_t known = compiler_.problems().problems().size();
  auto start = std::chrono::steady_clock::now();
  mlir::FailureOr<StageValues> values = evaluate(compiler_.stage(), compiler_.module(), /*withNodes=*/false);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (llvm::failed(values)) {
    row.broken = problemSince(known);
    return row;
  }
  if (std::optional<Difference> output = wrongOutput(*values, references_, tolerance_))
    row.wrong = nameNode(*output);
  known = compiler_.problems().problems().size();
  if (isForeign && llvm::failed(compiler_.checkContract()))
    row.broken = problemSince(known);
  if (row.ok()) {
    good_ = compiler_.module().clone();
    goodStage_ = compiler_.stage();
  }
  return row;
}

Row Bisector::judgeExecutable() {
  Row row;
  auto refuse = [&](absl::string_view reason) {
    row.broken.emplace();
    row.broken->reason = std::string(reason);
    return row;
  };
  size_t known = compiler_.problems().problems().size();
  std::shared_ptr<const exe::Executable> executable = encodeInMemory(compiler_);
  if (!executable) {
    row.broken = problemSince(known);
    return row;
  }
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(executable, rt::SessionOptions());
  if (!session.ok())
    return refuse(session.status().message());
  for (size_t i = 0; i < (*session)->inputs().size(); ++i) {
    const std::string &name = (*session)->buffer((*session)->inputs()[i]).name;
    if (absl::Status status = (*session)->writeInput(i, references_.byValue.at(name)->bytes); !status.ok())
      return refuse(status.message());
  }
  if (absl::Status status = (*session)->execute(); !status.ok())
    return refuse(status.message());
  StageValues values;
  for (size_t i = 0; i < (*session)->outputs().size(); ++i)
    if (absl::StatusOr<rt::HostTensor> got = outputTensor(**session, i); got.ok()) {
      values.outputs[got->name] = driver::asDoubles(*got);
      values.outputNodes[got->name] = {};
    }
  row.wrong = wrongOutput(values, references_, tolerance_);
  return row;
}

/// " at node 'conv1' (Conv)".
std::string placeOf(const std::string &node, const std::string &op) {
  return node.empty() ? "" : " at node '" + node + "'" + (op.empty() ? "" : " (" + op + ")");
}

void Bisector::report(llvm::StringRef stage, const Row &row) {
  if (!line_.has(OPT_json)) {
    llvm::raw_ostream &out = llvm::outs();
    out << llvm::formatv("{0,-10} ", stage);
    if (row.ok())
      out << "ok";
    if (row.wrong) {
      out << "WRONG" << placeOf(row.wrong->node.node, row.wrong->node.op);
      if (!row.wrong->output.empty())
        out << ", output '" << row.wrong->output << "'";
      if (row.wrong->error)
        out << llvm::formatv(": {0:e2} of its largest value", *row.wrong->error);
    }
    if (row.broken)
      out << (row.wrong ? "\n           and it is " : "") << "BROKEN" << placeOf(row.broken->node, row.broken->op) << ": "
          << row.broken->reason;
    out << "\n";
    return;
  }
  llvm::json::Object object{{"stage", stage}, {"ok", row.ok()}, {"seconds", row.seconds}};
  if (row.wrong) {
    object["node"] = row.wrong->node.node;
    object["op"] = row.wrong->node.op;
    if (!row.wrong->output.empty())
      object["output"] = row.wrong->output;
    if (row.wrong->error)
      object["error"] = *row.wrong->error;
  }
  if (row.broken)
    object["broken"] = row.broken->json();
  rows_.push_back(std::move(object));
}

void Bisector::finish() {
  if (line_.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"stages", std::move(rows_)}})) << "\n";
}

/// --replace STAGE=@FILE: dumps that take the place of what the compiler makes.
std::map<Stage, std::string> replacements(CommandLine &line) {
  std::map<Stage, std::string> files;
  for (const NamedFile &file : line.namedFiles(OPT_replace)) {
    std::optional<Stage> stage = parseStage(file.name);
    if (!stage || *stage < Stage::Graph || *stage >= Stage::Encoded)
      line.problem("option '--replace': expected a stage from graph to synced, but got '" + file.name + "'");
    else
      files[*stage] = file.file;
  }
  return files;
}

/// Every input and output of the model needs a value. The text of a problem, or "".
std::string checkReferences(mlir::ModuleOp module, const References &references) {
  std::vector<std::string> inputs, outputs;
  if (ir::ProgramOp program = ir::findProgram(module)) {
    for (mlir::Attribute name : program.getInputs())
      inputs.push_back(llvm::cast<mlir::StringAttr>(name).str());
    for (mlir::Attribute name : program.getOutputs())
      outputs.push_back(llvm::cast<mlir::StringAttr>(name).str());
  } else {
    auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
    auto nameOf = [](mlir::StringAttr name) { return name ? name.str() : ""; };
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      inputs.push_back(nameOf(main.getArgAttrOfType<mlir::StringAttr>(i, "onnx.name")));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      outputs.push_back(nameOf(main.getResultAttrOfType<mlir::StringAttr>(i, "onnx.name")));
  }
  llvm::StringSet<> counts; // outputs of ours
  for (mlir::ModuleOp part : ir::partsOf(module)) {
    auto main = part.lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (auto count = main.getResultAttrOfType<mlir::IntegerAttr>(i, "onnx.count"))
        counts.insert(main.getResultAttrOfType<mlir::StringAttr>(count.getInt(), "onnx.name").getValue());
  }
  for (const auto &[kind, names] : {std::pair("input", &inputs), std::pair("output", &outputs)})
    for (const std::string &name : *names)
      if (!references.byValue.count(name) && !counts.contains(name))
        return std::string("the reference has no value of ") + kind + " '" + name + "'";
  return "";
}

} // namespace

int runBisect(CommandLine &line) {
  CompileOptions options = compileOptions(line);
  std::string file = line.file();
  std::map<Stage, std::string> replaced = replacements(line);
  double tolerance = line.real(OPT_rtol, 1e-4);
  if (!line.has(OPT_reference))
    line.problem("nothing to compare with; give --reference refs.npz (scripts/node_values.py writes it)");
  if (llvm::StringRef(file).ends_with(".mlir") || llvm::StringRef(file).ends_with(".trnx"))
    line.problem("bisect takes ONNX models; give a dump with --replace STAGE=@" + file);
  if (line.reportProblems("trnc bisect"))
    return kUsage;
  References references;
  if (std::string wrong = readReferences(line.value(OPT_reference), references); !wrong.empty()) {
    printError(wrong);
    return kBadInput;
  }
  Compiler compiler(options);
  auto fail = [&] {
    printProblems(file, compiler.problems());
    return exitCodeOf(compiler.failure());
  };
  // At `imported` shapes are not inferred yet, so the first stage with values is `graph`.
  if (llvm::failed(compiler.open(file, std::nullopt)) || llvm::failed(compiler.advance(Stage::Graph)))
    return fail();
  if (std::string wrong = checkReferences(compiler.module(), references); !wrong.empty()) {
    printError(wrong);
    return kBadInput;
  }

  Bisector bisector(line, compiler, references, tolerance);
  for (Stage stage : allStages()) {
    if (stage < Stage::Graph || stage >= Stage::Encoded)
      continue;
    auto dump = replaced.find(stage);
    bool isForeign = dump != replaced.end();
    if (isForeign ? llvm::failed(compiler.replace(dump->second, stage)) : llvm::failed(compiler.advance(stage)))
      return fail();
    Row row = bisector.judge(isForeign);
    bisector.report(stageName(stage), row);
    if (!row.ok()) {
      bisector.finish();
      return kVerificationFailed;
    }
  }
  Row row = bisector.judgeExecutable();
  bisector.report(stageName(Stage::Encoded), row);
  bisector.finish();
  return row.ok() ? kOk : kVerificationFailed;
}

} // namespace trn::driver
