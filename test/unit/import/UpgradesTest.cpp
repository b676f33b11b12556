//===- UpgradesTest.cpp - one canonical form for all versions -------------===//
//
// Owns the check that a node of an old version and its successor of a new version become the same operation, and that
// nodes whose meaning changed become operations with the old meaning.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "gtest/gtest.h"

using namespace trn;
using namespace trn::test;

namespace {

std::vector<int64_t> intsOf(mlir::Operation *op, llvm::StringRef name) {
  auto list = op ? op->getAttrOfType<mlir::DenseI64ArrayAttr>(name) : mlir::DenseI64ArrayAttr();
  return list ? list.asArrayRef().vec() : std::vector<int64_t>{-999};
}

std::vector<int64_t> shapeOf(mlir::Operation *op, unsigned result = 0) {
  return op ? mlir::cast<mlir::RankedTensorType>(op->getResult(result).getType()).getShape().vec()
            : std::vector<int64_t>{-999};
}

llvm::StringRef textOf(mlir::Operation *op, llvm::StringRef name) {
  auto text = op ? op->getAttrOfType<mlir::StringAttr>(name) : mlir::StringAttr();
  return text ? text.getValue() : "(none)";
}

/// Axes as attribute (old) and as operand (new).
struct AxesCase {
  const char *op;
  int64_t oldOpset, newOpset;
  std::vector<int64_t> input, axes, result;
};

class AxesMoved : public testing::TestWithParam<AxesCase> {};

TEST_P(AxesMoved, AttributeAndOperandAgree) {
  const AxesCase &test = GetParam();
  for (bool old : {true, false}) {
    ModelBuilder model(old ? test.oldOpset : test.newOpset);
    model.input("x", test.input).output("y");
    std::vector<std::string> inputs = {"x"};
    if (!old) {
      model.ints("axes", test.axes);
      inputs.push_back("axes");
    }
    auto &node = model.node(test.op, inputs, {"y"});
    if (old)
      ModelBuilder::set(node, "axes", test.axes);
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *op = imported.one((llvm::Twine("onnx.") + test.op).str());
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(op->getNumOperands(), 1u);
    EXPECT_EQ(shapeOf(op), test.result) << (old ? "attribute" : "operand");
    for (int64_t axis : intsOf(op, "axes"))
      EXPECT_GE(axis, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Upgrades, AxesMoved,
                         testing::Values(AxesCase{"Squeeze", 11, 13, {1, 3, 1}, {-1}, {1, 3}},
                                         AxesCase{"Unsqueeze", 11, 13, {3, 4}, {0, -1}, {1, 3, 4, 1}},
                                         AxesCase{"ReduceSum", 11, 13, {2, 3, 4}, {-1}, {2, 3, 1}},
                                         AxesCase{"ReduceMean", 13, 18, {2, 3, 4}, {0, 2}, {1, 3, 1}},
                                         AxesCase{"ReduceMax", 12, 18, {2, 3, 4}, {1}, {2, 1, 4}},
                                         AxesCase{"ReduceL2", 13, 18, {2, 3, 4}, {1}, {2, 1, 4}}),
                         [](const auto &info) { return info.param.op; });

TEST(Upgrades, ReduceWithoutAxesReducesAllUnlessNoop) {
  for (bool noop : {false, true}) {
    ModelBuilder model(18);
    model.input("x", {2, 3}).output("y");
    auto &node = model.node("ReduceSum", {"x"}, {"y"});
    ModelBuilder::set(node, "noop_with_empty_axes", int64_t(noop));
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    EXPECT_EQ(shapeOf(imported.one("onnx.ReduceSum")),
              noop ? (std::vector<int64_t>{2, 3}) : (std::vector<int64_t>{1, 1}));
  }
}

TEST(Upgrades, SoftmaxBefore13FlattensFromTheAxis) {
  ModelBuilder model(11);
  model.input("x", {2, 3, 4}).output("y");
  model.node("Softmax", {"x"}, {"y"}); // axis 1 by default then: rows of 12
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  mlir::Operation *softmax = imported.one("onnx.Softmax");
  EXPECT_EQ(shapeOf(softmax), (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(shapeOf(imported.one("onnx.Reshape")), (std::vector<int64_t>{2, 3, 4}));
}

TEST(Upgrades, SoftmaxBefore13OnTheLastAxisIsTodays) {
  ModelBuilder model(9);
  model.input("x", {2, 3}).output("y");
  model.node("Softmax", {"x"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(imported.all("onnx.Flatten").size(), 0u);
  EXPECT_EQ(shapeOf(imported.one("onnx.Softmax")), (std::vector<int64_t>{2, 3}));
}

TEST(Upgrades, SoftmaxFrom13TakesOneAxis) {
  ModelBuilder model(13);
  model.input("x", {2, 3, 4}).output("y");
  model.node("Softmax", {"x"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  mlir::Operation *softmax = imported.one("onnx.Softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_EQ(softmax->getAttrOfType<mlir::IntegerAttr>("axis").getInt(), 2);
  EXPECT_EQ(shapeOf(softmax), (std::vector<int64_t>{2, 3, 4}));
}

TEST(Upgrades, ClipBoundsAreAttributesFromAttributesAndOperands) {
  for (bool old : {true, false}) {
    ModelBuilder model(old ? 6 + 1 : 13);
    model.input("x", {4}).output("y");
    if (old) {
      auto &node = model.node("Clip", {"x"}, {"y"});
      ModelBuilder::set(node, "max", 6.0f);
    } else {
      model.floats("max", {}, {6.0f});
      model.node("Clip", {"x", "", "max"}, {"y"});
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *clip = imported.one("onnx.Clip");
    ASSERT_NE(clip, nullptr);
    EXPECT_EQ(clip->getNumOperands(), 1u);
    ASSERT_TRUE(clip->getAttrOfType<mlir::FloatAttr>("max"));
    EXPECT_EQ(clip->getAttrOfType<mlir::FloatAttr>("max").getValueAsDouble(), 6.0);
    EXPECT_FALSE(clip->getAttr("min"));
  }
}

TEST(Upgrades, GridSampleModesHadOtherNames) {
  for (auto [opset, given, expected] : {std::tuple(16, "", "linear"), std::tuple(16, "bilinear", "linear"),
                                        std::tuple(16, "bicubic", "cubic"), std::tuple(16, "nearest", "nearest"),
                                        std::tuple(22, "cubic", "cubic")}) {
    ModelBuilder model(opset);
    model.input("x", {1, 1, 4, 4}).input("grid", {1, 2, 2, 2}).output("y");
    auto &node = model.node("GridSample", {"x", "grid"}, {"y"});
    if (*given)
      ModelBuilder::set(node, "mode", given);
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    EXPECT_EQ(textOf(imported.one("onnx.GridSample"), "mode"), expected) << opset << " " << given;
  }
}

TEST(Upgrades, SliceListsAreAttributesFromAttributesAndOperands) {
  for (bool old : {true, false}) {
    ModelBuilder model(old ? 9 : 13);
    model.input("x", {5, 6}).output("y");
    if (old) {
      auto &node = model.node("Slice", {"x"}, {"y"});
      ModelBuilder::set(node, "starts", std::vector<int64_t>{-3});
      ModelBuilder::set(node, "ends", std::vector<int64_t>{INT64_MAX});
      ModelBuilder::set(node, "axes", std::vector<int64_t>{1});
    } else {
      model.ints("starts", {-3}).ints("ends", {INT64_MAX}).ints("axes", {-1});
      model.node("Slice", {"x", "starts", "ends", "axes"}, {"y"});
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *slice = imported.one("onnx.Slice");
    EXPECT_EQ(shapeOf(slice), (std::vector<int64_t>{5, 3}));
    EXPECT_EQ(intsOf(slice, "starts"), (std::vector<int64_t>{3}));
    EXPECT_EQ(intsOf(slice, "ends"), (std::vector<int64_t>{6}));
    EXPECT_EQ(intsOf(slice, "axes"), (std::vector<int64_t>{1}));
  }
}

TEST(Upgrades, PadOfAllVersionsCoversAllDimensions) {
  for (int64_t opset : {10, 11, 18}) {
    ModelBuilder model(opset);
    model.input("x", {2, 3}).output("y");
    if (opset == 10) {
      auto &node = model.node("Pad", {"x"}, {"y"});
      ModelBuilder::set(node, "pads", std::vector<int64_t>{0, 1, 0, 2});
      ModelBuilder::set(node, "value", 7.0f);
    } else if (opset == 11) {
      model.ints("pads", {0, 1, 0, 2}).floats("value", {}, {7.0f});
      model.node("Pad", {"x", "pads", "value"}, {"y"});
    } else {
      model.ints("pads", {1, 2}).floats("value", {}, {7.0f}).ints("axes", {-1});
      model.node("Pad", {"x", "pads", "value", "axes"}, {"y"});
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *pad = imported.one("onnx.Pad");
    EXPECT_EQ(shapeOf(pad), (std::vector<int64_t>{2, 6}));
    EXPECT_EQ(intsOf(pad, "pads"), (std::vector<int64_t>{0, 1, 0, 2}));
    EXPECT_EQ(pad->getAttrOfType<mlir::FloatAttr>("value").getValueAsDouble(), 7.0);
    EXPECT_FALSE(pad->getAttr("axes"));
  }
}

TEST(Upgrades, SplitSizesAreAttributes) {
  for (int64_t opset : {11, 13, 18}) {
    ModelBuilder model(opset);
    model.input("x", {7}).output("a").output("b");
    if (opset == 11) {
      auto &node = model.node("Split", {"x"}, {"a", "b"});
      ModelBuilder::set(node, "split", std::vector<int64_t>{4, 3});
    } else if (opset == 13) {
      model.ints("split", {4, 3});
      model.node("Split", {"x", "split"}, {"a", "b"});
    } else {
      auto &node = model.node("Split", {"x"}, {"a", "b"});
      ModelBuilder::set(node, "num_outputs", int64_t(2)); // the last part is the smaller one
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *split = imported.one("onnx.Split");
    EXPECT_EQ(intsOf(split, "split"), (std::vector<int64_t>{4, 3})) << opset;
    EXPECT_EQ(shapeOf(split, 1), (std::vector<int64_t>{3}));
  }
}

TEST(Upgrades, ResizeBefore11SamplesAsymmetrically) {
  ModelBuilder model(10);
  model.input("x", {1, 1, 4, 4}).output("y").floats("scales", {4}, {1, 1, 2, 2});
  model.node("Resize", {"x", "scales"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  mlir::Operation *resize = imported.one("onnx.Resize");
  EXPECT_EQ(shapeOf(resize), (std::vector<int64_t>{1, 1, 8, 8}));
  EXPECT_EQ(textOf(resize, "coordinate_transformation_mode"), "asymmetric");
  EXPECT_EQ(textOf(resize, "nearest_mode"), "floor");
}

TEST(Upgrades, ResizeByScalesOrSizesGivesBoth) {
  for (bool bySizes : {false, true}) {
    ModelBuilder model(13);
    model.input("x", {1, 1, 4, 6}).output("y").floats("scales", {4}, {1, 1, 2, 0.5}).ints("sizes", {1, 1, 8, 3});
    if (bySizes)
      model.node("Resize", {"x", "", "", "sizes"}, {"y"});
    else
      model.node("Resize", {"x", "", "scales"}, {"y"});
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *resize = imported.one("onnx.Resize");
    EXPECT_EQ(intsOf(resize, "sizes"), (std::vector<int64_t>{1, 1, 8, 3}));
    auto scales = resize->getAttrOfType<mlir::DenseF32ArrayAttr>("scales");
    ASSERT_TRUE(scales);
    EXPECT_EQ(scales.asArrayRef().vec(), (std::vector<float>{1, 1, 2, 0.5}));
    EXPECT_EQ(textOf(resize, "coordinate_transformation_mode"), "half_pixel");
  }
}

TEST(Upgrades, ResizeFrom18TakesAxesAndKeepsTheAspectRatio) {
  ModelBuilder model(18);
  model.input("x", {1, 1, 4, 8}).output("y").ints("sizes", {8, 8});
  auto &node = model.node("Resize", {"x", "", "", "sizes"}, {"y"});
  ModelBuilder::set(node, "axes", std::vector<int64_t>{2, 3});
  ModelBuilder::set(node, "keep_aspect_ratio_policy", "not_larger");
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(shapeOf(imported.one("onnx.Resize")), (std::vector<int64_t>{1, 1, 4, 8}));
}

TEST(Upgrades, UpsampleIsResize) {
  for (bool old : {true, false}) {
    ModelBuilder model(old ? 7 : 9);
    model.input("x", {1, 1, 2, 2}).output("y");
    std::vector<float> scales = {1, 1, 3, 3};
    if (old) {
      ModelBuilder::set(model.node("Upsample", {"x"}, {"y"}), "scales", scales);
    } else {
      model.floats("scales", {4}, scales);
      model.node("Upsample", {"x", "scales"}, {"y"});
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *resize = imported.one("onnx.Resize");
    EXPECT_EQ(shapeOf(resize), (std::vector<int64_t>{1, 1, 6, 6}));
    EXPECT_EQ(textOf(resize, "coordinate_transformation_mode"), "asymmetric");
  }
}

TEST(Upgrades, BatchNormalizationBefore9MustBeSpatial) {
  for (int64_t spatial : {1, 0}) {
    ModelBuilder model(7);
    model.input("x", {1, 2, 3}).output("y");
    for (const char *name : {"s", "b", "m", "v"})
      model.floats(name, {2}, {1, 1});
    auto &node = model.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
    ModelBuilder::set(node, "spatial", spatial);
    Imported imported(model.bytes());
    EXPECT_EQ(imported.infer(), spatial == 1) << imported.text();
  }
}

/// Before version 7, `b` matches the dimensions of `a` from `axis` on.
TEST(Upgrades, BroadcastAttributesBefore7AlignTheSecondOperand) {
  for (const char *name : {"Add", "Sub", "Mul", "Div", "Pow", "Less", "Greater"}) {
    ModelBuilder model(6);
    bool isTest = name[0] == 'L' || name[0] == 'G';
    model.input("x", {2, 3, 4, 5}).input("c", {3, 4}).output("y", isTest ? ::onnx::TensorProto::BOOL : 1);
    auto &node = model.node(name, {"x", "c"}, {"y"});
    ModelBuilder::set(node, "broadcast", int64_t(1));
    ModelBuilder::set(node, "axis", int64_t(1));
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    mlir::Operation *op = imported.one((llvm::Twine("onnx.") + name).str());
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType()).getShape().vec(),
              (std::vector<int64_t>{3, 4, 1}));
    EXPECT_EQ(shapeOf(op), (std::vector<int64_t>{2, 3, 4, 5}));
  }
}

TEST(Upgrades, BroadcastAxisBefore7MustFit) {
  ModelBuilder model(6);
  model.input("x", {2, 3}).input("c", {3, 4}).output("y");
  auto &node = model.node("Add", {"x", "c"}, {"y"});
  ModelBuilder::set(node, "broadcast", int64_t(1));
  ModelBuilder::set(node, "axis", int64_t(1));
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  EXPECT_NE(imported.text().find("expected 'axis' in [0, 0] but got 1"), std::string::npos) << imported.text();
}

TEST(Upgrades, PReluBefore7HasOneSlopePerChannel) {
  ModelBuilder model(6);
  model.input("x", {1, 3, 4, 5}).input("slope", {3}).output("y");
  model.node("PRelu", {"x", "slope"}, {"y"});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  mlir::Operation *op = imported.one("onnx.PRelu");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType()).getShape().vec(),
            (std::vector<int64_t>{3, 1, 1}));
}

TEST(Upgrades, CastOfVersion1NamesItsType) {
  for (const char *name : {"INT64", "no type"}) {
    ModelBuilder model(5);
    model.input("x", {2}).output("y", ::onnx::TensorProto::INT64);
    ModelBuilder::set(model.node("Cast", {"x"}, {"y"}), "to", name);
    Imported imported(model.bytes());
    EXPECT_EQ(imported.infer(), name[0] == 'I') << imported.text();
  }
}

TEST(Upgrades, OldNamesAndDefaultsOfVersion1) {
  ModelBuilder model(1);
  model.input("x", {1, 2, 3, 4}).output("y").output("z").output("s");
  ModelBuilder::set(model.node("Pad", {"x"}, {"p"}), "paddings", std::vector<int64_t>{0, 0, 1, 1, 0, 0, 1, 1});
  model.node("Concat", {"p", "p"}, {"y"});
  auto &upsample = model.node("Upsample", {"x"}, {"z"});
  ModelBuilder::set(upsample, "height_scale", 2.0f);
  ModelBuilder::set(upsample, "width_scale", 3.0f);
  auto &selu = model.node("Selu", {"x"}, {"s"});
  ModelBuilder::set(selu, "consumed_inputs", std::vector<int64_t>{0});
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.infer()) << imported.text();
  EXPECT_EQ(shapeOf(imported.one("onnx.Concat")), (std::vector<int64_t>{1, 4, 5, 6}));
  EXPECT_EQ(shapeOf(imported.one("onnx.Resize")), (std::vector<int64_t>{1, 2, 6, 12}));
  EXPECT_FLOAT_EQ(imported.one("onnx.Selu")->getAttrOfType<mlir::FloatAttr>("gamma").getValueAsDouble(), 1.0507f);
}

/// The mode of BatchNormalization: `is_test` before 7, the number of outputs before 14, then `training_mode`.
TEST(Upgrades, BatchNormalizationKnowsItsMode) {
  for (int64_t opset : {6, 9, 14})
    for (bool training : {false, true}) {
      ModelBuilder model(opset);
      model.input("x", {1, 2, 3}).output("y");
      for (const char *name : {"s", "b", "m", "v"})
        model.floats(name, {2}, {1, 1});
      std::vector<std::string> outputs = {"y"};
      if (training && opset != 6)
        outputs.insert(outputs.end(), {"rm", "rv"});
      auto &node = model.node("BatchNormalization", {"x", "s", "b", "m", "v"}, outputs);
      if (opset == 6)
        ModelBuilder::set(node, "is_test", int64_t(!training));
      if (opset == 14)
        ModelBuilder::set(node, "training_mode", int64_t(training));
      Imported imported(model.bytes());
      ASSERT_TRUE(imported.infer()) << imported.text();
      mlir::Operation *op = imported.one("onnx.BatchNormalization");
      ASSERT_NE(op, nullptr);
      auto mode = op->getAttrOfType<mlir::BoolAttr>("training_mode");
      EXPECT_EQ(mode && mode.getValue(), training) << opset;
    }
}

/// Before version 10 the mask has the operand's type; before version 7 `is_test` decides the mode.
TEST(Upgrades, DropoutBefore10) {
  for (bool isTest : {true, false}) {
    ModelBuilder model(6);
    model.input("x", {2}).output("y").output("mask");
    ModelBuilder::set(model.node("Dropout", {"x"}, {"y", "mask"}), "is_test", int64_t(isTest));
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    // What drops nothing is gone.
    mlir::Operation *op = imported.one("onnx.Dropout");
    auto mode = op ? op->getAttrOfType<mlir::BoolAttr>("training_mode") : mlir::BoolAttr();
    EXPECT_EQ(mode && mode.getValue(), !isTest);
  }
}

/// Nodes without a seed get one each; a given one stays.
TEST(Upgrades, RandomNodesHaveSeeds) {
  ModelBuilder model(22);
  model.input("x", {2}).output("a").output("b").output("c");
  model.node("RandomNormalLike", {"x"}, {"a"});
  model.node("RandomNormalLike", {"x"}, {"b"});
  ModelBuilder::set(model.node("RandomNormalLike", {"x"}, {"c"}), "seed", 3.0f);
  Imported imported(model.bytes());
  ASSERT_TRUE(imported.module) << imported.text();
  std::vector<double> seeds;
  imported.module->walk([&](mlir::Operation *op) {
    if (auto seed = op->getAttrOfType<mlir::FloatAttr>("seed"))
      seeds.push_back(seed.getValueAsDouble());
  });
  ASSERT_EQ(seeds.size(), 3u);
  EXPECT_NE(seeds[0], seeds[1]);
  EXPECT_EQ(seeds[2], 3.0);
}

TEST(Upgrades, DropoutInInferenceHasNoRatioLeft) {
  for (int64_t opset : {10, 13}) {
    ModelBuilder model(opset);
    model.input("x", {2}).output("y");
    if (opset == 10) {
      ModelBuilder::set(model.node("Dropout", {"x"}, {"y"}), "ratio", 0.3f);
    } else {
      model.floats("ratio", {}, {0.3f});
      model.node("Dropout", {"x", "ratio"}, {"y"});
    }
    Imported imported(model.bytes());
    ASSERT_TRUE(imported.infer()) << imported.text();
    ASSERT_NE(imported.one("onnx.Dropout"), nullptr);
    EXPECT_EQ(imported.one("onnx.Dropout")->getNumOperands(), 1u);
  }
}

TEST(Upgrades, AttributesOutsideTheirVersionsAreRefused) {
  ModelBuilder model(13);
  model.input("x", {1, 3}).output("y");
  ModelBuilder::set(model.node("Squeeze", {"x"}, {"y"}), "axes", std::vector<int64_t>{0});
  Imported imported(model.bytes());
  EXPECT_FALSE(imported.module);
  EXPECT_NE(imported.text().find("attribute 'axes' does not exist in version 13"), std::string::npos)
      << imported.text();
}

} // namespace
