//===- ConversionTest.cpp - element types to and from fp32 --------------------===//
//
// Compares loads of every code of every type up to 16 bits, and stores of fp32 values around every rounding boundary,
// with conversion by definition in double precision; then every host path with the scalar one, at all strides.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include <algorithm>

using namespace trn;
using namespace trn::rt;

namespace {

constexpr DType kAll[] = {DType::F32,  DType::F32R, DType::BF16, DType::F16, DType::TF32,   DType::F8E3,
                          DType::F8E4, DType::F8E5, DType::F8E4FN, DType::F8E8, DType::I8,  DType::U8,
                          DType::I16,  DType::U16,  DType::I32,  DType::U32, DType::I64,    DType::U64, DType::BOOL};

std::string typeName(const testing::TestParamInfo<DType> &info) { return isa::name(info.param); }

static uint64_t codeMask(DType type) { return isa::byteSize(type) == 8 ? ~0ull : (1ull << 8 * isa::byteSize(type)) - 1; }

class Conversion : public testing::TestWithParam<DType> {};

TEST_P(Conversion, loadsEveryCode) {
  DType type = GetParam();
  std::mt19937_64 random(1);
  bool isSmall = isa::byteSize(type) <= 2;
  size_t count = isSmall ? size_t(codeMask(type)) + 1 : 100003;
  std::vector<uint8_t> bytes(count * isa::byteSize(type));
  std::vector<float> got(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = isSmall ? i : random() & codeMask(type) >> (random() % 3 ? 0 : random() % (8 * isa::byteSize(type)));
    std::memcpy(&bytes[i * isa::byteSize(type)], &bits, isa::byteSize(type));
  }
  scalarKernels().load(type, bytes.data(), isa::byteSize(type), count, got.data());
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * isa::byteSize(type)], isa::byteSize(type));
    double expected = decodeElement(type, bits);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(got[i])) << std::hex << bits;
    else
      ASSERT_EQ(float(expected), got[i]) << std::hex << bits;
  }
}

/// fp32 values of all magnitudes, all special ones, and for every code of a small type its value, the midpoint to the
/// next and that midpoint's neighbours.
std::vector<float> interesting(DType type) {
  std::mt19937 random(2);
  std::vector<float> values = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-149f, 3.4028235e38f, 240.0f, 448.0f, 464.0f, 465.0f};
  for (int i = 0; i < 60001; ++i) {
    uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, 4);
    values.push_back(value);
    values.push_back(float(int32_t(random())) / 65536.0f);
    values.push_back(std::ldexp(float(int32_t(random())), int(random() % 40) - 5));
  }
  if (isa::byteSize(type) > 2)
    return values;
  for (uint64_t code = 0; code <= codeMask(type); ++code) {
    float value = float(decodeElement(type, code)), next = float(decodeElement(type, (code + 1) & codeMask(type)));
    float middle = float((double(value) + double(next)) / 2);
    for (float x : {value, middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)})
      values.push_back(x);
  }
  return values;
}

/// All types that round to nearest; scales round to a power of two (ConversionOfScales).
std::vector<DType> roundedTypes() {
  std::vector<DType> types(std::begin(kAll), std::end(kAll));
  types.erase(std::remove(types.begin(), types.end(), DType::F8E8), types.end());
  return types;
}

class RoundedConversion : public testing::TestWithParam<DType> {};

TEST_P(RoundedConversion, storesRoundToNearestEvenAndSaturate) {
  DType type = GetParam();
  std::vector<float> values = interesting(type);
  std::vector<uint8_t> bytes(values.size() * isa::byteSize(type));
  scalarKernels().store(type, values.data(), bytes.data(), isa::byteSize(type), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * isa::byteSize(type)], isa::byteSize(type));
    ASSERT_EQ(encodeElement(type, values[i]), bits) << values[i] << std::hex << " = " << values[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Conversion, testing::ValuesIn(kAll), typeName);
INSTANTIATE_TEST_SUITE_P(Types, RoundedConversion, testing::ValuesIn(roundedTypes()), typeName);

TEST(ConversionOfScales, roundsToAPowerOfTwo) {
  const float values[] = {1.0f, 1.49f, 1.51f, 3.0f, 0x1p-127f, 0.0f, -1.0f, INFINITY};
  const uint8_t expected[] = {127, 127, 128, 128, 0, 255, 255, 255};
  uint8_t got[8];
  scalarKernels().store(DType::F8E8, values, got, 1, 8);
  // 3 is half way between 2 and 4: to the even exponent code.
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(int(expected[i]), int(got[i])) << values[i];
}

class ConversionPaths : public HostPathTest {};

TEST_P(ConversionPaths, equalTheScalarPathBitForBit) {
  for (DType type : kAll) {
    std::vector<float> values = interesting(type);
    int64_t bytes = isa::byteSize(type);
    for (int64_t stride : {bytes, 2 * bytes, 3 * bytes, -bytes, int64_t(0)}) {
      size_t n = values.size();
      std::vector<uint8_t> expected(n * 3 * bytes + 64, 0xa5), got = expected;
      int64_t start = stride < 0 ? int64_t(n - 1) * bytes : 0;
      scalarKernels().store(type, values.data(), expected.data() + start, stride, n);
      kernels().store(type, values.data(), got.data() + start, stride, n);
      ASSERT_EQ(expected, got) << isa::name(type) << " stride " << stride;
      std::vector<float> left(n), right(n);
      scalarKernels().load(type, got.data() + start, stride, n, left.data());
      kernels().load(type, got.data() + start, stride, n, right.data());
      expectSameBits(left, right, isa::name(type));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, ConversionPaths, testing::ValuesIn(vectorPaths()), pathName);

} // namespace
