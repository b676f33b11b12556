//===- FlatGraph.cpp - a model's nodes, functions inlined, in order -------===//
//
// Owns inlining of functions, a model's own and the standard's, with the bodies of their nodes, and the stable
// topological order.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/FlatGraph.h"

#include "compiler/Import/StandardFunctions.h"
#include "dialects/ONNX/OpRecords.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>
#include <set>

using namespace trn;

/// Bounds on what a small hostile file can expand to.
static constexpr size_t kMaxNodes = 1 << 20;
static constexpr unsigned kMaxCallDepth = 64;

static std::string normalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

std::string FlatNode::domain() const { return normalDomain(node->domain()); }

std::string FlatNode::op() const {
  std::string prefix = domain();
  return prefix.empty() ? node->op_type() : prefix + "." + node->op_type();
}

int64_t FlatNode::opset() const {
  auto it = opsets->find(domain());
  return it == opsets->end() ? 0 : it->second;
}

Problem trn::nodeProblem(const FlatNode &node, Problem::Kind kind, std::string reason, std::string hint) {
  Problem problem;
  problem.kind = kind;
  problem.node = node.name;
  problem.op = node.op();
  problem.index = node.index;
  problem.opset = node.opset();
  problem.reason = std::move(reason);
  problem.hint = std::move(hint);
  return problem;
}

Opsets trn::readOpsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const auto &import : imports)
    opsets[normalDomain(import.domain())] = import.version();
  return opsets;
}

static std::string functionKey(const std::string &domain, const std::string &name, const std::string &overload) {
  return normalDomain(domain) + '\n' + name + '\n' + overload;
}

static std::string displayName(const ::onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return output;
  return "";
}

bool Functions::collect(const ::onnx::ModelProto &model, Diagnostics &problems) {
  for (const auto &function : model.functions()) {
    if (!byKey.emplace(functionKey(function.domain(), function.name(), function.overload()), &function).second) {
      Problem problem;
      problem.kind = Problem::Kind::Broken;
      problem.reason = "expected each function once but '" + function.name() + "' is defined twice";
      problems.add(problem);
      return false;
    }
    opsets[&function] = readOpsets(function.opset_import());
  }
  return true;
}

