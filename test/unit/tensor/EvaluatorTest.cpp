//===- EvaluatorTest.cpp - the reference evaluator against plain loops ----===//
#include "compiler/Reference/Evaluator.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace trn;

namespace {
class EvaluatorTest : public testing::Test {
protected:
  EvaluatorTest() {
    context.loadDialect<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                        func::FuncDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                        scf::SCFDialect, tensor::TensorDialect, ir::TrnDialect>();
  }

  /// Runs @main of `source`; an empty result after an error, whose text is in `diagnostic`.
  SmallVector<Tensor> run(StringRef source, ArrayRef<Tensor> arguments, const EvaluateOptions &options = {}) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      diagnostic += d.str();
      return success();
    });
    module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return {};
    auto results = evaluate(module->lookupSymbol<func::FuncOp>("main"), arguments, options);
    return succeeded(results) ? *results : SmallVector<Tensor>();
  }

  Tensor random(ArrayRef<int64_t> shape) {
    Tensor tensor = Tensor::allocate(Float32Type::get(&context), shape);
    std::uniform_real_distribution<float> values(-1, 1);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      tensor.data<float>()[i] = values(generator);
    return tensor;
  }
  Tensor floats(ArrayRef<int64_t> shape, ArrayRef<float> values) {
    return Tensor::of<float>(Float32Type::get(&context), shape, values);
  }
  static std::vector<double> values(const Tensor &tensor) {
    std::vector<double> result;
    for (int64_t i = 0; i < tensor.elements(); ++i)
      result.push_back(tensor.floatAt(i));
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string diagnostic;
  std::mt19937 generator{7};
};

TEST_F(EvaluatorTest, HalfPrecisionIsExactBothWays) {
  for (Storage storage : {Storage::F16, Storage::BF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      float value = decodeFloat(storage, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(roundTo(storage, value)));
      else
        ASSERT_EQ(encodeFloat(storage, value), bits) << bits;
    }
}

TEST_F(EvaluatorTest, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(encodeFloat(Storage::F16, 1.0f + 0x1p-11f), 0x3C00u);     // A tie goes to the even neighbour below,
  EXPECT_EQ(encodeFloat(Storage::F16, 1.0f + 3 * 0x1p-11f), 0x3C02u); // and above.
  EXPECT_EQ(encodeFloat(Storage::F16, 65519.0f), 0x7BFFu);            // The largest finite value,
  EXPECT_EQ(encodeFloat(Storage::F16, 65520.0f), 0x7C00u);            // and from where on it is infinity.
  EXPECT_EQ(encodeFloat(Storage::F16, 0x1p-25f), 0u);                 // Half of the least subnormal: even is zero.
  EXPECT_EQ(encodeFloat(Storage::F16, 0x1.8p-25f), 1u);
  EXPECT_EQ(encodeFloat(Storage::BF16, 1.0f + 0x1p-8f), 0x3F80u);
  EXPECT_EQ(encodeFloat(Storage::BF16, 1.0f + 3 * 0x1p-8f), 0x3F82u);
  EXPECT_EQ(roundTo(Storage::F8E4M3FN, 0.3f), 0.3125f);
}

/// The convolution of an image: strides 2, dilation 2 in x, and two groups.
constexpr const char *kConvolution = R"mlir(
#image = affine_map<(n, g, f, y, x, c, r, s) -> (n, g, c, y * 2 + r, x + s * 2)>
#filter = affine_map<(n, g, f, y, x, c, r, s) -> (g, f, c, r, s)>
#result = affine_map<(n, g, f, y, x, c, r, s) -> (n, g, f, y, x)>
func.func @main(%x: tensor<2x2x3x11x40xf32>, %w: tensor<2x9x3x3x3xf32>) -> tensor<2x2x9x5x36xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2x9x5x36xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2x9x5x36xf32>) -> tensor<2x2x9x5x36xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel",
      "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x2x3x11x40xf32>, tensor<2x9x3x3x3xf32>) outs(%init : tensor<2x2x9x5x36xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x2x9x5x36xf32>
  return %y : tensor<2x2x9x5x36xf32>
})mlir";

