//===- WireSkeleton.h - a model's bytes without its weights ---------------===//
//
// Owns the pass over a model's wire format that takes the raw data of large tensors out, so that protobuf parses a few
// kilobytes while weights stay where the file is mapped. Refuses bytes that are not well-formed wire format, and
// nesting deeper than any real model's.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace trn {

/// A model's wire bytes, and the tensor data that was taken out of them. A tensor without its data carries the number
/// of its payload plus one in the field `trn_payload`, which our copy of the schema adds.
struct WireSkeleton {
  std::string bytes;
  std::vector<llvm::ArrayRef<char>> payloads;
};

/// The field of TensorProto that our copy of the schema adds; must agree with compiler/Import/CMakeLists.txt.
constexpr unsigned kPayloadField = 536870000;

/// Splits a ModelProto. False with a reason when the bytes are malformed.
bool makeWireSkeleton(llvm::ArrayRef<char> model, WireSkeleton &skeleton, std::string &error);

} // namespace trn
