// Tensor files: what is written is read back, what is damaged is refused with a reason.
#include "runtime/src/TensorFile.h"
#include "runtime/src/OutputFile.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace trn::rt;
using testing::HasSubstr;

namespace {

HostTensor tensor(const std::string &name, DataType type, std::vector<int64_t> shape) {
  HostTensor result{name, type, std::move(shape), {}};
  result.bytes.resize(result.elements() * byteSize(type));
  for (size_t i = 0; i < result.bytes.size(); ++i)
    result.bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  // Values of less than a byte lie in a byte, with the sign extended.
  unsigned unused = type == DataType::Int4 || type == DataType::UInt4 || type == DataType::Float4E2M1 ? 4
                    : type == DataType::Int2 || type == DataType::UInt2                                ? 6
                                                                                                       : 0;
  for (uint8_t &byte : result.bytes) {
    byte = static_cast<uint8_t>(byte << unused);
    byte = type == DataType::Int4 || type == DataType::Int2 ? static_cast<uint8_t>(static_cast<int8_t>(byte) >> unused)
                                                            : byte >> unused;
  }
  return result;
}

std::string temporary(const std::string &name) { return testing::TempDir() + "/" + name; }

class RoundTrip : public testing::TestWithParam<DataType> {};

TEST_P(RoundTrip, EveryTypeInEveryFormat) {
  for (const char *ending : {".npy", ".npz", ".pb"}) {
    TensorFile file;
    file.kind = std::string(ending) == ".npz" ? TensorFile::Kind::Named : TensorFile::Kind::Tensor;
    file.tensors = {tensor("a:0", GetParam(), {2, 3, 5})};
    std::string path = temporary(std::string("one") + ending);
    ASSERT_TRUE(writeTensorFile(path, file).ok());
    absl::StatusOr<TensorFile> read = readTensorFile(path, GetParam());
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->tensors.size(), 1u);
    EXPECT_EQ(read->tensors[0].type, GetParam());
    EXPECT_EQ(read->tensors[0].shape, file.tensors[0].shape);
    EXPECT_EQ(read->tensors[0].bytes, file.tensors[0].bytes);
  }
}
constexpr DataType kAll[] = {
#define TRN_DATA_TYPE(name, code, bits, packed, text, numpy) DataType::name,
#include "runtime/src/DataTypes.def"
};
INSTANTIATE_TEST_SUITE_P(All, RoundTrip, testing::ValuesIn(kAll));

TEST(TensorFile, ScalarsEmptyTensorsAndSequences) {
  TensorFile file;
  file.kind = TensorFile::Kind::Sequence;
  file.tensors = {tensor("", DataType::Int64, {}), tensor("", DataType::Int64, {0, 4})};
  std::string path = temporary("sequence.pb");
  ASSERT_TRUE(writeTensorFile(path, file).ok());
  absl::StatusOr<TensorFile> read = readTensorFile(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->kind, TensorFile::Kind::Sequence);
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0].bytes.size(), 8u);
  EXPECT_EQ(read->tensors[1].shape, (std::vector<int64_t>{0, 4}));
}

TEST(TensorFile, SmallElementsArePackedInProtos) {
  // dims 3, data_type 22 (INT4), raw_data 0x3F 0x08: the first element is in the low bits.
  const uint8_t bytes[] = {0x08, 3, 0x10, 22, 0x4A, 2, 0x3F, 0x08};
  absl::StatusOr<TensorFile> read = parseProto(bytes, "x.pb");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tensors[0].type, DataType::Int4);
  EXPECT_EQ(read->tensors[0].bytes, (std::vector<uint8_t>{0xFF, 3, 0xF8}));
}

