//===- Accuracy.h - how exact a scalar operation is -----------------------===//
//
// Owns what Accuracy.td states, as data.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace trn {

struct Accuracy {
  double ulps = 0;   ///< the largest error, in units in the last place of the fp32 result
  double scale = 0;  ///< results of a smaller magnitude are as exact as this
  bool ofNan = true; ///< false where a result for NaN differs from the function's
};

} // namespace trn
