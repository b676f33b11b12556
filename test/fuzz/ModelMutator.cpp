//===- ModelMutator.cpp - changing ONNX models for the fuzzers ------------===//
#include "test/fuzz/ModelMutator.h"
#include "compiler/Import/ModelFile.h"
#include "dialects/ONNX/OpRecords.h"
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace trn::fuzz {

using namespace ::onnx;

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  void mutate(ModelProto &model) {
    GraphProto &graph = anyGraph(model);
    switch (below(20)) {
    case 0:
      return changeOpset(model);
    case 1:
      return changeFunctions(model);
    case 2:
    case 3:
      return changeValue(graph);
    case 4:
    case 5:
      return changeInitializer(graph);
    case 6:
    case 7:
      return changeGraph(graph);
    case 8:
    case 9:
      return retype(model);
    case 10:
    case 11:
      return resize(model);
    default:
      return changeNode(graph);
    }
  }

  void splice(ModelProto &model, const ModelProto &other) {
    GraphProto &graph = *model.mutable_graph();
    for (const NodeProto &node : other.graph().node())
      if (below(2))
        *graph.add_node() = node;
    for (const TensorProto &tensor : other.graph().initializer())
      if (below(2))
        *graph.add_initializer() = tensor;
    for (const ValueInfoProto &value : other.graph().input())
      if (below(2))
        *graph.add_input() = value;
  }

private:
  unsigned below(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); }

  /// The main graph, or a body in it.
  GraphProto &anyGraph(ModelProto &model) {
    GraphProto *graph = model.mutable_graph();
    for (;;) {
      std::vector<GraphProto *> bodies;
      for (NodeProto &node : *graph->mutable_node())
        for (AttributeProto &attribute : *node.mutable_attribute())
          if (attribute.has_g())
            bodies.push_back(attribute.mutable_g());
      if (bodies.empty() || below(3) == 0)
        return *graph;
      graph = bodies[below(static_cast<unsigned>(bodies.size()))];
    }
  }

  /// Calls `change` with each declared tensor type of a graph and its bodies.
  template <typename Change> void forEachTensorType(GraphProto &graph, Change change) {
    for (auto *list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
      for (ValueInfoProto &value : *list) {
        TypeProto *type = value.mutable_type();
        if (type->has_optional_type())
          type = type->mutable_optional_type()->mutable_elem_type();
        if (type->has_sequence_type())
          type = type->mutable_sequence_type()->mutable_elem_type();
        if (type->has_tensor_type())
          change(*type->mutable_tensor_type());
      }
    for (NodeProto &node : *graph.mutable_node())
      for (AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g())
          forEachTensorType(*attribute.mutable_g(), change);
  }

  /// All values of one type get another, which leaves most models whole: the ways that types take are far apart.
  void retype(ModelProto &model) {
    std::vector<int> types;
    forEachTensorType(*model.mutable_graph(), [&](TypeProto::Tensor &tensor) { types.push_back(tensor.elem_type()); });
    if (types.empty())
      return;
    int from = types[below(static_cast<unsigned>(types.size()))], to = 1 + int(below(26));
    forEachTensorType(*model.mutable_graph(), [&](TypeProto::Tensor &tensor) {
      if (tensor.elem_type() == from)
        tensor.set_elem_type(to);
    });
    for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
      if (tensor.data_type() == from && tensor.has_raw_data())
        tensor.set_data_type(to);
  }

  /// All sizes of one value get another, small enough to compile and on both sides of what a tile holds.
  void resize(ModelProto &model) {
    static const int64_t kSizes[] = {0, 1, 2, 3, 5, 7, 8, 16, 31, 64, 100, 127, 128, 129, 200, 255, 256, 257, 300, 512, 513, 1000};
    std::vector<int64_t> sizes;
    forEachTensorType(*model.mutable_graph(), [&](TypeProto::Tensor &tensor) {
      for (const TensorShapeProto::Dimension &dim : tensor.shape().dim())
        sizes.push_back(dim.dim_value());
    });
    if (sizes.empty())
      return;
    int64_t from = sizes[below(static_cast<unsigned>(sizes.size()))], to = kSizes[below(std::size(kSizes))];
    forEachTensorType(*model.mutable_graph(), [&](TypeProto::Tensor &tensor) {
      for (TensorShapeProto::Dimension &dim : *tensor.mutable_shape()->mutable_dim())
        if (dim.dim_value() == from)
          dim.set_dim_value(to);
    });
  }

  /// Numbers at which sizes, axes and counts change their meaning.
  int64_t number() {
    static const int64_t kNumbers[] = {0,       1,         -1,        2,         -2,        3,       4,
                                       7,       16,        127,       128,       129,       255,     256,
                                       512,     1 << 16,   INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
                                       1 << 30, 1LL << 31, 1LL << 32, 1LL << 40, 1LL << 62, 65535,   1000000007};
    return below(4) ? kNumbers[below(std::size(kNumbers))] : static_cast<int64_t>(below(12)) - 3;
  }
  float real() {
    static const float kReals[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-30f, 1e30f, 3.4e38f, 1e-45f,
                                   std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    return kReals[below(std::size(kReals))];
  }

  /// The name of some value of the graph, or one that nothing has.
  std::string anyName(const GraphProto &graph) {
    std::vector<std::string> names = {"", "nobody"};
    for (const NodeProto &node : graph.node())
      names.insert(names.end(), node.output().begin(), node.output().end());
    for (const ValueInfoProto &value : graph.input())
      names.push_back(value.name());
    for (const TensorProto &tensor : graph.initializer())
      names.push_back(tensor.name());
    return names[below(static_cast<unsigned>(names.size()))];
  }
  const trn::onnx::OpRecord &anyRecord() {
    auto all = trn::onnx::records();
    return all[below(static_cast<unsigned>(all.size()))];
  }
  std::string anyOperator() { return anyRecord().name.str(); }
  void setAnyOperator(NodeProto &node) {
    const trn::onnx::OpRecord &record = anyRecord();
    node.set_op_type(record.name.str());
    node.set_domain(record.domain.str());
  }

  void changeOpset(ModelProto &model) {
    if (below(4) == 0)
      return model.set_ir_version(number());
    if (model.opset_import_size() == 0 || below(4) == 0) {
      OperatorSetIdProto &added = *model.add_opset_import();
      static const char *const kDomains[] = {"", "ai.onnx", "com.microsoft", "ai.onnx.ml", "local"};
      added.set_domain(kDomains[below(std::size(kDomains))]);
    }
    model.mutable_opset_import(below(static_cast<unsigned>(model.opset_import_size())))
        ->set_version(below(4) ? 1 + below(28) : number());
  }

  void changeFunctions(ModelProto &model) {
    GraphProto &graph = *model.mutable_graph();
    if (model.functions_size() && below(3) == 0)
      return model.mutable_functions()->DeleteSubrange(static_cast<int>(below(unsigned(model.functions_size()))), 1);
    // A function of some of the model's nodes, and calls of it, from the model or from functions.
    FunctionProto &function = *model.add_functions();
    function.set_name(below(4) ? "local" + std::to_string(below(3)) : anyOperator());
    function.set_domain(below(4) ? "local" : "");
    *function.mutable_opset_import() = model.opset_import();
    for (int i = 0; i < graph.node_size() && i < 8; ++i)
      if (below(2))
        *function.add_node() = graph.node(i);
    for (const NodeProto &node : function.node()) {
      for (const std::string &name : node.input())
        function.add_input(name);
      for (const std::string &name : node.output())
        function.add_output(name);
      break;
    }
    NodeProto &call = below(2) ? *graph.add_node() : *model.mutable_functions(0)->add_node();
    call.set_domain(function.domain());
    call.set_op_type(function.name());
    for (int i = 0; i < function.input_size(); ++i)
      call.add_input(anyName(graph));
    for (int i = 0; i < function.output_size(); ++i)
      call.add_output("call" + std::to_string(random() % 5) + std::to_string(i));
  }

  void changeDims(google::protobuf::RepeatedField<int64_t> &dims) {
    switch (below(3)) {
    case 0:
      dims.Add(number());
      break;
    case 1:
      if (!dims.empty())
        dims.RemoveLast();
      break;
    default:
      if (!dims.empty())
        dims.Set(static_cast<int>(below(unsigned(dims.size()))), number());
    }
  }

  void changeValue(GraphProto &graph) {
    auto *list = below(3) == 0 ? graph.mutable_output() : below(2) ? graph.mutable_input() : graph.mutable_value_info();
    if (list->empty() || below(8) == 0) {
      list->Add()->set_name(anyName(graph));
      return;
    }
    const int index = static_cast<int>(below(unsigned(list->size())));
    ValueInfoProto &value = *list->Mutable(index);
    switch (below(7)) {
    case 0:
      return value.set_name(anyName(graph));
    case 1:
      *list->Add() = ValueInfoProto(value);
      return;
    case 2:
      return list->DeleteSubrange(index, 1);
    case 3:
      return value.mutable_type()->mutable_tensor_type()->set_elem_type(int(below(28)));
    case 4:
      if (below(2))
        return value.clear_type();
      *value.mutable_type()->mutable_sequence_type()->mutable_elem_type() = TypeProto(value.type());
      return;
    default: {
      auto *dims = value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
      if (dims->empty() || below(4) == 0)
        dims->Add();
      if (below(6) == 0)
        return dims->RemoveLast();
      TensorShapeProto::Dimension &dim = *dims->Mutable(int(below(unsigned(dims->size()))));
      if (below(6) == 0)
        dim.set_dim_param("N");
      else
        dim.set_dim_value(number());
    }
    }
  }

  void changeTensor(TensorProto &tensor, const GraphProto &graph) {
    switch (below(8)) {
    case 0:
      return tensor.set_name(anyName(graph));
    case 1:
      return tensor.set_data_type(int(below(28)));
    case 2:
      return changeDims(*tensor.mutable_dims());
    case 3: {
      std::string *raw = tensor.mutable_raw_data();
      raw->resize(below(2) ? raw->size() / 2 : raw->size() + below(16));
      return;
    }
    case 4: { // external data
      static const char *const kPlaces[] = {"../secret", "/etc/passwd", "a/../../b", "", ".", "weights.bin", "a\0b"};
      static const char *const kKeys[] = {"location", "offset", "length", "checksum", "location"};
      tensor.set_data_location(TensorProto::EXTERNAL);
      for (unsigned i = 0, count = 1 + below(3); i < count; ++i) {
        StringStringEntryProto &entry = *tensor.add_external_data();
        entry.set_key(kKeys[below(std::size(kKeys))]);
        entry.set_value(entry.key() == "location" ? kPlaces[below(std::size(kPlaces))] : std::to_string(number()));
      }
      return;
    }
    case 5: // typed fields beside or in place of raw data
      if (below(2))
        tensor.clear_raw_data();
      for (unsigned i = 0, count = below(5); i < count; ++i) {
        tensor.add_float_data(real());
        tensor.add_int32_data(static_cast<int32_t>(number()));
        tensor.add_int64_data(number());
        tensor.add_string_data("s");
      }
      return;
    case 6: // numbers that mean shapes, axes, counts
      tensor.set_data_type(TensorProto::INT64);
      tensor.clear_raw_data();
      tensor.clear_int64_data();
      tensor.clear_dims();
      tensor.add_dims(below(5));
      for (int64_t i = 0; i < tensor.dims(0); ++i)
        tensor.add_int64_data(number());
      return;
    default:
      if (std::string *raw = tensor.mutable_raw_data(); !raw->empty())
        (*raw)[below(unsigned(raw->size()))] = char(random());
    }
  }

  void changeInitializer(GraphProto &graph) {
    auto *list = graph.mutable_initializer();
    if (list->empty() || below(8) == 0) {
      TensorProto &added = *list->Add();
      added.set_name(anyName(graph));
      added.set_data_type(int(below(28)));
      return changeTensor(added, graph);
    }
    const int index = int(below(unsigned(list->size())));
    if (below(10) == 0)
      return list->DeleteSubrange(index, 1);
    if (below(10) == 0) {
      *list->Add() = TensorProto(list->Get(index));
      return;
    }
    changeTensor(*list->Mutable(index), graph);
  }

  void changeAttribute(NodeProto &node, const GraphProto &graph) {
    auto *list = node.mutable_attribute();
    if (list->empty() || below(6) == 0) {
      static const char *const kNames[] = {"axis",    "axes",  "perm",   "pads",     "strides", "kernel_shape", "group",
                                           "to",      "value", "shape",  "mode",     "keepdims", "dilations",   "body",
                                           "epsilon", "alpha", "auto_pad", "output_shape", "split", "ceil_mode", "blocksize"};
      const trn::onnx::OpRecord *record = trn::onnx::findRecord(node.domain(), node.op_type());
      if (record && !record->attributes.empty() && below(4))
        list->Add()->set_name(record->attributes[below(unsigned(record->attributes.size()))].name.str());
      else
        list->Add()->set_name(kNames[below(std::size(kNames))]);
    }
    const int index = int(below(unsigned(list->size())));
    if (below(8) == 0)
      return list->DeleteSubrange(index, 1);
    if (below(12) == 0) {
      *list->Add() = AttributeProto(list->Get(index));
      return;
    }
    AttributeProto &attribute = *list->Mutable(index);
    if (below(5) == 0 || attribute.type() == AttributeProto::UNDEFINED)
      attribute.set_type(static_cast<AttributeProto::AttributeType>(below(15)));
    switch (attribute.type()) {
    case AttributeProto::INT:
      return attribute.set_i(number());
    case AttributeProto::FLOAT:
      return attribute.set_f(real());
    case AttributeProto::STRING: {
      static const char *const kTexts[] = {"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "linear", "nearest", "cubic",
                                           "constant", "reflect", "edge", "", "bij,bjk->bik", "...ii->...i", "forward"};
      return attribute.set_s(kTexts[below(std::size(kTexts))]);
    }
    case AttributeProto::INTS:
      return changeDims(*attribute.mutable_ints());
    case AttributeProto::FLOATS:
      return attribute.add_floats(real());
    case AttributeProto::TENSOR:
      return changeTensor(*attribute.mutable_t(), graph);
    case AttributeProto::GRAPH:
      if (graph.node_size() < 16)
        *attribute.mutable_g() = GraphProto(graph);
      return;
    default:
      return;
    }
  }

  void changeNode(GraphProto &graph) {
    if (graph.node().empty() || below(12) == 0) {
      NodeProto &added = *graph.add_node();
      setAnyOperator(added);
      for (unsigned i = 0, count = below(4); i < count; ++i)
        added.add_input(anyName(graph));
      added.add_output("new" + std::to_string(random() % 9));
      return;
    }
    const int index = int(below(unsigned(graph.node_size())));
    NodeProto &node = *graph.mutable_node(index);
    switch (below(12)) {
    case 0:
      return setAnyOperator(node);
    case 1:
      if (node.input_size())
        node.set_input(int(below(unsigned(node.input_size()))), anyName(graph));
      return;
    case 2:
      return node.add_input(anyName(graph));
    case 3:
      if (node.input_size())
        node.mutable_input()->RemoveLast();
      return;
    case 4:
      if (node.output_size())
        node.set_output(int(below(unsigned(node.output_size()))), anyName(graph));
      return;
    case 5:
      if (below(2))
        return node.add_output("more" + std::to_string(random() % 9));
      if (node.output_size())
        node.mutable_output()->RemoveLast();
      return;
    case 6:
      return graph.mutable_node()->DeleteSubrange(index, 1);
    case 7:
      *graph.add_node() = NodeProto(node);
      return;
    case 8:
      return graph.mutable_node()->SwapElements(index, int(below(unsigned(graph.node_size()))));
    default:
      return changeAttribute(node, graph);
    }
  }

  void changeGraph(GraphProto &graph) {
    switch (below(4)) {
    case 0:
      if (graph.input_size())
        graph.mutable_input()->SwapElements(0, int(below(unsigned(graph.input_size()))));
      return;
    case 1: // an input becomes a constant, which opens the way of folding
      if (graph.input_size()) {
        TensorProto &tensor = *graph.add_initializer();
        const ValueInfoProto &input = graph.input(int(below(unsigned(graph.input_size()))));
        tensor.set_name(input.name());
        tensor.set_data_type(input.type().tensor_type().elem_type());
        uint64_t count = 1;
        for (const auto &dim : input.type().tensor_type().shape().dim()) {
          tensor.add_dims(dim.dim_value());
          count = count > 4096 ? count : count * uint64_t(dim.dim_value() > 0 ? dim.dim_value() : 1);
        }
        if (count <= 4096)
          tensor.mutable_raw_data()->resize(count * 4);
      }
      return;
    case 2: // some value becomes an output
      graph.add_output()->set_name(anyName(graph));
      return;
    default: {
      TensorAnnotation &annotation = *graph.add_quantization_annotation();
      annotation.set_tensor_name(anyName(graph));
      if (graph.initializer_size()) {
        SparseTensorProto &sparse = *graph.add_sparse_initializer();
        *sparse.mutable_values() = graph.initializer(0);
        *sparse.mutable_indices() = graph.initializer(0);
        sparse.add_dims(number());
      }
    }
    }
  }

  std::mt19937 random;
};

size_t store(const ModelProto &model, uint8_t *out, size_t maxSize) {
  std::string bytes = model.SerializeAsString();
  if (bytes.empty() || bytes.size() > maxSize)
    return 0;
  std::memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}

} // namespace

