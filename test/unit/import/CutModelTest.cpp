//===- CutModelTest.cpp - parts of models as models of their own ----------===//
//
// Owns tests of cutting: what crosses a cut becomes an input or output, what nobody reads is left out.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/CutModel.h"
#include "test/unit/import/ModelBuilder.h"
#include "gmock/gmock.h"
#include <fstream>

using namespace trn;
using namespace trn::test;
using testing::ElementsAre;

namespace {

class CutModelTest : public testing::Test {
protected:
  /// x -> Relu -> a -> Add(a, w) -> b -> If(c){ captures a } -> y; the model's outputs are b and y.
  void SetUp() override {
    ModelBuilder model(17);
    model.input("x", {2, 3}).input("c", {}, ::onnx::TensorProto::BOOL).output("b").output("y");
    model.floats("w", {3}, {1, 2, 3}).floats("unused", {1}, {0});
    model.node("Relu", {"x"}, {"a"}).set_name("relu");
    model.node("Add", {"a", "w"}, {"b"});
    auto &branch = model.node("If", {"c"}, {"y"});
    for (const char *name : {"then_branch", "else_branch"}) {
      auto *attribute = branch.add_attribute();
      attribute->set_name(name);
      attribute->set_type(::onnx::AttributeProto::GRAPH);
      auto *inner = attribute->mutable_g()->add_node();
      inner->set_op_type("Neg");
      inner->add_input("a");
      inner->add_output("inside");
      attribute->mutable_g()->add_output()->set_name("inside");
    }
    std::string path = testing::TempDir() + "cut.onnx";
    auto bytes = model.bytes();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ASSERT_EQ(cutter.open(path), "");
  }
  static ::onnx::GraphProto graphOf(const CutModel &cut) {
    ::onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(cut.bytes));
    return model.graph();
  }

  ModelCutter cutter;
  const std::map<std::string, CutType> types = {{"a", {::onnx::TensorProto::FLOAT, {2, 3}}}};
};

TEST_F(CutModelTest, WhatCrossesTheCutIsAnInput) {
  EXPECT_FALSE(cutter.cut({1}, {})) << "the type of 'a' is not known";
  std::optional<CutModel> cut = cutter.cut({1}, types);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->inputs, ElementsAre("a"));
  EXPECT_THAT(cut->outputs, ElementsAre("b"));
  ::onnx::GraphProto graph = graphOf(*cut);
  ASSERT_EQ(graph.initializer_size(), 1) << "only what is read";
  EXPECT_EQ(graph.initializer(0).name(), "w");
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(1).dim_value(), 3);
}

TEST_F(CutModelTest, BodiesReadValuesFromOutside) {
  std::optional<CutModel> cut = cutter.cut({2}, types);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->inputs, ElementsAre("c", "a"));
  EXPECT_THAT(cutter.dependents({0}), ElementsAre(0, 1, 2));
  EXPECT_THAT(cutter.dependents({1}), ElementsAre(1));
}

TEST_F(CutModelTest, OutputsAreTheModelsAndWhatNobodyReads) {
  std::optional<CutModel> head = cutter.cut({0, 1}, {}), all = cutter.cut({0, 1, 2}, {}, /*allOutputs=*/true);
  ASSERT_TRUE(head && all);
  EXPECT_THAT(head->inputs, ElementsAre("x"));
  EXPECT_THAT(head->outputs, ElementsAre("b"));
  EXPECT_THAT(all->outputs, ElementsAre("a", "b", "y"));
  EXPECT_EQ(graphOf(*head).output(0).type().tensor_type().elem_type(), ::onnx::TensorProto::FLOAT)
      << "the model's outputs are declared as in the model";
  EXPECT_FALSE(graphOf(*all).output(0).has_type()) << "the type of 'a' is not known";
  EXPECT_EQ(cutter.nodeName(0), "'relu' (Relu)");
  EXPECT_EQ(cutter.nodeName(1), "'b' (Add)");
}

} // namespace
