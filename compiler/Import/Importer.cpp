//===- Importer.cpp - from an ONNX file to the onnx dialect ---------------===//
//
// Owns the model level: versions, inputs and their sizes, initializers, outputs, the function `main`.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Import.h"

#include "compiler/Import/FlatGraph.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Import/NodeImporter.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Sequence.h"
#include "dialects/ONNX/Ops/Weight.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <set>

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// Elements of a sequence at the border: each is an input of its own.
static constexpr int64_t kMaxSequence = 4096;

namespace {

class Importer {
public:
  Importer(MLIRContext &context, ModelFile &file, const ImportOptions &options, Diagnostics &problems)
      : context(context), file(file), model(file.model()), graph(model.graph()), options(options), problems(problems),
        builder(&context) {}

  FailureOr<OwningOpRef<ModuleOp>> run() {
    if (!checkFormat())
      return failure();
    checkVersions();
    collectInitializers();
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    Location loc = NameLoc::get(builder.getStringAttr("main"));
    func::FuncOp function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
    function->setAttr("onnx.opset", builder.getI64IntegerAttr(opset));
    builder.setInsertionPointToStart(function.addEntryBlock());
    importInputs(function);
    importNodes();
    importOutputs(function);
    reportUnusedOptions();
    if (problems.hasErrors())
      return failure();
    if (failed(verify(*module)))
      return failure();
    return module;
  }

private:
  void add(Kind kind, std::string reason, std::string hint = "",
           Problem::Severity severity = Problem::Severity::Error) {
    Problem problem;
    problem.severity = severity;
    problem.kind = kind;
    problem.reason = std::move(reason);
    problem.hint = std::move(hint);
    problems.add(std::move(problem));
  }

  /// False for a format that the rest is not written in: before version 3 nodes had no operator set, for example.
  bool checkFormat() {
    if (!model.has_graph())
      add(Kind::Broken, "the model has no graph");
    bool isKnown = model.ir_version() >= trn::onnx::kOldestIR && model.ir_version() <= trn::onnx::kNewestIR;
    if (!isKnown)
      add(Kind::Unsupported,
          "expected a file format (IR version) from " + std::to_string(trn::onnx::kOldestIR) + " to " +
              std::to_string(trn::onnx::kNewestIR) + " but got " + std::to_string(model.ir_version()),
          "convert the model with the onnx package");
    return isKnown;
  }

  void checkVersions() {
    Opsets opsets = readOpsets(model.opset_import());
    auto it = opsets.find("");
    // A model of other domains only needs no version of ai.onnx; a node that does will say so.
    if (it == opsets.end() && !opsets.empty())
      return;
    opset = it == opsets.end() ? 1 : it->second;
    if (opset < trn::onnx::kOldestOpset || opset > trn::onnx::kNewestOpset)
      add(Kind::Unsupported,
          "expected an opset from " + std::to_string(trn::onnx::kOldestOpset) + " to " +
              std::to_string(trn::onnx::kNewestOpset) + " but got " + std::to_string(opset),
          "convert the model with onnx.version_converter");
    if (model.training_info_size())
      add(Kind::Unsupported, "training information is ignored", "", Problem::Severity::Warning);
  }

  void collectInitializers() {
    for (const auto &tensor : graph.initializer())
      if (!initializers.emplace(tensor.name(), &tensor).second)
        add(Kind::Broken, "initializer '" + tensor.name() + "' is defined twice");
    for (const auto &sparse : graph.sparse_initializer())
      add(Kind::Unsupported, "initializer '" + sparse.values().name() + "' is sparse, which is not supported",
          "store it dense");
  }

