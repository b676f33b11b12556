// Executable files: what is written is loaded back, and no damage to the bytes is ever run or crashes the loader.
#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/Checksum.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace trn;
using namespace trn::exe;
using testing::HasSubstr;

namespace {

isa::AP hbm(uint32_t buffer, uint16_t rows, uint32_t columns) {
  isa::AP ap;
  ap.space = isa::Space::HBM;
  ap.buffer = buffer;
  ap.partitions = rows;
  ap.partitionStep = columns;
  ap.rank = 1;
  ap.dims[0] = {1, columns};
  return ap;
}

isa::AP sbuf(uint64_t address, uint16_t rows, uint32_t columns) {
  isa::AP ap = hbm(0, rows, columns);
  ap.space = isa::Space::SBUF;
  ap.address = address;
  ap.partitionStep = 0;
  return ap;
}

isa::Command command(isa::Instruction inst, isa::Engine engine) {
  isa::Command result = {};
  result.inst = std::move(inst);
  result.engine = engine;
  return result;
}

/// y = x + w on [128, 8] fp32: three transfers and one instruction.
Executable addProgram() {
  Executable exe;
  exe.device = "trn2";
  exe.buffers = {{BufferKind::Input, "x:0", isa::DType::F32, {128, 8}, 4096, 0, isa::DType::F32},
                 {BufferKind::Weight, "w", isa::DType::F32, {128, 8}, 4096, 0, isa::DType::F32},
                 {BufferKind::Output, "y", isa::DType::F32, {128, 8}, 4096, 0, isa::DType::F32}};
  exe.debug = {{"", "", ""}, {"add", "Add", "load"}};
  auto weights = std::make_shared<std::vector<uint8_t>>(4096);
  for (size_t i = 0; i < weights->size(); ++i)
    (*weights)[i] = static_cast<uint8_t>(i * 31);
  exe.weights.bytes = weights->size();
  exe.weights.owner = weights;
  exe.weights.read = [weights](uint64_t offset, void *out, uint64_t size) {
    std::memcpy(out, weights->data() + offset, size);
    return true;
  };
  exe.build = {{"compiler", "trn-mlir test"}, {"model_macs", "0"}};
  exe.ir = "module {}";

  Program sync{isa::Engine::SP, {}}, vector{isa::Engine::DVE, {}};
  for (uint32_t i : {0u, 1u}) {
    isa::DmaCopy load;
    load.dst = sbuf(i * 32, 128, 8);
    load.src = hbm(i, 128, 8);
    isa::Command c = command(load, isa::Engine::SP);
    c.hasUpdate = true;
    c.update = {static_cast<uint16_t>(i), 16};
    c.debug = 1;
    sync.commands.push_back(c);
  }
  isa::TensorTensor add;
  add.dst = sbuf(64, 128, 8);
  add.lhs = sbuf(0, 128, 8);
  add.rhs = sbuf(32, 128, 8);
  add.op = isa::AluOp::Add;
  isa::Command c = command(add, isa::Engine::DVE);
  c.hasWait = c.hasUpdate = true;
  c.wait = {0, 16};
  c.update = {2, 1};
  vector.commands.push_back(c);
  isa::DmaCopy store;
  store.dst = hbm(2, 128, 8);
  store.src = sbuf(64, 128, 8);
  c = command(store, isa::Engine::SP);
  c.hasWait = true;
  c.wait = {2, 1};
  sync.commands.push_back(c);
  exe.programs = {sync, vector};
  return exe;
}

std::vector<uint8_t> bytesOf(const Executable &exe) {
  absl::StatusOr<std::vector<uint8_t>> bytes = serializeExecutable(exe);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : std::vector<uint8_t>();
}

/// The place of each section, by name.
std::map<std::string, std::pair<uint64_t, uint64_t>> sectionsOf(const std::vector<uint8_t> &bytes) {
  Elf64_Ehdr elf;
  std::memcpy(&elf, bytes.data(), sizeof elf);
  std::vector<Elf64_Shdr> headers(elf.e_shnum);
  std::memcpy(headers.data(), bytes.data() + elf.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  std::map<std::string, std::pair<uint64_t, uint64_t>> places;
  for (const Elf64_Shdr &header : headers)
    places[reinterpret_cast<const char *>(bytes.data()) + headers[elf.e_shstrndx].sh_offset + header.sh_name] = {
        header.sh_offset, header.sh_size};
  return places;
}

void expectSame(const Executable &a, const Executable &b) {
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.build, b.build);
  EXPECT_EQ(a.ir, b.ir);
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    EXPECT_EQ(a.buffers[i].name, b.buffers[i].name);
    EXPECT_EQ(a.buffers[i].shape, b.buffers[i].shape);
    EXPECT_EQ(a.buffers[i].kind, b.buffers[i].kind);
    EXPECT_EQ(a.buffers[i].dtype, b.buffers[i].dtype);
  }
  EXPECT_EQ(disassembleExecutable(a), disassembleExecutable(b));
}

