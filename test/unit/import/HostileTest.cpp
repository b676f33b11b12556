//===- HostileTest.cpp - broken and hostile files -------------------------===//
//
// Owns the check that no file crashes the importer: truncated at every byte, damaged at random (with a fixed seed), and
// built to hurt. Every outcome is a module or an error with a reason.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Report.h"
#include "dialects/ONNX/OpRecords.h"
#include "test/unit/import/ModelBuilder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <random>

using namespace trn;
using namespace trn::test;
using testing::HasSubstr;

namespace {

/// A model that uses most features of the format.
std::string sample() {
  ModelBuilder model(13);
  model.input("x", {1, 2, 8, 8}).output("y");
  model.floats("w", {4, 2, 3, 3}, std::vector<float>(72, 0.5f)).ints("shape", {1, -1});
  auto &conv = model.node("Conv", {"x", "w"}, {"c"});
  ModelBuilder::set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  ModelBuilder::set(conv, "auto_pad", "NOTSET");
  model.node("Relu", {"c"}, {"r"});
  model.node("Reshape", {"r", "shape"}, {"f"});
  ModelBuilder::set(model.node("Softmax", {"f"}, {"y"}), "axis", int64_t(1));
  return model.bytes();
}

/// Runs a file to stage graph. Nothing is returned: what counts is that this returns, with a reason if it fails.
void feed(const std::string &bytes) {
  ModelReport report = checkModel(llvm::ArrayRef<char>(bytes.data(), bytes.size()), {});
  for (const Problem &problem : report.problems.problems())
    EXPECT_FALSE(problem.reason.empty());
}

TEST(Hostile, TruncationAtEveryByteIsAnError) {
  std::string bytes = sample();
  for (size_t length = 0; length < bytes.size(); ++length)
    feed(bytes.substr(0, length));
}

/// A model of one node of the version that `opset` selects, all of whose inputs are a sequence, or all a tensor.
ModelReport feedNode(const trn::onnx::OpRecord &record, int opset, bool sequences) {
  ModelBuilder model(opset);
  auto *import = model.model.add_opset_import();
  import->set_domain(record.domain.str());
  import->set_version(opset);
  auto *sequence = model.model.mutable_graph()->add_input();
  sequence->set_name("sequence");
  auto *element = sequence->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  element->set_elem_type(::onnx::TensorProto::FLOAT);
  element->mutable_shape()->add_dim()->set_dim_value(3);
  model.input("tensor", {3}).output("y");
  std::vector<std::string> inputs(record.operands.size(), sequences ? "sequence" : "tensor");
  model.node(record.name.str(), inputs, {"y"}).set_domain(record.domain.str());
  ImportOptions options;
  options.shapes["sequence"] = {2};
  std::string bytes = model.bytes();
  return checkModel(llvm::ArrayRef<char>(bytes.data(), bytes.size()), options);
}

TEST(Hostile, SequencesAreNoTensorsAndTensorsNoSequences) {
  for (const trn::onnx::OpRecord &record : trn::onnx::records())
    for (int opset : record.since)
      for (bool sequences : {true, false})
        for (const Problem &problem : feedNode(record, opset, sequences).problems.problems())
          EXPECT_FALSE(problem.reason.empty()) << record.name.str();
  auto reason = [](const char *op, int opset, bool sequences) {
    ModelReport report = feedNode(*trn::onnx::findRecord("", op), opset, sequences);
    return report.problems.problems().empty() ? "" : report.problems.problems().front().reason;
  };
  EXPECT_THAT(reason("Relu", 14, true), HasSubstr("expected a tensor for 'x' but got a sequence"));
  EXPECT_THAT(reason("Scatter", 9, true), HasSubstr("expected a tensor for 'x' but got a sequence"));
  EXPECT_THAT(reason("SequenceLength", 11, false), HasSubstr("expected a sequence for 'sequence' but got a tensor"));
  EXPECT_THAT(reason("SequenceAt", 11, false), HasSubstr("expected a sequence for 'sequence' but got a tensor"));
}

TEST(Hostile, DamagedBytesDoNotCrash) {
  std::string bytes = sample();
  std::mt19937 random(20261130);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i)
      damaged[random() % damaged.size()] = char(random());
    feed(damaged);
  }
}