  void importInputs(func::FuncOp function) {
    for (const auto &input : graph.input()) {
      const std::string &name = input.name();
      if (!seen.insert(name).second) {
        add(Kind::Broken, "input '" + name + "' is defined twice");
        continue;
      }
      defined[name] = true;
      // An initializer of the same name is a default value: it is the value unless the options speak of the input.
      bool asked = options.shapes.count(name) || options.constInputs.count(name) || options.absent.count(name);
      if (initializers.count(name) && !asked) {
        defaults.push_back(name);
        continue;
      }
      values[name] = importInput(function, name, input.type());
    }
    for (const auto &[name, tensor] : initializers)
      defined[name] = true;
    reportUnboundSizes();
    reportDefaults();
  }

  /// Before version 4 of the file format every initializer had to be an input: nobody meant to override those.
  void reportDefaults() {
    constexpr size_t kNamed = 3;
    constexpr int64_t kFormatWithDefaults = 4;
    if (defaults.empty() || model.ir_version() < kFormatWithDefaults)
      return;
    std::string names;
    for (const std::string &name : llvm::ArrayRef(defaults).take_front(kNamed))
      names += (names.empty() ? "'" : ", '") + name + "'";
    if (defaults.size() > kNamed)
      names += " and " + std::to_string(defaults.size() - kNamed) + " more";
    add(Kind::Unsupported, "inputs with a default value are compiled as constants: " + names,
        "--shape " + defaults.front() + "=AxBxC makes it an input of the executable; --const-input gives it another value",
        Problem::Severity::Warning);
  }

  /// The value of an input; null after a problem. An optional is its element.
  Value importInput(func::FuncOp function, const std::string &name, const ::onnx::TypeProto &type) {
    if (type.has_optional_type()) {
      const ::onnx::TypeProto &element = type.optional_type().elem_type();
      return options.absent.count(name) ? absentOptional(name, element) : importInput(function, name, element);
    }
    if (options.absent.count(name)) {
      add(Kind::Broken, "input '" + name + "' has no element by --shape, but it is not optional");
      return {};
    }
    if (type.has_sequence_type())
      return importSequence(function, name, type.sequence_type().elem_type());
    if (!type.has_tensor_type()) {
      add(Kind::Unsupported, "input '" + name + "' is neither a tensor nor a sequence of tensors",
          "export the model with plain tensors");
      return {};
    }
    if (auto bound = options.constInputs.find(name); bound != options.constInputs.end())
      return bindConstant(name, bound->second);
    RankedTensorType tensor = inputType(name, type.tensor_type());
    if (!tensor)
      return {};
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr("onnx.name", builder.getStringAttr(name)));
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(number, tensor, attributes, NameLoc::get(builder.getStringAttr(name)));
    return function.getArgument(number);
  }

  /// The element type of a tensor, or of a sequence of tensors; null with a problem.
  Type elementOf(const std::string &name, const ::onnx::TypeProto &type) {
    const ::onnx::TypeProto &tensor = type.has_sequence_type() ? type.sequence_type().elem_type() : type;
    Type element = tensor.has_tensor_type() ? elementType(context, tensor.tensor_type().elem_type()) : Type();
    if (!element)
      add(Kind::Unsupported, "input '" + name + "' holds elements of a type that is not supported");
    return element;
  }

  Value absentOptional(const std::string &name, const ::onnx::TypeProto &type) {
    Type element = elementOf(name, type);
    if (!element)
      return {};
    Type result = type.has_sequence_type() ? Type(trn::onnx::SequenceType::get(&context, element))
                                           : Type(UnrankedTensorType::get(element));
    return trn::onnx::OptionalOp::create(builder, nodeLocation(context, name, "Optional", 0, 0), result, Value(), TypeAttr());
  }