TEST_F(EvaluatorTest, ConvolutionMatchesPlainLoops) {
  Tensor x = random({2, 2, 3, 11, 40}), w = random({2, 9, 3, 3, 3});
  SmallVector<Tensor> results = run(kConvolution, {x, w});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  int64_t at = 0;
  for (int n = 0; n < 2; ++n)
    for (int g = 0; g < 2; ++g)
      for (int f = 0; f < 9; ++f)
        for (int y = 0; y < 5; ++y)
          for (int column = 0; column < 36; ++column, ++at) {
            double sum = 0;
            for (int c = 0; c < 3; ++c)
              for (int r = 0; r < 3; ++r)
                for (int s = 0; s < 3; ++s)
                  sum += double(x.data<float>()[(((n * 2 + g) * 3 + c) * 11 + y * 2 + r) * 40 + column + s * 2]) *
                         w.data<float>()[(((g * 9 + f) * 3 + c) * 3 + r) * 3 + s];
            // 27 products of magnitude ≤ 1: the sum's rounding stays far below.
            ASSERT_NEAR(results[0].floatAt(at), sum, 1e-5);
          }
}

TEST_F(EvaluatorTest, MatrixProductOfAnySizeAndOrder) {
  // Row and column counts around the panel sizes, and a transposed result.
  for (auto [m, n, k] : {std::array<int, 3>{4, 4, 4}, {8, 32, 256}, {9, 33, 257}, {97, 1025, 5}, {130, 70, 300}}) {
    std::string text = R"mlir(
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (ORDER)>
func.func @main(%a: tensor<MxKxf32>, %b: tensor<KxNxf32>, %c: tensor<OUTxf32>) -> tensor<OUTxf32> {
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<MxKxf32>, tensor<KxNxf32>) outs(%c : tensor<OUTxf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<OUTxf32>
  return %y : tensor<OUTxf32>
})mlir";
    for (bool transposed : {false, true}) {
      std::string source = text;
      auto replace = [&](StringRef from, std::string to) {
        for (size_t at; (at = source.find(from.str())) != std::string::npos;)
          source.replace(at, from.size(), to);
      };
      replace("ORDER", transposed ? "j, i" : "i, j");
      std::string rows = std::to_string(m), columns = std::to_string(n);
      replace("OUT", transposed ? columns + "x" + rows : rows + "x" + columns);
      replace("MxK", rows + "x" + std::to_string(k));
      replace("KxN", std::to_string(k) + "x" + columns);
      Tensor a = random({m, k}), b = random({k, n});
      Tensor c = random(transposed ? ArrayRef<int64_t>{n, m} : ArrayRef<int64_t>{m, n});
      SmallVector<Tensor> results = run(source, {a, b, c});
      ASSERT_EQ(results.size(), 1u) << diagnostic;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          int64_t at = transposed ? int64_t(j) * m + i : int64_t(i) * n + j;
          double sum = c.data<float>()[at];
          for (int l = 0; l < k; ++l)
            sum += double(a.data<float>()[i * k + l]) * b.data<float>()[l * n + j];
          ASSERT_NEAR(results[0].floatAt(at), sum, 1e-4) << m << "x" << n << "x" << k << " at " << i << ", " << j;
        }
    }
  }
}

TEST_F(EvaluatorTest, ReductionsAlongEitherDimension) {
  const char *source = R"mlir(
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<3x700xf32>) -> (tensor<3xf32>, tensor<700xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3xf32>
  %i0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<3xf32>) -> tensor<3xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x700xf32>) outs(%i0 : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %e1 = tensor.empty() : tensor<700xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<700xf32>) -> tensor<700xf32>
  %sum = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<3x700xf32>) outs(%i1 : tensor<700xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<700xf32>
  return %max, %sum : tensor<3xf32>, tensor<700xf32>
})mlir";
  Tensor x = random({3, 700});
  SmallVector<Tensor> results = run(source, {x});
  ASSERT_EQ(results.size(), 2u) << diagnostic;
  const float *data = x.data<float>();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(results[0].floatAt(i), *std::max_element(data + i * 700, data + i * 700 + 700));
  for (int j = 0; j < 700; ++j)
    EXPECT_NEAR(results[1].floatAt(j),
                double(data[j]) * data[j] + double(data[j + 700]) * data[j + 700] +
                    double(data[j + 1400]) * data[j + 1400],
                1e-6);
}

