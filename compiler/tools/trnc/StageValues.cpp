//===- StageValues.cpp - what the module of a stage computes, by node -----===//
#include "compiler/tools/trnc/StageValues.h"
#include "compiler/Reference/Evaluator.h"
#include "compiler/Weights/Constant.h"
#include "compiler/tools/trnc/Compare.h"
#include "dialects/Trn/Program.h"
#include "dialects/Trn/TrnOps.h"
#include "runtime/src/HostTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
namespace trn::driver {

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

/// The inputs of a model at stage `graph`; of a program they belong to its first part.
static std::vector<InputPort> inputPorts(ModuleOp module) {
  std::vector<InputPort> ports;
  auto main = ir::partsOf(module).front().lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(main.getArgumentTypes()[i]);
    std::optional<isa::DType> dtype = ir::dtypeOf(type.getElementType());
    auto name = main.getArgAttrOfType<StringAttr>(i, "onnx.name");
    ports.push_back({name ? name.str() : "", dtype ? rt::hostType(*dtype) : rt::DataType::Undefined,
                     type.getShape().vec()});
  }
  return ports;
}

std::vector<std::string> collectReferences(const InputSources &sources, ModuleOp module, References &references) {
  if (!sources.reference.empty())
    if (std::string wrong = readReferences(sources.reference, references); !wrong.empty())
      return {wrong};
  std::vector<InputPort> ports = inputPorts(module);
  // What the file holds needs no other source.
  llvm::erase_if(ports, [&](const InputPort &port) {
    bool given = llvm::any_of(sources.files, [&](const NamedFile &file) { return file.name == port.name; });
    return !given && references.byValue.count(port.name);
  });
  std::vector<NamedFile> inputs = sources.files;
  if (!sources.data.empty())
    addFolder(sources.data, "input",
              llvm::map_to_vector(ports, [](const InputPort &port) { return port.name; }), inputs);
  std::vector<std::string> problems;
  references.given = collectInputs(ports, inputs, sources.seed, problems);
  for (const rt::HostTensor &tensor : references.given)
    references.byValue[tensor.name] = &tensor;
  return problems;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

std::vector<double> asDoubles(const Tensor &tensor) {
  Tensor dense = tensor.dense();
  std::vector<double> values(dense.elements());
  const bool real = isFloat(dense.storage()), isUnsigned = dense.storage() == Storage::U64;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t integer = real ? 0 : dense.intAt(at);
    values[i] = real ? dense.floatAt(at) : isUnsigned ? static_cast<double>(static_cast<uint64_t>(integer)) : static_cast<double>(integer);
  }
  return values;
}

/// The value of an input in the element type that it has at the stage: integers may have become narrower.
static FailureOr<Tensor> inputOf(StringRef name, Type type, const References &references, Operation *op) {
  auto shaped = cast<ShapedType>(type);
  auto at = references.byValue.find(name.str());
  if (at == references.byValue.end())
    return op->emitError("the reference has no value of input '") << name << "'";
  const rt::HostTensor &value = *at->second;
  Type element = shaped.getElementType();
  std::optional<Storage> storage = storageOf(element);
  if (!storage || shaped.getShape() != llvm::ArrayRef<int64_t>(value.shape))
    return op->emitError("input '") << name << "' of the reference does not have the shape of " << type;
  bool isReal = value.type == rt::DataType::Float32 || value.type == rt::DataType::Float64 ||
                value.type == rt::DataType::Float16 || value.type == rt::DataType::BFloat16;
  uint64_t elements = static_cast<uint64_t>(shaped.getNumElements());
  if (isReal == isFloat(*storage) && elements * byteSize(*storage) == value.bytes.size())
    return Tensor::view(element, value.shape, nullptr, const_cast<uint8_t *>(value.bytes.data()), /*writable=*/false);
  if (isReal || isFloat(*storage))
    return op->emitError("input '") << name << "' of the reference does not have the element type of " << type;
  std::vector<double> numbers = asDoubles(value);
  Tensor result = Tensor::allocate(element, value.shape);
  for (uint64_t i = 0; i < elements; ++i)
    writeInteger(element, static_cast<int64_t>(numbers[i]), result.bytes() + i * byteSize(*storage));
  return result;
}

/// One input or output of a module; of an output of which the run decides how much is valid, the output that counts
/// dimension `countDim`.
struct Port {
  std::string name;
  Type type;
  NodeOrigin node;
  std::string count;
  int64_t countDim = 0;
};

