//===- LayoutNumericsTest.cpp - stage tensor = stage grouped ---------------===//
// Each case is a function of stage tensor. It is evaluated as it is and after the layout passes, on the same random
// inputs and weights; the grouped module must also keep its contract. Layouts change the order in which sums are
// accumulated and nothing else, so results agree to a few units of fp32 rounding per accumulated term.
#include "compiler/Reference/Evaluator.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Tile/GroupedContract.h"
#include "passes/Tile/LayoutPasses.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

using namespace mlir;

namespace {
struct Case {
  const char *name;
  const char *text;
};
void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

/// A case, and the percent of SBUF that whole tensors may take: with none, all of them are kept in HBM.
class LayoutNumerics : public testing::TestWithParam<std::tuple<Case, unsigned>> {
protected:
  LayoutNumerics() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, func::FuncDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect>();
    trn::ir::registerTrnDialect(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  trn::Tensor randomTensor(RankedTensorType type) {
    trn::Tensor tensor = trn::Tensor::allocate(type.getElementType(), type.getShape());
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      if (type.getElementType().isF32())
        tensor.data<float>()[i] = std::uniform_real_distribution<float>(-1, 1)(engine);
      else
        tensor.data<int32_t>()[i] = engine() % 5;
    }
    return tensor;
  }

  /// Splat weights of the text become random ones.
  void randomizeWeights(ModuleOp module) {
    module.walk([&](arith::ConstantOp constant) {
      auto type = dyn_cast<RankedTensorType>(constant.getType());
      if (type && type.getElementType().isF32())
        constant.setValueAttr(randomTensor(type).toAttr());
    });
  }

  void expectClose(const trn::Tensor &actual, const trn::Tensor &expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < expected.elements(); ++i) {
      largest = std::max(largest, std::fabs(expected.floatAt(i)));
      double error = std::fabs(actual.floatAt(i) - expected.floatAt(i));
      ASSERT_FALSE(std::isnan(error)) << "element " << i;
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, 2e-5 * largest);
    EXPECT_GT(largest, 0) << "a test whose result is all zero shows nothing";
  }

  MLIRContext context;
  std::mt19937 engine{7};
};

TEST_P(LayoutNumerics, GroupedComputesWhatTensorComputes) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(std::get<0>(GetParam()).text, &context);
  ASSERT_TRUE(module);
  randomizeWeights(*module);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  SmallVector<trn::Tensor> arguments;
  for (Type type : main.getArgumentTypes())
    arguments.push_back(randomTensor(cast<RankedTensorType>(type)));
  FailureOr<SmallVector<trn::Tensor>> expected = trn::evaluate(main, arguments);
  ASSERT_TRUE(succeeded(expected));

  PassManager manager(&context);
  trn::LayoutPipelineOptions options;
  options.residency.percent = std::get<1>(GetParam());
  trn::addLayoutPasses(manager, options);
  ASSERT_TRUE(succeeded(manager.run(*module)));
  EXPECT_TRUE(succeeded(trn::verifyGrouped(*module)));
  FailureOr<SmallVector<trn::Tensor>> actual = trn::evaluate(module->lookupSymbol<func::FuncOp>("main"), arguments);
  ASSERT_TRUE(succeeded(actual));
  ASSERT_EQ(actual->size(), expected->size());
  for (auto [got, wanted] : llvm::zip_equal(*actual, *expected))
    expectClose(got, wanted);
  if (HasFailure())
    module->dump();
}

// Bodies shared by the texts.
#define MULTIPLY_ADD                                                                                                   \
  "^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_m = arith.mulf %b_a, %b_b : f32 %b_q = arith.addf %b_o, %b_m : f32 "      \
  "linalg.yield %b_q : f32"
#define ADD "^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_q = arith.addf %b_a, %b_b : f32 linalg.yield %b_q : f32"
#define ADD_RELU                                                                                                       \
  "^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_s = arith.addf %b_a, %b_b : f32 %b_q = arith.maximumf %b_s, %zero : f32 " \
  "linalg.yield %b_q "                                                                                                 \
  ": f32"
#define SUM "^bb0(%b_a: f32, %b_o: f32): %b_q = arith.addf %b_o, %b_a : f32 linalg.yield %b_q : f32"
#define MAX "^bb0(%b_a: f32, %b_o: f32): %b_q = arith.maximumf %b_o, %b_a : f32 linalg.yield %b_q : f32"
#define SQUARE "^bb0(%b_a: f32, %b_o: f32): %b_q = arith.mulf %b_a, %b_a : f32 linalg.yield %b_q : f32"

