//===- ModelBuilder.h - small ONNX models for tests -----------------------===//
//
// Owns a builder of ModelProto messages, so that tests of the importer need no files and no Python.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Import/Import.h"

#include "compiler/Import/ModelFile.h"
#include "passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace trn::test {

/// Builds one model node by node.
class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset, int64_t ir = 8) {
    model.set_ir_version(ir);
    auto *import = model.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  ModelBuilder &input(const std::string &name, std::vector<int64_t> shape, int type = ::onnx::TensorProto::FLOAT) {
    describe(*model.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  ModelBuilder &output(const std::string &name, int type = ::onnx::TensorProto::FLOAT) {
    auto *value = model.mutable_graph()->add_output();
    value->set_name(name);
    value->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return *this;
  }
  ModelBuilder &ints(const std::string &name, std::vector<int64_t> values) {
    auto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(values.size());
    for (int64_t value : values)
      tensor->add_int64_data(value);
    return *this;
  }
  ModelBuilder &floats(const std::string &name, std::vector<int64_t> shape, std::vector<float> values) {
    auto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::FLOAT);
    for (int64_t size : shape)
      tensor->add_dims(size);
    tensor->set_raw_data(std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)));
    return *this;
  }
  ::onnx::NodeProto &node(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    auto *node = model.mutable_graph()->add_node();
    node->set_op_type(op);
    for (const auto &input : inputs)
      node->add_input(input);
    for (const auto &output : outputs)
      node->add_output(output);
    return *node;
  }

  static ::onnx::AttributeProto &attribute(::onnx::NodeProto &node, const std::string &name,
                                           ::onnx::AttributeProto::AttributeType type) {
    auto *attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
  }
  static void set(::onnx::NodeProto &node, const std::string &name, int64_t value) {
    attribute(node, name, ::onnx::AttributeProto::INT).set_i(value);
  }
  static void set(::onnx::NodeProto &node, const std::string &name, float value) {
    attribute(node, name, ::onnx::AttributeProto::FLOAT).set_f(value);
  }
  static void set(::onnx::NodeProto &node, const std::string &name, const char *value) {
    attribute(node, name, ::onnx::AttributeProto::STRING).set_s(value);
  }
  static void set(::onnx::NodeProto &node, const std::string &name, std::vector<int64_t> values) {
    auto &list = attribute(node, name, ::onnx::AttributeProto::INTS);
    for (int64_t value : values)
      list.add_ints(value);
  }
  static void set(::onnx::NodeProto &node, const std::string &name, std::vector<float> values) {
    auto &list = attribute(node, name, ::onnx::AttributeProto::FLOATS);
    for (float value : values)
      list.add_floats(value);
  }

  static void describe(::onnx::ValueInfoProto &value, const std::string &name, const std::vector<int64_t> &shape,
                       int type) {
    value.set_name(name);
    auto *tensor = value.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t size : shape)
      tensor->mutable_shape()->add_dim()->set_dim_value(size);
  }

  std::string bytes() const { return model.SerializeAsString(); }

  ::onnx::ModelProto model;
};

/// An imported model, its problems, and what the graph passes made of it.
struct Imported {
  std::string bytes; // the module's constants point into them
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Diagnostics problems;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Imported(std::string modelBytes, const ImportOptions &options = {}) : bytes(std::move(modelBytes)) {
    auto result = importModel(context, llvm::ArrayRef<char>(bytes.data(), bytes.size()), "", options, problems);
    if (mlir::succeeded(result))
      module = std::move(*result);
  }

  /// Runs inference; false on errors, which become problems.
  bool infer() {
    if (!module)
      return false;
    DiagnosticCollector collector(&context, problems);
    mlir::PassManager manager(&context);
    manager.addNestedPass<mlir::func::FuncOp>(createInferFoldPass());
    return mlir::succeeded(manager.run(*module));
  }

  /// All operations of a name in `main`, in order.
  std::vector<mlir::Operation *> all(llvm::StringRef name) {
    std::vector<mlir::Operation *> found;
    if (module)
      module->walk([&](mlir::Operation *op) {
        if (op->getName().getStringRef() == name)
          found.push_back(op);
      });
    return found;
  }
  mlir::Operation *one(llvm::StringRef name) {
    auto found = all(name);
    return found.size() == 1 ? found.front() : nullptr;
  }

  std::string text() const {
    std::string text;
    for (const Problem &problem : problems.problems())
      text += problem.str() + "\n";
    return text;
  }
};

} // namespace trn::test