/// Arguments and results of @main, or the globals that have taken their place from `grouped` on.
static void portsOf(func::FuncOp main, std::vector<Port> &inputs, std::vector<Port> &outputs) {
  auto nameOf = [](StringAttr name) { return name ? name.str() : ""; };
  for (BlockArgument argument : main.getArguments())
    inputs.push_back({nameOf(main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name")),
                      argument.getType(), originOf(argument.getLoc()), "", 0});
  Operation *terminator = main.getBody().front().getTerminator();
  auto nameOfResult = [&](unsigned i) { return nameOf(main.getResultAttrOfType<StringAttr>(i, "onnx.name")); };
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    Port port{nameOfResult(i), main.getResultTypes()[i], originOf(terminator->getOperand(i).getLoc()), "", 0};
    if (auto count = main.getResultAttrOfType<IntegerAttr>(i, "onnx.count")) {
      port.count = nameOfResult(count.getInt());
      port.countDim = main.getResultAttrOfType<IntegerAttr>(i, "onnx.count_dim").getInt();
    }
    outputs.push_back(std::move(port));
  }
  if (!inputs.empty() || !outputs.empty())
    return;
  auto module = main->getParentOfType<ModuleOp>();
  for (ir::GlobalOp global : module.getOps<ir::GlobalOp>()) {
    if (global.getKind() == ir::GlobalKind::Weight)
      continue;
    Port port{global.getIoName().value_or("").str(), global.getMemRefType(), originOf(global.getLoc()), "", 0};
    if (global.getCount()) {
      port.count = module.lookupSymbol<ir::GlobalOp>(*global.getCount()).getIoName().value_or("").str();
      port.countDim = *global.getCountDim();
    }
    (global.getKind() == ir::GlobalKind::Input ? inputs : outputs).push_back(std::move(port));
  }
}

/// Collects the results of operations: at `graph` and `tensor` those of @main; behind them, of calls, and at `grouped`
/// also those inside of groups.
static void observeTensors(Stage stage, func::FuncOp main, EvaluateOptions &options, StageValues &values) {
  options.observer = [&values, stage, main = main.getOperation()](Operation *op, ArrayRef<Tensor> results) {
    if (llvm::isa<tensor::EmptyOp>(op)) // a place for values
      return;
    Operation *parent = op->getParentOp();
    bool isInside = parent != main;
    bool isWanted = stage <= Stage::Tensor ? !isInside
                    : isInside             ? stage == Stage::Grouped && llvm::isa<linalg::LinalgOp>(op)
                                           : llvm::isa<func::CallOp>(op);
    if (!isWanted)
      return;
    for (const Tensor &result : results)
      values.nodes.push_back({originOf(op->getLoc()), values.nodes.size(), isInside, op, result});
  };
}

static void observeBuffers(EvaluateOptions &options, StageValues &values) {
  options.bufferObserver = [&values](const FinalBuffer &buffer) {
    values.nodes.push_back({originOf(buffer.lastWriter), buffer.lastWrite, false, nullptr, buffer.values});
  };
}

/// The same numbers in another element type: integers may be narrower in one part than in another.
static Tensor inType(const Tensor &tensor, Type element) {
  if (tensor.elementType() == element || isFloat(tensor.storage()) || isFloat(*storageOf(element)))
    return tensor;
  Tensor result = Tensor::allocate(element, tensor.shape());
  const Tensor dense = tensor.dense();
  for (int64_t i = 0; i < dense.elements(); ++i)
    writeInteger(element, dense.intAt(i), result.bytes() + i * byteSize(result.storage()));
  return result;
}

namespace {

/// A model at some stage: one module, or the parts of a program in the order that data decides, which meet in buffers with
/// names.
class ModelEvaluator {
public:
  ModelEvaluator(Stage stage, ModuleOp module, const References &references, const isa::DeviceInfo &device, bool withNodes)
      : stage(stage), module(module), references(references), device(device), withNodes(withNodes) {}

  LogicalResult run() {
    ir::ProgramOp program = ir::findProgram(module);
    return program ? runBlock(program.getBody().front()) : runPart(module);
  }

