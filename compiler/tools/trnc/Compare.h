//===- Compare.h - are two tensors the same within a tolerance? -----------===//
#pragma once
#include "runtime/src/TensorFile.h"
#include <string>

namespace trn::driver {

/// How two tensors compare. Types and shapes must be exact; values satisfy |got - want| <= atol + rtol * |want|, equal
/// infinities and NaNs count as equal (the ONNX suite's rule).
struct Comparison {
  bool equal = false;
  double largestDifference = 0; ///< absolute
  double largestValue = 0;      ///< of `want`, absolute
  int64_t wrong = 0;            ///< elements outside the tolerance
  std::string text;             ///< one sentence
};
Comparison compare(const rt::HostTensor &got, const rt::HostTensor &want, double rtol, double atol);

/// The elements as doubles; empty for types without an order.
std::vector<double> asDoubles(const rt::HostTensor &tensor);

} // namespace trn::driver