TEST_F(EvaluatorTest, NaNWinsInMaximumAndLosesInMaxnum) {
  const char *source = R"mlir(
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e, %e : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %m = arith.maximumf %a, %b : f32
    %n = arith.maxnumf %a, %b : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
})mlir";
  float nan = std::nanf("");
  SmallVector<Tensor> results = run(source, {floats({3}, {nan, 1, 2}), floats({3}, {1, nan, 3})});
  ASSERT_EQ(results.size(), 2u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(testing::IsNan(), testing::IsNan(), 3));
  EXPECT_THAT(values(results[1]), testing::ElementsAre(1, 1, 3));
}

TEST_F(EvaluatorTest, GatherThroughExtractAndItsBounds) {
  const char *source = R"mlir(
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @main(%table: tensor<4x3xf32>, %rows: tensor<2xi64>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<2xi64>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%row: i64, %o: f32):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<4x3xf32>
    linalg.yield %v : f32
  } -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})mlir";
  Tensor table = floats({4, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
  Type i64 = IntegerType::get(&context, 64);
  SmallVector<Tensor> results = run(source, {table, Tensor::of<int64_t>(i64, {2}, {3, 1})});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(30, 31, 32, 10, 11, 12));
  EXPECT_TRUE(run(source, {table, Tensor::of<int64_t>(i64, {2}, {4, 1})}).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("out of bounds"));
}

TEST_F(EvaluatorTest, LoopsUpdateTheirOwnCopy) {
  const char *source = R"mlir(
func.func private @twice(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<1x2xf32>
  %y = linalg.add ins(%x, %x : tensor<1x2xf32>, tensor<1x2xf32>) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%all = %x) -> tensor<3x2xf32> {
    %row = tensor.extract_slice %all[%i, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
    %t = func.call @twice(%row) : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %n = tensor.insert_slice %t into %all[%next, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<3x2xf32>
    scf.yield %n : tensor<3x2xf32>
  }
  return %x, %y : tensor<3x2xf32>, tensor<3x2xf32>
})mlir";
  SmallVector<Tensor> results = run(source, {floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_EQ(results.size(), 2u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values(results[1]), testing::ElementsAre(1, 2, 2, 4, 4, 8));
}

TEST_F(EvaluatorTest, PadsConcatenatesAndCrops) {
  const char *source = R"mlir(
func.func @main(%x: tensor<2x2xf32>) -> tensor<3x7xf32> {
  %v = arith.constant 9.0 : f32
  %p = tensor.pad %x low[1, 2] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x2xf32> to tensor<3x3xf32>
  %q = tensor.pad %p low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %w = arith.constant 8.0 : f32
    tensor.yield %w : f32
  } : tensor<3x3xf32> to tensor<3x4xf32>
  %c = tensor.concat dim(1) %p, %q : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x7xf32>
  return %c : tensor<3x7xf32>
})mlir";
  SmallVector<Tensor> results = run(source, {floats({2, 2}, {1, 2, 3, 4})});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(9, 9, 9, 9, 9, 9, 8, 9, 9, 1, 9, 9, 1, 8, 9, 9, 3, 9, 9, 3, 8));
}

TEST_F(EvaluatorTest, MemRefViewsShareStorage) {
  const char *source = R"mlir(
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = memref.alloc() : memref<4x4xf32>
  bufferization.materialize_in_destination %x in restrict writable %m : (tensor<4x4xf32>, memref<4x4xf32>) -> ()
  %s = memref.subview %m[1, 0] [2, 2] [1, 2] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 2], offset: 4>>
  %z = arith.constant -1.0 : f32
  linalg.fill ins(%z : f32) outs(%s : memref<2x2xf32, strided<[4, 2], offset: 4>>)
  %t = bufferization.to_tensor %m restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %t : tensor<4x4xf32>
})mlir";
  Tensor x = floats({4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  SmallVector<Tensor> results = run(source, {x});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(0, 1, 2, 3, -1, 5, -1, 7, -1, 9, -1, 11, 12, 13, 14, 15));
  EXPECT_EQ(x.data<float>()[4], 4.0f);
}