  /// What each output holds, in the order in which they are left, without the counts, and only what is valid.
  std::vector<std::pair<Port, Tensor>> outputs() {
    llvm::StringSet<> wanted, counts;
    if (ir::ProgramOp program = ir::findProgram(module))
      for (Attribute name : program.getOutputs())
        wanted.insert(cast<StringAttr>(name).getValue());
    for (const Port &port : ports)
      counts.insert(port.count);
    std::vector<std::pair<Port, Tensor>> result;
    for (const Port &port : ports) {
      if ((!wanted.empty() && !wanted.contains(port.name)) || (!port.name.empty() && counts.contains(port.name)))
        continue;
      Tensor value = buffers[port.name];
      if (!port.count.empty()) {
        SmallVector<int64_t> sizes(value.shape()), offsets(sizes.size(), 0), strides(sizes.size(), 1);
        sizes[port.countDim] = std::clamp<int64_t>(buffers[port.count].dense().intAt(0), 0, sizes[port.countDim]);
        value = value.slice(offsets, sizes, strides);
      }
      result.emplace_back(port, std::move(value));
    }
    return result;
  }

  /// The values of nodes; of one in a loop those of the last round.
  std::vector<NodeValue> takeNodes() {
    std::vector<NodeValue> all;
    for (ModuleOp part : ir::partsOf(module)) {
      std::vector<NodeValue> &nodes = nodesOf[part].nodes;
      llvm::sort(nodes, [](const NodeValue &a, const NodeValue &b) { return a.order < b.order; });
      for (NodeValue &node : nodes) {
        node.order = all.size();
        all.push_back(std::move(node));
      }
    }
    return all;
  }

private:
  LogicalResult runBlock(Block &block) {
    for (Operation &op : block) {
      LogicalResult done = failure();
      if (auto run = dyn_cast<ir::RunOp>(op))
        done = runPart(module.lookupSymbol<ModuleOp>(run.getPartAttr()));
      else if (auto repeat = dyn_cast<ir::RepeatOp>(op))
        done = runRounds(repeat);
      else if (auto either = dyn_cast<ir::EitherOp>(op))
        done = runBlock((integer(either.getCondition()) ? either.getThenBody() : either.getElseBody()).front());
      if (failed(done))
        return failure();
    }
    return success();
  }

  LogicalResult runRounds(ir::RepeatOp repeat) {
    auto goesOn = [&] { return !repeat.getCondition() || integer(*repeat.getCondition()) != 0; };
    const int64_t rounds = repeat.getCount() ? integer(*repeat.getCount()) : int64_t(repeat.getLimit());
    for (int64_t round = 0; round < rounds && goesOn(); ++round) {
      if (failed(runBlock(repeat.getBody().front())))
        return failure();
      for (Attribute name : repeat.getCarried())
        buffers[cast<StringAttr>(name).str()] = buffers[cast<StringAttr>(name).str() + ".next"];
    }
    return success();
  }

  int64_t integer(StringRef buffer) { return buffers[buffer.str()].dense().intAt(0); }

  LogicalResult runPart(ModuleOp part) {
    auto main = part.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return part.emitError("expected a function @main with a body");
    std::vector<Port> inputs, outputs;
    portsOf(main, inputs, outputs);
    SmallVector<Tensor> arguments;
    for (const Port &input : inputs) {
      auto buffer = buffers.find(input.name);
      FailureOr<Tensor> argument = buffer != buffers.end()
                                       ? inType(buffer->second, cast<ShapedType>(input.type).getElementType())
                                       : inputOf(input.name, input.type, references, part);
      if (failed(argument))
        return failure();
      arguments.push_back(std::move(*argument));
    }
    EvaluateOptions options;
    options.device = &device;
    StageValues &values = nodesOf[part];
    values.nodes.clear();
    if (withNodes && stage < Stage::Buffered)
      observeTensors(stage, main, options, values);
    else if (withNodes)
      observeBuffers(options, values);
    FailureOr<SmallVector<Tensor>> results = evaluate(main, arguments, options);
    if (failed(results))
      return failure();
    for (auto [port, result] : llvm::zip_equal(outputs, *results)) {
      if (!buffers.count(port.name) || !left.contains(port.name))
        ports.push_back(port);
      left.insert(port.name);
      buffers[port.name] = result;
    }
    return success();
  }

  Stage stage;
  ModuleOp module;
  const References &references;
  const isa::DeviceInfo &device;
  bool withNodes;
  std::map<std::string, Tensor> buffers;
  std::vector<Port> ports; ///< what parts left, each name once
  llvm::StringSet<> left;
  llvm::DenseMap<Operation *, StageValues> nodesOf;
};

} // namespace

