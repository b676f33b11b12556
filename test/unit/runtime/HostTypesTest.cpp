//===- HostTypesTest.cpp - types of callers and of the device ---------------===//
#include "runtime/src/HostTypes.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace trn;
using isa::DType;

namespace {

/// fp16 of the code of a small float.
uint16_t wide(DType host, uint8_t code, DType device = DType::F16) {
  uint16_t value = 0;
  EXPECT_TRUE(rt::toDevice(&code, host, &value, device, 1, "x").ok());
  return value;
}

TEST(HostTypes, SmallFloatsHaveTheirValues) {
  EXPECT_EQ(wide(DType::F8E4FN, 0x7E), 0x5F00);   // 448, the largest
  EXPECT_EQ(wide(DType::F8E4FN, 0x01), 0x1800);   // 2^-9, the smallest
  EXPECT_EQ(wide(DType::F8E4FN, 0xFF), 0xFE00);   // NaN
  EXPECT_EQ(wide(DType::F8E4FNUZ, 0x7F), 0x5B80); // 240
  EXPECT_EQ(wide(DType::F8E4FNUZ, 0x80) & 0x7C00, 0x7C00); // the code of -0 is NaN
  EXPECT_EQ(wide(DType::F8E5, 0x7B), 0x7B00);     // 57344
  EXPECT_EQ(wide(DType::F8E5, 0xFC), 0xFC00);     // -infinity
  EXPECT_EQ(wide(DType::F8E5FNUZ, 0x01), 0x0080); // 2^-17
  EXPECT_EQ(wide(DType::F4E2, 0x07), 0x4600);     // 6
  EXPECT_EQ(wide(DType::F4E2, 0x09), 0xB800);     // -0.5
  EXPECT_EQ(wide(DType::F8E8, 0x7F, DType::BF16), 0x3F80);
  EXPECT_EQ(wide(DType::F8E8, 0x00, DType::BF16), 0x0040); // 2^-127
}

TEST(HostTypes, SmallFloatsComeBack) {
  for (DType host : {DType::F8E4FN, DType::F8E4FNUZ, DType::F8E5, DType::F8E5FNUZ, DType::F4E2, DType::F8E8}) {
    DType device = host == DType::F8E8 ? DType::BF16 : DType::F16;
    for (unsigned code = 0, codes = host == DType::F4E2 ? 16 : 256; code < codes; ++code) {
      uint16_t value = wide(host, static_cast<uint8_t>(code), device);
      uint8_t back = 0;
      ASSERT_TRUE(rt::toHost(&value, device, &back, host, 1, "y").ok()) << isa::name(host) << " " << code;
      EXPECT_EQ(wide(host, back, device), value) << isa::name(host) << " " << code;
    }
  }
}

TEST(HostTypes, WhatTheProgramDidNotRoundIsADefect) {
  uint16_t third = 0x3555;
  uint8_t back = 0;
  EXPECT_FALSE(rt::toHost(&third, DType::F16, &back, DType::F8E4FN, 1, "y").ok());
}

} // namespace
