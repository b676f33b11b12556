//===- Memory.h - the arrays of the on-chip memories ---------------------------===//
//
// Owns host memory that stands for SBUF or PSUM: one row of bytes per partition. Rows are a little further apart than
// a power of two and lie on huge pages, or partition-strided access runs into the limits of the host's caches and TLB
// (performance.md 5.5.4: 2 to 4 times).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include <cstdint>
#include <memory>

namespace trn::rt {

/// Every byte of memory that no instruction has written: a NaN in all float formats, so it shows in results.
constexpr uint8_t kPoisonByte = 0xff;

/// One on-chip memory.
class Memory {
public:
  /// An allocation failure is an error, not an abort.
  static absl::StatusOr<Memory> create(unsigned partitions, uint64_t bytesPerPartition);

  uint8_t *data() const { return base.get(); }
  unsigned partitions() const { return partitionCount; }
  uint64_t bytesPerPartition() const { return rowBytes; }
  /// Host bytes from one partition to the next.
  int64_t stride() const { return rowStride; }
  /// Fills bytes [begin, end) of every partition with kPoisonByte.
  void poison(uint64_t begin, uint64_t end);

private:
  struct Unmap {
    uint64_t bytes;
    void operator()(uint8_t *p) const;
  };
  Memory() = default;
  std::unique_ptr<uint8_t, Unmap> base{nullptr, Unmap{0}};
  unsigned partitionCount = 0;
  uint64_t rowBytes = 0;
  int64_t rowStride = 0;
};

} // namespace trn::rt