FailureOr<std::vector<rt::HostTensor>> evaluateOutputs(ModuleOp module, const References &references,
                                                       const isa::DeviceInfo &device) {
  ModelEvaluator model(Stage::Graph, module, references, device, /*withNodes=*/false);
  if (failed(model.run()))
    return failure();
  std::vector<rt::HostTensor> tensors;
  for (auto &[port, result] : model.outputs()) {
    std::optional<isa::DType> dtype = ir::dtypeOf(result.elementType());
    if (!dtype)
      return module.emitError("output '") << port.name << "' has a type that no caller sees";
    Tensor dense = result.dense();
    const auto *bytes = reinterpret_cast<const uint8_t *>(dense.bytes());
    tensors.push_back({port.name, rt::hostType(*dtype), dense.shape().vec(),
                       {bytes, bytes + dense.elements() * byteSize(dense.storage())}});
  }
  return tensors;
}

FailureOr<StageValues> evaluateStage(Stage stage, ModuleOp module, const References &references,
                                     const isa::DeviceInfo &device, bool withNodes) {
  ModelEvaluator model(stage, module, references, device, withNodes);
  if (failed(model.run()))
    return failure();
  StageValues values;
  for (auto &[port, result] : model.outputs()) {
    values.outputs[port.name] = asDoubles(result);
    values.outputNodes[port.name] = port.node;
  }
  values.nodes = model.takeNodes();
  return values;
}

/// The module of all parts that an operation of one belongs to.
static ModuleOp modelOf(Operation *op) {
  auto part = op->getParentOfType<ModuleOp>();
  auto model = part->getParentOfType<ModuleOp>();
  return model ? model : part;
}

llvm::StringSet<> nodesOfSeveralParts(ModuleOp module) {
  llvm::StringMap<Operation *> partOf;
  llvm::StringSet<> several;
  for (ModuleOp part : ir::partsOf(module))
    part.walk([&](Operation *op) {
      std::string node = originOf(op->getLoc()).node;
      if (!node.empty() && partOf.try_emplace(node, part).first->second != part)
        several.insert(node);
    });
  return several;
}

Tensor validPart(const Tensor &whole, ArrayRef<int64_t> shape) {
  if (!isFrontOf(shape, whole.shape()))
    return whole;
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  return whole.slice(offsets, shape, strides);
}

