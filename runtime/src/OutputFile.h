//===- OutputFile.h - files that appear whole or not at all ---------------===//
//
// Owns how the project's outputs reach the disk: a new or regular file is written under a temporary name beside it and
// renamed when complete; a symbolic link is followed, and a device or pipe is written directly, never replaced.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/status.h"
#include <cstdint>
#include <cstdio>
#include <string>

namespace trn::rt {

class OutputFile {
public:
  /// Nothing is at `path` before `commit`, unless it names a device or pipe.
  absl::Status open(const std::string &path);
  bool write(const uint8_t *bytes, uint64_t size) { return std::fwrite(bytes, 1, size, file_) == size; }
  /// Makes the file appear. On failure nothing is left.
  absl::Status commit();
  ~OutputFile();

private:
  absl::Status problem(const std::string &why) const;

  std::string path_, target_, temporary_; ///< as given; behind links; empty for devices and pipes
  FILE *file_ = nullptr;
};

} // namespace trn::rt
