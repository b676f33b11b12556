//===- OnnxToLinalgTest.cpp - what lowered ONNX operations compute --------===//
// Each case is one operation in the onnx dialect, evaluated through its lowering and compared with values worked out by
// hand or by plain loops, at the edges that the standard and its users trip over.
#include "compiler/Reference/Evaluator.h"
#include "dialects/ONNX/ONNXDialect.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace trn;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

namespace {
class OnnxToLinalgTest : public testing::Test {
protected:
  OnnxToLinalgTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        scf::SCFDialect, tensor::TensorDialect, onnx::ONNXDialect, ir::TrnDialect>();
  }

  Tensor floats(ArrayRef<int64_t> shape, ArrayRef<float> values) {
    return Tensor::of<float>(Float32Type::get(&context), shape, values);
  }
  Tensor longs(ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
    return Tensor::of<int64_t>(IntegerType::get(&context, 64), shape, values);
  }
  Tensor random(ArrayRef<int64_t> shape) {
    Tensor tensor = Tensor::allocate(Float32Type::get(&context), shape);
    std::uniform_real_distribution<float> values(-1, 1);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      tensor.data<float>()[i] = values(generator);
    return tensor;
  }

  /// The first result of `operation`, whose operands are %0, %1, … and whose type is the functional type that it ends
  /// in.
  std::vector<double> run(StringRef operation, ArrayRef<Tensor> operands, unsigned numResults = 1) {
    std::string text, types, names;
    llvm::raw_string_ostream out(text);
    for (auto [i, operand] : llvm::enumerate(operands))
      types += (i ? ", %" : "%") + std::to_string(i) + ": " + typeText(operand);
    StringRef results = operation.rsplit("-> ").second;
    StringRef first = results.trim("() ");
    if (numResults > 1)
      first = first.take_front(first.find(">") + 1);
    out << "func.func @main(" << types << ") -> " << first << " {\n  %r";
    if (numResults > 1)
      out << ":" << numResults;
    out << " = " << operation << "\n  return %r" << (numResults > 1 ? "#0" : "") << " : " << first << "\n}";
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      diagnostic += d.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(out.str(), &context);
    if (!module)
      return {};
    auto values = evaluate(module->lookupSymbol<func::FuncOp>("main"), operands);
    std::vector<double> numbers;
    if (succeeded(values))
      for (int64_t i = 0; i < values->front().elements(); ++i)
        numbers.push_back(values->front().floatAt(i));
    return numbers;
  }
  static std::string typeText(const Tensor &tensor) {
    std::string text;
    llvm::raw_string_ostream(text) << tensor.tensorType();
    return text;
  }

  MLIRContext context;
  std::string diagnostic;
  std::mt19937 generator{11};
};

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, BroadcastsBothWays) {
  EXPECT_THAT(run("onnx.Sub(%0, %1) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
                  {floats({2, 1}, {10, 20}), floats({3}, {1, 2, 3})}),
              ElementsAre(9, 8, 7, 19, 18, 17));
}

TEST_F(OnnxToLinalgTest, ScalarFunctionsOfTheRecords) {
  EXPECT_THAT(run("onnx.Sigmoid(%0) : (tensor<3xf32>) -> tensor<3xf32>", {floats({3}, {-100, 0, 100})}),
              ElementsAre(DoubleNear(0, 1e-30), 0.5, 1));
  EXPECT_THAT(run("onnx.Round(%0) : (tensor<4xf32>) -> tensor<4xf32>", {floats({4}, {0.5, 1.5, -0.5, -2.5})}),
              ElementsAre(0, 2, 0, -2));
  EXPECT_THAT(run("onnx.Greater(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>",
                  {floats({3}, {1, NAN, 3}), floats({3}, {0, 0, 3})}),
              ElementsAre(1, 0, 0));
}

TEST_F(OnnxToLinalgTest, ModTakesTheSignOfTheDivisor) {
  Tensor a = longs({4}, {7, -7, 7, -7}), b = longs({4}, {3, 3, -3, -3});
  EXPECT_THAT(run("onnx.Mod(%0, %1) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>", {a, b}),
              ElementsAre(1, 2, -2, -1));
  EXPECT_THAT(run("onnx.Mod(%0, %1) {fmod = true} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>", {a, b}),
              ElementsAre(1, -1, 1, -1));
}