bool isFrontOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> whole) {
  unsigned smaller = 0;
  if (shape.size() != whole.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(shape, whole)) {
    if (a > b)
      return false;
    smaller += a < b;
  }
  return smaller <= 1;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

double relativeError(ArrayRef<double> got, ArrayRef<double> want) {
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

/// The same, of values whose elements may be in another order.
static double orderFreeError(std::vector<double> got, std::vector<double> want) {
  double inOrder = relativeError(got, want);
  if (inOrder < 1e-6)
    return inOrder;
  // NaNs have no order among numbers.
  auto before = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  llvm::sort(got, before);
  llvm::sort(want, before);
  return std::fmin(inOrder, relativeError(got, want));
}

/// Whether each of `want` has a value of its own in `got`, which may hold more (padding).
static bool areContained(std::vector<double> want, std::vector<double> got, double tolerance) {
  llvm::erase_if(want, [](double value) { return !std::isfinite(value); });
  llvm::erase_if(got, [](double value) { return !std::isfinite(value); });
  double largest = 0;
  for (double value : want)
    largest = std::fmax(largest, std::fabs(value));
  double allowed = tolerance * (largest == 0 ? 1 : largest);
  llvm::sort(want);
  llvm::sort(got);
  // The smallest free value that is near enough leaves the most for the others.
  size_t next = 0;
  for (double value : want) {
    while (next < got.size() && got[next] < value - allowed)
      ++next;
    if (next == got.size() || got[next] > value + allowed)
      return false;
    ++next;
  }
  return true;
}

std::optional<Difference> wrongOutput(const StageValues &values, const References &references, double tolerance) {
  for (const auto &[name, got] : values.outputs) {
    auto want = references.byValue.find(name);
    if (want == references.byValue.end())
      continue;
    bool sameSize = static_cast<size_t>(want->second->elements()) == got.size();
    double error = sameSize ? relativeError(got, driver::asDoubles(*want->second)) : INFINITY;
    if (!(error <= tolerance))
      return Difference{values.outputNodes.at(name), name, error};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Naming
//===----------------------------------------------------------------------===//

llvm::StringSet<> absorbedNodes(Operation *main) {
  llvm::StringMap<bool> isAbsorbed; // in program order, so that the last operation of a node decides
  main->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::string node = originOf(op->getLoc()).node;
    auto structured = op->getParentOfType<linalg::LinalgOp>();
    if (!node.empty() && op->getNumResults() > 0)
      isAbsorbed[node] = structured && originOf(structured->getLoc()).node != node;
  });
  llvm::StringSet<> absorbed;
  for (const auto &entry : isAbsorbed)
    if (entry.second)
      absorbed.insert(entry.first());
  return absorbed;
}

std::optional<Difference> wrongNode(Stage stage, const StageValues &values, const References &references,
                                    double tolerance) {
  if (values.nodes.empty())
    return std::nullopt;
  llvm::StringSet<> absorbed;
  llvm::SmallPtrSet<Operation *, 4> functions;
  const llvm::StringSet<> spread = nodesOfSeveralParts(modelOf(values.nodes.front().op));
  for (const NodeValue &value : values.nodes)
    if (auto main = value.op->getParentOfType<func::FuncOp>(); functions.insert(main).second) {
      const llvm::StringSet<> ofFunction = absorbedNodes(main);
      for (llvm::StringRef node : ofFunction.keys())
        absorbed.insert(node);
    }
  // Movement is folded away from `tensor` on, so that a value's elements may be in another order.
  enum class State { Unknown, Right, Wrong };
  llvm::DenseMap<Operation *, std::pair<State, double>> states;
  std::map<std::string, Operation *> last; // a node may have become several operations: its value is the last of its size
  for (const NodeValue &value : values.nodes) {
    auto want = references.byNode.find(value.node.node);
    if (want == references.byNode.end() || absorbed.contains(value.node.node) || value.op->getNumResults() != 1 ||
        spread.contains(value.node.node))
      continue;
    const Tensor valid = validPart(value.values, want->second->shape);
    if (valid.elements() != want->second->elements())
      continue;
    auto [previous, isNew] = last.try_emplace(value.node.node, value.op);
    if (!isNew)
      states.erase(std::exchange(previous->second, value.op));
    std::vector<double> got = asDoubles(valid), expected = driver::asDoubles(*want->second);
    double error = stage < Stage::Tensor ? relativeError(got, expected) : orderFreeError(std::move(got), std::move(expected));
    states[value.op] = {error <= tolerance ? State::Right : State::Wrong, error};
  }
  // Backwards: a wrong value is excused when all that is computed from it is right.
  llvm::DenseMap<Operation *, bool> isExcused;
  for (const NodeValue &value : llvm::reverse(values.nodes)) {
    if (isExcused.count(value.op))
      continue;
    bool excused = !value.op->use_empty();
    for (Operation *user : value.op->getUsers()) {
      auto state = states.find(user);
      bool isRight = state != states.end() && state->second.first == State::Right;
      excused &= isRight || isExcused.lookup(user);
    }
    isExcused[value.op] = excused;
  }
  for (const NodeValue &value : values.nodes) {
    auto state = states.find(value.op);
    if (state != states.end() && state->second.first == State::Wrong && !isExcused.lookup(value.op))
      return Difference{value.node, "", state->second.second};
  }
  return std::nullopt;
}

/// What is compared elementwise: the same shape.
static bool hasShapeOf(const NodeValue &a, const NodeValue &b) { return a.values.shape() == b.values.shape(); }

/// Like relativeError, but elements that are unset in `want` do not count.
static double errorOfSetElements(std::vector<double> got, const std::vector<double> &want) {
  for (size_t i = 0; i < want.size(); ++i)
    if (std::isnan(want[i]))
      got[i] = want[i];
  return relativeError(got, want);
}

std::optional<Difference> wrongNode(const StageValues &before, Stage stage, const StageValues &values,
                                    double tolerance) {
  llvm::StringMap<std::vector<const NodeValue *>> byNode;
  for (const NodeValue &value : values.nodes)
    byNode[value.node.node].push_back(&value);
  for (const NodeValue &good : before.nodes) {
    if (good.node.node.empty() || (good.isInside && stage != Stage::Grouped))
      continue;
    std::vector<double> want = asDoubles(good.values);
    bool isComparable = false, isFound = false;
    double best = INFINITY;
    for (const NodeValue *candidate : byNode.lookup(good.node.node)) {
      if (hasShapeOf(good, *candidate)) {
        best = std::fmin(best, errorOfSetElements(asDoubles(candidate->values), want));
        isComparable = true;
        isFound = best <= tolerance;
      } else if (stage == Stage::Grouped && candidate->values.elements() >= good.values.elements()) {
        isComparable = true;
        isFound = areContained(want, asDoubles(candidate->values), tolerance);
      }
      if (isFound)
        break;
    }
    if (isComparable && !isFound)
      return Difference{good.node, "", std::isinf(best) ? std::nullopt : std::optional<double>(best)};
  }
  return std::nullopt;
}

} // namespace trn::driver
