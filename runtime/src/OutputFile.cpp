//===- OutputFile.cpp - files that appear whole or not at all -------------===//
#include "runtime/src/OutputFile.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace trn::rt {

absl::Status OutputFile::problem(const std::string &why) const {
  return absl::ResourceExhaustedError(absl::StrCat("'", path_, "': ", why));
}

absl::Status OutputFile::open(const std::string &path) {
  path_ = target_ = path;
  if (char *real = realpath(path.c_str(), nullptr)) {
    target_ = real;
    std::free(real);
  }
  struct stat info;
  bool exists = stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return problem("is a directory");
  if (!exists || S_ISREG(info.st_mode))
    temporary_ = absl::StrCat(target_, ".tmp.", getpid());
  file_ = std::fopen((temporary_.empty() ? target_ : temporary_).c_str(), "wb");
  if (!file_) {
    temporary_.clear();
    return problem(std::strerror(errno));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::commit() {
  bool written = std::fflush(file_) == 0 && !std::ferror(file_);
  int why = errno;
  if (std::fclose(file_) != 0 && written) {
    written = false;
    why = errno;
  }
  file_ = nullptr;
  if (!written)
    return problem(std::strerror(why)); // the destructor removes the temporary file
  if (temporary_.empty())
    return absl::OkStatus();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    return problem(std::strerror(errno));
  temporary_.clear();
  return absl::OkStatus();
}

OutputFile::~OutputFile() {
  if (file_)
    std::fclose(file_);
  if (!temporary_.empty())
    std::remove(temporary_.c_str());
}

} // namespace trn::rt
