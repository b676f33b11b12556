//===- FlatGraph.h - a model's nodes, functions inlined, in order ---------===//
//
// Owns the list of nodes that the importer builds: calls of model-local functions are replaced by the functions'
// nodes, and producers come before consumers. Refuses recursion, cycles, names defined twice and names nobody defines.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/ModelFile.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

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
  /// Attributes by name; references to a function's attributes are resolved.
  std::map<std::string, const ::onnx::AttributeProto *> attributes;

  std::string domain() const;
  /// The operator with its domain, for messages.
  std::string op() const;
  int64_t opset() const;
};

class FlatGraph {
public:
  /// Flattens the main graph. `defined` are the names that inputs and initializers define.
  bool build(const ::onnx::ModelProto &model, const std::map<std::string, bool> &defined, Diagnostics &problems);

  const std::vector<FlatNode> &nodes() const { return list; }

private:
  using Functions = std::map<std::string, const ::onnx::FunctionProto *>;
  bool collectFunctions(const ::onnx::ModelProto &model, Diagnostics &problems);
  /// Appends a node, or the nodes of the function that it calls.
  bool append(FlatNode node, unsigned depth, Diagnostics &problems);
  bool inlineCall(const FlatNode &call, const ::onnx::FunctionProto &function, unsigned depth, Diagnostics &problems);
  /// Counts a node, a call or an Identity against the limit: calls of functions without nodes take time too.
  bool countNode(const FlatNode &node, Diagnostics &problems);
  bool sort(const std::map<std::string, bool> &defined, Diagnostics &problems);

  Functions functions;
  std::map<const ::onnx::FunctionProto *, Opsets> functionOpsets;
  Opsets modelOpsets;
  std::vector<FlatNode> list;
  int64_t instances = 0;
  size_t counted = 0;
};

/// A problem at a node.
Problem nodeProblem(const FlatNode &node, Problem::Kind kind, std::string reason, std::string hint = "");

/// The opsets that a model or function declares.
Opsets readOpsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &imports);

} // namespace trn
