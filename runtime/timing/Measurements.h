//===- Measurements.h - the cost model against measured hardware -------------===//
//
// Owns the published measurements of single instructions, transfers and small kernels (device guide part 2 and §5), and
// what the cost model or the simulation predicts for each. The generated page docs/generated/cost-model.md and a test
// read it. It fits nothing: constants live in Devices.td.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <string>
#include <vector>

namespace trn::rt {

struct Measurement {
  const char *group;
  std::string what;
  const char *device;
  const char *source; ///< section of the device guide
  const char *unit;
  double measured, predicted;
  const char *explanation = ""; ///< why the two differ, where they do

  /// Signed, relative to the measured value.
  double error() const { return (predicted - measured) / measured; }
};

/// All rows, in the order of the page.
std::vector<Measurement> compareWithMeasurements();
/// Median of the absolute relative errors, exceptions included.
double medianError(const std::vector<Measurement> &rows);
/// The page, in Markdown.
std::string costModelPage();

} // namespace trn::rt