TEST_F(OnnxToLinalgTest, ExponentialUnitsDoNotOverflow) {
  EXPECT_THAT(run("onnx.Elu(%0) {alpha = 2.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>", {floats({3}, {-1, 0, 1000})}),
              ElementsAre(DoubleNear(2 * std::expm1(-1.0), 1e-6), 0, 1000));
}

TEST_F(OnnxToLinalgTest, CastTruncatesTowardsZero) {
  EXPECT_THAT(run("onnx.Cast(%0) {to = i32} : (tensor<4xf32>) -> tensor<4xi32>", {floats({4}, {1.9, -1.9, 0.5, -0.5})}),
              ElementsAre(1, -1, 0, 0));
  EXPECT_THAT(run("onnx.Cast(%0) {to = i1} : (tensor<3xf32>) -> tensor<3xi1>", {floats({3}, {0, 0.1, NAN})}),
              ElementsAre(0, 1, 1));
}

TEST_F(OnnxToLinalgTest, ClipWithOneBoundAndANaN) {
  EXPECT_THAT(run("onnx.Clip(%0) {min = 1.0 : f32, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<3xf32>) -> "
                  "tensor<3xf32>",
                  {floats({3}, {0, 2, NAN})}),
              ElementsAre(1, 2, testing::IsNan()));
}

TEST_F(OnnxToLinalgTest, ClipWithBoundsOfTheRun) {
  EXPECT_THAT(run("onnx.Clip(%0, %1, %2) {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4xf32>, tensor<1xf32>, "
                  "tensor<f32>) -> tensor<4xf32>",
                  {floats({4}, {0, 2, 9, NAN}), floats({1}, {1}), floats({}, {3})}),
              ElementsAre(1, 2, 3, testing::IsNan()))
      << diagnostic;
}

TEST_F(OnnxToLinalgTest, SumAndMeanOfAnyNumberBroadcast) {
  Tensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2}, {10, 20}), c = floats({1}, {100});
  EXPECT_THAT(run("onnx.Sum(%0, %1, %2) : (tensor<2x2xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<2x2xf32>", {a, b, c}),
              ElementsAre(111, 122, 113, 124))
      << diagnostic;
  EXPECT_THAT(run("onnx.Mean(%0, %1) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>", {a, b}),
              ElementsAre(5.5, 11, 6.5, 12))
      << diagnostic;
  EXPECT_THAT(run("onnx.Mean(%0) : (tensor<2xf32>) -> tensor<2xf32>", {b}), ElementsAre(10, 20)) << diagnostic;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, ReducesWithAndWithoutKeptDimensions) {
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run("onnx.ReduceMean(%0) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>", {x}),
              ElementsAre(2, 5));
  EXPECT_THAT(
      run("onnx.ReduceSum(%0) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>", {x}),
      ElementsAre(21));
}

TEST_F(OnnxToLinalgTest, LogSumExpOfLargeNumbersIsFinite) {
  EXPECT_THAT(run("onnx.ReduceLogSumExp(%0) {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>",
                  {floats({2}, {1000, 1000})}),
              ElementsAre(DoubleNear(1000 + std::log(2.0), 1e-3)));
}

TEST_F(OnnxToLinalgTest, ArgMaxBreaksTiesAsAsked) {
  Tensor x = floats({2, 3}, {1, 5, 5, 7, 2, 7});
  EXPECT_THAT(run("onnx.ArgMax(%0) {axis = 1 : i64, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xi64>", {x}),
              ElementsAre(1, 0));
  EXPECT_THAT(run("onnx.ArgMax(%0) {axis = 1 : i64, keepdims = false, select_last_index = true} : (tensor<2x3xf32>) -> "
                  "tensor<2xi64>",
                  {x}),
              ElementsAre(2, 2));
}

