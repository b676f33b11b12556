//===- Report.cpp - what a model is and what is wrong with it -------------===//
//
// Owns the gathering of reports.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Report.h"

#include "compiler/Import/FlatGraph.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/OpRecords.h"
#include "passes/Graph/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trn;

std::string TensorInfo::str() const { return hasShape ? type + "[" + llvm::join(sizes, ", ") + "]" : type; }

static TensorInfo tensorInfo(const ::onnx::ValueInfoProto &value) {
  TensorInfo info;
  info.name = value.name();
  if (!value.type().has_tensor_type()) {
    info.type = "not a tensor";
    info.hasShape = false;
    return info;
  }
  const auto &tensor = value.type().tensor_type();
  info.type = dataTypeName(tensor.elem_type());
  info.hasShape = tensor.has_shape();
  for (const auto &dim : tensor.shape().dim())
    info.sizes.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? std::to_string(dim.dim_value())
                         : !dim.dim_param().empty()                  ? dim.dim_param()
                                                                     : "?");
  return info;
}

/// Counts the operators of the flattened graph.
static void countOps(const ::onnx::ModelProto &model, ModelReport &report) {
  std::map<std::string, bool> defined;
  for (const auto &input : model.graph().input())
    defined[input.name()] = true;
  for (const auto &tensor : model.graph().initializer())
    defined[tensor.name()] = true;
  Diagnostics ignored; // the import reports the same
  Functions functions;
  FlatGraph flat(functions);
  Opsets opsets = readOpsets(model.opset_import());
  auto nothing = [](const std::string &) { return false; };
  if (!functions.collect(model, ignored) || !flat.build(model.graph(), opsets, "", defined, nothing, ignored))
    return;
  std::map<std::pair<std::string, int64_t>, OpCount> counts;
  for (const FlatNode &node : flat.nodes()) {
    OpCount &entry = counts[{node.op(), node.opset()}];
    if (entry.count++ > 0)
      continue;
    entry.op = node.op();
    entry.opset = node.opset();
    const trn::onnx::OpRecord *record = trn::onnx::findRecord(node.domain(), node.node->op_type());
    entry.version = record && !record->refused() ? record->versionFor(int(std::min<int64_t>(node.opset(), 1000))) : 0;
    if (node.domain().empty() && node.node->op_type() == "Constant")
      entry.version = 1;
  }
  report.nodes = flat.nodes().size();
  for (auto &[key, entry] : counts)
    report.ops.push_back(entry);
  llvm::sort(report.ops, [](const OpCount &a, const OpCount &b) {
    return std::make_tuple(-a.count, a.op, a.opset) < std::make_tuple(-b.count, b.op, b.opset);
  });
}

static void describe(const ModelFile &file, ModelReport &report) {
  const ::onnx::ModelProto &model = file.model();
  report.producer = model.producer_name();
  report.producerVersion = model.producer_version();
  report.irVersion = model.ir_version();
  for (const auto &[domain, version] : readOpsets(model.opset_import()))
    report.opsets[domain.empty() ? "ai.onnx" : domain] = version;
  std::map<std::string, bool> initializers;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (const auto &tensor : model.graph().initializer()) {
    initializers[tensor.name()] = true;
    Type element = elementType(context, tensor.data_type());
    int64_t bytes = element ? elementBytes(element) : 0;
    for (int64_t size : tensor.dims())
      if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
        bytes = 0;
    ++report.weights;
    if (__builtin_add_overflow(report.weightBytes, bytes, &report.weightBytes))
      report.weightBytes = INT64_MAX;
  }
  for (const auto &input : model.graph().input())
    if (!initializers.count(input.name()))
      report.inputs.push_back(tensorInfo(input));
  for (const auto &output : model.graph().output())
    report.outputs.push_back(tensorInfo(output));
  countOps(model, report);
}

ModelReport trn::inspectModel(StringRef path) {
  ModelReport report;
  report.path = path.str();
  ModelFile file;
  if (file.open(path, /*allowExternalLinks=*/false, report.problems))
    describe(file, report);
  return report;
}

/// Takes an imported module to stage `graph`; the passes' errors become problems.
static void checkGraph(MLIRContext &context, FailureOr<OwningOpRef<ModuleOp>> module, ModelReport &report) {
  if (failed(module))
    return;
  DiagnosticCollector collector(&context, report.problems);
  PassManager manager(&context);
  buildGraphPipeline(manager);
  if (failed(manager.run(**module)) && !report.problems.hasErrors()) {
    Problem problem;
    problem.reason = "a graph pass failed without saying why";
    report.problems.add(problem);
  }
}

ModelReport trn::checkModel(StringRef path, const ImportOptions &options) {
  ModelReport report = inspectModel(path);
  if (report.problems.hasErrors())
    return report;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  checkGraph(context, importModel(context, path, options, report.problems), report);
  return report;
}

ModelReport trn::checkModel(ArrayRef<char> bytes, const ImportOptions &options) {
  ModelReport report;
  ModelFile file;
  if (!file.parse(bytes, "", options.allowExternalLinks, report.problems))
    return report;
  describe(file, report);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  checkGraph(context, importModel(context, bytes, "", options, report.problems), report);
  return report;
}

static llvm::json::Value json(const TensorInfo &info) {
  llvm::json::Object object{{"name", info.name}, {"type", info.type}};
  if (info.hasShape)
    object["sizes"] = llvm::json::Array(info.sizes);
  return object;
}

llvm::json::Value ModelReport::json() const {
  llvm::json::Array problemList, opList, inputList, outputList;
  for (const Problem &problem : problems.problems())
    problemList.push_back(problem.json());
  for (const OpCount &op : ops)
    opList.push_back(
        llvm::json::Object{{"op", op.op}, {"opset", op.opset}, {"version", op.version}, {"count", op.count}});
  for (const TensorInfo &input : inputs)
    inputList.push_back(::json(input));
  for (const TensorInfo &output : outputs)
    outputList.push_back(::json(output));
  llvm::json::Object opsetMap;
  for (const auto &[domain, version] : opsets)
    opsetMap[domain] = version;
  return llvm::json::Object{{"path", path},
                            {"producer", producer},
                            {"producer_version", producerVersion},
                            {"ir_version", irVersion},
                            {"opsets", std::move(opsetMap)},
                            {"inputs", std::move(inputList)},
                            {"outputs", std::move(outputList)},
                            {"operators", std::move(opList)},
                            {"nodes", nodes},
                            {"weights", weights},
                            {"weight_bytes", weightBytes},
                            {"supported", supported()},
                            {"problems", std::move(problemList)}};
}

std::vector<OpSupport> trn::ops() {
  std::vector<OpSupport> table;
  for (const trn::onnx::OpRecord &record : trn::onnx::records()) {
    OpSupport row;
    row.name = record.name.str();
    row.domain = record.domain.empty() ? "ai.onnx" : record.domain.str();
    row.versions.assign(record.since.begin(), record.since.end());
    row.supported = !record.refused();
    row.limits = record.limits.str();
    row.reason = record.reason.str();
    row.hint = record.hint.str();
    table.push_back(std::move(row));
  }
  return table;
}

llvm::json::Value trn::json(const OpSupport &op) {
  llvm::json::Object object{
      {"name", op.name}, {"domain", op.domain}, {"versions", op.versions}, {"supported", op.supported}};
  if (!op.limits.empty())
    object["limits"] = op.limits;
  if (!op.reason.empty()) {
    object["reason"] = op.reason;
    object["hint"] = op.hint;
  }
  return object;
}
