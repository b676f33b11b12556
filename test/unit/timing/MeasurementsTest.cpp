//===- MeasurementsTest.cpp - the cost model against measured hardware -------===//
//
// Holds the cost model to the published measurements: median error at most 10 %, every row that is off by more than
// 10 % explained, and the committed page equal to what the tool writes.
//
//===----------------------------------------------------------------------===//
#include "runtime/timing/Measurements.h"
#include "gtest/gtest.h"
#include <cmath>
#include <fstream>
#include <sstream>

using namespace trn::rt;

TEST(Measurements, MedianErrorIsWithinTenPercent) {
  const std::vector<Measurement> rows = compareWithMeasurements();
  EXPECT_GE(rows.size(), 80u);
  EXPECT_LE(medianError(rows), 0.10);
  RecordProperty("median_error_percent", std::to_string(100 * medianError(rows)));
}

TEST(Measurements, LargeErrorsAreExplained) {
  for (const Measurement &row : compareWithMeasurements()) {
    ASSERT_GT(row.measured, 0) << row.what;
    ASSERT_GT(row.predicted, 0) << row.what;
    if (std::abs(row.error()) > 0.10)
      EXPECT_STRNE(row.explanation, "") << row.what << ": measured " << row.measured << ", predicted " << row.predicted;
    else
      EXPECT_STREQ(row.explanation, "") << row.what << " needs no excuse";
  }
}

TEST(Measurements, CommittedPageIsCurrent) {
  std::ifstream file(TRN_SOURCE_DIR "/docs/generated/cost-model.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), costModelPage()) << "run: cmake --build --preset release --target cost-model-docs";
}
