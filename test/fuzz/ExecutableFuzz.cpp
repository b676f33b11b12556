//===- ExecutableFuzz.cpp - fuzzing the loader of executables -------------===//
//
// Feeds any bytes to the loader. What it accepts must be written again as the same bytes mean, can be listed, checked,
// timed and, when small, run for a moment: legal instructions can do no harm, whatever they mean.
//
//===----------------------------------------------------------------------===//
#include "runtime/check/Check.h"
#include "runtime/emulator/Functional.h"
#include "runtime/executable/Checksum.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/timing/Timing.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <random>

using namespace trn;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Executes what fits: buffers of a few megabytes, a few thousand instructions.
static void runBriefly(const exe::Executable &executable) {
  uint64_t total = 0;
  for (const exe::Buffer &buffer : executable.buffers) {
    if (buffer.bytes > (4u << 20) || (total += buffer.bytes) > (8u << 20))
      return;
  }
  rt::CoreOptions options;
  options.path = rt::HostPath::Scalar;
  absl::StatusOr<std::unique_ptr<rt::FunctionalPlan>> plan = rt::FunctionalPlan::create(executable, options);
  if (!plan.ok())
    return;
  std::vector<std::vector<uint8_t>> memory;
  std::vector<rt::HbmBuffer> buffers;
  for (const exe::Buffer &buffer : executable.buffers) {
    memory.emplace_back(buffer.bytes);
    buffers.push_back(buffer.kind == exe::BufferKind::Weight ? rt::HbmBuffer()
                                                             : rt::HbmBuffer{memory.back().data(), buffer.bytes});
  }
  rt::RunLimits limits;
  limits.instructions = 2000;
  limits.timeout = absl::Milliseconds(200);
  (void)(*plan)->run(buffers, limits);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  absl::StatusOr<std::shared_ptr<const exe::Executable>> loaded =
      exe::loadExecutable(absl::MakeConstSpan(data, size), "input");
  if (!loaded.ok()) {
    if (loaded.status().message().empty())
      __builtin_trap();
    return 0;
  }
  const exe::Executable &executable = **loaded;
  if (!exe::verifyWeights(executable).ok())
    return 0;
  if (executable.weights.bytes <= (1u << 20)) {
    absl::StatusOr<std::vector<uint8_t>> bytes = exe::serializeExecutable(executable);
    if (!bytes.ok() || !exe::loadExecutable(*bytes, "again").ok())
      __builtin_trap();
  }
  (void)exe::disassembleExecutable(executable);
  (void)rt::check(executable);
  (void)rt::simulate(executable);
  runBriefly(executable);
  return 0;
}

/// Mostly changes bytes inside one section, so that the file's frame stays whole.
static size_t mutate(uint8_t *data, size_t size, size_t maxSize, std::mt19937 &random) {
  Elf64_Ehdr elf;
  if (random() % 16 == 0 || size < sizeof elf)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(&elf, data, sizeof elf);
  if (elf.e_shoff > size || (size - elf.e_shoff) / sizeof(Elf64_Shdr) < elf.e_shnum || elf.e_shnum == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (int attempt = 0; attempt < 8; ++attempt) {
    Elf64_Shdr section;
    std::memcpy(&section, data + elf.e_shoff + (random() % elf.e_shnum) * sizeof section, sizeof section);
    if (section.sh_type == SHT_NULL || section.sh_size == 0 || section.sh_offset > size ||
        section.sh_size > size - section.sh_offset)
      continue;
    // Few bytes at a time: a command with one strange field is what validators miss.
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      uint8_t *at = data + section.sh_offset + random() % section.sh_size;
      static const uint8_t kBytes[] = {0, 1, 2, 4, 0x7f, 0x80, 0xfe, 0xff};
      *at = random() % 2 ? kBytes[random() % sizeof kBytes] : random() % 2 ? static_cast<uint8_t>(*at + 1) : random();
    }
    return size;
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}

/// Damage that the checksums tell is not looked at: most changes come with checksums that are right.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  size = mutate(data, size, maxSize, random);
  if (random() % 64)
    (void)exe::renewChecksums(absl::MakeSpan(data, size));
  return size;
}
