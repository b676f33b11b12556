//===- CutModel.cpp - parts of an ONNX model as models of their own -------===//
#include "compiler/Import/CutModel.h"
#include "compiler/Import/ModelFile.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace trn;

struct ModelCutter::Impl {
  ::onnx::ModelProto model;
  std::vector<std::vector<std::string>> reads; ///< of each node, with what its bodies take from outside
};

/// Adds the names that a graph reads and does not make.
static void addCaptures(const ::onnx::GraphProto &graph, std::vector<std::string> &names);

static void addReads(const ::onnx::NodeProto &node, std::vector<std::string> &names) {
  for (const std::string &input : node.input())
    if (!input.empty())
      names.push_back(input);
  for (const ::onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      addCaptures(attribute.g(), names);
    for (const ::onnx::GraphProto &graph : attribute.graphs())
      addCaptures(graph, names);
  }
}

static void addCaptures(const ::onnx::GraphProto &graph, std::vector<std::string> &names) {
  llvm::StringSet<> own;
  for (const ::onnx::ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const ::onnx::TensorProto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const ::onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    own.insert(tensor.values().name());
  std::vector<std::string> read;
  for (const ::onnx::NodeProto &node : graph.node()) {
    addReads(node, read);
    for (const std::string &output : node.output())
      own.insert(output);
  }
  for (const ::onnx::ValueInfoProto &output : graph.output())
    read.push_back(output.name());
  for (std::string &name : read)
    if (!own.contains(name))
      names.push_back(std::move(name));
}

ModelCutter::ModelCutter() : impl(std::make_unique<Impl>()) {}
ModelCutter::~ModelCutter() = default;

std::string ModelCutter::open(const std::string &path) {
  std::string error;
  std::shared_ptr<const MappedFile> file = MappedFile::open(path, /*followLinks=*/true, error);
  if (!file)
    return error;
  llvm::ArrayRef<char> bytes = file->bytes();
  if (bytes.size() > size_t(INT32_MAX) ||
      !impl->model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return "'" + path + "': expected an ONNX model of less than 2 GiB";
  for (const ::onnx::NodeProto &node : impl->model.graph().node())
    addReads(node, impl->reads.emplace_back());
  return "";
}

size_t ModelCutter::numNodes() const { return impl->reads.size(); }

std::string ModelCutter::nodeName(size_t index) const {
  const ::onnx::NodeProto &node = impl->model.graph().node(static_cast<int>(index));
  std::string name = !node.name().empty() ? node.name() : node.output_size() ? node.output(0) : std::string();
  return "'" + name + "' (" + node.op_type() + ")";
}

std::vector<size_t> ModelCutter::dependents(llvm::ArrayRef<size_t> nodes) const {
  llvm::BitVector found(numNodes());
  for (size_t node : nodes)
    if (node < numNodes())
      found.set(node);
  // Files need not be in order: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    llvm::StringSet<> made;
    for (unsigned node : found.set_bits())
      for (const std::string &output : impl->model.graph().node(node).output())
        made.insert(output);
    for (size_t node = 0; node < numNodes(); ++node)
      if (!found.test(node) &&
          llvm::any_of(impl->reads[node], [&](const std::string &name) { return made.contains(name); })) {
        found.set(node);
        changed = true;
      }
  }
  return {found.set_bits_begin(), found.set_bits_end()};
}

/// Declares a tensor of a static type.
static void declare(::onnx::ValueInfoProto &info, const std::string &name, const CutType &type) {
  info.set_name(name);
  ::onnx::TypeProto::Tensor &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type.dataType);
  tensor.mutable_shape();
  for (int64_t size : type.shape)
    tensor.mutable_shape()->add_dim()->set_dim_value(size);
}

std::optional<CutModel> ModelCutter::cut(llvm::ArrayRef<size_t> kept, const std::map<std::string, CutType> &types,
                                         bool allOutputs) const {
  const ::onnx::GraphProto &whole = impl->model.graph();
  ::onnx::ModelProto part;
  part.set_ir_version(impl->model.ir_version());
  *part.mutable_opset_import() = impl->model.opset_import();
  *part.mutable_functions() = impl->model.functions();
  ::onnx::GraphProto &graph = *part.mutable_graph();
  graph.set_name(whole.name());

  llvm::StringSet<> made, read;
  llvm::StringMap<const ::onnx::ValueInfoProto *> modelOutputs;
  for (const ::onnx::ValueInfoProto &output : whole.output())
    modelOutputs[output.name()] = &output;
  for (size_t node : kept) {
    *graph.add_node() = whole.node(static_cast<int>(node));
    for (const std::string &output : whole.node(static_cast<int>(node)).output())
      made.insert(output);
    for (const std::string &name : impl->reads[node])
      read.insert(name);
  }

  CutModel result;
  llvm::StringSet<> supplied;
  for (const ::onnx::TensorProto &tensor : whole.initializer())
    if (read.contains(tensor.name()) && !made.contains(tensor.name())) {
      *graph.add_initializer() = tensor;
      supplied.insert(tensor.name());
    }
  for (const ::onnx::SparseTensorProto &tensor : whole.sparse_initializer())
    if (read.contains(tensor.values().name()) && !made.contains(tensor.values().name())) {
      *graph.add_sparse_initializer() = tensor;
      supplied.insert(tensor.values().name());
    }
  for (const ::onnx::ValueInfoProto &input : whole.input()) {
    if (!read.contains(input.name()) || made.contains(input.name()) || !supplied.insert(input.name()).second)
      continue;
    if (auto type = types.find(input.name()); type != types.end())
      declare(*graph.add_input(), input.name(), type->second);
    else
      *graph.add_input() = input;
    result.inputs.push_back(input.name());
  }
  // What other nodes make becomes an input, in the order of its first use.
  for (size_t node : kept)
    for (const std::string &name : impl->reads[node]) {
      if (made.contains(name) || !supplied.insert(name).second)
        continue;
      auto type = types.find(name);
      if (type == types.end())
        return std::nullopt;
      declare(*graph.add_input(), name, type->second);
      result.inputs.push_back(name);
    }
  llvm::StringSet<> declared;
  for (const ::onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.output()) {
      const ::onnx::ValueInfoProto *own = modelOutputs.lookup(name);
      if (name.empty() || (!allOutputs && read.contains(name) && !own) || !declared.insert(name).second)
        continue;
      if (auto type = types.find(name); type != types.end())
        declare(*graph.add_output(), name, type->second);
      else if (own)
        *graph.add_output() = *own;
      else
        graph.add_output()->set_name(name);
      result.outputs.push_back(name);
    }
  if (result.outputs.empty())
    return std::nullopt;
  // Types of values inside, where the file has them.
  for (const ::onnx::ValueInfoProto &info : whole.value_info())
    if (made.contains(info.name()) && !declared.contains(info.name()))
      *graph.add_value_info() = info;
  if (!part.SerializeToString(&result.bytes))
    return std::nullopt;
  return result;
}

bool ModelCutter::hasExternalData(const CutModel &model) {
  ::onnx::ModelProto proto;
  return proto.ParseFromString(model.bytes) &&
         llvm::any_of(proto.graph().initializer(), [](const ::onnx::TensorProto &tensor) {
           return tensor.data_location() == ::onnx::TensorProto::EXTERNAL;
         });
}