  /// A sequence of the length that the options give: its elements are inputs `name.0`, `name.1`, …
  Value importSequence(func::FuncOp function, const std::string &name, const ::onnx::TypeProto &type) {
    Type element = elementOf(name, type);
    if (!element || !type.has_tensor_type())
      return {};
    int64_t length = 0;
    auto nameOf = [&](int64_t i) { return name + "." + std::to_string(i); };
    if (auto given = options.shapes.find(name); given != options.shapes.end()) {
      if (given->second.size() != 1 || given->second.front() < 0 || given->second.front() > kMaxSequence) {
        add(Kind::Broken, "expected the length of sequence '" + name + "', a number of at most " +
                              std::to_string(kMaxSequence) + ", in --shape");
        return {};
      }
      length = given->second.front();
    } else {
      while (length < kMaxSequence && (options.shapes.count(nameOf(length)) || options.constInputs.count(nameOf(length))))
        ++length;
      if (length == 0) {
        unbound.push_back({name, {"length of the sequence"}, false});
        return {};
      }
    }
    SmallVector<Value> elements;
    for (int64_t i = 0; i < length; ++i) {
      if (!seen.insert(nameOf(i)).second)
        add(Kind::Broken, "input '" + nameOf(i) + "' is defined twice");
      elements.push_back(importInput(function, nameOf(i), type));
    }
    if (llvm::is_contained(elements, Value()))
      return {};
    Location loc = nodeLocation(context, name, "SequenceConstruct", 0, 0);
    Type result = trn::onnx::SequenceType::get(&context, element);
    if (elements.empty())
      return trn::onnx::SequenceEmptyOp::create(builder, loc, result, TypeAttr::get(element));
    return trn::onnx::SequenceConstructOp::create(builder, loc, result, elements);
  }

  Value bindConstant(const std::string &name, const BoundTensor &bound) {
    Type element = elementType(context, bound.dataType);
    size_t bytes = element ? elementBytes(element) : 0;
    for (int64_t size : bound.shape)
      bytes *= size;
    if (!element || bytes != bound.bytes.size()) {
      add(Kind::Broken, "the constant for input '" + name + "' is malformed");
      return {};
    }
    auto type = RankedTensorType::get(bound.shape, element);
    ElementsAttr value = makeConstant(type, std::vector<char>(bound.bytes.begin(), bound.bytes.end()), name);
    return trn::onnx::WeightOp::create(builder, NameLoc::get(builder.getStringAttr(name)), value);
  }

  /// The type of an input with its sizes bound; null after a problem.
  RankedTensorType inputType(const std::string &name, const ::onnx::TypeProto::Tensor &tensor) {
    Type element = elementType(context, tensor.elem_type());
    if (!element) {
      add(Kind::Unsupported,
          "input '" + name + "' has element type " + dataTypeName(tensor.elem_type()) + ", which is not supported");
      return {};
    }
    auto given = options.shapes.find(name);
    if (given != options.shapes.end()) {
      usedShapes.insert(name);
      if (tensor.has_shape() && size_t(tensor.shape().dim_size()) != given->second.size()) {
        add(Kind::Broken, "expected a shape of " + std::to_string(tensor.shape().dim_size()) + " sizes for input '" +
                              name + "' but got " + std::to_string(given->second.size()));
        return {};
      }
    } else if (!tensor.has_shape()) {
      unbound.push_back({name, {}, true});
      return {};
    }
    if (tensor.shape().dim_size() > 64) {
      add(Kind::Broken, "expected at most 64 dimensions of input '" + name + "'");
      return {};
    }
    SmallVector<int64_t> sizes;
    std::vector<std::string> labels;
    bool open = false;
    for (size_t i = 0, e = given != options.shapes.end() ? given->second.size() : tensor.shape().dim_size(); i < e;
         ++i) {
      const auto *dim = tensor.has_shape() ? &tensor.shape().dim(int(i)) : nullptr;
      int64_t size = ShapedType::kDynamic;
      bool fixed = dim && dim->has_dim_value() && dim->dim_value() >= 0;
      if (given != options.shapes.end()) {
        size = given->second[i];
        if (size < 0 || (fixed && size != dim->dim_value()))
          add(Kind::Broken, "expected size " + (fixed ? std::to_string(dim->dim_value()) : std::string("0 or more")) +
                                " at dimension " + std::to_string(i) + " of input '" + name + "' but got " +
                                std::to_string(size));
      } else if (fixed) {
        size = dim->dim_value();
      } else if (auto bound = dim->has_dim_param() ? options.dims.find(dim->dim_param()) : options.dims.end();
                 bound != options.dims.end()) {
        usedDims.insert(bound->first);
        size = bound->second;
        if (size < 0)
          add(Kind::Broken, "expected '" + bound->first + "' of at least 0 but got " + std::to_string(size));
      } else {
        open = true;
      }
      sizes.push_back(size < 0 ? ShapedType::kDynamic : size);
      labels.push_back(sizes.back() != ShapedType::kDynamic ? std::to_string(size)
                       : dim && dim->has_dim_param()        ? dim->dim_param()
                                                            : "?");
    }
    if (open)
      unbound.push_back({name, labels, false});
    return RankedTensorType::get(sizes, element);
  }

