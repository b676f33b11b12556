//===- WeightTransformsTest.cpp - lazy transforms against eager ones -------===//
#include "compiler/Weights/Transforms.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace mlir;
using trn::WeightTransforms;

namespace {
/// A tensor of consecutive numbers and the transforms applied to it eagerly, one after the other.
struct Eager {
  SmallVector<int64_t> shape;
  std::vector<float> values;

  explicit Eager(ArrayRef<int64_t> dims)
      : shape(dims), values(std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>())) {
    std::iota(values.begin(), values.end(), 1.0f);
  }
  SmallVector<int64_t> index(int64_t linear) const {
    SmallVector<int64_t> result(shape.size());
    for (size_t dim = shape.size(); dim-- > 0; linear /= shape[dim])
      result[dim] = linear % shape[dim];
    return result;
  }
  float at(ArrayRef<int64_t> position) const {
    int64_t linear = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (position[dim] >= shape[dim])
        return 0;
      linear = linear * shape[dim] + position[dim];
    }
    return values[linear];
  }
  template <typename Source> void rebuild(ArrayRef<int64_t> newShape, Source source) {
    Eager result(newShape);
    for (size_t i = 0; i < result.values.size(); ++i)
      result.values[i] = at(source(result.index(i)));
    *this = result;
  }
  void reshape(ArrayRef<int64_t> newShape) { shape.assign(newShape.begin(), newShape.end()); }
  void transpose(ArrayRef<int64_t> permutation) {
    SmallVector<int64_t> newShape;
    for (int64_t from : permutation)
      newShape.push_back(shape[from]);
    rebuild(newShape, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> position(index.size());
      for (size_t dim = 0; dim < index.size(); ++dim)
        position[permutation[dim]] = index[dim];
      return position;
    });
  }
  void pad(ArrayRef<int64_t> high) {
    SmallVector<int64_t> newShape(shape);
    for (size_t dim = 0; dim < high.size(); ++dim)
      newShape[dim] += high[dim];
    rebuild(newShape, [](ArrayRef<int64_t> index) { return SmallVector<int64_t>(index); });
  }
  void slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
    rebuild(sizes, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> position;
      for (size_t dim = 0; dim < index.size(); ++dim)
        position.push_back(offsets[dim] + index[dim] * strides[dim]);
      return position;
    });
  }
};

class Transforms : public testing::Test {
protected:
  /// Compares the whole result and every range of it of a few lengths; also after a round trip through the attribute.
  void expectEqual(ArrayRef<int64_t> source, const WeightTransforms &lazy, const Eager &eager) {
    ASSERT_EQ(lazy.shape(), eager.shape);
    Eager original(source);
    ArrayRef<char> bytes(reinterpret_cast<const char *>(original.values.data()),
                         original.values.size() * sizeof(float));
    FailureOr<WeightTransforms> parsed =
        WeightTransforms::get(RankedTensorType::get(source, Float32Type::get(&context)), lazy.toAttribute(&context),
                              [&] { return emitError(UnknownLoc::get(&context)); });
    ASSERT_TRUE(succeeded(parsed));
    for (const WeightTransforms &transforms : {lazy, *parsed})
      for (int64_t length : {int64_t(1), int64_t(5), lazy.elements()})
        for (int64_t begin = 0; begin + length <= lazy.elements(); begin += length) {
          std::vector<float> out(length, -1.0f);
          ASSERT_TRUE(succeeded(transforms.materialize(bytes, begin, length, reinterpret_cast<char *>(out.data()))));
          for (int64_t i = 0; i < length; ++i)
            ASSERT_EQ(out[i], eager.values[begin + i]) << "element " << begin + i;
        }
  }
  WeightTransforms lazyOf(ArrayRef<int64_t> shape) {
    return WeightTransforms(RankedTensorType::get(shape, Float32Type::get(&context)));
  }
  MLIRContext context;
};
} // namespace

TEST_F(Transforms, ConvolutionWeightsAreSplitAndTransposed) {
  WeightTransforms lazy = lazyOf({8, 6, 3, 2});
  Eager eager({8, 6, 3, 2});
  ASSERT_TRUE(succeeded(lazy.reshape({2, 4, 3, 2, 3, 2})));
  eager.reshape({2, 4, 3, 2, 3, 2});
  ASSERT_TRUE(succeeded(lazy.transpose({3, 0, 2, 4, 5, 1})));
  eager.transpose({3, 0, 2, 4, 5, 1});
  expectEqual({8, 6, 3, 2}, lazy, eager);
}

TEST_F(Transforms, UnevenSplitsReadZeros) {
  WeightTransforms lazy = lazyOf({7, 5});
  Eager eager({7, 5});
  ASSERT_TRUE(succeeded(lazy.pad({1, 3})));
  eager.pad({1, 3});
  ASSERT_TRUE(succeeded(lazy.reshape({2, 4, 4, 2})));
  eager.reshape({2, 4, 4, 2});
  ASSERT_TRUE(succeeded(lazy.transpose({3, 0, 2, 1})));
  eager.transpose({3, 0, 2, 1});
  expectEqual({7, 5}, lazy, eager);
}

TEST_F(Transforms, SlicesCanBePaddedAndStrided) {
  WeightTransforms lazy = lazyOf({9, 10});
  Eager eager({9, 10});
  ASSERT_TRUE(succeeded(lazy.slice({1, 2}, {4, 3}, {2, 2})));
  eager.slice({1, 2}, {4, 3}, {2, 2});
  ASSERT_TRUE(succeeded(lazy.pad({2, 1})));
  eager.pad({2, 1});
  ASSERT_TRUE(succeeded(lazy.reshape({3, 2, 4})));
  eager.reshape({3, 2, 4});
  expectEqual({9, 10}, lazy, eager);
}

