//===- Compare.cpp - are two tensors the same within a tolerance? ---------===//
#include "compiler/tools/trnc/Compare.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

namespace trn::driver {

using rt::DataType;

template <class T> static double read(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

static double readFloat(const llvm::fltSemantics &semantics, uint64_t bits, unsigned width) {
  llvm::APFloat value(semantics, llvm::APInt(width, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

static double element(const rt::HostTensor &tensor, int64_t i) {
  const uint8_t *at = tensor.bytes.data() + i * rt::byteSize(tensor.type);
  switch (tensor.type) {
  case DataType::Float32:
    return read<float>(at);
  case DataType::Float64:
    return read<double>(at);
  case DataType::Int8:
    return read<int8_t>(at);
  case DataType::UInt8:
  case DataType::Bool:
    return read<uint8_t>(at);
  case DataType::Int16:
    return read<int16_t>(at);
  case DataType::UInt16:
    return read<uint16_t>(at);
  case DataType::Int32:
    return read<int32_t>(at);
  case DataType::UInt32:
    return read<uint32_t>(at);
  case DataType::Int64:
    return read<int64_t>(at);
  case DataType::UInt64:
    return read<uint64_t>(at);
  case DataType::Float16:
    return readFloat(llvm::APFloat::IEEEhalf(), static_cast<uint64_t>(read<uint16_t>(at)), 16);
  case DataType::BFloat16:
    return readFloat(llvm::APFloat::BFloat(), static_cast<uint64_t>(read<uint16_t>(at)), 16);
  case DataType::Float8E4M3FN:
    return readFloat(llvm::APFloat::Float8E4M3FN(), *at, 8);
  case DataType::Float8E5M2:
    return readFloat(llvm::APFloat::Float8E5M2(), *at, 8);
  case DataType::Float8E4M3FNUZ:
    return readFloat(llvm::APFloat::Float8E4M3FNUZ(), *at, 8);
  case DataType::Float8E5M2FNUZ:
    return readFloat(llvm::APFloat::Float8E5M2FNUZ(), *at, 8);
  case DataType::Float8E8M0:
    return readFloat(llvm::APFloat::Float8E8M0FNU(), *at, 8);
  case DataType::Float4E2M1:
    return readFloat(llvm::APFloat::Float4E2M1FN(), *at, 4);
  case DataType::Int4:
  case DataType::Int2:
    return read<int8_t>(at);
  case DataType::UInt4:
  case DataType::UInt2:
    return *at;
  case DataType::Undefined:
    return 0;
  }
  return 0;
}

std::vector<double> asDoubles(const rt::HostTensor &tensor) {
  std::vector<double> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = element(tensor, static_cast<int64_t>(i));
  return values;
}

static bool isFloat(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::Int2:
  case DataType::Int4:
  case DataType::Int8:
  case DataType::Int16:
  case DataType::Int32:
  case DataType::Int64:
  case DataType::UInt2:
  case DataType::UInt4:
  case DataType::UInt8:
  case DataType::UInt16:
  case DataType::UInt32:
  case DataType::UInt64:
    return false;
  default:
    return true;
  }
}

/// An element as its type writes it; doubles do not have all integers of 64 bits.
static std::string elementText(const rt::HostTensor &tensor, int64_t i) {
  const uint8_t *at = tensor.bytes.data() + i * rt::byteSize(tensor.type);
  if (tensor.type == DataType::Int64 || tensor.type == DataType::UInt64) {
    uint64_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return tensor.type == DataType::Int64 ? std::to_string(static_cast<int64_t>(bits)) : std::to_string(bits);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(tensor.type == DataType::Float64 ? "%.17g" : "%.9g",
                                                 element(tensor, i));
  return text;
}

Comparison compare(const rt::HostTensor &got, const rt::HostTensor &want, const Tolerance &tolerance) {
  Comparison result;
  auto describe = [](const rt::HostTensor &tensor) {
    std::string text = rt::dataTypeName(tensor.type);
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      text += (i ? "x" : " ") + std::to_string(tensor.shape[i]);
    return text;
  };
  if (got.type != want.type || got.shape != want.shape) {
    result.text = "expected " + describe(want) + " but got " + describe(got);
    return result;
  }
  const bool mayDiffer = isFloat(want.type) || tolerance.ofIntegers;
  const unsigned bytes = rt::byteSize(want.type);
  int64_t first = -1;
  for (int64_t i = 0; i < want.elements(); ++i) {
    double a = element(got, i), b = element(want, i);
    if (std::isfinite(b))
      result.largestValue = std::fmax(result.largestValue, std::fabs(b));
    if (isFloat(want.type) ? a == b || (std::isnan(a) && std::isnan(b))
                           : std::memcmp(&got.bytes[i * bytes], &want.bytes[i * bytes], bytes) == 0)
      continue;
    double difference = std::fabs(a - b);
    if (std::isfinite(difference))
      result.largestDifference = std::fmax(result.largestDifference, difference);
    // Of an infinity every difference is within rtol.
    if (mayDiffer && std::isfinite(b) && difference <= tolerance.atol + tolerance.rtol * std::fabs(b))
      continue;
    if (result.wrong++ == 0)
      first = i;
  }
  result.equal = result.wrong == 0;
  result.text = llvm::formatv("largest difference {0:e2}, largest value {1:e2}", result.largestDifference,
                              result.largestValue)
                    .str();
  if (!result.equal)
    result.text += llvm::formatv("; {0} of {1} elements {2}, first at {3}: expected {4} but got {5}", result.wrong,
                                 want.elements(), mayDiffer ? "outside the tolerance" : "differ", first,
                                 elementText(want, first), elementText(got, first))
                       .str();
  return result;
}

} // namespace trn::driver
