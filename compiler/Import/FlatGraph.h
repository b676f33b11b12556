//===- FlatGraph.h - a model's nodes, functions inlined, in order ---------===//
//
// Owns the list of nodes that the importer builds: calls of model-local functions are replaced by the functions'
// nodes, and producers come before consumers. Refuses recursion, cycles, names defined twice and names nobody defines.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/ModelFile.h"

#include "llvm/ADT/StringMap.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <memory>

namespace trn {

/// Which version of each domain's operators a node uses; the standard's own domain is "".
using Opsets = std::map<std::string, int64_t>;

/// One node after inlining. Value names are unique over the whole model; an empty name is an absent value.
struct FlatNode {
  const ::onnx::NodeProto *node = nullptr;
  const Opsets *opsets = nullptr;
  std::string name;  ///< for messages: the node's name, or its first output; with the caller's in front when inlined
  int64_t index = 0; ///< position of the node, or of the outermost call, in the file
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> captures; ///< what the node's bodies read from around them
  /// Attributes by name; references to a function's attributes are resolved.
  std::map<std::string, const ::onnx::AttributeProto *> attributes;

  std::string domain() const;
  /// The operator with its domain, for messages.
  std::string op() const;
  int64_t opset() const;
};

/// The functions that a model defines, and what all its graphs share.
class Functions {
public:
  bool collect(const ::onnx::ModelProto &model, Diagnostics &problems);

private:
  friend class FlatGraph;
  std::map<std::string, const ::onnx::FunctionProto *> byKey;
  std::map<const ::onnx::FunctionProto *, Opsets> opsets;
  /// Bodies inside of functions, with the names of one call.
  std::vector<std::unique_ptr<::onnx::AttributeProto>> bodies;
  int64_t instances = 0;
  size_t counted = 0;
};

class FlatGraph {
public:
  /// True for a name that is defined around a graph.
  using Visible = llvm::function_ref<bool(const std::string &)>;

  explicit FlatGraph(Functions &functions) : functions(functions) {}

  /// Flattens a graph: its nodes use `opsets`, `prefix` goes before their names in messages. `defined` are the names
  /// that its own inputs and initializers define.
  bool build(const ::onnx::GraphProto &graph, const Opsets &opsets, const std::string &prefix,
             const std::map<std::string, bool> &defined, Visible visible, Diagnostics &problems);

  const std::vector<FlatNode> &nodes() const { return list; }

private:
  /// Appends a node, or the nodes of the function that it calls.
  bool append(FlatNode node, unsigned depth, Diagnostics &problems);
  bool inlineCall(const FlatNode &call, const ::onnx::FunctionProto &function, unsigned depth, Diagnostics &problems);
  /// Counts a node, a call or an Identity against the limit: calls of functions without nodes take time too.
  bool countNode(const FlatNode &node, Diagnostics &problems);
  bool sort(const std::map<std::string, bool> &defined, Visible visible, Diagnostics &problems);

  Functions &functions;
  std::vector<FlatNode> list;
};

/// A problem at a node.
Problem nodeProblem(const FlatNode &node, Problem::Kind kind, std::string reason, std::string hint = "");

/// The opsets that a model or function declares.
Opsets readOpsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &imports);

} // namespace trn
