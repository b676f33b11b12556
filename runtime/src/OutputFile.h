//===- OutputFile.h - files that appear whole or not at all ---------------===//
//
// Owns how the project's outputs reach the disk: a new or regular file is written as one without a name (where the file
// system can; else under a temporary name beside it) and gets its name when complete, so that a failure, or the end of
// the process, leaves what was there before. A symbolic link is followed; a device or pipe is written directly, never
// replaced.
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
  bool openNameless();

  std::string path_, target_;
  std::string temporary_; ///< the name to rename from; empty for devices, pipes and files without a name
  bool nameless_ = false;
  FILE *file_ = nullptr;
};

} // namespace trn::rt
