//===- Memory.cpp - the arrays of the on-chip memories -------------------------===//
//
// Owns allocation, huge pages and poisoning.
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/Memory.h"
#include "absl/strings/str_cat.h"
#include <cstring>
#include <sys/mman.h>

namespace trn::rt {

/// Bytes added to a row, so that equal columns of neighbouring partitions fall into different cache sets.
static constexpr uint64_t kSkew = 192;
static constexpr uint64_t kLine = 64;

void Memory::Unmap::operator()(uint8_t *p) const { munmap(p, bytes); }

absl::StatusOr<Memory> Memory::create(unsigned partitions, uint64_t bytesPerPartition) {
  Memory memory;
  memory.partitionCount = partitions;
  memory.rowBytes = bytesPerPartition;
  uint64_t rounded = (bytesPerPartition + kLine - 1) / kLine * kLine;
  // 64 KiB rows plus 64 .. 192 bytes are never a power of two.
  memory.rowStride = static_cast<int64_t>(rounded + kSkew);
  uint64_t bytes = uint64_t(memory.rowStride) * partitions;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes for on-chip memory: ",
                                                     std::strerror(errno)));
  madvise(p, bytes, MADV_HUGEPAGE); // A wish; without huge pages the emulator is slower, not wrong.
  memory.base = std::unique_ptr<uint8_t, Unmap>(static_cast<uint8_t *>(p), Unmap{bytes});
  memory.poison(0, bytesPerPartition);
  return memory;
}

void Memory::poison(uint64_t begin, uint64_t end) {
  if (begin >= end)
    return;
  for (unsigned p = 0; p < partitionCount; ++p)
    std::memset(data() + p * rowStride + begin, kPoisonByte, end - begin);
}

} // namespace trn::rt