  /// One problem for all unbound sizes, with a command line to paste and edit.
  void reportUnboundSizes() {
    if (unbound.empty())
      return;
    std::string what, line;
    for (const Unbound &input : unbound) {
      std::string shape, example;
      for (auto [i, label] : llvm::enumerate(input.labels)) {
        bool number = !label.empty() && llvm::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
        shape += (i ? "x" : "") + label;
        // The batch is 1; images are 224 wide, sequences 128 long: values that most models accept.
        example += (i ? "x" : "") + (number ? label : i == 0 ? "1" : input.labels.size() >= 4 ? "224" : "128");
      }
      what += (what.empty() ? "'" : ", '") + input.name + "' (" + (input.unranked ? "no shape" : shape) + ")";
      line += " --shape " + input.name + "=" + (input.unranked ? "1" : example);
    }
    add(Kind::Unbound, "the sizes of these inputs are not bound: " + what,
        "bind them by name (--dim) or whole, for example:" + line);
  }

  void importNodes() {
    modelOpsets = readOpsets(model.opset_import());
    FlatGraph flat(functions);
    auto nothing = [](const std::string &) { return false; };
    if (!functions.collect(model, problems) || !flat.build(graph, modelOpsets, "", defined, nothing, problems))
      return;
    importNodes(flat);
    built = true;
  }

  void importNodes(const FlatGraph &flat) {
    auto body = [this](const ::onnx::GraphProto &graph, const FlatNode &node, TypeRange operands, Region &region) {
      return importBody(graph, node, operands, region);
    };
    for (const FlatNode &node : flat.nodes()) {
      for (const std::vector<std::string> *names : {&node.inputs, &node.captures})
        for (const std::string &input : *names)
          if (!input.empty() && !values.count(input))
            importInitializer(input);
      NodeImporter(builder, file, node, values, problems, body).run();
    }
  }