TEST(Hostile, AbsurdSizesAreErrors) {
  ModelBuilder tensor(13);
  tensor.input("x", {2}).output("y");
  auto *weight = tensor.model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(::onnx::TensorProto::FLOAT);
  for (int i = 0; i < 4; ++i)
    weight->add_dims(int64_t(1) << 40);
  weight->set_raw_data("abcd");
  tensor.node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(Imported(tensor.bytes()).text(), HasSubstr("expected sensible sizes"));

  ModelBuilder negative(13);
  negative.input("x", {2}).output("y");
  weight = negative.model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(::onnx::TensorProto::FLOAT);
  weight->add_dims(-4);
  negative.node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(Imported(negative.bytes()).text(), HasSubstr("expected sensible sizes"));

  ModelBuilder product(13);
  product.input("x", {int64_t(1) << 40, int64_t(1) << 40}).output("y");
  product.node("Exp", {"x"}, {"y"});
  Imported imported(product.bytes());
  EXPECT_FALSE(imported.infer());

  ModelBuilder expand(13);
  expand.input("x", {1}).output("y").ints("s", {int64_t(1) << 50, int64_t(1) << 50});
  expand.node("Expand", {"x", "s"}, {"y"});
  Imported grown(expand.bytes());
  EXPECT_FALSE(grown.infer());
  EXPECT_THAT(grown.text(), HasSubstr("at most 2^40 elements"));
}

TEST(Hostile, DataMustFitTheShape) {
  ModelBuilder model(13);
  model.input("x", {4}).output("y").floats("w", {4}, {1, 2, 3});
  model.node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(Imported(model.bytes()).text(), HasSubstr("expected 16 bytes of data for its shape but got 12"));
}

TEST(Hostile, AFileCannotNameAPayload) {
  // The field that marks data left in the file is ours: one in the file is dropped.
  ModelBuilder model(13);
  model.input("x", {1}).output("y");
  auto *weight = model.model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(::onnx::TensorProto::FLOAT);
  weight->add_dims(1);
  weight->set_trn_payload(1);
  model.node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(Imported(model.bytes()).text(), HasSubstr("expected 4 bytes of data for its shape but got 0"));
}

TEST(Hostile, FunctionsCannotExplode) {
  // Each function calls the one before it many times: 64^4 nodes from a few hundred bytes.
  ModelBuilder model(13);
  model.input("x", {1}).output("y");
  for (int level = 0; level < 5; ++level) {
    auto *function = model.model.add_functions();
    function->set_name("f" + std::to_string(level));
    function->set_domain("local");
    function->add_input("v");
    function->add_output("w");
    function->add_opset_import()->set_version(13);
    for (int i = 0; i < 64; ++i) {
      auto *node = function->add_node();
      node->set_op_type(level ? "f" + std::to_string(level - 1) : "Exp");
      node->set_domain(level ? "local" : "");
      node->add_input(i ? "t" + std::to_string(i - 1) : "v");
      node->add_output(i == 63 ? "w" : "t" + std::to_string(i));
    }
  }
  model.node("f4", {"x"}, {"y"}).set_domain("local");
  EXPECT_THAT(Imported(model.bytes()).text(), HasSubstr("nodes after inlining functions"));
}

