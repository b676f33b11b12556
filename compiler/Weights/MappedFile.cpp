//===- MappedFile.cpp - a file in memory, read only -----------------------===//
//
// Owns the system calls behind MappedFile.
//
//===----------------------------------------------------------------------===//
#include "compiler/Weights/MappedFile.h"

#include "llvm/ADT/ScopeExit.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace trn;

std::shared_ptr<const MappedFile> MappedFile::open(llvm::StringRef path, bool followLinks, std::string &error) {
  auto fail = [&](const char *what) -> std::shared_ptr<const MappedFile> {
    error = ("cannot " + llvm::StringRef(what) + " '" + path + "': " + std::strerror(errno)).str();
    return nullptr;
  };
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followLinks ? 0 : O_NOFOLLOW);
  int file = ::open(path.str().c_str(), flags);
  if (file < 0)
    return fail("open");
  llvm::scope_exit closeFile([&] { ::close(file); });
  struct stat status;
  if (::fstat(file, &status) != 0)
    return fail("examine");
  if (!S_ISREG(status.st_mode)) {
    error = ("expected a regular file but '" + path + "' is not one").str();
    return nullptr;
  }
  size_t size = status.st_size;
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED)
    return fail("map");
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const char *>(data), size));
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<char *>(data), size);
}
