//===- OutputFile.cpp - files that appear whole or not at all -------------===//
#include "runtime/src/OutputFile.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trn::rt {

absl::Status OutputFile::problem(const std::string &why) const {
  return absl::ResourceExhaustedError(absl::StrCat("'", path_, "': ", why));
}

/// Opens a file without a name in the folder of the target; false where the file system has none.
bool OutputFile::openNameless() {
  size_t slash = target_.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : target_.substr(0, slash);
  int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0)
    return false;
  file_ = ::fdopen(fd, "wb");
  if (!file_)
    ::close(fd);
  nameless_ = file_ != nullptr;
  return nameless_;
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
  if (!exists || S_ISREG(info.st_mode)) {
    if (openNameless())
      return absl::OkStatus();
    temporary_ = absl::StrCat(target_, ".tmp.", getpid());
  }
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
  if (written && nameless_) {
    // A link cannot replace a file, a rename can.
    std::string name = absl::StrCat(target_, ".tmp.", getpid());
    std::remove(name.c_str());
    std::string self = absl::StrCat("/proc/self/fd/", fileno(file_));
    written = linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    why = errno;
    if (written)
      temporary_ = name;
  }
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