TEST_F(EvaluatorTest, IntegersWrapAndCompareByTheirWidth) {
  const char *source = R"mlir(
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi1>, tensor<2xf32>, tensor<2xi8>) {
  %e = tensor.empty() : tensor<2xi8>
  %b = tensor.empty() : tensor<2xi1>
  %f = tensor.empty() : tensor<2xf32>
  %hundred = arith.constant 100 : i8
  %big = arith.constant 300.0 : f32
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xi8>) outs(%e, %b, %f, %e : tensor<2xi8>, tensor<2xi1>, tensor<2xf32>, tensor<2xi8>) {
  ^bb0(%a: i8, %o: i8, %p: i1, %q: f32, %s: i8):
    %sum = arith.addi %a, %hundred : i8
    %less = arith.cmpi ult, %a, %hundred : i8
    %float = arith.uitofp %a : i8 to f32
    %sat = arith.fptosi %big : f32 to i8
    linalg.yield %sum, %less, %float, %sat : i8, i1, f32, i8
  } -> (tensor<2xi8>, tensor<2xi1>, tensor<2xf32>, tensor<2xi8>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<2xi8>, tensor<2xi1>, tensor<2xf32>, tensor<2xi8>
})mlir";
  SmallVector<Tensor> results = run(source, {Tensor::of<int8_t>(IntegerType::get(&context, 8), {2}, {50, -2})});
  ASSERT_EQ(results.size(), 4u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(-106, 98));
  EXPECT_THAT(values(results[1]), testing::ElementsAre(1, 0));
  EXPECT_THAT(values(results[2]), testing::ElementsAre(50, 254));
  EXPECT_THAT(values(results[3]), testing::ElementsAre(127, 127));
}

TEST_F(EvaluatorTest, ObserverSeesEveryResultAndSplatsStaySmall) {
  const char *source = R"mlir(
func.func @main() -> tensor<1x1x2xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1000x1000x1000xf32>
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<1000x1000x1000xf32>) -> tensor<1000x1000x1000xf32>
  %b = linalg.add ins(%a, %a : tensor<1000x1000x1000xf32>, tensor<1000x1000x1000xf32>)
                  outs(%e : tensor<1000x1000x1000xf32>) -> tensor<1000x1000x1000xf32>
  %c = tensor.extract_slice %b[9, 9, 9] [1, 1, 2] [1, 1, 1] : tensor<1000x1000x1000xf32> to tensor<1x1x2xf32>
  return %c : tensor<1x1x2xf32>
})mlir";
  module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  std::vector<double> seen;
  EvaluateOptions options;
  options.observer = [&](Operation *op, ArrayRef<Tensor> results) {
    if (results.empty() || llvm::isa<tensor::EmptyOp>(op))
      return;
    EXPECT_TRUE(results[0].isSplat());
    seen.push_back(results[0].floatAt(0));
  };
  EXPECT_TRUE(succeeded(evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, options)));
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 2));
}

