//===- ScalarFormulas.h - words of the formulas in ScalarFunctions.def ----===//
//
// Owns what several rows of ScalarFunctions.def are written with. Included by those who compile the rows.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cmath>
#include <limits>

namespace trn::isa {

/// log(1 + e^x)
template <typename T> T softplus(T x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// `value` of a function of x that x pulls to 0 on the left: its limit at minus infinity, where the formula has none.
template <typename T> T vanishing(T x, double value) {
  return x == -std::numeric_limits<T>::infinity() ? T(0) : static_cast<T>(value);
}

} // namespace trn::isa
