#include "passes/Encode/WeightStream.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace trn;

namespace {

std::vector<float> floats(const WeightStream &stream, uint64_t offset, uint64_t count) {
  std::vector<float> values(count);
  EXPECT_TRUE(stream.read(offset, reinterpret_cast<char *>(values.data()), count * 4));
  return values;
}

class WeightStreamTest : public ::testing::Test {
protected:
  Constant constant(ArrayRef<int64_t> shape, ArrayRef<float> values) {
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return *Constant::get(cast<ElementsAttr>(DenseElementsAttr::get(type, values)));
  }
  MLIRContext context;
  Builder builder{&context};
  WeightStream stream;
};

TEST_F(WeightStreamTest, TransformsApplyWhileReading) {
  Constant value = constant({2, 3}, {1, 2, 3, 4, 5, 6});
  WeightTransforms transforms(value.type());
  ASSERT_TRUE(succeeded(transforms.transpose({1, 0})));
  EXPECT_EQ(stream.add(value, transforms), 0u);
  EXPECT_EQ(floats(stream, 0, 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(floats(stream, 8, 3), (std::vector<float>{2, 5, 3}));
}

TEST_F(WeightStreamTest, AnyPieceEqualsTheWhole) {
  for (int64_t rows : {3, 5, 40}) {
    std::vector<float> values(rows * 7);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i) + 0.5f * rows;
    Constant value = constant({rows, 7}, values);
    WeightTransforms transforms(value.type());
    ASSERT_TRUE(succeeded(transforms.pad({1, 1})));
    stream.add(value, transforms);
  }
  std::vector<char> whole(stream.bytes());
  ASSERT_TRUE(stream.read(0, whole.data(), whole.size()));
  for (uint64_t size : {1, 3, 64, 333})
    for (uint64_t offset = 0; offset + size <= stream.bytes(); offset += size) {
      std::vector<char> piece(size);
      ASSERT_TRUE(stream.read(offset, piece.data(), size));
      EXPECT_EQ(std::memcmp(piece.data(), whole.data() + offset, size), 0) << size << " at " << offset;
    }
}

TEST_F(WeightStreamTest, SplatsAreWrittenOut) {
  Constant value = constant({1000}, {2.5f});
  ASSERT_TRUE(value.isSplat());
  stream.add(value, WeightTransforms(value.type()));
  EXPECT_EQ(floats(stream, 4 * 990, 10), std::vector<float>(10, 2.5f));
}

TEST_F(WeightStreamTest, WeightsAreAlignedAndGapsAreZero) {
  Constant value = constant({1}, {1.0f});
  EXPECT_EQ(stream.add(value, WeightTransforms(value.type())), 0u);
  EXPECT_EQ(stream.add(value, WeightTransforms(value.type())), 64u);
  EXPECT_EQ(floats(stream, 4, 16), (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST_F(WeightStreamTest, ReadsBeyondTheEndFail) {
  Constant value = constant({2}, {1.0f, 2.0f});
  stream.add(value, WeightTransforms(value.type()));
  char out[16];
  EXPECT_FALSE(stream.read(4, out, 8));
  EXPECT_FALSE(stream.read(~uint64_t(0), out, 8));
}

} // namespace