TEST(ExecutableFile, LoadsWhatWasWritten) {
  Executable exe = addProgram();
  std::string path = testing::TempDir() + "/add.trnx";
  ASSERT_TRUE(writeExecutable(exe, path).ok());
  absl::StatusOr<std::shared_ptr<const Executable>> mapped = loadExecutable(path);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  expectSame(exe, **mapped);
  std::vector<uint8_t> weights(4096);
  exe.weights.read(0, weights.data(), weights.size());
  EXPECT_EQ(0, std::memcmp((*mapped)->weights.data, weights.data(), weights.size()));

  // Same content, same bytes, however it came to be.
  std::vector<uint8_t> bytes = bytesOf(exe);
  EXPECT_EQ(bytes, bytesOf(**mapped));
  absl::StatusOr<std::shared_ptr<const Executable>> copied = loadExecutable(bytes, "bytes");
  ASSERT_TRUE(copied.ok()) << copied.status();
  expectSame(exe, **copied);
  int fd = open(path.c_str(), O_RDONLY);
  absl::StatusOr<std::shared_ptr<const Executable>> descriptor = loadExecutable(fd, "descriptor");
  close(fd);
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  expectSame(exe, **descriptor);
}

TEST(ExecutableFile, KeepsTheDataFlow) {
  Executable exe = addProgram();
  // Commands: 0 and 1 load, 2 stores, 3 adds; operand 0 is the destination.
  exe.flow = {{2, 1, 3, 0}, {3, 1, 0, 0}, {3, 2, 1, 0}};
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytesOf(exe), "bytes");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->flow, exe.flow);
  const DataFlow broken[] = {{{4, 1, 0, 0}}, {{3, 1, 4, 0}}, {{3, 3, 0, 0}}, {{3, 1, 0, 2}}, {{3, 2, 1, 0}, {3, 1, 0, 0}}};
  for (const DataFlow &flow : broken) {
    exe.flow = flow;
    EXPECT_THAT(std::string(loadExecutable(bytesOf(exe), "bytes").status().message()),
                HasSubstr("names operands that do not exist, or is out of order"));
  }
}

TEST(ExecutableFile, SurvivesWhatHappensToItsFileLater) {
  std::string path = testing::TempDir() + "/shrinks.trnx";
  Executable exe = addProgram();
  ASSERT_TRUE(writeExecutable(exe, path).ok());
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  std::vector<uint8_t> weights(4096);
  exe.weights.read(0, weights.data(), weights.size());
  EXPECT_EQ(0, std::memcmp((*loaded)->weights.data, weights.data(), weights.size()));
}

TEST(ExecutableFile, APipeIsRefusedAtOnce) {
  std::string path = testing::TempDir() + "/pipe.trnx";
  std::remove(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(std::string(loadExecutable(path).status().message()), HasSubstr("expected a regular file"));
}

TEST(ExecutableFile, WeightsAreAlignedForMapping) {
  std::vector<uint8_t> bytes = bytesOf(addProgram());
  EXPECT_EQ(sectionsOf(bytes)[".trnx.weights"], std::pair(uint64_t(2) << 20, uint64_t(4096)));
}

TEST(ExecutableFile, AProgramWithoutWeightsIsAFileToo) {
  Executable exe = addProgram();
  exe.buffers[1].kind = BufferKind::Input;
  exe.weights = WeightSource();
  exe.ir.clear();
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytesOf(exe), "bytes");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  expectSame(exe, **loaded);
}

