//===- Checksum.h - CRC-32C of sections -------------------------------------===//
//
// Owns the checksum of `.trnx` sections: CRC-32C (Castagnoli; polynomial 0x1EDC6F41, reflected, as in iSCSI and ext4). It
// tells damage from transport and storage, every burst of up to 32 bits among it; it is no protection against intent.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/types/span.h"
#include <cstdint>

namespace trn::exe {

/// The checksum of `bytes`, when those before them had the checksum `before`.
uint32_t crc32c(absl::Span<const uint8_t> bytes, uint32_t before = 0);

/// The same without instructions that not every host has.
uint32_t crc32cPortable(absl::Span<const uint8_t> bytes, uint32_t before = 0);

/// Writes into a file the checksums that its sections have now: for those who change a file to see what lies behind the
/// checksums. False, and nothing changed, when there are none to write.
bool renewChecksums(absl::Span<uint8_t> file);

} // namespace trn::exe