TEST_F(OnnxToLinalgTest, CumSumInAllFourForms) {
  Tensor x = floats({1, 3}, {1, 2, 4});
  auto form = [&](const char *attributes) {
    return run(std::string("onnx.CumSum(%0) {axis = 1 : i64") + attributes + "} : (tensor<1x3xf32>) -> tensor<1x3xf32>",
               {x});
  };
  EXPECT_THAT(form(""), ElementsAre(1, 3, 7));
  EXPECT_THAT(form(", exclusive = true"), ElementsAre(0, 1, 3));
  EXPECT_THAT(form(", reverse = true"), ElementsAre(7, 6, 4));
  EXPECT_THAT(form(", exclusive = true, reverse = true"), ElementsAre(6, 4, 0));
}

//===----------------------------------------------------------------------===//
// Contractions and convolutions
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, MatMulBroadcastsBatchesAndTakesVectors) {
  EXPECT_THAT(run("onnx.MatMul(%0, %1) : (tensor<2x1x1x2xf32>, tensor<3x2x1xf32>) -> tensor<2x3x1x1xf32>",
                  {floats({2, 1, 1, 2}, {1, 2, 3, 4}), floats({3, 2, 1}, {1, 0, 0, 1, 1, 1})}),
              ElementsAre(1, 2, 3, 3, 4, 7));
  EXPECT_THAT(run("onnx.MatMul(%0, %1) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>",
                  {floats({2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}),
              ElementsAre(7, 10));
  EXPECT_THAT(run("onnx.MatMul(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
                  {floats({2}, {1, 2}), floats({2}, {3, 4})}),
              ElementsAre(11));
}

TEST_F(OnnxToLinalgTest, GemmTransposesScalesAndAdds) {
  EXPECT_THAT(run("onnx.Gemm(%0, %1, %2) {alpha = 2.0 : f32, beta = 0.5 : f32, transA = true, transB = true} : "
                  "(tensor<2x1xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<1x3xf32>",
                  {floats({2, 1}, {1, 2}), floats({3, 2}, {1, 0, 0, 1, 1, 1}), floats({3}, {2, 4, 6})}),
              ElementsAre(3, 6, 9));
}

TEST_F(OnnxToLinalgTest, GroupedConvolutionMatchesPlainLoops) {
  Tensor x = random({1, 4, 5, 6}), w = random({6, 2, 3, 2}), b = random({6});
  std::vector<double> y = run("onnx.Conv(%0, %1, %2) {kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, "
                              "pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 2>, group = 2 : i64} : "
                              "(tensor<1x4x5x6xf32>, tensor<6x2x3x2xf32>, tensor<6xf32>) -> tensor<1x6x3x5xf32>",
                              {x, w, b});
  ASSERT_EQ(y.size(), 6u * 3 * 5) << diagnostic;
  for (int f = 0; f < 6; ++f)
    for (int oy = 0; oy < 3; ++oy)
      for (int ox = 0; ox < 5; ++ox) {
        double sum = b.floatAt(f);
        for (int c = 0; c < 2; ++c)
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 2; ++s) {
              int iy = oy * 2 + r - 1, ix = ox + s * 2;
              if (iy >= 0 && iy < 5 && ix < 6)
                sum += x.floatAt(((f / 3 * 2 + c) * 5 + iy) * 6 + ix) * w.floatAt(((f * 2 + c) * 3 + r) * 2 + s);
            }
        ASSERT_NEAR(y[(f * 3 + oy) * 5 + ox], sum, 1e-5) << f << " " << oy << " " << ox;
      }
}

TEST_F(OnnxToLinalgTest, DepthwiseConvolutionMatchesPlainLoops) {
  Tensor x = random({1, 3, 4, 4}), w = random({6, 1, 3, 3});
  std::vector<double> y = run("onnx.Conv(%0, %1) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, "
                              "group = 3 : i64} : (tensor<1x3x4x4xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x4x4xf32>",
                              {x, w});
  ASSERT_EQ(y.size(), 6u * 16) << diagnostic;
  for (int f = 0; f < 6; ++f)
    for (int oy = 0; oy < 4; ++oy)
      for (int ox = 0; ox < 4; ++ox) {
        double sum = 0;
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            int iy = oy + r - 1, ix = ox + s - 1;
            if (iy >= 0 && iy < 4 && ix >= 0 && ix < 4)
              sum += x.floatAt((f / 2 * 4 + iy) * 4 + ix) * w.floatAt((f * 3 + r) * 3 + s);
          }
        ASSERT_NEAR(y[(f * 4 + oy) * 4 + ox], sum, 1e-5);
      }
}

