//===- Layers.cpp - the error of every layer ------------------------------===//
#include "compiler/tools/trnc/Layers.h"
#include "compiler/tools/trnc/Build.h"
#include "compiler/tools/trnc/Compare.h"
#include "dialects/Trn/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
namespace trn::driver {

ExpectedLayers expectedLayers(const References &references) {
  ExpectedLayers expected;
  for (const auto &[node, tensor] : references.byNode)
    expected[node] = {tensor->shape, asDoubles(*tensor)};
  return expected;
}

ExpectedLayers expectedLayers(const StageValues &values) {
  ExpectedLayers expected;
  // A node may have become several operations: its value is the last.
  for (const NodeValue &value : values.nodes)
    if (!value.node.op.empty() && value.op->getNumResults() == 1) // weights have names, but no operator
      expected[value.node.node] = {{value.values.shape().begin(), value.values.shape().end()}, asDoubles(value.values)};
  return expected;
}

/// The root of the mean square difference, as a share of that of the expected values.
static double rootMeanSquare(ArrayRef<double> got, ArrayRef<double> want) {
  double difference = 0, size = 0;
  for (auto [a, b] : llvm::zip_equal(got, want))
    if (std::isfinite(a) && std::isfinite(b)) {
      difference += (a - b) * (a - b);
      size += b * b;
    }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

/// Whether two shapes differ by dimensions of one element only.
static bool isSameButUnits(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto withoutUnits = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
  };
  return withoutUnits(a) == withoutUnits(b);
}

static LayerError errorOf(const NodeValue &value, const ExpectedLayer &expected) {
  LayerError result;
  result.node = value.node;
  llvm::raw_string_ostream(result.storedAs) << value.values.elementType();
  const Tensor valid = validPart(value.values, expected.shape);
  std::vector<double> got = asDoubles(valid), want = expected.values;
  result.error = relativeError(got, want);
  result.rms = rootMeanSquare(got, want);
  if (isSameButUnits(valid.shape(), expected.shape))
    return result;
  llvm::sort(got);
  llvm::sort(want);
  if (double sorted = relativeError(got, want); sorted < result.error) {
    result.error = sorted;
    result.rms = rootMeanSquare(got, want);
    result.isReordered = true;
  }
  return result;
}

LayerFlow layerFlow(ModuleOp module, const ExpectedLayers &expected) {
  LayerFlow flow;
  llvm::DenseMap<Value, unsigned> stepOf;
  llvm::StringMap<unsigned> leftBy;  // the step whose value a part leaves in the buffer of a name
  llvm::StringMap<unsigned> valueOf; // the last of the node's size
  const llvm::StringSet<> spread = nodesOfSeveralParts(module);
  for (ModuleOp part : ir::partsOf(module)) {
    auto main = part.lookupSymbol<func::FuncOp>("main");
    llvm::StringSet<> absorbed = absorbedNodes(main);
    for (BlockArgument argument : main.getArguments())
      if (auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name"))
        if (auto found = leftBy.find(name.getValue()); found != leftBy.end())
          stepOf[argument] = found->second;
    for (Operation &op : main.getBody().front()) {
      LayerFlow::Step step{originOf(op.getLoc()).node, false, {}};
      for (Value operand : op.getOperands())
        if (auto found = stepOf.find(operand); found != stepOf.end())
          step.operands.push_back(found->second);
      auto want = expected.find(step.node);
      auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
      if (want != expected.end() && !absorbed.contains(step.node) && !spread.contains(step.node) && type &&
          !llvm::isa<tensor::EmptyOp>(op) &&
          (type.getNumElements() == static_cast<int64_t>(want->second.values.size()) ||
           isFrontOf(want->second.shape, type.getShape())))
        valueOf[step.node] = flow.steps.size();
      for (Value result : op.getResults())
        stepOf[result] = flow.steps.size();
      flow.steps.push_back(std::move(step));
    }
    Operation *terminator = main.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if (auto name = main.getResultAttrOfType<StringAttr>(i, "onnx.name"); name && stepOf.count(value))
        leftBy[name.getValue()] = stepOf[value];
  }
  for (const auto &entry : valueOf)
    flow.steps[entry.second].isValueOfNode = true;
  return flow;
}

LayerReport compareLayers(const StageValues &values, const LayerFlow &flow, const ExpectedLayers &expected) {
  std::map<std::string, const NodeValue *> valueOf; // the last of the node's size
  for (const NodeValue &value : values.nodes) {
    auto want = expected.find(value.node.node);
    bool isWhole = want != expected.end() &&
                   validPart(value.values, want->second.shape).elements() ==
                       static_cast<int64_t>(want->second.values.size()) &&
                   (!value.op || value.op->getNumResults() == 1);
    if (isWhole)
      valueOf[value.node.node] = &value;
  }
  LayerReport report;
  llvm::StringSet<> reported;
  std::vector<double> errors; // of each step
  for (const LayerFlow::Step &step : flow.steps) {
    double ofOperands = 0;
    for (unsigned operand : step.operands)
      ofOperands = std::fmax(ofOperands, errors[operand]);
    auto found = step.isValueOfNode ? valueOf.find(step.node) : valueOf.end();
    if (found == valueOf.end()) {
      errors.push_back(ofOperands);
      continue;
    }
    LayerError layer = errorOf(*found->second, expected.at(step.node));
    layer.added = std::fmax(0, layer.error - ofOperands);
    errors.push_back(layer.error);
    reported.insert(step.node);
    report.layers.push_back(std::move(layer));
  }
  llvm::sort(report.layers, [](const LayerError &a, const LayerError &b) {
    return std::make_tuple(-a.added, a.node.index, a.node.node) < std::make_tuple(-b.added, b.node.index, b.node.node);
  });
  for (const auto &[node, layer] : expected)
    if (!reported.contains(node))
      report.withoutValue.push_back(node);
  return report;
}

void printLayers(const LayerReport &report, std::optional<double> limit, llvm::raw_ostream &os) {
  os << llvm::formatv("{0,10} {1,10} {2,10}  {3,-7} {4}\n", "added", "error", "rms", "stored", "node");
  for (const LayerError &layer : report.layers)
    os << llvm::formatv("{0,10:e2} {1,10:e2} {2,10:e2}  {3,-7} {4} ({5}){6}{7}\n", layer.added, layer.error, layer.rms,
                        layer.storedAs, layer.node.node, layer.node.op, layer.isReordered ? ", in another order" : "",
                        limit && !(layer.error <= *limit) ? "  WRONG" : "");
  if (!report.withoutValue.empty())
    os << counted(static_cast<int64_t>(report.withoutValue.size()), "node")
       << " without a value of their own: part of others now, or only moved\n";
}

/// JSON has no infinity: null.
static llvm::json::Value finite(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

llvm::json::Value layersJson(const LayerReport &report, std::optional<double> limit) {
  llvm::json::Array rows;
  for (const LayerError &layer : report.layers) {
    llvm::json::Object row{{"node", layer.node.node},      {"op", layer.node.op},
                           {"index", layer.node.index},    {"stored_as", layer.storedAs},
                           {"added", finite(layer.added)}, {"error", finite(layer.error)},
                           {"rms", finite(layer.rms)},     {"reordered", layer.isReordered}};
    if (limit)
      row["equal"] = layer.error <= *limit;
    rows.push_back(std::move(row));
  }
  return llvm::json::Object{{"layers", std::move(rows)}, {"without_value", llvm::json::Array(report.withoutValue)}};
}

} // namespace trn::driver
