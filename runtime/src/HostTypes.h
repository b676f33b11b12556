//===- HostTypes.h - element types of the host and of the device ----------===//
//
// Owns the conversion between what a caller sees of an input or output and what lies in device memory. Narrowing is
// checked value by value; nothing is narrowed silently.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "dialects/Trn/ISA/ISA.h"
#include "runtime/src/TensorFile.h"

namespace trn::rt {

/// The host's name of a device type; Undefined for types that no caller sees.
DataType hostType(isa::DType type);

/// Copies `elements` elements from host memory to device memory, converting `host` to `device`. `what` names the tensor
/// in errors. Conversions: equal types; int64 to int32 and uint64 to uint32 (a value that does not fit is an error);
/// bool to and from 8-bit integers (any non-zero is 1); integers of less than a byte to bytes; floats of at most 8 bits to
/// fp16 (powers of two to bf16), which have all their values.
absl::Status toDevice(const void *from, isa::DType host, void *to, isa::DType device, uint64_t elements,
                      const std::string &what);
/// The way back. Small floats must be exact there: rounding is the program's work.
absl::Status toHost(const void *from, isa::DType device, void *to, isa::DType host, uint64_t elements,
                    const std::string &what);

} // namespace trn::rt