const Case kCases[] = {
    // Channels 3 -> 130 (2 x 65) -> 131 (66 + 65) -> 4; halo, stride 2, a residual over the second pair.
    {"Convolutions", R"(
#x1 = affine_map<(n,m,y,x,c,r,s) -> (n,c,y+r,x+s)>
#x2 = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x*2+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
#id = affine_map<(n,m,y,x) -> (n,m,y,x)>
#ch = affine_map<(n,m,y,x) -> (m)>
func.func @main(%x: tensor<1x3x7x7xf32>) -> (tensor<1x131x4x4xf32>, tensor<1x4x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.5> : tensor<130x3x3x3xf32>
  %b1 = arith.constant dense<0.5> : tensor<130xf32>
  %w2 = arith.constant dense<0.5> : tensor<131x130x3x3xf32>
  %b2 = arith.constant dense<0.5> : tensor<131xf32>
  %w3 = arith.constant dense<0.5> : tensor<131x131x1x1xf32>
  %w4 = arith.constant dense<0.5> : tensor<4x131x3x3xf32>
  %p1 = tensor.pad %x low[0,0,1,1] high[0,0,1,1] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x3x7x7xf32> to tensor<1x3x9x9xf32>
  %e1 = tensor.empty() : tensor<1x130x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x130x7x7xf32>) -> tensor<1x130x7x7xf32>
  %c1 = linalg.generic {indexing_maps = [#x1,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p1, %w1 : tensor<1x3x9x9xf32>, tensor<130x3x3x3xf32>) outs(%f1 : tensor<1x130x7x7xf32>) { )" MULTIPLY_ADD
                     R"( } -> tensor<1x130x7x7xf32>
  %r1 = linalg.generic {indexing_maps = [#id,#ch,#id], iterator_types = ["parallel","parallel","parallel","parallel"]}
    ins(%c1, %b1 : tensor<1x130x7x7xf32>, tensor<130xf32>) outs(%e1 : tensor<1x130x7x7xf32>) { )" ADD_RELU
                     R"( } -> tensor<1x130x7x7xf32>
  %p2 = tensor.pad %r1 low[0,0,1,1] high[0,0,1,1] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x130x7x7xf32> to tensor<1x130x9x9xf32>
  %e2 = tensor.empty() : tensor<1x131x4x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x131x4x4xf32>) -> tensor<1x131x4x4xf32>
  %c2 = linalg.generic {indexing_maps = [#x2,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p2, %w2 : tensor<1x130x9x9xf32>, tensor<131x130x3x3xf32>) outs(%f2 : tensor<1x131x4x4xf32>) { )" MULTIPLY_ADD
                     R"( } -> tensor<1x131x4x4xf32>
  %r2 = linalg.generic {indexing_maps = [#id,#ch,#id], iterator_types = ["parallel","parallel","parallel","parallel"]}
    ins(%c2, %b2 : tensor<1x131x4x4xf32>, tensor<131xf32>) outs(%e2 : tensor<1x131x4x4xf32>) { )" ADD_RELU
                     R"( } -> tensor<1x131x4x4xf32>
  %c3 = linalg.generic {indexing_maps = [#x1,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%r2, %w3 : tensor<1x131x4x4xf32>, tensor<131x131x1x1xf32>) outs(%f2 : tensor<1x131x4x4xf32>) { )" MULTIPLY_ADD
                     R"( } -> tensor<1x131x4x4xf32>
  %r3 = linalg.generic {indexing_maps = [#id,#id,#id], iterator_types = ["parallel","parallel","parallel","parallel"]}
    ins(%c3, %r2 : tensor<1x131x4x4xf32>, tensor<1x131x4x4xf32>) outs(%e2 : tensor<1x131x4x4xf32>) { )" ADD_RELU
                     R"( } -> tensor<1x131x4x4xf32>
  %p4 = tensor.pad %r2 low[0,0,1,1] high[0,0,1,1] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x131x4x4xf32> to tensor<1x131x6x6xf32>
  %e4 = tensor.empty() : tensor<1x4x4x4xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %c4 = linalg.generic {indexing_maps = [#x1,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p4, %w4 : tensor<1x131x6x6xf32>, tensor<4x131x3x3xf32>) outs(%f4 : tensor<1x4x4x4xf32>) { )" MULTIPLY_ADD
                     R"( } -> tensor<1x4x4x4xf32>
  return %r3, %c4 : tensor<1x131x4x4xf32>, tensor<1x4x4x4xf32>
})"},

    // A stem: 2 channels of the input, kernel 5, stride 2, dilation in one dimension; rows join the channels.
    {"Stem", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x+s*2)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
func.func @main(%x: tensor<1x2x9x9xf32>) -> tensor<1x16x5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<16x2x5x3xf32>
  %p = tensor.pad %x low[0,0,2,1] high[0,0,2,1] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x2x9x9xf32> to tensor<1x2x13x11xf32>
  %e = tensor.empty() : tensor<1x16x5x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x5x7xf32>) -> tensor<1x16x5x7xf32>
  %c = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p, %w : tensor<1x2x13x11xf32>, tensor<16x2x5x3xf32>) outs(%f : tensor<1x16x5x7xf32>) { )" MULTIPLY_ADD
             R"( } -> tensor<1x16x5x7xf32>
  return %c : tensor<1x16x5x7xf32>
})"},

    // A picture large enough for planes: 7x7 taps of stride 2 in steps of 4 columns, the kernel padded to 8 columns.
    {"PlanesStem", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x*2+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
func.func @main(%x: tensor<1x3x112x112xf32>) -> tensor<1x16x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<16x3x7x7xf32>
  %p = tensor.pad %x low[0,0,3,3] high[0,0,3,3] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x3x112x112xf32> to tensor<1x3x118x118xf32>
  %e = tensor.empty() : tensor<1x16x56x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x56x56xf32>) -> tensor<1x16x56x56xf32>
  %r = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p, %w : tensor<1x3x118x118xf32>, tensor<16x3x7x7xf32>) outs(%f : tensor<1x16x56x56xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<1x16x56x56xf32>
  return %r : tensor<1x16x56x56xf32>
})"},

    // All 25 taps of one channel in the lanes; 113 pixels do not divide by the stride, so rows are read with strides.
    {"WholeKernelStem", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x*2+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
func.func @main(%x: tensor<1x1x113x113xf32>) -> tensor<1x16x57x57xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<16x1x5x5xf32>
  %p = tensor.pad %x low[0,0,2,2] high[0,0,2,2] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x1x113x113xf32> to tensor<1x1x117x117xf32>
  %e = tensor.empty() : tensor<1x16x57x57xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x57x57xf32>) -> tensor<1x16x57x57xf32>
  %r = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p, %w : tensor<1x1x117x117xf32>, tensor<16x1x5x5xf32>) outs(%f : tensor<1x16x57x57xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<1x16x57x57xf32>
  return %r : tensor<1x16x57x57xf32>
})"},

    // All nine taps at once, without padding: the planes have more columns than the result.
    {"UnpaddedStem", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x*2+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
func.func @main(%x: tensor<1x3x112x112xf32>) -> tensor<1x16x55x55xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<16x3x3x3xf32>
  %p = tensor.pad %x low[0,0,0,0] high[0,0,0,0] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x3x112x112xf32> to tensor<1x3x112x112xf32>
  %e = tensor.empty() : tensor<1x16x55x55xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x55x55xf32>) -> tensor<1x16x55x55xf32>
  %r = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p, %w : tensor<1x3x112x112xf32>, tensor<16x3x3x3xf32>) outs(%f : tensor<1x16x55x55xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<1x16x55x55xf32>
  return %r : tensor<1x16x55x55xf32>
})"},

    // A stem of a large picture, in strips of rows that lie side by side in one tensor; a pool reads across them.
    {"StemInStrips", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y*2+r,x*2+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
#id = affine_map<(n,m,y,x) -> (n,m,y,x)>
#ch = affine_map<(n,m,y,x) -> (m)>
#window = affine_map<(n,m,y,x,r) -> (n,m,y*2+r,x)>
#shape = affine_map<(n,m,y,x,r) -> (r)>
#pool = affine_map<(n,m,y,x,r) -> (n,m,y,x)>
func.func @main(%x: tensor<1x2x129x400xf32>) -> tensor<1x16x32x200xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %w = arith.constant dense<0.5> : tensor<16x2x3x3xf32>
  %b = arith.constant dense<0.5> : tensor<16xf32>
  %p = tensor.pad %x low[0,0,1,1] high[0,0,1,0] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x2x129x400xf32> to tensor<1x2x131x401xf32>
  %e = tensor.empty() : tensor<1x16x65x200xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x65x200xf32>) -> tensor<1x16x65x200xf32>
  %c = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%p, %w : tensor<1x2x131x401xf32>, tensor<16x2x3x3xf32>) outs(%f : tensor<1x16x65x200xf32>) { )" MULTIPLY_ADD
                     R"( } -> tensor<1x16x65x200xf32>
  %r = linalg.generic {indexing_maps = [#id,#ch,#id], iterator_types = ["parallel","parallel","parallel","parallel"]}
    ins(%c, %b : tensor<1x16x65x200xf32>, tensor<16xf32>) outs(%e : tensor<1x16x65x200xf32>) { )" ADD_RELU
                     R"( } -> tensor<1x16x65x200xf32>
  %ew = tensor.empty() : tensor<3xf32>
  %ep = tensor.empty() : tensor<1x16x32x200xf32>
  %fp = linalg.fill ins(%low : f32) outs(%ep : tensor<1x16x32x200xf32>) -> tensor<1x16x32x200xf32>
  %m = linalg.generic {indexing_maps = [#window,#shape,#pool], iterator_types = ["parallel","parallel","parallel","parallel","reduction"]}
    ins(%r, %ew : tensor<1x16x65x200xf32>, tensor<3xf32>) outs(%fp : tensor<1x16x32x200xf32>) {
    ^bb0(%b_a: f32, %b_w: f32, %b_o: f32): %b_q = arith.maximumf %b_o, %b_a : f32 linalg.yield %b_q : f32 } -> tensor<1x16x32x200xf32>
  return %m : tensor<1x16x32x200xf32>
})"},

    // An input turned by PE, chunk by chunk; its 3 chunks of rows are one operation.
    {"ProductOfInput", R"(
#a = affine_map<(i,j,k) -> (i,k)>
#b = affine_map<(i,j,k) -> (k,j)>
#c = affine_map<(i,j,k) -> (i,j)>
func.func @main(%a: tensor<384x256xf32>) -> tensor<384x192xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<256x192xf32>
  %e = tensor.empty() : tensor<384x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x192xf32>) -> tensor<384x192xf32>
  %r = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]}
    ins(%a, %w : tensor<384x256xf32>, tensor<256x192xf32>) outs(%f : tensor<384x192xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<384x192xf32>
  return %r : tensor<384x192xf32>
})"},

    // The same with rows that do not divide: 197 are 99 and 98, one operation each.
    {"ProductOfUnevenInput", R"(
#a = affine_map<(i,j,k) -> (i,k)>
#b = affine_map<(i,j,k) -> (k,j)>
#c = affine_map<(i,j,k) -> (i,j)>
func.func @main(%a: tensor<197x256xf32>) -> tensor<197x192xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<256x192xf32>
  %e = tensor.empty() : tensor<197x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<197x192xf32>) -> tensor<197x192xf32>
  %r = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]}
    ins(%a, %w : tensor<197x256xf32>, tensor<256x192xf32>) outs(%f : tensor<197x192xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<197x192xf32>
  return %r : tensor<197x192xf32>
})"},

    // Rows of 32,768 bytes, turned in blocks of several chunks of columns, on the way to HBM of several chunks of rows.
    {"ProductOfLongInput", R"(
#a = affine_map<(i,j,k) -> (i,k)>
#b = affine_map<(i,j,k) -> (k,j)>
#c = affine_map<(i,j,k) -> (i,j)>
func.func @main(%a: tensor<256x8192xf32>) -> tensor<256x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<8192x16xf32>
  %e = tensor.empty() : tensor<256x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x16xf32>) -> tensor<256x16xf32>
  %r = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]}
    ins(%a, %w : tensor<256x8192xf32>, tensor<8192x16xf32>) outs(%f : tensor<256x16xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<256x16xf32>
  return %r : tensor<256x16xf32>
})"},

    // Rows of 18,440 bytes, turned in blocks of one chunk of columns, of which the last is shorter.
    {"ProductOfWideInput", R"(
#a = affine_map<(i,j,k) -> (i,k)>
#b = affine_map<(i,j,k) -> (k,j)>
#c = affine_map<(i,j,k) -> (i,j)>
func.func @main(%a: tensor<160x4610xf32>) -> tensor<160x48xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<4610x48xf32>
  %e = tensor.empty() : tensor<160x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<160x48xf32>) -> tensor<160x48xf32>
  %r = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]}
    ins(%a, %w : tensor<160x4610xf32>, tensor<4610x48xf32>) outs(%f : tensor<160x48xf32>) { )" MULTIPLY_ADD
                R"( } -> tensor<160x48xf32>
  return %r : tensor<160x48xf32>
})"},

    // One channel.
    {"OneChannel", R"(
#x = affine_map<(n,m,y,x,c,r,s) -> (n,c,y+r,x+s)>
#w = affine_map<(n,m,y,x,c,r,s) -> (m,c,r,s)>
#o = affine_map<(n,m,y,x,c,r,s) -> (n,m,y,x)>
func.func @main(%x: tensor<1x1x9x9xf32>) -> tensor<1x16x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<16x1x3x3xf32>
  %e = tensor.empty() : tensor<1x16x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  %c = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]}
    ins(%x, %w : tensor<1x1x9x9xf32>, tensor<16x1x3x3xf32>) outs(%f : tensor<1x16x7x7xf32>) { )" MULTIPLY_ADD
                   R"( } -> tensor<1x16x7x7xf32>
  return %c : tensor<1x16x7x7xf32>
})"},

    // A pool, a dense layer on one row, a softmax in one lane.
    {"Classifier", R"(
#id = affine_map<(n,m,y,x) -> (n,m,y,x)>
#nm = affine_map<(n,m,y,x) -> (n,m)>
#a = affine_map<(n,j,k) -> (n,k)>
#b = affine_map<(n,j,k) -> (j,k)>
#c = affine_map<(n,j,k) -> (n,j)>
#f = affine_map<(n,j) -> (n,j)>
#r = affine_map<(n,j) -> (n)>
func.func @main(%x: tensor<1x140x3x3xf32>) -> tensor<1x150xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %w = arith.constant dense<0.5> : tensor<150x140xf32>
  %e0 = tensor.empty() : tensor<1x140xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x140xf32>) -> tensor<1x140xf32>
  %p = linalg.generic {indexing_maps = [#id,#nm], iterator_types = ["parallel","parallel","reduction","reduction"]}
    ins(%x : tensor<1x140x3x3xf32>) outs(%f0 : tensor<1x140xf32>) { )" SUM R"( } -> tensor<1x140xf32>
  %e1 = tensor.empty() : tensor<1x150xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x150xf32>) -> tensor<1x150xf32>
  %d = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]}
    ins(%p, %w : tensor<1x140xf32>, tensor<150x140xf32>) outs(%f1 : tensor<1x150xf32>) { )" MULTIPLY_ADD
                   R"( } -> tensor<1x150xf32>
  %e2 = tensor.empty() : tensor<1xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<1xf32>) -> tensor<1xf32>
  %m = linalg.generic {indexing_maps = [#f,#r], iterator_types = ["parallel","reduction"]}
    ins(%d : tensor<1x150xf32>) outs(%f2 : tensor<1xf32>) { )" MAX R"( } -> tensor<1xf32>
  %x1 = linalg.generic {indexing_maps = [#f,#r,#f], iterator_types = ["parallel","parallel"]}
    ins(%d, %m : tensor<1x150xf32>, tensor<1xf32>) outs(%e1 : tensor<1x150xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_s = arith.subf %b_a, %b_b : f32 %b_q = math.exp %b_s : f32 linalg.yield %b_q : f32 } -> tensor<1x150xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#f,#r], iterator_types = ["parallel","reduction"]}
    ins(%x1 : tensor<1x150xf32>) outs(%f3 : tensor<1xf32>) { )" SUM R"( } -> tensor<1xf32>
  %y = linalg.generic {indexing_maps = [#f,#r,#f], iterator_types = ["parallel","parallel"]}
    ins(%x1, %s : tensor<1x150xf32>, tensor<1xf32>) outs(%e1 : tensor<1x150xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_q = arith.divf %b_a, %b_b : f32 linalg.yield %b_q : f32 } -> tensor<1x150xf32>
  return %y : tensor<1x150xf32>
})"},

    // Attention on 131 rows (66 + 65): ragged queries, ragged contraction over keys, weights with two kept dimensions.
    {"Attention", R"(
#px = affine_map<(s,h,d,k) -> (s,k)>
#pw = affine_map<(s,h,d,k) -> (k,h,d)>
#po = affine_map<(s,h,d,k) -> (s,h,d)>
#q = affine_map<(h,i,j,d) -> (i,h,d)>
#k = affine_map<(h,i,j,d) -> (j,h,d)>
#s = affine_map<(h,i,j,d) -> (h,i,j)>
#f = affine_map<(h,i,j) -> (h,i,j)>
#r = affine_map<(h,i,j) -> (h,i)>
#cp = affine_map<(s,h,d,j) -> (h,s,j)>
#cv = affine_map<(s,h,d,j) -> (j,h,d)>
#co = affine_map<(s,h,d,j) -> (s,h,d)>
#oa = affine_map<(s,m,h,d) -> (s,h,d)>
#ow = affine_map<(s,m,h,d) -> (h,d,m)>
#oo = affine_map<(s,m,h,d) -> (s,m)>
func.func @main(%x: tensor<131x24xf32>) -> tensor<131x24xf32> {
  %zero = arith.constant 0.0 : f32
  %wq = arith.constant dense<0.5> : tensor<24x3x8xf32>
  %wk = arith.constant dense<0.5> : tensor<24x3x8xf32>
  %wv = arith.constant dense<0.5> : tensor<24x3x8xf32>
  %wo = arith.constant dense<0.5> : tensor<3x8x24xf32>
  %e = tensor.empty() : tensor<131x3x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<131x3x8xf32>) -> tensor<131x3x8xf32>
  %q = linalg.generic {indexing_maps = [#px,#pw,#po], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%x, %wq : tensor<131x24xf32>, tensor<24x3x8xf32>) outs(%z : tensor<131x3x8xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<131x3x8xf32>
  %k = linalg.generic {indexing_maps = [#px,#pw,#po], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%x, %wk : tensor<131x24xf32>, tensor<24x3x8xf32>) outs(%z : tensor<131x3x8xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<131x3x8xf32>
  %v = linalg.generic {indexing_maps = [#px,#pw,#po], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%x, %wv : tensor<131x24xf32>, tensor<24x3x8xf32>) outs(%z : tensor<131x3x8xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<131x3x8xf32>
  %e1 = tensor.empty() : tensor<3x131x131xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x131x131xf32>) -> tensor<3x131x131xf32>
  %s = linalg.generic {indexing_maps = [#q,#k,#s], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%q, %k : tensor<131x3x8xf32>, tensor<131x3x8xf32>) outs(%z1 : tensor<3x131x131xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<3x131x131xf32>
  %e2 = tensor.empty() : tensor<3x131xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x131xf32>) -> tensor<3x131xf32>
  %x1 = linalg.generic {indexing_maps = [#f,#f], iterator_types = ["parallel","parallel","parallel"]} ins(%s : tensor<3x131x131xf32>) outs(%e1 : tensor<3x131x131xf32>) {
    ^bb0(%b_a: f32, %b_o: f32): %b_t = math.tanh %b_a : f32 %b_p = math.exp %b_t : f32 linalg.yield %b_p : f32 } -> tensor<3x131x131xf32>
  %n = linalg.generic {indexing_maps = [#f,#r], iterator_types = ["parallel","parallel","reduction"]} ins(%x1 : tensor<3x131x131xf32>) outs(%z2 : tensor<3x131xf32>) { )" SUM
                  R"( } -> tensor<3x131xf32>
  %p = linalg.generic {indexing_maps = [#f,#r,#f], iterator_types = ["parallel","parallel","parallel"]} ins(%x1, %n : tensor<3x131x131xf32>, tensor<3x131xf32>) outs(%e1 : tensor<3x131x131xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_t = arith.divf %b_a, %b_b : f32 linalg.yield %b_t : f32 } -> tensor<3x131x131xf32>
  %c = linalg.generic {indexing_maps = [#cp,#cv,#co], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%p, %v : tensor<3x131x131xf32>, tensor<131x3x8xf32>) outs(%z : tensor<131x3x8xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<131x3x8xf32>
  %e3 = tensor.empty() : tensor<131x24xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<131x24xf32>) -> tensor<131x24xf32>
  %y = linalg.generic {indexing_maps = [#oa,#ow,#oo], iterator_types = ["parallel","parallel","reduction","reduction"]} ins(%c, %wo : tensor<131x3x8xf32>, tensor<3x8x24xf32>) outs(%z3 : tensor<131x24xf32>) { )" MULTIPLY_ADD
                  R"( } -> tensor<131x24xf32>
  return %y : tensor<131x24xf32>
})"},

    // Normalisation of 197 rows: reductions and maps peeled into 99 + 98.
    {"LayerNorm", R"(
#f = affine_map<(i,j) -> (i,j)>
#r = affine_map<(i,j) -> (i)>
#c = affine_map<(i,j) -> (j)>
func.func @main(%x: tensor<197x10xf32>) -> tensor<197x10xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 10.0 : f32
  %eps = arith.constant 1.0e-3 : f32
  %g = arith.constant dense<0.5> : tensor<10xf32>
  %e0 = tensor.empty() : tensor<197xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e0 : tensor<197xf32>) -> tensor<197xf32>
  %e = tensor.empty() : tensor<197x10xf32>
  %s = linalg.generic {indexing_maps = [#f,#r], iterator_types = ["parallel","reduction"]} ins(%x : tensor<197x10xf32>) outs(%z : tensor<197xf32>) { )" SUM
                  R"( } -> tensor<197xf32>
  %d = linalg.generic {indexing_maps = [#f,#r,#f], iterator_types = ["parallel","parallel"]} ins(%x, %s : tensor<197x10xf32>, tensor<197xf32>) outs(%e : tensor<197x10xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_m = arith.divf %b_b, %n : f32 %b_q = arith.subf %b_a, %b_m : f32 linalg.yield %b_q : f32 } -> tensor<197x10xf32>
  %v = linalg.generic {indexing_maps = [#f,#r], iterator_types = ["parallel","reduction"]} ins(%d : tensor<197x10xf32>) outs(%z : tensor<197xf32>) {
    ^bb0(%b_a: f32, %b_o: f32): %b_m = arith.mulf %b_a, %b_a : f32 %b_q = arith.addf %b_o, %b_m : f32 linalg.yield %b_q : f32 } -> tensor<197xf32>
  %y = linalg.generic {indexing_maps = [#f,#r,#c,#f], iterator_types = ["parallel","parallel"]} ins(%d, %v, %g : tensor<197x10xf32>, tensor<197xf32>, tensor<10xf32>) outs(%e : tensor<197x10xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_w: f32, %b_o: f32): %b_m = arith.divf %b_b, %n : f32 %b_t = arith.addf %b_m, %eps : f32 %b_u = math.rsqrt %b_t : f32 %b_p = arith.mulf %b_a, %b_u : f32 %b_q = arith.mulf %b_p, %b_w : f32 linalg.yield %b_q : f32 } -> tensor<197x10xf32>
  return %y : tensor<197x10xf32>
})"},

    // Depthwise convolution and windows of a pool with a shape-only operand and another fill than the convolution's.
    {"DepthwiseAndPool", R"(
#x = affine_map<(n,c,y,x,r,s) -> (n,c,y+r,x+s)>
#w = affine_map<(n,c,y,x,r,s) -> (c,r,s)>
#o = affine_map<(n,c,y,x,r,s) -> (n,c,y,x)>
#x2 = affine_map<(n,c,y,x,r,s) -> (n,c,y*2+r,x*2+s)>
#k = affine_map<(n,c,y,x,r,s) -> (r,s)>
#id = affine_map<(n,c,y,x) -> (n,c,y,x)>
func.func @main(%x: tensor<1x144x6x6xf32>) -> (tensor<1x144x6x6xf32>, tensor<1x144x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -3.0 : f32
  %w = arith.constant dense<0.5> : tensor<144x3x3xf32>
  %e = tensor.empty() : tensor<1x144x6x6xf32>
  %t = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%x : tensor<1x144x6x6xf32>) outs(%e : tensor<1x144x6x6xf32>) { )" SQUARE
                         R"( } -> tensor<1x144x6x6xf32>
  %p = tensor.pad %t low[0,0,1,1] high[0,0,1,1] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %zero : f32 } : tensor<1x144x6x6xf32> to tensor<1x144x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x144x6x6xf32>) -> tensor<1x144x6x6xf32>
  %d = linalg.generic {indexing_maps = [#x,#w,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction"]} ins(%p, %w : tensor<1x144x8x8xf32>, tensor<144x3x3xf32>) outs(%f : tensor<1x144x6x6xf32>) { )" MULTIPLY_ADD
                         R"( } -> tensor<1x144x6x6xf32>
  %p2 = tensor.pad %t low[0,0,1,1] high[0,0,2,2] { ^bb0(%b_a: index, %b_b: index, %b_c: index, %b_d: index): tensor.yield %low : f32 } : tensor<1x144x6x6xf32> to tensor<1x144x9x9xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %e2 = tensor.empty() : tensor<1x144x4x4xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<1x144x4x4xf32>) -> tensor<1x144x4x4xf32>
  %m = linalg.generic {indexing_maps = [#x2,#k,#o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction"]} ins(%p2, %k : tensor<1x144x9x9xf32>, tensor<3x3xf32>) outs(%f2 : tensor<1x144x4x4xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_q = arith.maximumf %b_o, %b_a : f32 linalg.yield %b_q : f32 } -> tensor<1x144x4x4xf32>
  return %d, %m : tensor<1x144x6x6xf32>, tensor<1x144x4x4xf32>
})"},

    // Squeeze and excitation: a vector over channels multiplies a map.
    {"SqueezeExcite", R"(
#id = affine_map<(n,c,y,x) -> (n,c,y,x)>
#nc = affine_map<(n,c,y,x) -> (n,c)>
#a = affine_map<(n,j,k) -> (n,k)>
#b = affine_map<(n,j,k) -> (j,k)>
#c = affine_map<(n,j,k) -> (n,j)>
func.func @main(%x: tensor<1x160x4x4xf32>) -> tensor<1x160x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<160x160xf32>
  %e0 = tensor.empty() : tensor<1x160xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x160xf32>) -> tensor<1x160xf32>
  %s = linalg.generic {indexing_maps = [#id,#nc], iterator_types = ["parallel","parallel","reduction","reduction"]} ins(%x : tensor<1x160x4x4xf32>) outs(%z0 : tensor<1x160xf32>) { )" SUM
                      R"( } -> tensor<1x160xf32>
  %g = linalg.generic {indexing_maps = [#a,#b,#c], iterator_types = ["parallel","parallel","reduction"]} ins(%s, %w : tensor<1x160xf32>, tensor<160x160xf32>) outs(%z0 : tensor<1x160xf32>) { )" MULTIPLY_ADD
                      R"( } -> tensor<1x160xf32>
  %g4 = tensor.expand_shape %g [[0],[1,2,3]] output_shape [1,160,1,1] : tensor<1x160xf32> into tensor<1x160x1x1xf32>
  %g2 = tensor.collapse_shape %g4 [[0],[1,2,3]] : tensor<1x160x1x1xf32> into tensor<1x160xf32>
  %e = tensor.empty() : tensor<1x160x4x4xf32>
  %y = linalg.generic {indexing_maps = [#id,#nc,#id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%x, %g2 : tensor<1x160x4x4xf32>, tensor<1x160xf32>) outs(%e : tensor<1x160x4x4xf32>) {
    ^bb0(%b_a: f32, %b_b: f32, %b_o: f32): %b_q = arith.mulf %b_a, %b_b : f32 linalg.yield %b_q : f32 } -> tensor<1x160x4x4xf32>
  return %y : tensor<1x160x4x4xf32>
})"},

    // Movement: concatenations along channels (uneven) and space, slices, transposes, reshapes that mix dimensions,
    // nearest upsampling as a broadcast and a reshape.
    {"Movement", R"(
#id = affine_map<(n,c,y,x) -> (n,c,y,x)>
#rep = affine_map<(n,c,y,f,x,g) -> (n,c,y,x)>
#id6 = affine_map<(n,c,y,f,x,g) -> (n,c,y,f,x,g)>
#t0 = affine_map<(a,b) -> (a,b)>
#t1 = affine_map<(a,b) -> (b,a)>
func.func @main(%x: tensor<1x20x4x4xf32>, %y: tensor<1x30x4x4xf32>) -> (tensor<1x50x8x8xf32>, tensor<16x50xf32>, tensor<1x10x4x8xf32>, tensor<40x20xf32>) {
  %e = tensor.empty() : tensor<1x20x4x4xf32>
  %e1 = tensor.empty() : tensor<1x30x4x4xf32>
  %a = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%x : tensor<1x20x4x4xf32>) outs(%e : tensor<1x20x4x4xf32>) { )" SQUARE
                 R"( } -> tensor<1x20x4x4xf32>
  %b = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y : tensor<1x30x4x4xf32>) outs(%e1 : tensor<1x30x4x4xf32>) { )" SQUARE
                 R"( } -> tensor<1x30x4x4xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<1x20x4x4xf32>, tensor<1x30x4x4xf32>) -> tensor<1x50x4x4xf32>
  %e6 = tensor.empty() : tensor<1x50x4x2x4x2xf32>
  %u = linalg.generic {indexing_maps = [#rep,#id6], iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel"]} ins(%c : tensor<1x50x4x4xf32>) outs(%e6 : tensor<1x50x4x2x4x2xf32>) { ^bb0(%b_p: f32, %b_o: f32): linalg.yield %b_p : f32 } -> tensor<1x50x4x2x4x2xf32>
  %up = tensor.collapse_shape %u [[0],[1],[2,3],[4,5]] : tensor<1x50x4x2x4x2xf32> into tensor<1x50x8x8xf32>
  %m = tensor.collapse_shape %c [[0,1],[2,3]] : tensor<1x50x4x4xf32> into tensor<50x16xf32>
  %et = tensor.empty() : tensor<16x50xf32>
  %t = linalg.transpose ins(%m : tensor<50x16xf32>) outs(%et : tensor<16x50xf32>) permutation = [1, 0]
  %s1 = tensor.extract_slice %a[0,0,0,0][1,10,4,4][1,2,1,1] : tensor<1x20x4x4xf32> to tensor<1x10x4x4xf32>
  %s2 = tensor.extract_slice %b[0,7,0,0][1,10,4,4][1,1,1,1] : tensor<1x30x4x4xf32> to tensor<1x10x4x4xf32>
  %w = tensor.concat dim(3) %s1, %s2 : (tensor<1x10x4x4xf32>, tensor<1x10x4x4xf32>) -> tensor<1x10x4x8xf32>
  %flat = tensor.collapse_shape %c [[0,1,2,3]] : tensor<1x50x4x4xf32> into tensor<800xf32>
  %mix = tensor.expand_shape %flat [[0,1]] output_shape [40,20] : tensor<800xf32> into tensor<40x20xf32>
  %em = tensor.empty() : tensor<40x20xf32>
  %z = linalg.generic {indexing_maps = [#t0,#t0], iterator_types = ["parallel","parallel"]} ins(%mix : tensor<40x20xf32>) outs(%em : tensor<40x20xf32>) { )" SQUARE
                 R"( } -> tensor<40x20xf32>
  return %up, %t, %w, %z : tensor<1x50x8x8xf32>, tensor<16x50xf32>, tensor<1x10x4x8xf32>, tensor<40x20xf32>
})"},

    // Concatenations on chip: pieces made inside the whole (columns), lanes moved by engines and by DMA (64 + 128 + 40
    // rows are two chunks of 116).
    {"Concatenations", R"(
#id = affine_map<(i,j) -> (i,j)>
#row = affine_map<(i,j) -> (i)>
func.func @main(%x: tensor<64x300xf32>, %y: tensor<128x300xf32>, %z: tensor<40x300xf32>) -> (tensor<232xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<64x300xf32>
  %ey = tensor.empty() : tensor<128x300xf32>
  %ez = tensor.empty() : tensor<40x300xf32>
  %a = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%x : tensor<64x300xf32>) outs(%ex : tensor<64x300xf32>) { )" SQUARE
                       R"( } -> tensor<64x300xf32>
  %b = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%y : tensor<128x300xf32>) outs(%ey : tensor<128x300xf32>) { )" SQUARE
                       R"( } -> tensor<128x300xf32>
  %c = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%z : tensor<40x300xf32>) outs(%ez : tensor<40x300xf32>) { )" SQUARE
                       R"( } -> tensor<40x300xf32>
  %w = tensor.concat dim(0) %a, %b, %c : (tensor<64x300xf32>, tensor<128x300xf32>, tensor<40x300xf32>) -> tensor<232x300xf32>
  %e = tensor.empty() : tensor<232xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<232xf32>) -> tensor<232xf32>
  %s = linalg.generic {indexing_maps = [#id,#row], iterator_types = ["parallel","reduction"]} ins(%w : tensor<232x300xf32>) outs(%f : tensor<232xf32>) { )" SUM
                       R"( } -> tensor<232xf32>
  %d = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%a : tensor<64x300xf32>) outs(%ex : tensor<64x300xf32>) { )" SQUARE
                       R"( } -> tensor<64x300xf32>
  %g = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%d : tensor<64x300xf32>) outs(%ex : tensor<64x300xf32>) { )" SQUARE
                       R"( } -> tensor<64x300xf32>
  %h = linalg.generic {indexing_maps = [#id,#id], iterator_types = ["parallel","parallel"]} ins(%x : tensor<64x300xf32>) outs(%ex : tensor<64x300xf32>) { )" SQUARE
                       R"( } -> tensor<64x300xf32>
  %v = tensor.concat dim(1) %g, %h : (tensor<64x300xf32>, tensor<64x300xf32>) -> tensor<64x600xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#id,#row], iterator_types = ["parallel","reduction"]} ins(%v : tensor<64x600xf32>) outs(%f1 : tensor<64xf32>) { )" SUM
                       R"( } -> tensor<64xf32>
  return %s, %t : tensor<232xf32>, tensor<64xf32>
})"},

    // An embedding: rows of a table by index, plus a table read straight.
    {"Gather", R"(
#i = affine_map<(s,d) -> (s)>
#f = affine_map<(s,d) -> (s,d)>
func.func @main(%ids: tensor<9xi32>) -> tensor<9x12xf32> {
  %table = arith.constant dense<0.5> : tensor<5x12xf32>
  %pos = arith.constant dense<0.5> : tensor<9x12xf32>
  %e = tensor.empty() : tensor<9x12xf32>
  %g = linalg.generic {indexing_maps = [#i,#f], iterator_types = ["parallel","parallel"]} ins(%ids : tensor<9xi32>) outs(%e : tensor<9x12xf32>) {
    ^bb0(%b_a: i32, %b_o: f32): %b_p = arith.index_cast %b_a : i32 to index %b_d = linalg.index 1 : index %b_q = tensor.extract %table[%b_p, %b_d] : tensor<5x12xf32> linalg.yield %b_q : f32 } -> tensor<9x12xf32>
  %y = linalg.generic {indexing_maps = [#f,#f,#f], iterator_types = ["parallel","parallel"]} ins(%g, %pos : tensor<9x12xf32>, tensor<9x12xf32>) outs(%e : tensor<9x12xf32>) { )" ADD
               R"( } -> tensor<9x12xf32>
  return %y : tensor<9x12xf32>
})"},

    // The result is an argument, twice; a fill; a scalar; a logical index over an uneven split.
    {"Odd", R"(
#f = affine_map<(i,j) -> (i,j)>
#none = affine_map<(i,j) -> ()>
func.func @main(%x: tensor<131x6xf32>) -> (tensor<131x6xf32>, tensor<131x6xf32>, tensor<f32>, tensor<131x6xf32>, tensor<131x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<131x6xf32>
  %c = linalg.fill ins(%seven : f32) outs(%e : tensor<131x6xf32>) -> tensor<131x6xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#f,#none], iterator_types = ["reduction","reduction"]} ins(%x : tensor<131x6xf32>) outs(%z0 : tensor<f32>) { )" SUM
            R"( } -> tensor<f32>
  %i = linalg.generic {indexing_maps = [#f,#f], iterator_types = ["parallel","parallel"]} ins(%x : tensor<131x6xf32>) outs(%e : tensor<131x6xf32>) {
    ^bb0(%b_a: f32, %b_o: f32): %b_r = linalg.index 0 : index %b_k = arith.index_cast %b_r : index to i32 %b_t = arith.sitofp %b_k : i32 to f32 %b_q = arith.addf %b_a, %b_t : f32 linalg.yield %b_q : f32 } -> tensor<131x6xf32>
  return %x, %x, %s, %c, %i : tensor<131x6xf32>, tensor<131x6xf32>, tensor<f32>, tensor<131x6xf32>, tensor<131x6xf32>
})"},
};

INSTANTIATE_TEST_SUITE_P(Cases, LayoutNumerics,
                         testing::Combine(testing::ValuesIn(kCases), testing::Values(trn::Residency().percent, 0u)),
                         [](const testing::TestParamInfo<std::tuple<Case, unsigned>> &info) {
                           return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "" : "InHbm");
                         });
} // namespace
