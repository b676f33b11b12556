//===- ExecutableFile.h - writing and loading .trnx files -----------------===//
//
// Owns the way between `Executable` and the bytes of a `.trnx` file. Writing is deterministic and streams the weights.
// Loading trusts nothing: the file is read into memory first (a mapped one could change or shrink during a run), every
// count, offset and instruction is checked before it is used, and the weights are inert data.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executable/Executable.h"

namespace trn::exe {

/// Writes `executable` to `path` through a temporary file beside it; on failure nothing is left. Same content, same
/// bytes. Errors: an executable that `verify` refuses, a weight source that fails, a file that cannot be written.
absl::Status writeExecutable(const Executable &executable, const std::string &path);

/// The same bytes in memory (weights included).
absl::StatusOr<std::vector<uint8_t>> serializeExecutable(const Executable &executable);

/// Loads and validates a file. The result keeps its bytes; the file may change or vanish afterwards.
absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(const std::string &path);
/// The same from an open file descriptor (read from offset 0; stays the caller's).
absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(int fd, const std::string &what);
/// The same from bytes; the weights are copied.
absl::StatusOr<std::shared_ptr<const Executable>> loadExecutable(absl::Span<const uint8_t> bytes,
                                                                 const std::string &what);

/// Compares the weights with the checksum that their file states. Loading does that for all other sections; weights, which
/// are nearly all of a file, are compared by those who use them.
absl::Status verifyWeights(const Executable &executable);

/// Checks that `executable` can be run without touching anything outside it: device known, every instruction legal on
/// its engine and inside SBUF, PSUM and its buffers, semaphores and rings in range. All problems in one error, each
/// with engine, position and ONNX node.
absl::Status verifyExecutable(const Executable &executable);

/// A listing of all programs: one line per command, with semaphores and ONNX nodes.
std::string disassembleExecutable(const Executable &executable);

} // namespace trn::exe