  /// A body of `node`: its inputs are the arguments of one block, which yields its outputs. It sees the values around
  /// it.
  LogicalResult importBody(const ::onnx::GraphProto &body, const FlatNode &node, TypeRange operands, Region &region) {
    OpBuilder::InsertionGuard guard(builder);
    llvm::SaveAndRestore scope(values);
    Block &block = region.emplaceBlock();
    builder.setInsertionPointToEnd(&block);
    std::map<std::string, bool> own;
    Location loc = nodeLocation(context, node.name, node.op(), node.index, node.opset());
    size_t leading = std::max<size_t>(body.input_size(), operands.size()) - operands.size();
    for (auto [i, input] : llvm::enumerate(body.input())) {
      // The last inputs are the node's operands; those before them are the step and the condition of a loop, or what
      // the body says.
      Type element = i >= leading           ? getElementTypeOrSelf(operands[i - leading])
                     : node.op() != "Loop" ? elementType(context, input.type().tensor_type().elem_type())
                     : i == 0               ? Type(builder.getI64Type())
                                            : Type(builder.getI1Type());
      if (!element)
        return add(Kind::Unsupported, "node '" + node.name + "': input '" + input.name() +
                                          "' of its body does not say its element type, or one that is not supported"),
               failure();
      // A map over sequences gives one element of each.
      auto sequence = dyn_cast<trn::onnx::SequenceType>(element);
      const bool isList = sequence && node.op() != "SequenceMap";
      if (sequence && !isList)
        element = sequence.getElement();
      // Sizes may change from step to step, whatever the file says.
      Type type = isList ? element : Type(UnrankedTensorType::get(element));
      values[input.name()] = block.addArgument(type, loc);
      own[input.name()] = true;
    }
    for (const auto &tensor : body.initializer()) {
      std::string error;
      ElementsAttr value = file.constant(context, tensor, tensor.name(), error);
      if (!value)
        return add(Kind::Broken, "initializer '" + tensor.name() + "': " + error), failure();
      values[tensor.name()] = trn::onnx::WeightOp::create(builder, loc, value);
      own[tensor.name()] = true;
    }
    FlatGraph flat(functions);
    auto visible = [this](const std::string &name) { return values.count(name) || initializers.count(name); };
    if (!flat.build(body, *node.opsets, node.name + "/", own, visible, problems))
      return failure();
    importNodes(flat);
    SmallVector<Value> results;
    for (const auto &output : body.output()) {
      Value value = values.count(output.name()) ? values[output.name()] : Value();
      if (!value && !problems.hasErrors())
        add(Kind::Broken, "node '" + node.name + "': output '" + output.name() + "' of its body is defined nowhere");
      if (!value)
        return failure();
      results.push_back(value);
    }
    trn::onnx::YieldOp::create(builder, loc, results);
    return success();
  }

  /// Weights are made when the first node asks for them, so that unused ones cost nothing.
  void importInitializer(const std::string &name) {
    auto it = initializers.find(name);
    if (it == initializers.end())
      return;
    std::string error;
    ElementsAttr value = file.constant(context, *it->second, name, error);
    values[name] = Value();
    if (!value)
      return add(Kind::Broken, "initializer '" + name + "': " + error);
    // A weight that a body reads first lies outside of it, where others see it too.
    OpBuilder::InsertionGuard guard(builder);
    if (!llvm::isa<func::FuncOp>(builder.getInsertionBlock()->getParentOp()))
      builder.setInsertionPointToStart(
          &builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>().front());
    values[name] = trn::onnx::WeightOp::create(builder, NameLoc::get(builder.getStringAttr(name)), value);
  }