TEST_F(Transforms, ContiguousDimensionsMergeAndSplitAgain) {
  WeightTransforms lazy = lazyOf({4, 6});
  Eager eager({4, 6});
  ASSERT_TRUE(succeeded(lazy.reshape({24})));
  ASSERT_TRUE(succeeded(lazy.reshape({3, 1, 8})));
  eager.reshape({3, 1, 8});
  ASSERT_TRUE(succeeded(lazy.transpose({2, 0, 1})));
  eager.transpose({2, 0, 1});
  expectEqual({4, 6}, lazy, eager);
}

TEST_F(Transforms, DroppedSlicesKeepTheirOffset) {
  WeightTransforms lazy = lazyOf({5, 4, 3});
  Eager eager({5, 4, 3});
  ASSERT_TRUE(succeeded(lazy.slice({2, 0, 0}, {1, 4, 3}, {1, 1, 1})));
  eager.slice({2, 0, 0}, {1, 4, 3}, {1, 1, 1});
  ASSERT_TRUE(succeeded(lazy.reshape({4, 3})));
  eager.reshape({4, 3});
  ASSERT_TRUE(succeeded(lazy.transpose({1, 0})));
  eager.transpose({1, 0});
  expectEqual({5, 4, 3}, lazy, eager);
}

TEST_F(Transforms, TransposedDimensionsMerge) {
  WeightTransforms lazy = lazyOf({5, 3, 2, 4});
  Eager eager({5, 3, 2, 4});
  ASSERT_TRUE(succeeded(lazy.transpose({0, 2, 1, 3})));
  eager.transpose({0, 2, 1, 3});
  ASSERT_TRUE(succeeded(lazy.reshape({5, 6, 4})));
  eager.reshape({5, 6, 4});
  ASSERT_TRUE(succeeded(lazy.transpose({1, 2, 0})));
  eager.transpose({1, 2, 0});
  expectEqual({5, 3, 2, 4}, lazy, eager);
  ASSERT_TRUE(succeeded(lazy.reshape({2, 3, 2, 10})));
  eager.reshape({2, 3, 2, 10});
  expectEqual({5, 3, 2, 4}, lazy, eager);
}

TEST_F(Transforms, ScalarsGainDimensions) {
  WeightTransforms lazy = lazyOf({});
  Eager eager({});
  ASSERT_TRUE(succeeded(lazy.reshape({1, 1})));
  eager.reshape({1, 1});
  expectEqual({}, lazy, eager);
}

TEST_F(Transforms, CastsRoundToNearestEven) {
  WeightTransforms lazy = lazyOf({4});
  ASSERT_TRUE(succeeded(lazy.cast(BFloat16Type::get(&context))));
  // 1 + 2^-8 lies halfway between two bf16 numbers, 1 + 3 * 2^-8 as well: to the even one each.
  const float values[] = {1.0f + 1.0f / 256, 1.0f + 3.0f / 256, -2.5f, 3.0f};
  uint16_t out[4];
  ASSERT_TRUE(succeeded(
      lazy.materialize({reinterpret_cast<const char *>(values), sizeof(values)}, 0, 4, reinterpret_cast<char *>(out))));
  EXPECT_EQ(out[0], 0x3F80);
  EXPECT_EQ(out[1], 0x3F82);
  EXPECT_EQ(out[2], 0xC020);
  EXPECT_EQ(out[3], 0x4040);
}

TEST_F(Transforms, WhatDoesNotFitIsRefused) {
  EXPECT_TRUE(failed(lazyOf({4, 6}).reshape({5, 5})));
  EXPECT_TRUE(failed(lazyOf({4, 6}).transpose({0, 0})));
  EXPECT_TRUE(failed(lazyOf({4, 6}).pad({-1, 0})));
  EXPECT_TRUE(failed(lazyOf({4, 6}).slice({2, 0}, {3, 6}, {1, 1})));
  // A cut through the middle of what a transpose put together.
  WeightTransforms torn = lazyOf({4, 6});
  ASSERT_TRUE(succeeded(torn.transpose({1, 0})));
  EXPECT_TRUE(failed(torn.reshape({4, 6})));
  // Zeros behind, or a part of, a dimension of several factors.
  ASSERT_TRUE(succeeded(torn.reshape({24})));
  EXPECT_TRUE(failed(torn.pad({1})));
  EXPECT_TRUE(failed(torn.slice({0}, {5}, {1})));
  // Zeros between the elements of one axis.
  WeightTransforms split = lazyOf({8});
  ASSERT_TRUE(succeeded(split.reshape({2, 4})));
  EXPECT_TRUE(failed(split.pad({0, 1})));
  // The source is too short.
  const float value = 1;
  char out[16];
  EXPECT_TRUE(failed(lazyOf({4}).materialize({reinterpret_cast<const char *>(&value), sizeof(value)}, 0, 4, out)));
}

TEST_F(Transforms, DamagedAttributesAreErrors) {
  Builder builder(&context);
  auto type = RankedTensorType::get({4, 6}, Float32Type::get(&context));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto read = [&](Attribute step) {
    return WeightTransforms::get(type, builder.getArrayAttr(step),
                                 [&] { return emitError(UnknownLoc::get(&context)); });
  };
  EXPECT_TRUE(failed(read(builder.getUnitAttr())));
  EXPECT_NE(message.find("transform #0"), std::string::npos);
  EXPECT_TRUE(
      failed(read(builder.getDictionaryAttr(builder.getNamedAttr("reshape", builder.getDenseI64ArrayAttr({0, 24}))))));
  EXPECT_TRUE(failed(read(builder.getDictionaryAttr(builder.getNamedAttr("transpose", builder.getStringAttr("x"))))));
}