/// Every combination of stride, kernel, padding, dilation and group, against the definition: each input element adds
/// its kernel to the output.
TEST_F(OnnxToLinalgTest, TransposedConvolutionMatchesItsDefinition) {
  struct Case {
    int in, kernel, stride, before, after, dilation, extra, group;
  };
  for (Case c : {Case{4, 2, 2, 0, 0, 1, 0, 1},
                 {4, 3, 2, 1, 1, 1, 1, 1},
                 {5, 3, 1, 1, 1, 1, 0, 2},
                 {3, 4, 3, 0, 1, 1, 0, 1},
                 {4, 3, 2, 2, 0, 2, 0, 2},
                 {3, 1, 2, 0, 0, 1, 0, 1}}) {
    int out = (c.in - 1) * c.stride + (c.kernel - 1) * c.dilation + 1 - c.before - c.after + c.extra;
    int channels = 2 * c.group, filters = 3;
    Tensor x = random({1, channels, c.in}), w = random({channels, filters, c.kernel});
    std::string text;
    llvm::raw_string_ostream(text) << "onnx.ConvTranspose(%0, %1) {kernel_shape = array<i64: " << c.kernel
                                   << ">, strides = array<i64: " << c.stride << ">, pads = array<i64: " << c.before
                                   << ", " << c.after << ">, output_padding = array<i64: " << c.extra
                                   << ">, dilations = array<i64: " << c.dilation << ">, group = " << c.group
                                   << " : i64} : (" << x.tensorType() << ", " << w.tensorType() << ") -> tensor<1x"
                                   << filters * c.group << "x" << out << "xf32>";
    std::vector<double> y = run(text, {x, w});
    std::vector<double> expected(filters * c.group * out, 0.0);
    for (int channel = 0; channel < channels; ++channel)
      for (int f = 0; f < filters; ++f)
        for (int i = 0; i < c.in; ++i)
          for (int k = 0; k < c.kernel; ++k) {
            int o = i * c.stride + k * c.dilation - c.before;
            if (o >= 0 && o < out)
              expected[(channel / 2 * filters + f) * out + o] +=
                  x.floatAt(channel * c.in + i) * w.floatAt((channel * filters + f) * c.kernel + k);
          }
    EXPECT_THAT(y, Pointwise(DoubleNear(1e-5), expected)) << text << diagnostic;
  }
}