TEST(ExecutableFile, NothingIsLeftWhenTheWeightsFail) {
  Executable exe = addProgram();
  exe.weights.read = [](uint64_t, void *, uint64_t) { return false; };
  std::string path = testing::TempDir() + "/broken.trnx";
  EXPECT_THAT(std::string(writeExecutable(exe, path).message()), HasSubstr("source of the weights failed"));
  EXPECT_NE(0, access(path.c_str(), F_OK));
}

TEST(ExecutableFile, DevicesAreWrittenAndLinksFollowedNeverReplaced) {
  Executable exe = addProgram();
  EXPECT_TRUE(writeExecutable(exe, "/dev/null").ok());
  struct stat info;
  ASSERT_EQ(0, stat("/dev/null", &info));
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_THAT(std::string(writeExecutable(exe, testing::TempDir()).message()), HasSubstr("is a directory"));
  std::string target = testing::TempDir() + "/target.trnx", link = testing::TempDir() + "/link.trnx";
  unlink(link.c_str());
  ASSERT_EQ(0, symlink(target.c_str(), link.c_str()));
  std::fclose(std::fopen(target.c_str(), "wb"));
  ASSERT_TRUE(writeExecutable(exe, link).ok());
  ASSERT_EQ(0, lstat(link.c_str(), &info));
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_TRUE(loadExecutable(target).ok());
}

TEST(ExecutableFile, EveryTruncationIsRefused) {
  std::vector<uint8_t> bytes = bytesOf(addProgram());
  for (size_t size = 0; size < 8192; ++size)
    EXPECT_FALSE(loadExecutable(absl::MakeConstSpan(bytes.data(), size), "cut").ok()) << size;
  EXPECT_FALSE(loadExecutable(absl::MakeConstSpan(bytes.data(), bytes.size() - 1), "cut").ok());
}

TEST(Checksum, IsCrc32c) {
  // The check value of the catalogue of parametrised CRC algorithms (CRC-32/ISCSI), and RFC 3720 B.4: 32 zeros, 32 ones.
  const std::string digits = "123456789";
  auto bytes = [](const std::string &text) {
    return absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  };
  EXPECT_EQ(crc32c(bytes(digits)), 0xE3069283u);
  EXPECT_EQ(crc32c(bytes(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(bytes(std::string(32, '\xff'))), 0x62A8AB43u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Checksum, IsTheSameOnEveryHostAndInPieces) {
  std::mt19937 random(3);
  std::vector<uint8_t> bytes(100003);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  for (size_t size : {size_t(0), size_t(1), size_t(7), size_t(8), size_t(24575), size_t(24576), size_t(24577), bytes.size()}) {
    absl::Span<const uint8_t> part = absl::MakeConstSpan(bytes).subspan(0, size);
    const uint32_t whole = crc32cPortable(part);
    EXPECT_EQ(crc32c(part), whole) << size;
    EXPECT_EQ(crc32c(part.subspan(size / 3), crc32c(part.subspan(0, size / 3))), whole) << size;
  }
}

TEST(ExecutableFile, EveryFlippedBitOfASectionIsNoticed) {
  const std::vector<uint8_t> whole = bytesOf(addProgram());
  for (const auto &[name, place] : sectionsOf(whole)) {
    if (name.empty() || name == ".shstrtab")
      continue;
    for (uint64_t i = 0; i < std::min<uint64_t>(place.second, 512); ++i) {
      std::vector<uint8_t> bytes = whole;
      bytes[place.first + i] ^= 1u << i % 8;
      absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytes, "flipped");
      if (name == ".trnx.weights" && loaded.ok())
        EXPECT_THAT(std::string(verifyWeights(**loaded).message()), HasSubstr("section .trnx.weights: expected checksum"));
      else if (name == ".trnx.sums") // a checksum that is wrong itself accuses its section
        EXPECT_TRUE(!loaded.ok() || !verifyWeights(**loaded).ok()) << i;
      else
        EXPECT_FALSE(loaded.ok()) << name << " at " << i;
    }
  }
}

TEST(ExecutableFile, DamagedWeightsAreNotWrittenAgain) {
  std::vector<uint8_t> bytes = bytesOf(addProgram());
  bytes[sectionsOf(bytes)[".trnx.weights"].first + 100] ^= 1;
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytes, "damaged");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(std::string(serializeExecutable(**loaded).status().message()), HasSubstr("the file is damaged"));
}

TEST(ExecutableFile, FilesOfBeforeChecksumsAreRead) {
  std::vector<uint8_t> bytes = bytesOf(addProgram());
  auto sections = sectionsOf(bytes);
  // Minor version 2, and no section of that name.
  bytes[sections[".note.trnx"].first + sizeof(Elf64_Nhdr) + 12 + 2] = 2;
  const std::string name = ".trnx.sums";
  auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(at, bytes.end());
  at[1] = 'T';
  absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytes, "old");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_FALSE((*loaded)->weights.crc32c.has_value());
  // A file of now has them.
  bytes[sections[".note.trnx"].first + sizeof(Elf64_Nhdr) + 12 + 2] = 3;
  EXPECT_THAT(std::string(loadExecutable(bytes, "cut").status().message()), HasSubstr("section .trnx.sums is missing"));
}

