//===- TensorFuzz.cpp - fuzzing the readers of tensor files ---------------===//
//
// Feeds any bytes to the readers of .npy, .npz and .pb files. What is read must be whole, and must be read again after
// it is written.
//
//===----------------------------------------------------------------------===//
#include "runtime/src/TensorFile.h"

using namespace trn::rt;

static void judge(const HostTensor &tensor) {
  if (static_cast<uint64_t>(tensor.elements()) * byteSize(tensor.type) != tensor.bytes.size())
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  absl::Span<const uint8_t> bytes(data, size);
  if (absl::StatusOr<HostTensor> tensor = parseNpy(bytes, "x.npy", DataType::Undefined); tensor.ok())
    judge(*tensor);
  if (absl::StatusOr<TensorFile> file = parseProto(bytes, "x.pb"); file.ok())
    for (const HostTensor &tensor : file->tensors)
      judge(tensor);
  absl::StatusOr<TensorFile> file = parseNpz(bytes, "x.npz", DataType::Undefined);
  if (!file.ok())
    return 0;
  for (const HostTensor &tensor : file->tensors)
    judge(tensor);
  absl::StatusOr<TensorFile> again = parseNpz(npzBytes(*file, size % 7 ? 0xffffffff : 0), "y.npz", DataType::Undefined);
  if (!again.ok() || again->tensors.size() != file->tensors.size())
    __builtin_trap();
  return 0;
}