TEST_F(OnnxToLinalgTest, PoolsWithCeilMode) {
  Tensor x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  EXPECT_THAT(run("onnx.MaxPool(%0) {kernel_shape = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, "
                  "ceil_mode = true} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>",
                  {x}),
              ElementsAre(2, 4, 5));
  // The last window has one element inside: what lies beyond the padding never counts.
  auto average = [&](const char *includes) {
    return run(
        std::string("onnx.AveragePool(%0) {kernel_shape = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: "
                    "1, 0>, ceil_mode = true, count_include_pad = ") +
            includes + "} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>",
        {x});
  };
  EXPECT_THAT(average("false"), ElementsAre(1, 2.5, 4.5));
  EXPECT_THAT(average("true"), ElementsAre(0.5, 2.5, 4.5));
  EXPECT_THAT(
      run("onnx.AveragePool(%0) {kernel_shape = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, "
          "ceil_mode = true, count_include_pad = true} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>",
          {x}),
      ElementsAre(1.5, 3.5, 5));
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, SoftmaxAlongAnInnerAxisOfLargeNumbers) {
  EXPECT_THAT(run("onnx.Softmax(%0) {axis = 1 : i64} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>",
                  {floats({1, 2, 2}, {1000, 0, 1000, 0})}),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
}

TEST_F(OnnxToLinalgTest, LayerNormalizationOverTheLastDimensions) {
  std::vector<double> y = run("onnx.LayerNormalization(%0, %1, %2) {axis = -1 : i64, epsilon = 0.0 : f32, "
                              "resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x4xf32>, tensor<4xf32>, "
                              "tensor<4xf32>) -> tensor<1x4xf32>",
                              {floats({1, 4}, {1, 1, 3, 3}), floats({4}, {1, 2, 1, 2}), floats({4}, {0, 0, 1, 1})});
  EXPECT_THAT(y, ElementsAre(-1, -2, 2, 3)) << diagnostic;
}

TEST_F(OnnxToLinalgTest, NormalisationsOfLargeMeans) {
  // Means of 4096, deviations of 1: the squares are beyond fp32's 24 bits, so only centred values keep the deviation.
  Tensor x = floats({1, 2, 2}, {4095, 4097, 4097, 4095});
  Tensor one = floats({2}, {1, 1}), zero = floats({2}, {0, 0});
  auto isNormal = testing::Pointwise(DoubleNear(1e-4), std::vector<double>{-1, 1, 1, -1});
  EXPECT_THAT(run("onnx.MeanVarianceNormalization(%0) {axes = array<i64: 0, 2>} : (tensor<1x2x2xf32>) -> "
                  "tensor<1x2x2xf32>",
                  {x}),
              isNormal);
  EXPECT_THAT(run("onnx.InstanceNormalization(%0, %1, %2) {epsilon = 0.0 : f32} : (tensor<1x2x2xf32>, tensor<2xf32>, "
                  "tensor<2xf32>) -> tensor<1x2x2xf32>",
                  {x, one, zero}),
              isNormal);
  EXPECT_THAT(run("onnx.GroupNormalization(%0, %1, %2) {epsilon = 0.0 : f32, num_groups = 2 : i64} : "
                  "(tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>",
                  {x, one, zero}),
              isNormal);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, SliceBackwards) {
  EXPECT_THAT(
      run("onnx.Slice(%0) {starts = array<i64: 4>, ends = array<i64: -6>, axes = array<i64: 0>, steps = array<i64: "
          "-2>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<5xf32>) -> tensor<3xf32>",
          {floats({5}, {0, 1, 2, 3, 4})}),
      ElementsAre(4, 2, 0));
}

TEST_F(OnnxToLinalgTest, PadsInEveryMode) {
  Tensor x = floats({1, 3}, {1, 2, 3});
  auto pad = [&](const char *mode, const char *pads, int size) {
    return run(std::string("onnx.Pad(%0) {operandSegmentSizes = array<i32: 1, 0, 0, 0>, mode = \"") + mode +
                   "\", pads = array<i64: " + pads + ">} : (tensor<1x3xf32>) -> tensor<1x" + std::to_string(size) +
                   "xf32>",
               {x});
  };
  EXPECT_THAT(pad("constant", "0, 1, 0, 1", 5), ElementsAre(0, 1, 2, 3, 0)) << diagnostic;
  EXPECT_THAT(pad("reflect", "0, 2, 0, 1", 6), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(pad("edge", "0, 2, 0, 1", 6), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(pad("wrap", "0, 2, 0, 1", 6), ElementsAre(2, 3, 1, 2, 3, 1));
  EXPECT_THAT(pad("constant", "0, -1, 0, 1", 3), ElementsAre(2, 3, 0));
  EXPECT_TRUE(pad("reflect", "0, 3, 0, 0", 6).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("padding by 3 in mode reflect is not supported for an extent of 3"));
}

TEST_F(OnnxToLinalgTest, TileRepeatsWholeTensors) {
  EXPECT_THAT(run("onnx.Tile(%0) {repeats = array<i64: 2, 2>} : (tensor<1x2xf32>) -> tensor<2x4xf32>",
                  {floats({1, 2}, {1, 2})}),
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
}

TEST_F(OnnxToLinalgTest, DepthToSpaceInBothOrders) {
  Tensor x = floats({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(run("onnx.DepthToSpace(%0) {blocksize = 2 : i64, mode = \"DCR\"} : (tensor<1x8x1x1xf32>) -> "
                  "tensor<1x2x2x2xf32>",
                  {x}),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(run("onnx.DepthToSpace(%0) {blocksize = 2 : i64, mode = \"CRD\"} : (tensor<1x8x1x1xf32>) -> "
                  "tensor<1x2x2x2xf32>",
                  {x}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(OnnxToLinalgTest, ResizeLinearByWholeAndOtherFactors) {
  auto resize = [&](const Tensor &x, const char *attributes, const char *scale, int size) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "onnx.Resize(%0) {operandSegmentSizes = array<i32: 1, 0, 0, 0>, scales = array<f32: " << scale << ">, "
        << attributes << "} : (" << x.tensorType() << ") -> tensor<" << size << "xf32>";
    return run(text, {x});
  };
  Tensor two = floats({2}, {0, 4}), four = floats({4}, {0, 4, 8, 12});
  EXPECT_THAT(resize(two, "mode = \"linear\"", "2.0", 4), ElementsAre(0, 1, 3, 4)) << diagnostic;
  EXPECT_THAT(resize(two, "mode = \"linear\", coordinate_transformation_mode = \"align_corners\"", "2.5", 5),
              ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(resize(two, "mode = \"linear\", coordinate_transformation_mode = \"asymmetric\"", "2.0", 4),
              ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(resize(four, "mode = \"linear\"", "0.5", 2), ElementsAre(2, 10));
  EXPECT_THAT(resize(two, "mode = \"nearest\"", "2.0", 4), ElementsAre(0, 0, 4, 4));
  EXPECT_THAT(resize(four,
                     "mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"",
                     "0.5", 2),
              ElementsAre(0, 8));
  EXPECT_THAT(resize(four,
                     "mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"",
                     "1.25", 5),
              ElementsAre(0, 0, 4, 8, 12));
  // Keys' cubic with a = -0.5 keeps straight lines, away from the ends.
  std::vector<double> cubic = resize(four, "mode = \"cubic\", cubic_coeff_a = -0.5 : f32", "2.0", 8);
  ASSERT_EQ(cubic.size(), 8u) << diagnostic;
  EXPECT_THAT(cubic[3], DoubleNear(5, 1e-5));
  EXPECT_THAT(cubic[4], DoubleNear(7, 1e-5));
}

//===----------------------------------------------------------------------===//
// Indexing and quantisation
//===----------------------------------------------------------------------===//

TEST_F(OnnxToLinalgTest, GatherCountsNegativeIndicesFromTheEnd) {
  EXPECT_THAT(run("onnx.Gather(%0, %1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x2xf32>",
                  {floats({2, 3}, {1, 2, 3, 4, 5, 6}), longs({2}, {-1, 0})}),
              ElementsAre(3, 1, 6, 4));
}

TEST_F(OnnxToLinalgTest, ScatterNDAddsRepeatedUpdates) {
  EXPECT_THAT(
      run("onnx.ScatterND(%0, %1, %2) {reduction = \"add\"} : (tensor<3xf32>, tensor<3x1xi64>, tensor<3xf32>) -> "
          "tensor<3xf32>",
          {floats({3}, {1, 1, 1}), longs({3, 1}, {2, 0, 2}), floats({3}, {10, 20, 30})}),
      ElementsAre(21, 1, 41))
      << diagnostic;
}

TEST_F(OnnxToLinalgTest, QuantizeRoundsToEvenAndSaturates) {
  EXPECT_THAT(run("onnx.QuantizeLinear(%0, %1) : (tensor<5xf32>, tensor<f32>) -> tensor<5xui8>",
                  {floats({5}, {1, 3, 5, 1000, -1000}), floats({}, {2})}),
              ElementsAre(0, 2, 2, 255, 0))
      << diagnostic;
}

TEST_F(OnnxToLinalgTest, WhatIsNotSupportedIsSaid) {
  EXPECT_TRUE(run("onnx.ReverseSequence(%0, %1) : (tensor<3x2xf32>, tensor<2xi64>) -> tensor<3x2xf32>",
                  {random({3, 2}), longs({2}, {1, 2})})
                  .empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("this form of the operator is not supported"));
}
} // namespace