TEST_F(EvaluatorTest, GlobalsHoldInputsOutputsAndLaidOutWeights) {
  const char *source = R"mlir(
trn.global @x kind(input) io_name "x" : memref<3x2xf32, #trn.hbm>
trn.global @w kind(weight) value(dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>)
    transforms([{transpose = array<i64: 1, 0>}]) : memref<3x2xf32, #trn.hbm>
trn.global @y kind(output) io_name "y" : memref<3x2xf32, #trn.hbm>
func.func @main() {
  %xm = trn.get_global @x : memref<3x2xf32, #trn.hbm>
  %wm = trn.get_global @w : memref<3x2xf32, #trn.hbm>
  %ym = trn.get_global @y : memref<3x2xf32, #trn.hbm>
  %x = bufferization.to_tensor %xm restrict : memref<3x2xf32, #trn.hbm> to tensor<3x2xf32, #trn.hbm>
  %w = bufferization.to_tensor %wm restrict : memref<3x2xf32, #trn.hbm> to tensor<3x2xf32, #trn.hbm>
  %y = bufferization.to_tensor %ym restrict writable : memref<3x2xf32, #trn.hbm> to tensor<3x2xf32, #trn.hbm>
  %s = linalg.add ins(%x, %w : tensor<3x2xf32, #trn.hbm>, tensor<3x2xf32, #trn.hbm>)
                  outs(%y : tensor<3x2xf32, #trn.hbm>) -> tensor<3x2xf32, #trn.hbm>
  bufferization.materialize_in_destination %s in restrict writable %ym
      : (tensor<3x2xf32, #trn.hbm>, memref<3x2xf32, #trn.hbm>) -> ()
  return
})mlir";
  SmallVector<Tensor> results = run(source, {floats({3, 2}, {10, 20, 30, 40, 50, 60})});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_THAT(values(results[0]), testing::ElementsAre(11, 24, 32, 45, 53, 66));
}

TEST_F(EvaluatorTest, UnknownOperationsAreNamed) {
  const char *source = R"mlir(
func.func @main() -> tensor<2xf32> {
  %y = tensor.generate {
  ^bb0(%i: index):
    %v = arith.constant 0.0 : f32
    tensor.yield %v : f32
  } : tensor<2xf32>
  return %y : tensor<2xf32>
})mlir";
  EXPECT_TRUE(run(source, {}).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("does not know the operation 'tensor.generate'"));
}

TEST_F(EvaluatorTest, ArgumentsMustFitTheSignature) {
  const char *source = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}";
  EXPECT_TRUE(run(source, {floats({1, 2}, {1, 2})}).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("expected 'tensor<2xf32>' but got 'tensor<1x2xf32>'"));
}
//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Loads x in two halves of a loop through views, doubles it on chip and stores it.
TEST_F(EvaluatorTest, SelectedInstructionsRunOnViews) {
  Tensor x = random({4, 6});
  SmallVector<Tensor> results = run(R"(
    trn.global @x kind(input) io_name "x" : memref<4x6xf32, #trn.hbm>
    trn.global @y kind(output) io_name "y" : memref<4x6xf32, #trn.hbm>
    func.func private @twice(%from: memref<4x6xf32, #trn.sbuf>, %to: memref<4x6xf32, #trn.sbuf>) {
      trn.tensor_scalar outs(%to : memref<4x6xf32, #trn.sbuf>) ins(%from : memref<4x6xf32, #trn.sbuf>)
        {op0 = #trn.alu<multiply>, operand0_imm = 2.0 : f32}
      return
    }
    func.func @main() {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c6 = arith.constant 6 : index
      %x = trn.get_global @x : memref<4x6xf32, #trn.hbm>
      %y = trn.get_global @y : memref<4x6xf32, #trn.hbm>
      %a = memref.alloc() : memref<4x6xf32, #trn.sbuf>
      %b = memref.alloc() : memref<4x6xf32, #trn.sbuf>
      scf.for %i = %c0 to %c6 step %c3 {
        %from = memref.subview %x[0, %i] [4, 3] [1, 1] : memref<4x6xf32, #trn.hbm> to memref<4x3xf32, strided<[6, 1], offset: ?>, #trn.hbm>
        %to = memref.subview %a[0, %i] [4, 3] [1, 1] : memref<4x6xf32, #trn.sbuf> to memref<4x3xf32, strided<[6, 1], offset: ?>, #trn.sbuf>
        trn.dma_copy outs(%to : memref<4x3xf32, strided<[6, 1], offset: ?>, #trn.sbuf>) ins(%from : memref<4x3xf32, strided<[6, 1], offset: ?>, #trn.hbm>)
      }
      func.call @twice(%a, %b) : (memref<4x6xf32, #trn.sbuf>, memref<4x6xf32, #trn.sbuf>) -> ()
      trn.dma_copy outs(%y : memref<4x6xf32, #trn.hbm>) ins(%b : memref<4x6xf32, #trn.sbuf>)
      return
    })", {x});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  for (int64_t i = 0; i < x.elements(); ++i)
    EXPECT_EQ(results[0].floatAt(i), 2 * x.floatAt(i)) << i;
}

/// A flat program; `addresses` of its two buffers, or none; `order`: the attributes that synchronise it.
static std::string flatProgram(StringRef firstAddress, StringRef secondAddress) {
  auto place = [](StringRef address) { return address.empty() ? std::string() : ("{address = " + address + " : i64}").str(); };
  return R"(
    trn.global @x kind(input) io_name "x" : memref<4x8xf32, #trn.hbm>
    trn.global @y kind(output) io_name "y" : memref<4x8xf32, #trn.hbm>
    func.func @main() {
      %x = trn.get_global @x : memref<4x8xf32, #trn.hbm>
      %y = trn.get_global @y : memref<4x8xf32, #trn.hbm>
      %a = trn.alloc )" + place(firstAddress) + R"( : memref<4x8xf32, #trn.sbuf>
      %b = trn.alloc )" + place(secondAddress) + R"( : memref<4x8xf32, #trn.sbuf>
      trn.dma_copy outs(%a : memref<4x8xf32, #trn.sbuf>) ins(%x : memref<4x8xf32, #trn.hbm>)
        {aps = [#trn.ap<count = 4, dims = [[1, 8]]>, #trn.ap<count = 4, dims = [[1, 8]], row_step = 8>], engine = #trn.engine<SP>}
      trn.memset outs(%b : memref<4x8xf32, #trn.sbuf>) {aps = [#trn.ap<count = 4, dims = [[1, 8]]>], value = 7.0 : f32, engine = #trn.engine<POOL>}
      trn.dma_copy outs(%y : memref<4x8xf32, #trn.hbm>) ins(%a : memref<4x8xf32, #trn.sbuf>)
        {aps = [#trn.ap<count = 4, dims = [[1, 8]], row_step = 8>, #trn.ap<count = 4, dims = [[1, 8]]>], engine = #trn.engine<SP>}
      return
    })";
}

TEST_F(EvaluatorTest, BuffersWithoutAddressesAreApart) {
  Tensor x = random({4, 8});
  SmallVector<Tensor> results = run(flatProgram("", ""), {x});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_EQ(values(results[0]), values(x));
}

TEST_F(EvaluatorTest, OverlappingAddressesOverwriteEachOther) {
  Tensor x = random({4, 8});
  SmallVector<Tensor> results = run(flatProgram("0", "32"), {x});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_EQ(values(results[0]), values(x));
  results = run(flatProgram("0", "16"), {x});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  for (int64_t i = 0; i < x.elements(); ++i)
    EXPECT_EQ(results[0].floatAt(i), i % 8 < 4 ? x.floatAt(i) : 7.0f) << i;
}

/// Buffers are reported when they die, with their values, the time and the place of their last write.
TEST_F(EvaluatorTest, DyingBuffersAreObserved) {
  for (bool placed : {false, true}) {
    Tensor x = random({4, 8});
    std::vector<std::pair<uint64_t, std::vector<double>>> seen;
    EvaluateOptions options;
    options.bufferObserver = [&](const FinalBuffer &buffer) { seen.emplace_back(buffer.lastWrite, values(buffer.values)); };
    run(placed ? flatProgram("64", "128") : flatProgram("", ""), {x}, options);
    ASSERT_EQ(seen.size(), 2u) << diagnostic;
    EXPECT_EQ(seen[0], std::make_pair(uint64_t(1), std::vector<double>(32, 7.0)));
    EXPECT_EQ(seen[1], std::make_pair(uint64_t(0), values(x)));
  }
}

/// At `synced` the queues run as far as the semaphores let them, whatever the order in the block.
static std::string syncedProgram(unsigned awaited) {
  return R"(
    trn.global @y kind(output) io_name "y" : memref<4x8xf32, #trn.hbm>
    func.func @main() {
      %y = trn.get_global @y : memref<4x8xf32, #trn.hbm>
      %a = trn.alloc {address = 0 : i64} : memref<4x8xf32, #trn.sbuf>
      trn.dma_copy outs(%y : memref<4x8xf32, #trn.hbm>) ins(%a : memref<4x8xf32, #trn.sbuf>)
        {aps = [#trn.ap<count = 4, dims = [[1, 8]], row_step = 8>, #trn.ap<count = 4, dims = [[1, 8]]>], engine = #trn.engine<ACT>, wait = #trn.wait<3, )" +
         std::to_string(awaited) + R"(>}
      trn.memset outs(%a : memref<4x8xf32, #trn.sbuf>) {aps = [#trn.ap<count = 4, dims = [[1, 8]]>], value = 7.0 : f32, engine = #trn.engine<POOL>, update = #trn.update<3, 1>}
      return
    })";
}

TEST_F(EvaluatorTest, SemaphoresOrderQueues) {
  SmallVector<Tensor> results = run(syncedProgram(1), {});
  ASSERT_EQ(results.size(), 1u) << diagnostic;
  EXPECT_EQ(values(results[0]), std::vector<double>(32, 7.0));
  EXPECT_TRUE(run(syncedProgram(2), {}).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("waits forever"));
}

TEST_F(EvaluatorTest, OperandsOutsideOfTheirBufferAreRefused) {
  EXPECT_TRUE(run(R"(
    func.func @main() {
      %a = trn.alloc : memref<4x8xf32, #trn.sbuf>
      trn.memset outs(%a : memref<4x8xf32, #trn.sbuf>) {aps = [#trn.ap<count = 4, offset = 4, dims = [[1, 8]]>], value = 7.0 : f32}
      return
    })", {}).empty());
  EXPECT_THAT(diagnostic, testing::HasSubstr("expected to stay inside the 32 bytes of a partition"));
}

} // namespace
