//===- Compare.h - are two tensors the same within a tolerance? -----------===//
#pragma once
#include "runtime/src/TensorFile.h"
#include <string>

namespace trn::driver {

/// What is near enough: |got - want| <= atol + rtol * |want|. Integers must be equal unless the caller says otherwise.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-7; ///< the ONNX suite's
  bool ofIntegers = false;
};

/// How two tensors compare. Types and shapes must be exact; finite floats are within the tolerance; infinities and NaNs are
/// equal to themselves alone.
struct Comparison {
  bool equal = false;
  double largestDifference = 0; ///< absolute
  double largestValue = 0;      ///< of `want`, absolute
  int64_t wrong = 0;            ///< elements outside the tolerance
  std::string text;             ///< one sentence
};
Comparison compare(const rt::HostTensor &got, const rt::HostTensor &want, const Tolerance &tolerance);

/// The elements as doubles; empty for types without an order.
std::vector<double> asDoubles(const rt::HostTensor &tensor);

} // namespace trn::driver
