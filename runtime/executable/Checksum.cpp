//===- Checksum.cpp - CRC-32C of sections -----------------------------------===//
//
// The instruction of x86 takes 8 bytes in each cycle but gives its result 3 cycles later: three stretches of the bytes are
// taken side by side, and joined by what the polynomial makes of the length of a stretch.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/Checksum.h"
#include "runtime/executable/Format.h"
#include <array>
#include <cstring>
#include <elf.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace trn::exe {

/// The polynomial, reflected: bit 31 is the coefficient of x^0.
static constexpr uint32_t kPolynomial = 0x82F63B78;

static constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest & 1 ? (rest >> 1) ^ kPolynomial : rest >> 1;
    table[byte] = rest;
  }
  return table;
}
static constexpr std::array<uint32_t, 256> kTable = makeTable();

uint32_t crc32cPortable(absl::Span<const uint8_t> bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (uint8_t byte : bytes)
    crc = kTable[(crc ^ byte) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

#if defined(__x86_64__)
/// The product of two polynomials, modulo the one of the checksum.
static constexpr uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = 0x80000000; bit; bit >>= 1) {
    if (a & bit)
      sum ^= b;
    b = b & 1 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return sum;
}

/// x to the power of 8 times `bytes`: what `bytes` more zeros make of a remainder, as a factor.
static constexpr uint32_t shiftOf(uint64_t bytes) {
  uint32_t result = 0x80000000, power = 0x00800000; // x^0, x^8
  for (; bytes; bytes >>= 1) {
    if (bytes & 1)
      result = product(result, power);
    power = product(power, power);
  }
  return result;
}

__attribute__((target("sse4.2"))) static uint32_t crc32cOfHost(const uint8_t *at, uint64_t size, uint32_t before) {
  constexpr uint64_t kStretch = 8192;
  constexpr uint32_t kOne = shiftOf(kStretch), kTwo = shiftOf(2 * kStretch);
  auto word = [](const uint8_t *from) {
    uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  uint64_t crc = ~before & 0xFFFFFFFF;
  for (; size >= 3 * kStretch; size -= 3 * kStretch, at += 3 * kStretch) {
    uint64_t second = 0, third = 0;
    for (uint64_t i = 0; i < kStretch; i += 8) {
      crc = _mm_crc32_u64(crc, word(at + i));
      second = _mm_crc32_u64(second, word(at + kStretch + i));
      third = _mm_crc32_u64(third, word(at + 2 * kStretch + i));
    }
    crc = product(static_cast<uint32_t>(crc), kTwo) ^ product(static_cast<uint32_t>(second), kOne) ^ third;
  }
  for (; size >= 8; size -= 8, at += 8)
    crc = _mm_crc32_u64(crc, word(at));
  auto rest = static_cast<uint32_t>(crc);
  for (; size; --size, ++at)
    rest = _mm_crc32_u8(rest, *at);
  return ~rest;
}
#endif

uint32_t crc32c(absl::Span<const uint8_t> bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool hasInstruction = __builtin_cpu_supports("sse4.2");
  if (hasInstruction)
    return crc32cOfHost(bytes.data(), bytes.size(), before);
#endif
  return crc32cPortable(bytes, before);
}

bool renewChecksums(absl::Span<uint8_t> file) {
  using namespace format;
  Elf64_Ehdr elf;
  if (file.size() < sizeof elf)
    return false;
  std::memcpy(&elf, file.data(), sizeof elf);
  if (elf.e_shoff > file.size() || (file.size() - elf.e_shoff) / sizeof(Elf64_Shdr) < elf.e_shnum ||
      elf.e_shstrndx >= elf.e_shnum)
    return false;
  auto bytesOf = [&](unsigned index) -> absl::Span<uint8_t> {
    Elf64_Shdr header;
    std::memcpy(&header, file.data() + elf.e_shoff + index * sizeof header, sizeof header);
    if (header.sh_type == SHT_NULL || header.sh_type == SHT_NOBITS || header.sh_offset > file.size() ||
        header.sh_size > file.size() - header.sh_offset)
      return {};
    return file.subspan(header.sh_offset, header.sh_size);
  };
  absl::Span<const uint8_t> names = bytesOf(elf.e_shstrndx);
  auto section = [&](std::string_view wanted) -> absl::Span<uint8_t> {
    for (unsigned i = 0; i < elf.e_shnum; ++i) {
      Elf64_Shdr header;
      std::memcpy(&header, file.data() + elf.e_shoff + i * sizeof header, sizeof header);
      if (header.sh_name > names.size() || names.size() - header.sh_name <= wanted.size())
        continue;
      const auto *name = reinterpret_cast<const char *>(names.data()) + header.sh_name;
      if (std::memcmp(name, wanted.data(), wanted.size()) == 0 && name[wanted.size()] == 0)
        return bytesOf(i);
    }
    return {};
  };
  absl::Span<uint8_t> sums = section(kSections[kSums].name);
  if (sums.size() < sizeof(TableHeader))
    return false;
  for (absl::Span<uint8_t> rest = sums.subspan(sizeof(TableHeader)); rest.size() >= sizeof(SumRecord);
       rest.remove_prefix(sizeof(SumRecord))) {
    SumRecord record;
    std::memcpy(&record, rest.data(), sizeof record);
    absl::Span<const uint8_t> bytes = section({record.section, strnlen(record.section, sizeof record.section)});
    record.crc32c = crc32c(bytes);
    std::memcpy(rest.data(), &record, sizeof record);
  }
  return true;
}

} // namespace trn::exe