  void importOutputs(func::FuncOp function) {
    SmallVector<Value> results;
    SmallVector<Attribute> attributes;
    std::set<std::string> seen;
    if (graph.output().empty())
      add(Kind::Broken, "the model has no outputs");
    for (const auto &output : graph.output()) {
      const std::string &name = output.name();
      if (!seen.insert(name).second)
        add(Kind::Broken, "output '" + name + "' is defined twice");
      if (!built)
        continue;
      if (!values.count(name))
        importInitializer(name);
      auto it = values.find(name);
      if (it == values.end())
        add(Kind::Broken, "output '" + name + "' is defined nowhere");
      if (it == values.end() || !it->second)
        continue;
      checkOutput(output, it->second);
      results.push_back(it->second);
      attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr("onnx.name", builder.getStringAttr(name))));
    }
    func::ReturnOp::create(builder, NameLoc::get(builder.getStringAttr("main")), results);
    SmallVector<Type> types(ValueRange(results).getTypes());
    function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
    function.setAllResultAttrs(attributes);
  }

  /// The declared type is a promise of the file: its element type must hold. Declared sizes are often stale.
  void checkOutput(const ::onnx::ValueInfoProto &output, Value value) {
    if (!output.has_type())
      return;
    const ::onnx::TypeProto *type = &output.type();
    if (type->has_optional_type())
      type = &type->optional_type().elem_type();
    auto sequence = dyn_cast<trn::onnx::SequenceType>(value.getType());
    if (sequence && type->has_sequence_type())
      type = &type->sequence_type().elem_type();
    else if (sequence || !llvm::isa<TensorType>(value.getType()))
      return add(Kind::Unsupported, "output '" + output.name() + "' is not declared as what it is",
                 "declare its type in the model");
    if (type->has_tensor_type() && type->tensor_type().elem_type() == 0)
      return;
    if (!type->has_tensor_type())
      return add(Kind::Unsupported, "output '" + output.name() + "' is neither a tensor nor a sequence of tensors");
    Type declared = elementType(context, type->tensor_type().elem_type());
    Type actual = sequence ? sequence.getElement() : cast<ShapedType>(value.getType()).getElementType();
    if (declared == actual)
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "output '" << output.name() << "' is declared as " << dataTypeName(type->tensor_type().elem_type())
       << " but its node gives " << actual;
    add(Kind::Broken, text);
  }

  /// A misspelt name must not be ignored.
  void reportUnusedOptions() {
    std::vector<std::string> wrong;
    for (const auto &[name, shape] : options.shapes)
      if (!seen.count(name))
        wrong.push_back("a shape is given for '" + name + "'");
    for (const std::string &name : options.absent)
      if (!seen.count(name))
        wrong.push_back("an element is denied to '" + name + "'");
    for (const auto &[name, tensor] : options.constInputs)
      if (!seen.count(name))
        wrong.push_back("a constant is given for '" + name + "'");
    if (!wrong.empty()) {
      const std::set<std::string> constants(defaults.begin(), defaults.end());
      std::string known;
      for (const std::string &name : seen)
        known += (known.empty() ? "'" : ", '") + name + (constants.count(name) ? "' (a constant by default)" : "'");
      for (const std::string &what : wrong)
        add(Kind::Broken, what + " but the model's inputs are " + known);
    }
    for (const auto &[name, size] : options.dims)
      if (!usedDims.count(name))
        add(Kind::Broken, "a size is given for '" + name + "' but no input has a dimension of that name", "",
            Problem::Severity::Warning);
  }

  struct Unbound {
    std::string name;
    std::vector<std::string> labels;
    bool unranked;
  };

  MLIRContext &context;
  ModelFile &file;
  const ::onnx::ModelProto &model;
  const ::onnx::GraphProto &graph;
  const ImportOptions &options;
  Diagnostics &problems;
  OpBuilder builder;
  int64_t opset = 0;
  std::map<std::string, const ::onnx::TensorProto *> initializers;
  std::vector<std::string> defaults; ///< inputs whose value is an initializer
  std::map<std::string, bool> defined;
  std::set<std::string> seen; ///< names of inputs, those of the elements of sequences among them
  ValueMap values;
  Functions functions;
  Opsets modelOpsets;
  std::vector<Unbound> unbound;
  std::set<std::string> usedDims, usedShapes;
  bool built = false;
};

} // namespace

void trn::loadImportDialects(MLIRContext &context) { context.loadDialect<func::FuncDialect, trn::onnx::ONNXDialect>(); }

FailureOr<OwningOpRef<ModuleOp>> trn::importModel(MLIRContext &context, StringRef path, const ImportOptions &options,
                                                  Diagnostics &problems) {
  loadImportDialects(context);
  ModelFile file;
  if (!file.open(path, options.allowExternalLinks, problems))
    return failure();
  return Importer(context, file, options, problems).run();
}

FailureOr<OwningOpRef<ModuleOp>> trn::importModel(MLIRContext &context, ArrayRef<char> bytes, StringRef folder,
                                                  const ImportOptions &options, Diagnostics &problems) {
  loadImportDialects(context);
  ModelFile file;
  if (!file.parse(bytes, folder, options.allowExternalLinks, problems))
    return failure();
  return Importer(context, file, options, problems).run();
}