TEST(TensorFile, FortranOrderBecomesRowMajor) {
  // np.asfortranarray([[1, 2, 3], [4, 5, 6]]) as uint8 stores 1 4 2 5 3 6.
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<uint8_t>(header.size()), 0};
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (uint8_t value : {1, 4, 2, 5, 3, 6})
    bytes.push_back(value);
  absl::StatusOr<HostTensor> read = parseNpy(bytes, "x.npy", DataType::Undefined);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(TensorFile, RefusesWithTheFileAndTheReason) {
  auto message = [](const std::string &header, size_t data) {
    std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<uint8_t>(header.size()), 0};
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.resize(bytes.size() + data);
    return std::string(parseNpy(bytes, "x.npy", DataType::Undefined).status().message());
  };
  EXPECT_THAT(message("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8), HasSubstr("big endian"));
  EXPECT_THAT(message("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8), HasSubstr("not supported"));
  EXPECT_THAT(message("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7),
              HasSubstr("expected 8 bytes of data for shape (2,) but got 7"));
  EXPECT_THAT(message("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }", 4),
              HasSubstr("overflows"));
  EXPECT_THAT(message("{'descr': '<f4', 'shape': (2,), }", 8), HasSubstr("no 'fortran_order'"));
  EXPECT_THAT(std::string(readTensorFile("/nowhere/x.npy").status().message()), HasSubstr("/nowhere/x.npy"));
  EXPECT_FALSE(writeTensorFile(temporary("two.npy"), TensorFile()).ok());
}

TEST(TensorFile, Zip64SaysTheSame) {
  TensorFile file;
  file.kind = TensorFile::Kind::Named;
  file.tensors = {tensor("a", DataType::Float32, {3, 4}), tensor("b", DataType::Int8, {500})};
  // 0: every field in 64 bits; 300: the second member's size and the directory's offset only.
  for (uint64_t from : {uint64_t(0), uint64_t(300), uint64_t(0xffffffff)}) {
    absl::StatusOr<TensorFile> read = parseNpz(npzBytes(file, from), "x.npz", DataType::Undefined);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->tensors.size(), 2u);
    for (size_t i : {0, 1}) {
      EXPECT_EQ(read->tensors[i].name, file.tensors[i].name);
      EXPECT_EQ(read->tensors[i].bytes, file.tensors[i].bytes);
    }
  }
  // More members than 16 bits count.
  file.tensors.assign(70000, HostTensor{"t", DataType::Int8, {}, {1}});
  absl::StatusOr<TensorFile> many = parseNpz(npzBytes(file), "x.npz", DataType::Undefined);
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_EQ(many->tensors.size(), 70000u);
}

TEST(TensorFile, AWrongChecksumIsDamage) {
  TensorFile file;
  file.kind = TensorFile::Kind::Named;
  file.tensors = {tensor("a", DataType::Float32, {3, 4})};
  std::vector<uint8_t> bytes = npzBytes(file);
  bytes[30 + 5 + 128 + 7] ^= 1; // local header, name, .npy header, data
  EXPECT_THAT(std::string(parseNpz(bytes, "x.npz", DataType::Undefined).status().message()),
              HasSubstr("member 'a.npy' is damaged: expected the checksum"));
}

TEST(TensorFile, FoldersAndDevicesAreNoTensors) {
  std::string folder = temporary("folder.npy"), device = temporary("zero.npy");
  mkdir(folder.c_str(), 0700);
  std::remove(device.c_str());
  ASSERT_EQ(symlink("/dev/zero", device.c_str()), 0);
  for (const std::string &path : {folder, device})
    EXPECT_THAT(std::string(readTensorFile(path).status().message()), HasSubstr("but got a folder or a device"));
}

TEST(TensorFile, AFailureLeavesWhatWasThere) {
  std::string path = temporary("kept.npz");
  TensorFile file;
  file.kind = TensorFile::Kind::Named;
  file.tensors = {tensor("a", DataType::Float32, {2})};
  ASSERT_TRUE(writeTensorFile(path, file).ok());
  file.tensors.push_back(tensor("b", DataType::Undefined, {}));
  EXPECT_FALSE(writeTensorFile(path, file).ok());
  absl::StatusOr<TensorFile> read = readTensorFile(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->tensors.size(), 1u);
  // Nothing has a name before it is complete, so nothing is left behind either.
  OutputFile unfinished;
  std::string other = temporary("unfinished.npy");
  std::remove(other.c_str()); // of an earlier run
  ASSERT_TRUE(unfinished.open(other).ok());
  EXPECT_TRUE(unfinished.write(reinterpret_cast<const uint8_t *>("x"), 1));
  EXPECT_NE(access(other.c_str(), F_OK), 0);
  ASSERT_TRUE(unfinished.commit().ok());
  EXPECT_EQ(access(other.c_str(), F_OK), 0);
}

// Bounded fuzzing: damage of every kind ends in a value or an error, never in a crash (run under the sanitizers too).
TEST(TensorFile, DamagedBytesAreRefusedOrRead) {
  TensorFile file;
  file.kind = TensorFile::Kind::Named;
  file.tensors = {tensor("x", DataType::Float32, {3, 4}), tensor("y", DataType::Int8, {5})};
  std::vector<std::vector<uint8_t>> seeds;
  for (const char *ending : {".npz", ".pb"}) {
    std::string path = temporary(std::string("seed") + ending);
    ASSERT_TRUE(writeTensorFile(path, file).ok());
    FILE *in = std::fopen(path.c_str(), "rb");
    std::vector<uint8_t> bytes(1 << 16);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), in));
    std::fclose(in);
    seeds.push_back(std::move(bytes));
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = seeds[round % seeds.size()];
    for (int edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    (void)parseNpy(bytes, "fuzz", DataType::Undefined);
    (void)parseNpz(bytes, "fuzz", DataType::Undefined);
    (void)parseProto(bytes, "fuzz");
  }
}

TEST(TensorFile, BytesOfPackedElementsDoNotOverflow) {
  // dims [2^63 - 1], int4, no data: four times as many bits are a small number of 64 bits.
  const std::vector<uint8_t> bytes = {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x10, 22};
  EXPECT_NE(std::string(parseProto(bytes, "x.pb").status().message()).find("bytes for shape"), std::string::npos);
}

TEST(TensorFile, AnOptionalHasNoTensorForItsSequence) {
  // An OptionalProto whose sequence_value is a TensorProto: float32 [] of 4 bytes.
  const std::vector<uint8_t> bytes = {0x2a, 0x08, 0x10, 0x01, 0x4a, 0x04, 0, 0, 0, 0};
  EXPECT_FALSE(parseProto(bytes, "x.pb").ok());
}

} // namespace
