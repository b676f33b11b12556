//===- TensorFile.h - tensors in .npy, .npz and .pb files -----------------===//
//
// Owns reading and writing tensors at the host's border: NumPy's .npy and .npz, and ONNX's TensorProto, SequenceProto
// and OptionalProto (.pb). The format follows from the file's ending. Files are hostile until read: sizes are limited
// by the file, and every problem is an error that names the file. Refuses: object and structured dtypes, strings,
// complex numbers, big-endian .npy data.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trn::rt {

/// Element types at the host's border; the values are ONNX's TensorProto.DataType.
enum class DataType : uint8_t {
  Undefined = 0,
#define TRN_DATA_TYPE(name, code, bits, packed, text, numpy) name = code,
#include "runtime/src/DataTypes.def"
};

/// Bytes per element.
unsigned byteSize(DataType type);
/// NumPy's name of the type, for example "float32".
const char *dataTypeName(DataType type);
/// Whether NumPy has the type; the others come with the Python package ml_dtypes.
bool isNumpyType(DataType type);

/// A dense tensor in host memory, row major, little endian. Types of less than a byte take one byte per element, with the
/// sign extended.
struct HostTensor {
  std::string name;
  DataType type = DataType::Undefined;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  /// Number of elements: the product of the shape.
  int64_t elements() const;
};

/// What a file holds: one tensor (.npy, TensorProto), named tensors (.npz), a sequence or an optional value (.pb).
struct TensorFile {
  enum class Kind : uint8_t { Tensor, Named, Sequence, Optional } kind = Kind::Tensor;
  std::vector<HostTensor> tensors; ///< an absent optional has none
};

/// Reads a .npy, .npz or .pb file. `expected` (may be Undefined) decides between types that .npy cannot tell apart
/// (V1 and V2 raw data). A .pb file is read as TensorProto, then SequenceProto, then OptionalProto.
absl::StatusOr<TensorFile> readTensorFile(const std::string &path, DataType expected = DataType::Undefined);

/// Writes `file` in the format of the ending of `path`: .npy takes exactly one tensor, .npz any number of named ones,
/// .pb by kind. Writes to a temporary name beside `path` first, so that nothing half-written is left.
absl::Status writeTensorFile(const std::string &path, const TensorFile &file);

/// The same on bytes in memory; `what` names the source in errors.
absl::StatusOr<HostTensor> parseNpy(absl::Span<const uint8_t> bytes, const std::string &what, DataType expected);
absl::StatusOr<TensorFile> parseNpz(absl::Span<const uint8_t> bytes, const std::string &what, DataType expected);
/// `file` as a .npz: stored members with checksums and a fixed time stamp, so that the same tensors give the same bytes.
/// Sizes and offsets of `zip64From` and more, and counts that do not fit 16 bits, are written as zip64 does.
std::vector<uint8_t> npzBytes(const TensorFile &file, uint64_t zip64From = 0xffffffff);
absl::StatusOr<TensorFile> parseProto(absl::Span<const uint8_t> bytes, const std::string &what);

} // namespace trn::rt