/// Binds one tensor that is called `name`.
static void bindTensor(const std::string &name, const TypeProto::Tensor &tensor, ImportOptions &options) {
  constexpr int64_t kSize = 2;
  std::vector<int64_t> shape;
  bool whole = tensor.has_shape();
  for (const TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
    if (!dim.dim_param().empty())
      options.dims[dim.dim_param()] = kSize;
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : kSize);
    whole &= dim.has_dim_value() || !dim.dim_param().empty();
  }
  if (!whole)
    options.shapes[name] = tensor.has_shape() ? shape : std::vector<int64_t>{kSize, kSize};
}

ImportOptions bindSizes(const uint8_t *data, size_t size) {
  constexpr int64_t kLength = 2;
  ImportOptions options;
  ModelProto model;
  if (!model.ParseFromArray(data, int(size)))
    return options;
  for (const ValueInfoProto &input : model.graph().input()) {
    const TypeProto *type = &input.type();
    if (type->has_optional_type())
      type = &type->optional_type().elem_type();
    if (type->has_tensor_type())
      bindTensor(input.name(), type->tensor_type(), options);
    if (!type->has_sequence_type())
      continue;
    options.shapes[input.name()] = {kLength};
    for (int64_t i = 0; i < kLength; ++i)
      bindTensor(input.name() + "." + std::to_string(i), type->sequence_type().elem_type().tensor_type(), options);
  }
  return options;
}

size_t mutateModel(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  ModelProto model;
  if (seed % 16 == 0 || !model.ParseFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator mutator(seed);
  for (unsigned i = 0; i <= seed % 4; ++i)
    mutator.mutate(model);
  size_t stored = store(model, data, maxSize);
  return stored ? stored : size;
}

size_t crossModels(const uint8_t *first, size_t firstSize, const uint8_t *second, size_t secondSize, uint8_t *out,
                   size_t maxSize, unsigned seed) {
  ModelProto a, b;
  if (!a.ParseFromArray(first, int(firstSize)) || !b.ParseFromArray(second, int(secondSize)))
    return 0;
  Mutator(seed).splice(a, b);
  return store(a, out, maxSize);
}

} // namespace trn::fuzz
