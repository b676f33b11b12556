//===- ImportTest.cpp - models, problems, sizes ---------------------------===//
//
// Owns tests of the model level: names, constants, functions, unbound sizes, and that all problems come in one run.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Report.h"
#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "test/unit/import/ModelBuilder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace trn;
using namespace trn::test;
using testing::HasSubstr;

namespace {

TEST(Import, KeepsNamesOfInputsOutputsAndNodes) {
  ModelBuilder model(13);
  model.input("in:0", {2}).output("out/0");
  model.node("Exp", {"in:0"}, {"out/0"}).set_name("my/node");
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.module) << imported.text();
  auto function = *imported.module->getOps<mlir::func::FuncOp>().begin();
  EXPECT_EQ(function.getArgAttrOfType<mlir::StringAttr>(0, "onnx.name").getValue(), "in:0");
  EXPECT_EQ(function.getResultAttrOfType<mlir::StringAttr>(0, "onnx.name").getValue(), "out/0");
  NodeOrigin origin = originOf(imported.one("onnx.Exp")->getLoc());
  EXPECT_EQ(origin.node, "my/node");
  EXPECT_EQ(origin.index, 0);
}

TEST(Import, ReportsAllProblemsOfOneModel) {
  ModelBuilder model(13);
  model.input("x", {2}).output("y");
  model.node("Frobnicate", {"x"}, {"a"}).set_name("first");
  model.node("StringNormalizer", {"a"}, {"b"}).set_name("second");
  ModelBuilder::set(model.node("Exp", {"x"}, {"c"}), "turbo", int64_t(1));
  model.node("Mystery", {"c"}, {"y"}).set_domain("com.microsoft");
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  std::string text = imported.text();
  EXPECT_THAT(text, HasSubstr("node 'first' (Frobnicate, opset 13, #0): this operator is not supported"));
  EXPECT_THAT(text, HasSubstr("node 'second' (StringNormalizer, opset 13, #1): strings are not supported"));
  EXPECT_THAT(text, HasSubstr("attribute 'turbo' does not exist"));
  EXPECT_THAT(text, HasSubstr("com.microsoft"));
}

TEST(Import, DoesNotReportConsequences) {
  ModelBuilder model(13);
  model.input("x", {2}).output("y");
  model.node("Frobnicate", {"x"}, {"a"});
  model.node("Exp", {"a"}, {"y"});
  Imported imported(model.bytes());
  EXPECT_EQ(imported.problems.problems().size(), 1u) << imported.text();
}

TEST(Import, ListsUnboundSizesWithACommandLine) {
  ModelBuilder model(13);
  model.output("y");
  auto *input = model.model.mutable_graph()->add_input();
  input->set_name("x");
  auto *tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(::onnx::TensorProto::FLOAT);
  tensor->mutable_shape()->add_dim()->set_dim_param("batch");
  tensor->mutable_shape()->add_dim()->set_dim_value(3);
  model.node("Exp", {"x"}, {"y"});

  Imported unbound(model.bytes());
  EXPECT_FALSE(unbound.module);
  ASSERT_EQ(unbound.problems.problems().size(), 1u) << unbound.text();
  EXPECT_EQ(unbound.problems.problems()[0].kind, Problem::Kind::Unbound);
  EXPECT_THAT(unbound.text(), HasSubstr("'x' (batchx3)"));
  EXPECT_THAT(unbound.text(), HasSubstr("--shape x=1x3"));

  ImportOptions byName;
  byName.dims["batch"] = 4;
  Imported named(model.bytes(), byName);
  ASSERT_TRUE(named.infer()) << named.text();
  ImportOptions whole;
  whole.shapes["x"] = {4, 3};
  Imported shaped(model.bytes(), whole);
  ASSERT_TRUE(shaped.infer()) << shaped.text();
  for (Imported *imported : {&named, &shaped})
    EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(imported->one("onnx.Exp")->getResult(0).getType()).getShape(),
              (llvm::ArrayRef<int64_t>{4, 3}));

  ImportOptions wrong;
  wrong.shapes["x"] = {4, 5};
  EXPECT_THAT(Imported(model.bytes(), wrong).text(), HasSubstr("expected size 3 at dimension 1"));
  ImportOptions misspelt;
  misspelt.shapes["z"] = {1};
  EXPECT_THAT(Imported(model.bytes(), misspelt).text(), HasSubstr("a shape is given for 'z'"));
}

