//===- HostPaths.h - tests that run once per host path ------------------------===//
//
// Owns the parameterisation over host paths: a path that this processor lacks is skipped with a message, never counted
// as passed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/emulator/HostPath.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace trn::rt {

inline std::vector<HostPath> vectorPaths() { return {HostPath::Avx2, HostPath::Avx512, HostPath::Amx}; }
inline std::vector<HostPath> allPaths() {
  return {HostPath::Scalar, HostPath::Avx2, HostPath::Avx512, HostPath::Amx, HostPath::AmxModel};
}
inline std::string pathName(const testing::TestParamInfo<HostPath> &info) { return name(info.param); }

class HostPathTest : public testing::TestWithParam<HostPath> {
protected:
  void SetUp() override {
    if (!isSupported(GetParam()))
      GTEST_SKIP() << "left out: this processor has no " << name(GetParam());
  }
  const Kernels &kernels() const { return kernelsOf(GetParam()); }
};

/// Equal bits; of NaNs only that both are NaN, because the rows kernels leave canonicalisation to the store.
inline void expectSameBits(const std::vector<float> &expected, const std::vector<float> &got, const char *what) {
  ASSERT_EQ(expected.size(), got.size());
  size_t different = 0, first = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    bool same = std::memcmp(&expected[i], &got[i], sizeof(float)) == 0 ||
                (std::isnan(expected[i]) && std::isnan(got[i]));
    if (!same && different++ == 0)
      first = i;
  }
  EXPECT_EQ(different, 0u) << what << ": first at " << first << ", expected " << expected[first] << " but got "
                           << got[first];
}

} // namespace trn::rt