// Bounded fuzzing; whatever is accepted must verify again.
TEST(ExecutableFile, DamagedBytesAreRefusedOrLegal) {
  std::vector<uint8_t> seed = bytesOf(addProgram());
  size_t tables = 4096; // headers and tables; behind them lie padding and weights
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes = seed;
    for (int edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % tables] = static_cast<uint8_t>(random() % 3 ? random() : 0xff);
    (void)renewChecksums(absl::MakeSpan(bytes)); // what lies behind them
    absl::StatusOr<std::shared_ptr<const Executable>> loaded = loadExecutable(bytes, "fuzz");
    if (!loaded.ok())
      continue;
    ++accepted;
    EXPECT_TRUE(verifyExecutable(**loaded).ok());
  }
  EXPECT_LT(accepted, 2000) << "most damage must be noticed";
}

TEST(Verify, NamesWhatIsWrongWithEachCommandAndAllAtOnce) {
  Executable exe = addProgram();
  std::get<isa::DmaCopy>(exe.programs[0].commands[0].inst).src.address = 4; // the last row leaves the buffer
  std::get<isa::DmaCopy>(exe.programs[0].commands[2].inst).dst.buffer = 1;  // writes a weight
  exe.programs[1].commands[0].wait.semaphore = 999;
  std::string text(verifyExecutable(exe).message());
  EXPECT_THAT(text, HasSubstr("(node 'add'): operand 'src' reaches bytes 4 to 4100 of buffer 'x:0' (4096 bytes)"));
  EXPECT_THAT(text, HasSubstr("writes 'w', which is read-only"));
  EXPECT_THAT(text, HasSubstr("waits for semaphore 999 of 256"));
}

TEST(Verify, RefusesAddressesOutsideTheMemoriesAndWrongEngines) {
  Executable exe = addProgram();
  std::get<isa::TensorTensor>(exe.programs[1].commands[0].inst).dst.address = 300000;
  EXPECT_FALSE(verifyExecutable(exe).ok());
  exe = addProgram();
  exe.programs[1].engine = exe.programs[1].commands[0].engine = isa::Engine::PE;
  EXPECT_THAT(std::string(verifyExecutable(exe).message()), HasSubstr("not an instruction of this engine"));
  exe = addProgram();
  exe.buffers[0].shape = {1ll << 40, 1ll << 40};
  EXPECT_FALSE(verifyExecutable(exe).ok());
  exe = addProgram();
  exe.device = "trn9";
  EXPECT_THAT(std::string(verifyExecutable(exe).message()), HasSubstr("unknown device 'trn9'"));
}

} // namespace