TEST(Import, ReadsNothingOfAFormatThatItDoesNotKnow) {
  for (int64_t ir : {2, 1000}) {
    ModelBuilder model(13, ir);
    model.input("x", {1}).output("y");
    model.node("Frobnicate", {"x"}, {"y"});
    model.model.clear_opset_import(); // as before version 3, where nodes had no operator set
    Imported imported(model.bytes());
    EXPECT_FALSE(imported.module);
    ASSERT_EQ(imported.problems.problems().size(), 1u) << imported.text();
    EXPECT_EQ(imported.problems.problems()[0].kind, Problem::Kind::Unsupported);
    EXPECT_THAT(imported.text(), HasSubstr("but got " + std::to_string(ir)));
  }
}

TEST(Import, BindsInputsAsConstants) {
  ModelBuilder model(13);
  model.input("x", {6}).input("shape", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_FALSE(Imported(model.bytes()).infer());
  ImportOptions options;
  int64_t shape[] = {2, 3};
  options.constInputs["shape"] = {
      ::onnx::TensorProto::INT64, {2}, std::string(reinterpret_cast<const char *>(shape), sizeof(shape))};
  Imported bound(model.bytes(), options);
  ASSERT_TRUE(bound.infer()) << bound.text();
  EXPECT_EQ((*bound.module->getOps<mlir::func::FuncOp>().begin()).getNumArguments(), 1u);
}

TEST(Import, LargeRawDataStaysWhereItIs) {
  std::vector<float> values(1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  ModelBuilder model(13);
  model.input("x", {1024}).output("y").floats("w", {1024}, values);
  model.node("Add", {"x", "w"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.module) << imported.text();
  auto weight = mlir::cast<trn::onnx::WeightOp>(imported.one("onnx.weight"));
  std::optional<Constant> constant = Constant::get(weight.getValue());
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->real(1000), 1000.0);
  const char *data = constant->bytes().data();
  EXPECT_TRUE(data >= imported.bytes.data() && data < imported.bytes.data() + imported.bytes.size());
}

TEST(Import, ReadsConstantNodesInAllForms) {
  ModelBuilder model(13);
  model.input("x", {2}).output("y");
  ModelBuilder::set(model.node("Constant", {}, {"a"}), "value_float", 1.5f);
  ModelBuilder::set(model.node("Constant", {}, {"b"}), "value_floats", std::vector<float>{1, 2});
  ModelBuilder::set(model.node("Constant", {}, {"c"}), "value_int", int64_t(7));
  ModelBuilder::set(model.node("Constant", {}, {"d"}), "value_ints", std::vector<int64_t>{2});
  model.node("Add", {"x", "a"}, {"e"});
  model.node("Add", {"e", "b"}, {"f"});
  model.node("Reshape", {"f", "d"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(imported.all("onnx.Add").size(), 2u);
}

TEST(Import, SortsNodesAndRefusesCycles) {
  ModelBuilder model(13);
  model.input("x", {2}).output("y");
  model.node("Exp", {"a"}, {"y"});
  model.node("Neg", {"x"}, {"a"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();

  ModelBuilder cycle(13);
  cycle.input("x", {2}).output("y");
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Exp", {"a"}, {"b"});
  cycle.node("Exp", {"a"}, {"y"});
  EXPECT_THAT(Imported(cycle.bytes()).text(), HasSubstr("the node's inputs depend on its own outputs"));
}

TEST(Import, InlinesFunctionsWithTheirAttributes) {
  ModelBuilder model(13);
  model.input("x", {2, 3}).output("y").output("z");
  auto *import = model.model.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto *function = model.model.add_functions();
  function->set_name("Twice");
  function->set_domain("local");
  function->add_input("v");
  function->add_output("w");
  function->add_attribute("axis");
  function->add_opset_import()->set_version(13);
  auto *first = function->add_node();
  first->set_op_type("Softmax");
  first->add_input("v");
  first->add_output("inner");
  auto *reference = first->add_attribute();
  reference->set_name("axis");
  reference->set_ref_attr_name("axis");
  reference->set_type(::onnx::AttributeProto::INT);
  auto *second = function->add_node();
  second->set_op_type("Exp");
  second->add_input("inner");
  second->add_output("w");
  for (int64_t axis : {0, 1}) {
    auto &call = model.node("Twice", {"x"}, {axis ? "z" : "y"});
    call.set_domain("local");
    ModelBuilder::set(call, "axis", axis);
  }
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  auto softmaxes = imported.all("onnx.Softmax");
  ASSERT_EQ(softmaxes.size(), 2u);
  EXPECT_EQ(softmaxes[0]->getAttrOfType<mlir::IntegerAttr>("axis").getInt(), 0);
  EXPECT_EQ(softmaxes[1]->getAttrOfType<mlir::IntegerAttr>("axis").getInt(), 1);
}

TEST(Import, RefusesRecursiveFunctions) {
  ModelBuilder model(13);
  model.input("x", {2}).output("y");
  auto *function = model.model.add_functions();
  function->set_name("Again");
  function->set_domain("local");
  function->add_input("v");
  function->add_output("w");
  auto *node = function->add_node();
  node->set_op_type("Again");
  node->set_domain("local");
  node->add_input("v");
  node->add_output("w");
  model.node("Again", {"x"}, {"y"}).set_domain("local");
  EXPECT_THAT(Imported(model.bytes()).text(), HasSubstr("is 'Again' recursive?"));
}

/// A graph with one node, for the bodies of control flow.
static void setBody(::onnx::NodeProto &node, const std::string &name, const std::string &op, const std::string &input,
                    const std::string &output) {
  auto &body = *ModelBuilder::attribute(node, name, ::onnx::AttributeProto::GRAPH).mutable_g();
  auto *inner = body.add_node();
  inner->set_op_type(op);
  inner->add_input(input);
  inner->add_output(output);
  body.add_output()->set_name(output);
}

/// What a body reads counts for the order of nodes, weights included.
TEST(Import, BodiesReadWhatIsAroundThem) {
  ModelBuilder model(13);
  model.input("x", {2}).input("c", {}, ::onnx::TensorProto::BOOL).output("y").floats("w", {2}, {1, 2});
  auto &branch = model.node("If", {"c"}, {"y"});
  setBody(branch, "then_branch", "Exp", "n", "t");
  setBody(branch, "else_branch", "Identity", "w", "t");
  model.node("Neg", {"x"}, {"n"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(imported.all("onnx.If").size(), 0u);
  mlir::Operation *exp = imported.one("onnx.Exp");
  ASSERT_NE(exp, nullptr);
  EXPECT_EQ(exp->getOperand(0).getDefiningOp(), imported.one("onnx.Neg"));
  EXPECT_NE(imported.one("onnx.Where"), nullptr);
}

TEST(Import, BodiesThatReadNothingKnownAreBroken) {
  ModelBuilder model(13);
  model.input("c", {}, ::onnx::TensorProto::BOOL).output("y");
  auto &branch = model.node("If", {"c"}, {"y"});
  setBody(branch, "then_branch", "Exp", "nowhere", "t");
  setBody(branch, "else_branch", "Exp", "nowhere", "t");
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  EXPECT_THAT(imported.text(), HasSubstr("input 'nowhere' is defined nowhere"));
}

/// Bodies inside of a function see the names of the call that they belong to.
TEST(Import, FunctionsGiveTheirBodiesTheirNames) {
  ModelBuilder model(13);
  model.input("x", {2}).input("c", {}, ::onnx::TensorProto::BOOL).output("y");
  auto *import = model.model.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto *function = model.model.add_functions();
  function->set_name("Choose");
  function->set_domain("local");
  function->add_input("condition");
  function->add_input("value");
  function->add_output("chosen");
  function->add_opset_import()->set_version(13);
  auto *exp = function->add_node();
  exp->set_op_type("Exp");
  exp->add_input("value");
  exp->add_output("e");
  auto *branch = function->add_node();
  branch->set_op_type("If");
  branch->add_input("condition");
  branch->add_output("chosen");
  setBody(*branch, "then_branch", "Neg", "e", "t");
  setBody(*branch, "else_branch", "Abs", "value", "t");
  model.node("Choose", {"c", "x"}, {"a"}).set_domain("local");
  model.node("Choose", {"c", "a"}, {"y"}).set_domain("local");
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  auto exps = imported.all("onnx.Exp"), negs = imported.all("onnx.Neg");
  ASSERT_EQ(exps.size(), 2u);
  ASSERT_EQ(negs.size(), 2u);
  EXPECT_EQ(negs[0]->getOperand(0).getDefiningOp(), exps[0]);
  EXPECT_EQ(negs[1]->getOperand(0).getDefiningOp(), exps[1]);
}

/// The windows have no record: their definition in the standard is inlined, and folds.
TEST(Import, StandardFunctionsAreInlined) {
  ModelBuilder model(17);
  model.output("y");
  model.ints("size", {4});
  model.model.mutable_graph()->mutable_initializer(0)->clear_dims();
  ModelBuilder::set(model.node("HannWindow", {"size"}, {"w"}), "periodic", int64_t(0));
  model.node("Identity", {"w"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  mlir::Operation *window = imported.one("onnx.weight");
  ASSERT_NE(window, nullptr);
  auto values = mlir::cast<mlir::DenseElementsAttr>(window->getAttr("value")).getValues<float>();
  EXPECT_NEAR(values[0], 0, 1e-6);
  EXPECT_NEAR(values[1], 0.75, 1e-6);
  EXPECT_NEAR(values[3], 0, 1e-6);
}

/// Operators of ONNX Runtime's own become the standard's, by the name of their domain.
TEST(Import, MicrosoftOperatorsBecomeTheStandards) {
  ModelBuilder model(17);
  auto *import = model.model.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  model.input("x", {1, 2, 4}).input("b", {4}).input("m", {3, 4}).output("y").output("s");
  auto microsoft = [&](const char *op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    auto &node = model.node(op, std::move(inputs), std::move(outputs));
    node.set_domain("com.microsoft");
    return &node;
  };
  microsoft("BiasGelu", {"x", "b"}, {"g"});
  microsoft("SkipLayerNormalization", {"g", "x", "b", "b"}, {"n", "", "", "s"});
  microsoft("QuickGelu", {"n"}, {"q"});
  auto *product = microsoft("FusedMatMul", {"q", "m"}, {"y"});
  ModelBuilder::set(*product, "transB", int64_t(1));
  ModelBuilder::set(*product, "alpha", 0.5f);
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(imported.all("onnx.Add").size(), 2u);
  ASSERT_NE(imported.one("onnx.LayerNormalization"), nullptr);
  EXPECT_EQ(imported.one("onnx.LayerNormalization")->getNumResults(), 1u);
  ASSERT_NE(imported.one("onnx.Swish"), nullptr);
  EXPECT_FLOAT_EQ(imported.one("onnx.Swish")->getAttrOfType<mlir::FloatAttr>("alpha").getValueAsDouble(), 1.702f);
  ASSERT_NE(imported.one("onnx.Transpose"), nullptr);
  EXPECT_NE(imported.one("onnx.Mul"), nullptr);
}

TEST(Import, StatisticsOfSkipNormalizationsAreRefused) {
  ModelBuilder model(17);
  auto *import = model.model.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  model.input("x", {1, 4}).input("b", {4}).output("y").output("mean");
  model.node("SkipLayerNormalization", {"x", "x", "b"}, {"y", "mean"}).set_domain("com.microsoft");
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  EXPECT_THAT(imported.text(), HasSubstr("the mean and the deviation as outputs are not supported"));
}

TEST(Import, RefusesOtherVersions) {
  for (auto [opset, ir] : {std::pair<int64_t, int64_t>{0, 8}, {29, 8}, {13, 2}, {13, 15}}) {
    ModelBuilder model(opset, ir);
    model.input("x", {2}).output("y");
    model.node("Exp", {"x"}, {"y"});
    Imported imported(model.bytes());
    EXPECT_FALSE(imported.module) << opset << " " << ir;
    EXPECT_THAT(imported.text(), HasSubstr("convert the model")) << imported.text();
  }
}

TEST(Import, RefusesBrokenNames) {
  ModelBuilder twice(13);
  twice.input("x", {2}).output("y");
  twice.node("Exp", {"x"}, {"y"});
  twice.node("Neg", {"x"}, {"y"});
  EXPECT_THAT(Imported(twice.bytes()).text(), HasSubstr("value 'y' is defined twice"));
  ModelBuilder nowhere(13);
  nowhere.input("x", {2}).output("y");
  nowhere.node("Add", {"x", "z"}, {"y"});
  EXPECT_THAT(Imported(nowhere.bytes()).text(), HasSubstr("input 'z' is defined nowhere"));
}

TEST(Records, AreConsistent) {
  for (const trn::onnx::OpRecord &record : trn::onnx::records()) {
    EXPECT_EQ(trn::onnx::findRecord(record.domain.empty() ? "ai.onnx" : record.domain, record.name), &record);
    EXPECT_EQ(record.refused(), !record.reason.empty()) << record.name.str();
    EXPECT_LE(record.since.back(), trn::onnx::kNewestOpset) << record.name.str();
    EXPECT_EQ(record.versionFor(record.since.front() - 1), 0);
    EXPECT_EQ(record.versionFor(1000), record.since.back());
  }
}

TEST(Report, ChecksInspectsAndLists) {
  ModelBuilder model(13);
  model.input("x", {2, 3}).output("y").ints("shape", {3, 2});
  model.node("Reshape", {"x", "shape"}, {"a"});
  model.node("Exp", {"a"}, {"b"});
  model.node("Exp", {"b"}, {"y"});
  std::string bytes = model.bytes();
  ModelReport report = checkModel(llvm::ArrayRef<char>(bytes.data(), bytes.size()), {});
  EXPECT_TRUE(report.supported());
  ASSERT_EQ(report.ops.size(), 2u);
  EXPECT_EQ(report.ops[0].op, "Exp");
  EXPECT_EQ(report.ops[0].count, 2);
  EXPECT_EQ(report.ops[0].version, 13);
  EXPECT_EQ(report.inputs[0].str(), "float[2, 3]");
  EXPECT_EQ(report.weightBytes, 16);

  std::vector<OpSupport> table = ops();
  EXPECT_GT(table.size(), 120u);
  auto conv = std::find_if(table.begin(), table.end(), [](const OpSupport &row) { return row.name == "Conv"; });
  ASSERT_NE(conv, table.end());
  EXPECT_TRUE(conv->supported);
  EXPECT_EQ(conv->versions, (std::vector<int>{1, 11, 22}));
}

TEST(Report, ErrorsOfThePassesNameTheNode) {
  ModelBuilder model(13);
  model.input("x", {6}).input("shape", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("Reshape", {"x", "shape"}, {"y"}).set_name("late");
  std::string bytes = model.bytes();
  ModelReport report = checkModel(llvm::ArrayRef<char>(bytes.data(), bytes.size()), {});
  ASSERT_EQ(report.problems.problems().size(), 1u);
  EXPECT_EQ(report.problems.problems()[0].node, "late");
  EXPECT_EQ(report.problems.problems()[0].op, "Reshape");
}

} // namespace