/// The attribute of a call, or the function's default, that an attribute in the function's body refers to; null when
/// there is none.
static const ::onnx::AttributeProto *referredAttribute(const ::onnx::AttributeProto &attribute, const FlatNode &call,
                                                       const ::onnx::FunctionProto &function) {
  auto given = call.attributes.find(attribute.ref_attr_name());
  if (given != call.attributes.end())
    return given->second;
  for (const auto &byDefault : function.attribute_proto())
    if (byDefault.name() == attribute.ref_attr_name())
      return &byDefault;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static std::set<std::string> namesOf(const ::onnx::GraphProto &graph) {
  std::set<std::string> names;
  for (const auto &input : graph.input())
    names.insert(input.name());
  for (const auto &tensor : graph.initializer())
    names.insert(tensor.name());
  for (const auto &node : graph.node())
    names.insert(node.output().begin(), node.output().end());
  return names;
}

/// Calls `visit` with every name that `graph` reads from around it. Bodies nest as deep as calls at most.
static bool visitCaptures(const ::onnx::GraphProto &graph, unsigned depth,
                          llvm::function_ref<void(const std::string &)> visit) {
  if (depth >= kMaxCallDepth)
    return false;
  std::set<std::string> own = namesOf(graph);
  auto read = [&](const std::string &name) {
    if (!name.empty() && !own.count(name))
      visit(name);
  };
  for (const auto &node : graph.node()) {
    for (const std::string &input : node.input())
      read(input);
    for (const auto &attribute : node.attribute())
      if (attribute.has_g() && !visitCaptures(attribute.g(), depth + 1, read))
        return false;
  }
  for (const auto &output : graph.output())
    read(output.name());
  return true;
}

/// Gives a body inside of a function the names and attributes of one call.
static void instantiate(::onnx::GraphProto &graph, const FlatNode &call, const ::onnx::FunctionProto &function,
                        llvm::function_ref<std::string(const std::string &)> local) {
  std::set<std::string> own = namesOf(graph);
  auto rename = [&](const std::string &name) { return name.empty() || own.count(name) ? name : local(name); };
  for (auto &node : *graph.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      input = rename(input);
    for (int i = node.attribute_size() - 1; i >= 0; --i) {
      auto &attribute = *node.mutable_attribute(i);
      if (!attribute.ref_attr_name().empty()) {
        const ::onnx::AttributeProto *given = referredAttribute(attribute, call, function);
        std::string name = attribute.name();
        if (!given) {
          node.mutable_attribute()->DeleteSubrange(i, 1);
          continue;
        }
        attribute = ::onnx::AttributeProto(*given);
        attribute.set_name(name);
      } else if (attribute.has_g()) {
        instantiate(*attribute.mutable_g(), call, function, rename);
      }
    }
  }
  for (auto &output : *graph.mutable_output())
    output.set_name(rename(output.name()));
}

bool FlatGraph::build(const ::onnx::GraphProto &graph, const Opsets &opsets, const std::string &prefix,
                      const std::map<std::string, bool> &defined, Visible visible, Diagnostics &problems) {
  int64_t index = 0;
  for (const auto &node : graph.node()) {
    FlatNode flat;
    flat.node = &node;
    flat.opsets = &opsets;
    flat.name = prefix + displayName(node);
    flat.index = index++;
    flat.inputs.assign(node.input().begin(), node.input().end());
    flat.outputs.assign(node.output().begin(), node.output().end());
    for (const auto &attribute : node.attribute())
      flat.attributes[attribute.name()] = &attribute;
    if (!append(std::move(flat), 0, problems))
      return false;
  }
  for (FlatNode &node : list)
    for (const auto &[name, attribute] : node.attributes)
      if (attribute->has_g() &&
          !visitCaptures(attribute->g(), 0, [&](const std::string &capture) { node.captures.push_back(capture); })) {
        problems.add(nodeProblem(node, Problem::Kind::Broken, "expected bodies nested at most 64 deep"));
        return false;
      }
  return sort(defined, visible, problems);
}

bool FlatGraph::countNode(const FlatNode &node, Diagnostics &problems) {
  if (++functions.counted <= kMaxNodes)
    return true;
  problems.add(nodeProblem(node, Problem::Kind::Unsupported,
                           "expected at most " + std::to_string(kMaxNodes) + " nodes after inlining functions"));
  return false;
}

/// The function by which the standard defines an operator that has no record of its own; null when there is none.
static const ::onnx::FunctionProto *definition(const FlatNode &node) {
  if (!node.domain().empty())
    return nullptr;
  int64_t opset = std::min<int64_t>(node.opset(), trn::onnx::kNewestOpset);
  const trn::onnx::OpRecord *record = trn::onnx::findRecord("", node.node->op_type());
  if (record && !record->refused() && record->versionFor(int(opset)) > 0)
    return nullptr;
  return standardFunction(node.node->op_type(), opset);
}

bool FlatGraph::append(FlatNode node, unsigned depth, Diagnostics &problems) {
  if (!countNode(node, problems))
    return false;
  auto function = functions.byKey.find(functionKey(node.node->domain(), node.node->op_type(), node.node->overload()));
  if (function != functions.byKey.end())
    return inlineCall(node, *function->second, depth, problems);
  if (const ::onnx::FunctionProto *body = definition(node)) {
    functions.opsets.try_emplace(body, readOpsets(body->opset_import()));
    return inlineCall(node, *body, depth, problems);
  }
  list.push_back(std::move(node));
  return true;
}

bool FlatGraph::inlineCall(const FlatNode &call, const ::onnx::FunctionProto &function, unsigned depth,
                           Diagnostics &problems) {
  auto fail = [&](std::string reason) {
    problems.add(nodeProblem(call, Problem::Kind::Broken, std::move(reason)));
    return false;
  };
  if (depth >= kMaxCallDepth)
    return fail("expected functions nested at most 64 deep; is '" + function.name() + "' recursive?");
  if (call.inputs.size() > size_t(function.input_size()) || call.outputs.size() > size_t(function.output_size()))
    return fail("expected at most " + std::to_string(function.input_size()) + " inputs and " +
                std::to_string(function.output_size()) + " outputs, as the function has, but got " +
                std::to_string(call.inputs.size()) + " and " + std::to_string(call.outputs.size()));
  // Names of the body that the caller knows; all others become unique to this instance.
  std::map<std::string, std::string> rename;
  for (int i = 0; i < function.input_size(); ++i)
    rename[function.input(i)] = size_t(i) < call.inputs.size() ? call.inputs[i] : "";
  std::string instance = call.name + "/";
  std::string unique = "\x01" + std::to_string(functions.instances++) + "/";
  std::vector<FlatNode> forwards;
  for (int i = 0; i < function.output_size(); ++i) {
    if (size_t(i) >= call.outputs.size() || call.outputs[i].empty())
      continue;
    if (!rename.emplace(function.output(i), call.outputs[i]).second) {
      // An input handed straight out, or one value under two outputs: an Identity carries it.
      static const ::onnx::NodeProto *const identity = [] {
        auto *node = new ::onnx::NodeProto;
        node->set_op_type("Identity");
        return node;
      }();
      FlatNode forward = call;
      forward.node = identity;
      forward.attributes.clear();
      forward.inputs = {rename[function.output(i)]};
      forward.outputs = {call.outputs[i]};
      forwards.push_back(std::move(forward));
    }
  }
  auto local = [&](const std::string &name) -> std::string {
    if (name.empty())
      return "";
    auto it = rename.find(name);
    return it != rename.end() ? it->second : unique + name;
  };
  for (const auto &node : function.node()) {
    FlatNode flat;
    flat.node = &node;
    flat.opsets = &functions.opsets[&function];
    flat.name = instance + displayName(node);
    flat.index = call.index;
    llvm::transform(node.input(), std::back_inserter(flat.inputs), local);
    llvm::transform(node.output(), std::back_inserter(flat.outputs), local);
    for (const auto &attribute : node.attribute()) {
      const ::onnx::AttributeProto *value = &attribute;
      if (!attribute.ref_attr_name().empty())
        value = referredAttribute(attribute, call, function);
      if (value && value->has_g()) {
        auto body = std::make_unique<::onnx::AttributeProto>(*value);
        if (value == &attribute)
          instantiate(*body->mutable_g(), call, function, local);
        value = functions.bodies.emplace_back(std::move(body)).get();
      }
      if (value)
        flat.attributes[attribute.name()] = value;
    }
    if (!append(std::move(flat), depth + 1, problems))
      return false;
  }
  for (FlatNode &forward : forwards) {
    if (!countNode(forward, problems))
      return false;
    list.push_back(std::move(forward));
  }
  return true;
}

bool FlatGraph::sort(const std::map<std::string, bool> &defined, Visible visible, Diagnostics &problems) {
  size_t before = problems.problems().size();
  std::map<std::string, size_t> producer;
  for (auto [i, node] : llvm::enumerate(list))
    for (const std::string &output : node.outputs)
      if (!output.empty() && (defined.count(output) || !producer.emplace(output, i).second))
        problems.add(nodeProblem(node, Problem::Kind::Broken, "value '" + output + "' is defined twice"));
  std::vector<std::vector<size_t>> consumers(list.size());
  std::vector<size_t> waiting(list.size(), 0);
  for (auto [i, node] : llvm::enumerate(list)) {
    for (const std::vector<std::string> *names : {&node.inputs, &node.captures})
      for (const std::string &input : *names) {
        auto it = producer.find(input);
        if (it != producer.end()) {
          consumers[it->second].push_back(i);
          ++waiting[i];
        } else if (!input.empty() && !defined.count(input) && !visible(input)) {
          problems.add(nodeProblem(node, Problem::Kind::Broken, "input '" + input + "' is defined nowhere"));
        }
      }
  }
  if (problems.problems().size() != before)
    return false;
  // The smallest ready position first: a file that is in order stays as it is.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<size_t>> ready;
  for (size_t i = 0; i < list.size(); ++i)
    if (waiting[i] == 0)
      ready.push(i);
  std::vector<FlatNode> sorted;
  while (!ready.empty()) {
    size_t i = ready.top();
    ready.pop();
    for (size_t consumer : consumers[i])
      if (--waiting[consumer] == 0)
        ready.push(consumer);
    sorted.push_back(std::move(list[i]));
    waiting[i] = SIZE_MAX;
  }
  if (sorted.size() != list.size()) {
    size_t stuck = llvm::find_if(waiting, [](size_t count) { return count != SIZE_MAX; }) - waiting.begin();
    problems.add(nodeProblem(list[stuck], Problem::Kind::Broken, "the node's inputs depend on its own outputs"));
    return false;
  }
  list = std::move(sorted);
  return true;
}
