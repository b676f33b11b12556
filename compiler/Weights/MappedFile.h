//===- MappedFile.h - a file in memory, read only -------------------------===//
//
// Owns the mapping of model and weight files. A mapping lives as long as somebody holds it: constants whose bytes lie
// in it keep a share. Refuses anything but regular files.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace trn {

/// A read-only, private mapping of a whole file.
class MappedFile {
public:
  /// Maps `path`. With `followLinks` false a symbolic link as the last component is an error. On failure null, and
  /// `error` says why.
  static std::shared_ptr<const MappedFile> open(llvm::StringRef path, bool followLinks, std::string &error);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  llvm::ArrayRef<char> bytes() const { return {data, size}; }

private:
  MappedFile(const char *data, size_t size) : data(data), size(size) {}
  const char *data;
  size_t size;
};

} // namespace trn