TEST(Hostile, CallsCountAsNodes) {
  // Each function calls the next twice and the last hands its input on: 2^40 calls of functions without nodes.
  ModelBuilder model(13);
  model.input("x", {1}).output("y");
  for (int level = 0; level <= 40; ++level) {
    auto *function = model.model.add_functions();
    function->set_name("f" + std::to_string(level));
    function->set_domain("local");
    function->add_input("v");
    function->add_output(level ? "w1" : "v");
    function->add_opset_import()->set_version(13);
    for (int i = 0; level > 0 && i < 2; ++i) {
      auto *node = function->add_node();
      node->set_op_type("f" + std::to_string(level - 1));
      node->set_domain("local");
      node->add_input(i ? "w0" : "v");
      node->add_output("w" + std::to_string(i));
    }
  }
  model.node("f40", {"x"}, {"y"}).set_domain("local");
  EXPECT_THAT(Imported(model.bytes()).text(), HasSubstr("nodes after inlining functions"));
}

TEST(Hostile, DeepNestingIsAnError) {
  ::onnx::GraphProto graph;
  for (int i = 0; i < 200; ++i) {
    ::onnx::GraphProto outer;
    auto *attribute = outer.add_node()->add_attribute();
    attribute->set_name("g");
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    attribute->mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  ModelBuilder model(13);
  model.model.mutable_graph()->Swap(&graph);
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  EXPECT_THAT(imported.text(), HasSubstr("nesting"));
}

/// External data in a folder of its own.
class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    root = std::filesystem::temp_directory_path() / ("trn-import-" + std::to_string(::getpid()));
    std::filesystem::create_directories(root / "model" / "sub");
    write(root / "outside.bin");
    write(root / "model" / "inside.bin");
    write(root / "model" / "sub" / "deep.bin");
    std::filesystem::create_symlink(root / "outside.bin", root / "model" / "link.bin");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  static void write(const std::filesystem::path &path) {
    float values[4] = {1, 2, 3, 4};
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(values), sizeof(values));
  }

  /// The problems of importing a model whose weight lies at `location`.
  std::string import(const std::string &location, const std::string &offset = "0", bool allowLinks = false) {
    ModelBuilder model(13);
    model.input("x", {4}).output("y");
    auto *weight = model.model.mutable_graph()->add_initializer();
    weight->set_name("w");
    weight->set_data_type(::onnx::TensorProto::FLOAT);
    weight->add_dims(4);
    weight->set_data_location(::onnx::TensorProto::EXTERNAL);
    for (auto [key, value] : {std::pair<std::string, std::string>{"location", location}, {"offset", offset}}) {
      auto *entry = weight->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    model.node("Add", {"x", "w"}, {"y"});
    auto path = root / "model" / "model.onnx";
    std::ofstream(path, std::ios::binary) << model.bytes();
    ImportOptions options;
    options.allowExternalLinks = allowLinks;
    std::string text;
    for (const Problem &problem : checkModel(llvm::StringRef(path.native()), options).problems.problems())
      text += problem.str() + "\n";
    return text;
  }

  std::filesystem::path root;
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  EXPECT_EQ(import("inside.bin"), "");
  EXPECT_EQ(import("sub/deep.bin"), "");
}

TEST_F(ExternalData, StaysInTheModelsFolder) {
  EXPECT_THAT(import("../outside.bin"), HasSubstr("inside the model's folder"));
  EXPECT_THAT(import("sub/../../outside.bin"), HasSubstr("inside the model's folder"));
  EXPECT_THAT(import((root / "outside.bin").string()), HasSubstr("relative path"));
  EXPECT_THAT(import("link.bin"), HasSubstr("a link out of the model's folder"));
  EXPECT_EQ(import("link.bin", "0", /*allowLinks=*/true), "");
}

TEST_F(ExternalData, MustExistAndFit) {
  EXPECT_THAT(import("missing.bin"), HasSubstr("no such file"));
  EXPECT_THAT(import("sub"), HasSubstr("regular file"));
  EXPECT_THAT(import(""), HasSubstr("relative path"));
  EXPECT_THAT(import("inside.bin", "8"), HasSubstr("expected 16 bytes"));
  EXPECT_THAT(import("inside.bin", "99"), HasSubstr("expected external data inside"));
  EXPECT_THAT(import("inside.bin", "-1"), HasSubstr("expected a number for 'offset'"));
}

} // namespace
